#include <cmath>

#include "norm.h"

namespace testing_ {
namespace {

class RmsNorm : public NormOperator {
 public:
  RmsNorm() : NormOperator(rung::Op::rms_norm) {}

  // Per element a multiplication and an addition for the squares, two multiplications for the result.
  double flops(const rung::Sizes& sizes) const override { return 4.0 * sizes.rows * sizes.cols; }

 protected:
  void normalise(double* row, double* allowed, const rung::Sizes& sizes, const Weights& weights) const override {
    const size_t cols = static_cast<size_t>(sizes.cols);
    const std::vector<double>& weight = weights[0];
    double squares = 0;
    for (size_t i = 0; i < cols; i++) squares += row[i] * row[i];
    const double eps = static_cast<double>(rung::eps_of(sizes));
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
    for (size_t i = 0; i < cols; i++) {
      row[i] *= scale * weight[i];
      allowed[i] = 1e-5 * std::fabs(row[i]);
    }
  }
};

const RmsNorm rms_norm;
[[maybe_unused]] const bool added = add_operator(rms_norm);

}  // namespace
}  // namespace testing_
