#include <cmath>
#include <cstring>
#include <random>

#include "formats.h"
#include "matrix.h"
#include "numbers.h"

namespace testing_ {
namespace {

namespace facts = rung::layer_norm_operator;

class LayerNorm : public MatrixOperator {
 public:
  LayerNorm() : MatrixOperator(rung::Op::layer_norm) {}

  // The matrix, and behind it weights and biases of 0.5 to 1.5, of either sign: a kernel that leaves them out, or takes
  // those of another column, is wrong everywhere.
  std::vector<unsigned char> input(const Case& c, rung::Dtype dtype, uint64_t seed) const override {
    std::vector<unsigned char> bytes = MatrixOperator::input(c, dtype, seed);
    std::mt19937_64 random(seed * 31 + static_cast<uint64_t>(c.sizes.cols));
    for (const size_t at : {facts::weight_offset(c.sizes, dtype), facts::bias_offset(c.sizes, dtype)}) {
      bytes.resize(at);
      std::vector<float> values(static_cast<size_t>(c.sizes.cols));
      for (float& v : values) {
        const uint64_t drawn = random();
        v = (drawn & 1 ? 1.0f : -1.0f) * (0.5f + static_cast<float>(drawn >> 40) / static_cast<float>(1 << 24));
      }
      const std::vector<unsigned char> encoded = reference::encode(values, dtype);
      bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    }
    return bytes;
  }

  Verdict expect(const Case& c, uint64_t, const std::vector<unsigned char>& input, rung::Dtype dtype) const override {
    const size_t rows = static_cast<size_t>(c.sizes.rows), cols = static_cast<size_t>(c.sizes.cols);
    std::vector<double> y = reference::decode(input.data(), rows * cols, dtype);
    const std::vector<double> weight =
        reference::decode(input.data() + facts::weight_offset(c.sizes, dtype), cols, dtype);
    const std::vector<double> bias = reference::decode(input.data() + facts::bias_offset(c.sizes, dtype), cols, dtype);
    std::vector<double> allowed(y.size());
    for (size_t r = 0; r < rows; r++) {
      double* const row = y.data() + r * cols;
      double sum = 0, squares = 0;
      for (size_t i = 0; i < cols; i++) sum += row[i];
      const double mean = sum / static_cast<double>(cols);
      for (size_t i = 0; i < cols; i++) squares += (row[i] - mean) * (row[i] - mean);
      const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + facts::eps);
      for (size_t i = 0; i < cols; i++) {
        const double scaled = (row[i] - mean) * scale * weight[i];
        row[i] = scaled + bias[i];
        // Single precision knows the mean to some 1e-7 of itself, and the terms of the last sum may cancel.
        if (std::isfinite(row[i]))
          allowed[r * cols + i] =
              1e-5 * (std::fabs(scaled) + std::fabs(bias[i])) + 1e-6 * std::fabs(mean * scale * weight[i]);
      }
    }
    return [y, allowed, cols, dtype](const Outputs& output) {
      return compare_numbers("y", y, allowed, output[0].data(), static_cast<int>(cols), dtype);
    };
  }

  std::vector<Case> hidden_cases(uint64_t seed) const override {
    std::vector<Case> cases = MatrixOperator::hidden_cases(seed);
    for (const auto& [name, values] :
         {std::pair{"hidden-small", Values::small}, std::pair{"hidden-far", Values::plus_1e4}}) {
      cases.push_back(cases.back());
      cases.back().name = name;
      cases.back().values = static_cast<int>(values);
    }
    return cases;
  }

  // Per element an addition for the mean; a subtraction, a multiplication and an addition for the variance; these and a
  // multiplication more for the result.
  double flops(const rung::Sizes& sizes) const override { return 8.0 * sizes.rows * sizes.cols; }

 protected:
  // Rows in which eps shows, and rows whose mean is large beside their deviation.
  std::vector<Case> more_cases() const override {
    return {make("values", "plus_1e4", Values::plus_1e4, {64, 128, {}}),
            make("values", "plus_1e4", Values::plus_1e4, {7, 4096, {}}),
            make("values", "minus_1e4", Values::minus_1e4, {2, 32768, {}}),
            make("values", "plus_1e4", Values::plus_1e4, {1, 200003, {}}),
            make("values", "zeros", Values::zeros, {7, 33, {}}),
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

const LayerNorm layer_norm;
[[maybe_unused]] const bool added = add_operator(layer_norm);

}  // namespace
}  // namespace testing_
