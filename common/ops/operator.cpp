#include "operator.h"

#include <stdexcept>

namespace testing_ {
namespace {

const Operator*& place_of(rung::Op op) {
  static const Operator* all[rung::operator_count] = {};
  return all[static_cast<int>(op)];
}

}  // namespace

const Operator& operator_of(rung::Op op) {
  const Operator* const found = place_of(op);
  if (!found)
    throw std::logic_error(std::string("this program has no ") + name_of(op) + ": link the objects of common/ops/" +
                           name_of(op));
  return *found;
}

bool add_operator(const Operator& added) {
  place_of(added.op()) = &added;
  return true;
}

rung::Plan Operator::plan(const rung::Sizes& sizes, rung::Dtype dtype) const {
  rung::Plan plan;
  if (!arguments().plan(sizes, dtype, &plan)) return {};
  return plan;
}

rung::Sizes Operator::beside(const rung::Sizes& sizes, uint64_t) const { return sizes; }

double Operator::bytes(const rung::Sizes& sizes, rung::Dtype dtype) const {
  const rung::Plan all = plan(sizes, dtype);
  double sum = 0;
  for (int i = 0; i < all.count; i++) {
    if (all.tensors[i].buffer != rung::workspace_buffer) sum += static_cast<double>(all.tensors[i].bytes());
  }
  return sum;
}

double Operator::cost(const rung::Sizes& sizes, bool quadratic) const {
  const double elements = static_cast<double>(sizes.rows) * sizes.cols;
  return quadratic ? elements * sizes.cols : elements;
}

std::string Operator::name(const rung::Sizes& sizes) const {
  return std::to_string(sizes.rows) + " x " + std::to_string(sizes.cols);
}

}  // namespace testing_
