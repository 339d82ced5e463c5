#include <cmath>

#include "norm.h"

namespace testing_ {
namespace {

class LayerNorm : public NormOperator {
 public:
  LayerNorm() : NormOperator(rung::Op::layer_norm) {}

  std::vector<Case> hidden_cases(uint64_t seed) const override {
    std::vector<Case> cases = NormOperator::hidden_cases(seed);
    Case far = cases.back();
    far.name = "hidden-far";
    far.values = static_cast<int>(Values::plus_1e4);
    cases.push_back(far);
    return cases;
  }

  // Per element an addition for the mean; a subtraction, a multiplication and an addition for the variance; these and a
  // multiplication more for the result.
  double flops(const rung::Sizes& sizes) const override { return 8.0 * sizes.rows * sizes.cols; }

 protected:
  void normalise(double* row, double* allowed, const rung::Sizes& sizes, const Weights& weights) const override {
    const size_t cols = static_cast<size_t>(sizes.cols);
    const std::vector<double>&weight = weights[0], &bias = weights[1];
    double sum = 0, squares = 0;
    for (size_t i = 0; i < cols; i++) sum += row[i];
    const double mean = sum / static_cast<double>(cols);
    for (size_t i = 0; i < cols; i++) squares += (row[i] - mean) * (row[i] - mean);
    const double eps = static_cast<double>(rung::eps_of(sizes));
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
    for (size_t i = 0; i < cols; i++) {
      const double scaled = (row[i] - mean) * scale * weight[i];
      row[i] = scaled + bias[i];
      // Single precision knows the mean to some 1e-7 of itself, and the terms of the last sum may cancel.
      allowed[i] = 1e-5 * (std::fabs(scaled) + std::fabs(bias[i])) + 1e-6 * std::fabs(mean * scale * weight[i]);
    }
  }

  // Rows whose mean is large beside their deviation.
  std::vector<Case> more_cases() const override {
    std::vector<Case> cases = {make("values", "plus_1e4", Values::plus_1e4, {64, 128, {}}),
                               make("values", "plus_1e4", Values::plus_1e4, {7, 4096, {}}),
                               make("values", "minus_1e4", Values::minus_1e4, {2, 32768, {}}),
                               make("values", "plus_1e4", Values::plus_1e4, {1, 200003, {}})};
    for (Case& each : NormOperator::more_cases()) cases.push_back(std::move(each));
    return cases;
  }
};

const LayerNorm layer_norm;
[[maybe_unused]] const bool added = add_operator(layer_norm);

}  // namespace
}  // namespace testing_
