#include "norm.h"

#include <cmath>
#include <random>

#include "formats.h"
#include "numbers.h"

namespace testing_ {
namespace {

// The tensors behind the matrix.
std::vector<rung::Tensor> weights_of(const rung::Plan& plan) {
  std::vector<rung::Tensor> weights;
  for (int i = 1; i < plan.count; i++) {
    if (plan.tensors[i].buffer == 0) weights.push_back(plan.tensors[i]);
  }
  return weights;
}

}  // namespace

std::vector<unsigned char> NormOperator::input(const Case& c, rung::Dtype dtype, uint64_t seed) const {
  std::vector<unsigned char> bytes = MatrixOperator::input(c, dtype, seed);
  std::mt19937_64 random((seed * 31 + static_cast<uint64_t>(c.sizes.cols)) ^ hash_of(c.name));
  for (const rung::Tensor& tensor : weights_of(plan(c.sizes, dtype))) {
    std::vector<float> weights(tensor.cols);
    for (float& w : weights) {
      const uint64_t drawn = random();
      w = (drawn & 1 ? 1.0f : -1.0f) * (0.5f + static_cast<float>(drawn >> 40) / static_cast<float>(1 << 24));
    }
    const std::vector<unsigned char> encoded = reference::encode(weights, dtype);
    bytes.resize(tensor.offset);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  }
  return bytes;
}

Verdict NormOperator::expect(const Case& c, uint64_t, const std::vector<unsigned char>& input,
                             rung::Dtype dtype) const {
  const size_t rows = static_cast<size_t>(c.sizes.rows), cols = static_cast<size_t>(c.sizes.cols);
  Weights weights;
  for (const rung::Tensor& tensor : weights_of(plan(c.sizes, dtype)))
    weights.push_back(reference::decode(input.data() + tensor.offset, tensor.cols, dtype));
  std::vector<double> y = reference::decode(input.data(), rows * cols, dtype), allowed(y.size());
  for (size_t r = 0; r < rows; r++) normalise(y.data() + r * cols, allowed.data() + r * cols, c.sizes, weights);
  for (size_t i = 0; i < y.size(); i++) {
    if (!std::isfinite(y[i])) allowed[i] = 0;
  }
  return [y, allowed, cols, dtype](const Outputs& output) {
    return compare_numbers("", y, allowed, output[0].data(), static_cast<int>(cols), dtype);
  };
}

std::vector<Case> NormOperator::hidden_cases(uint64_t seed) const {
  std::vector<Case> cases = MatrixOperator::hidden_cases(seed);
  Case small = cases.back();
  small.name = "hidden-small";
  small.values = static_cast<int>(Values::small);
  cases.push_back(small);
  return cases;
}

std::vector<Case> NormOperator::more_cases() const {
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

}  // namespace testing_
