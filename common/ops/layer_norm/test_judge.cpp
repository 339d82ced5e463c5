// LayerNorm's reference and comparison: a case by hand, and what is wrong.
#include <cmath>

#include "catch2_any.h"

#include "formats.h"
#include "operator.h"

using namespace testing_;
using rung::Dtype;

namespace {

// Two rows, (1, 3) and (2, 2), with weights 1 and -2 and biases 0.5 and 4, as the input buffer has them.
std::vector<unsigned char> input_of(Dtype dtype) {
  std::vector<unsigned char> bytes = reference::encode(std::vector<float>{1, 3, 2, 2}, dtype);
  const auto append = [&](size_t at, const std::vector<float>& values) {
    bytes.resize(at);
    const std::vector<unsigned char> encoded = reference::encode(values, dtype);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  };
  append(rung::layer_norm_operator::weight_offset({2, 2, {}}, dtype), {1, -2});
  append(rung::layer_norm_operator::bias_offset({2, 2, {}}, dtype), {0.5f, 4});
  return bytes;
}

std::string said_of(const std::vector<float>& y, Dtype dtype) {
  Case c;
  c.sizes = {2, 2, {}};
  Outputs output;
  output[0] = reference::encode(y, dtype);
  return operator_of(rung::Op::layer_norm).expect(c, 0, input_of(dtype), dtype)(output).explanation;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("LayerNorm by hand: 1 and 3 are one deviation from 2; equal numbers become the biases", "[compare]") {
  const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16);
  const float one = 0.999997f;  // 1 / sqrt(1 + eps)
  CHECK(said_of({0.5f - one, 4 - 2 * one, 0.5f, 4}, dtype).empty());
  CHECK(contains(said_of({0.5f - one, 4 + 2 * one, 0.5f, 4}, dtype), "far off"));
  CHECK(contains(said_of({-one, -2 * one, 0, 0}, dtype), "far off"));
  CHECK(contains(said_of({0.5f - one, 4 - 2 * one, NAN, 4}, dtype), "NaN where a number is expected"));
  CHECK_FALSE(said_of({0.5f - one * 0.7071f, 4 - 2 * one * 0.7071f, 0.5f, 4}, dtype).empty());  // divided by n - 1
}

TEST_CASE("LayerNorm's cases have rows whose mean is large, and rows in which eps shows, hidden ones too", "[cases]") {
  const Operator& op = operator_of(rung::Op::layer_norm);
  const auto has = [](const std::vector<Case>& cases, const std::string& part) {
    for (const Case& c : cases) {
      if (contains(c.name, part)) return true;
    }
    return false;
  };
  CHECK(has(op.cases(), "zeros-"));
  CHECK(has(op.cases(), "plus_1e4-7x4096"));
  CHECK(has(op.hidden_cases(7), "hidden-small"));
  CHECK(has(op.hidden_cases(7), "hidden-far"));
}
