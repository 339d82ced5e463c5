// The reference against values worked out by hand, and the formats against their definitions.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "catch2_any.h"
#include "formats.h"
#include "reference.h"

using rung::Dtype;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool near(double a, double b) { return std::fabs(a - b) <= 1e-15; }

// A 16-bit number from its definition: sign, exponent, fraction.
double value_of(unsigned bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & top;
  const double fraction = std::ldexp(static_cast<double>(bits & ((1u << fraction_bits) - 1)), -fraction_bits);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == top) return fraction == 0 ? sign * inf : not_a_number;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1 + fraction, exponent - bias);
}

}  // namespace

TEST_CASE("softmax of rows worked out by hand", "[reference]") {
  // exp: 1, 2, 5 over 8; a constant row; a logit shift changes nothing.
  const double ln2 = std::log(2.0), ln5 = std::log(5.0);
  const auto y = reference::softmax({0, ln2, ln5, 7, 7, 7, 1e4, 1e4 + ln2, 1e4 + ln5}, 3, 3);
  CHECK(near(y[0], 0.125));
  CHECK(near(y[1], 0.25));
  CHECK(near(y[2], 0.625));
  CHECK(near(y[3], 1.0 / 3));
  CHECK(near(y[5], 1.0 / 3));
  CHECK(std::fabs(y[7] - 0.25) < 1e-11);  // 1e4 + ln 2 is not exact
}

TEST_CASE("softmax of masked, infinite and NaN rows", "[reference]") {
  const auto y = reference::softmax({0, -inf, 0, -inf, -inf, -inf, 1, inf, 1, not_a_number, 1, -inf}, 4, 3);
  CHECK(y[0] == 0.5);
  CHECK(y[1] == 0);
  CHECK(y[2] == 0.5);
  for (size_t i = 3; i < 6; i++) CHECK(y[i] == 0);
  for (size_t i = 6; i < 12; i++) CHECK(std::isnan(y[i]));
  CHECK(reference::softmax({}, 0, 5).empty());
}

TEST_CASE("top-K: order, ties, masks, NaN", "[reference]") {
  const double ln2 = std::log(2.0);
  auto top = reference::softmax_topk({0, ln2, 0, ln2, -inf, -inf}, 1, 6, 5);
  CHECK(top.index == std::vector<int>{1, 3, 0, 2, 4});
  CHECK(near(top.probability[0], 1.0 / 3));
  CHECK(near(top.probability[2], 1.0 / 6));
  CHECK(top.probability[4] == 0);

  top = reference::softmax_topk({-inf, -inf, -inf, 5, not_a_number, 6}, 2, 3, 2);
  CHECK(top.index[0] == 0);
  CHECK(top.index[1] == 1);
  CHECK(top.probability[0] == 0);
  CHECK(std::isnan(top.probability[2]));
  CHECK(std::isnan(top.probability[3]));

  // Their probabilities are equal in double precision, their logits are not.
  top = reference::softmax_topk({-2000, -1999, 0}, 1, 3, 3);
  CHECK(top.index == std::vector<int>{2, 1, 0});
}

TEST_CASE("every f16 and bf16 number is decoded exactly", "[reference]") {
  const bool half = GENERATE(true, false);
  const Dtype dtype = half ? Dtype::f16 : Dtype::bf16;
  std::vector<uint16_t> bits(65536);
  for (unsigned i = 0; i < 65536; i++) bits[i] = static_cast<uint16_t>(i);
  const std::vector<double> values = reference::decode(bits.data(), bits.size(), dtype);
  int wrong = 0;
  for (unsigned i = 0; i < 65536; i++) {
    const double expected = half ? value_of(i, 5, 10) : value_of(i, 8, 7);
    wrong += std::isnan(expected) ? !std::isnan(values[i]) : values[i] != expected;
  }
  CHECK(wrong == 0);

  // And back: each is its own rounding.
  const std::vector<float> floats(values.begin(), values.end());
  const std::vector<unsigned char> encoded = reference::encode(floats, dtype);
  for (unsigned i = 0; i < 65536; i++) {
    uint16_t back;
    memcpy(&back, &encoded[2 * i], 2);
    wrong += !std::isnan(values[i]) && back != bits[i];
  }
  CHECK(wrong == 0);
}

TEST_CASE("encoding rounds to the nearest, ties to even", "[reference]") {
  const float ulp = 1.0f / 1024;  // of f16 between 1 and 2
  const std::vector<float> x = {1 + ulp / 2, 1 + 1.5f * ulp, 1 + 0.501f * ulp, 65519, 65520};
  const auto values = reference::decode(reference::encode(x, Dtype::f16).data(), x.size(), Dtype::f16);
  CHECK(values == std::vector<double>{1, 1 + 2.0 / 1024, 1 + 1.0 / 1024, 65504, inf});
}

TEST_CASE("half an ulp, subnormal numbers included", "[reference]") {
  CHECK(reference::half_ulp(1, Dtype::f16) == std::ldexp(1, -11));
  CHECK(reference::half_ulp(-1.99, Dtype::f16) == std::ldexp(1, -11));
  CHECK(reference::half_ulp(2, Dtype::f16) == std::ldexp(1, -10));
  CHECK(reference::half_ulp(1e-7, Dtype::f16) == std::ldexp(1, -25));
  CHECK(reference::half_ulp(0, Dtype::f16) == std::ldexp(1, -25));
  CHECK(reference::half_ulp(1, Dtype::bf16) == std::ldexp(1, -8));
  CHECK(reference::half_ulp(1, Dtype::f32) == std::ldexp(1, -24));
}
