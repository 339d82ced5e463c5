#include <cmath>
#include <cstring>
#include <random>

#include "formats.h"
#include "matrix.h"
#include "numbers.h"

namespace testing_ {
namespace {

class RmsNorm : public MatrixOperator {
 public:
  RmsNorm() : MatrixOperator(rung::Op::rms_norm) {}

  // The matrix, and behind it weights of 0.5 to 1.5, of either sign: a kernel that leaves them out, or takes those of
  // another column, is wrong everywhere.
  std::vector<unsigned char> input(const Case& c, rung::Dtype dtype, uint64_t seed) const override {
    std::vector<unsigned char> bytes = MatrixOperator::input(c, dtype, seed);
    bytes.resize(rung::rms_norm_operator::weight_offset(c.sizes, dtype));
    std::mt19937_64 random(seed * 31 + static_cast<uint64_t>(c.sizes.cols));
    std::vector<float> weights(static_cast<size_t>(c.sizes.cols));
    for (float& w : weights) {
      const uint64_t drawn = random();
      w = (drawn & 1 ? 1.0f : -1.0f) * (0.5f + static_cast<float>(drawn >> 40) / static_cast<float>(1 << 24));
    }
    const std::vector<unsigned char> encoded = reference::encode(weights, dtype);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    return bytes;
  }

  Verdict expect(const Case& c, uint64_t, const std::vector<unsigned char>& input, rung::Dtype dtype) const override {
    const size_t rows = static_cast<size_t>(c.sizes.rows), cols = static_cast<size_t>(c.sizes.cols);
    std::vector<double> y = reference::decode(input.data(), rows * cols, dtype);
    const std::vector<double> weight =
        reference::decode(input.data() + rung::rms_norm_operator::weight_offset(c.sizes, dtype), cols, dtype);
    std::vector<double> allowed(y.size());
    for (size_t r = 0; r < rows; r++) {
      double squares = 0;
      for (size_t i = 0; i < cols; i++) squares += y[r * cols + i] * y[r * cols + i];
      const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + rung::rms_norm_operator::eps);
      for (size_t i = 0; i < cols; i++) {
        double& value = y[r * cols + i];
        value *= scale * weight[i];
        if (std::isfinite(value)) allowed[r * cols + i] = 1e-5 * std::fabs(value);
      }
    }
    return [y, allowed, cols, dtype](const Outputs& output) {
      return compare_numbers("y", y, allowed, output[0].data(), static_cast<int>(cols), dtype);
    };
  }

  std::vector<Case> hidden_cases(uint64_t seed) const override {
    std::vector<Case> cases = MatrixOperator::hidden_cases(seed);
    Case small = cases.back();
    small.name = "hidden-small";
    small.values = static_cast<int>(Values::small);
    cases.push_back(small);
    return cases;
  }

  // Per element a multiplication and an addition for the squares, two multiplications for the result.
  double flops(const rung::Sizes& sizes) const override { return 4.0 * sizes.rows * sizes.cols; }

 protected:
  // Rows in which eps shows.
  std::vector<Case> more_cases() const override {
    return {make("values", "zeros", Values::zeros, {7, 33, {}}),
            make("values", "zeros", Values::zeros, {7, 4096, {}}),
            make("values", "small", Values::small, {7, 33, {}}),
            make("values", "small", Values::small, {64, 600, {}}),
            make("values", "small", Values::small, {7, 4096, {}}),
            make("widths", "normal", Values::normal, {64, 64, {}}),
            make("widths", "normal", Values::normal, {64, 128, {}}),
            make("widths", "normal", Values::normal, {65, 256, {}}),
            make("widths", "normal", Values::normal, {7, 8192, {}}),
            make("widths", "normal", Values::normal, {3, 32768, {}}),
            make("widths", "normal", Values::normal, {2, 131072, {}}),
            make("widths", "normal", Values::normal, {1, 300007, {}})};
  }
};

const RmsNorm rms_norm;
[[maybe_unused]] const bool added = add_operator(rms_norm);

}  // namespace
}  // namespace testing_
