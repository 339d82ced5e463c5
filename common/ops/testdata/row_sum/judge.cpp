#include <cmath>

#include "formats.h"
#include "matrix.h"
#include "numbers.h"

namespace testing_ {
namespace {

class RowSum : public MatrixOperator {
 public:
  RowSum() : MatrixOperator(rung::Op::row_sum) {}

  Verdict expect(const Case& c, uint64_t, const std::vector<unsigned char>& input, rung::Dtype dtype) const override {
    const size_t rows = static_cast<size_t>(c.sizes.rows), cols = static_cast<size_t>(c.sizes.cols);
    const std::vector<double> x = reference::decode(input.data(), rows * cols, dtype);
    std::vector<double> sums(rows, 0), allowed(rows, 0);
    for (size_t i = 0; i < x.size(); i++) {
      sums[i / cols] += x[i];
      if (std::isfinite(x[i])) allowed[i / cols] += 1e-5 * std::fabs(x[i]);
    }
    return [sums, allowed](const Outputs& output) {
      return compare_numbers("sum", sums, allowed, output[0].data(), 1, rung::Dtype::f32);
    };
  }
  double flops(const rung::Sizes& sizes) const override { return 1.0 * sizes.rows * sizes.cols; }
};

const RowSum row_sum;
[[maybe_unused]] const bool added = add_operator(row_sum);

}  // namespace
}  // namespace testing_
