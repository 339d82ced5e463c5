// RMSNorm's reference and comparison: a case by hand, and what is wrong.
#include <cmath>

#include "catch2_any.h"

#include "formats.h"
#include "operator.h"

using namespace testing_;
using rung::Dtype;

namespace {

// Two rows, (3, 4) and (0, 0), with weights 1 and -2, as the input buffer has them.
std::vector<unsigned char> input_of(Dtype dtype) {
  std::vector<unsigned char> bytes = reference::encode(std::vector<float>{3, 4, 0, 0}, dtype);
  bytes.resize(rung::rms_norm_operator::weight_offset({2, 2, {}}, dtype));
  const std::vector<unsigned char> weights = reference::encode(std::vector<float>{1, -2}, dtype);
  bytes.insert(bytes.end(), weights.begin(), weights.end());
  return bytes;
}

std::string said_of(const std::vector<float>& y, Dtype dtype) {
  Case c;
  c.sizes = {2, 2, {}};
  Outputs output;
  output[0] = reference::encode(y, dtype);
  return operator_of(rung::Op::rms_norm).expect(c, 0, input_of(dtype), dtype)(output).explanation;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("RMSNorm by hand: 3 and 4 over the root of 12.5", "[compare]") {
  const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16);
  const float scale = 0.28284260f;  // 1 / sqrt(12.5 + eps)
  CHECK(said_of({3 * scale, -8 * scale, 0, 0}, dtype).empty());
  CHECK(contains(said_of({3 * scale, 8 * scale, 0, 0}, dtype), "far off"));
  CHECK(contains(said_of({3 * scale, -4 * scale, 0, 0}, dtype), "far off"));
  CHECK(contains(said_of({3 * scale, -8 * scale, 0, NAN}, dtype), "NaN where a number is expected"));
  // As the other labs have it: the first, then how many of which kind, then where.
  CHECK(contains(said_of({3 * scale, 8 * scale, 0, 0}, Dtype::f32),
                 "row 0, column 1: expected -2.262741, got 2.262741\n1 of 4 elements wrong: far off (logic?)\n"
                 "wrong only in row 0\nwrong only in column 1, the last one\n"));
  CHECK(contains(said_of({3 * scale, -8 * scale, 0, NAN}, dtype), "1 of 4 elements wrong: NaN where a number"));
  CHECK_FALSE(said_of({3 * scale * 1.02f, -8 * scale, 0, 0}, dtype).empty());
}

TEST_CASE("RMSNorm's cases have rows in which eps shows, hidden ones too", "[cases]") {
  const Operator& op = operator_of(rung::Op::rms_norm);
  const auto has = [](const std::vector<Case>& cases, const std::string& part) {
    for (const Case& c : cases) {
      if (contains(c.name, part)) return true;
    }
    return false;
  };
  CHECK(has(op.cases(), "zeros-"));
  CHECK(has(op.cases(), "small-"));
  CHECK(has(op.hidden_cases(7), "hidden-small"));
}

TEST_CASE("of a hidden wide row of odd width the ends are a part of the sum that halves show", "[cases]") {
  const Operator& op = operator_of(rung::Op::rms_norm);
  for (uint64_t seed = 0; seed < 5; seed++) {
    for (const Case& c : op.hidden_cases(seed)) {
      if (c.name != "hidden-wide-odd") continue;
      const size_t cols = static_cast<size_t>(c.sizes.cols);
      CHECK(c.sizes.rows > 1);  // the first row begins at a multiple of 16 bytes
      const std::vector<double> x = reference::decode(op.input(c, Dtype::f32, seed).data(), cols, Dtype::f32);
      double sum = 0, ends = 0;
      for (size_t i = 0; i < cols; i++) {
        sum += x[i] * x[i];
        if (i < 1 || cols - i <= 6) ends += x[i] * x[i];  // seven, as many as may be left out of halves
      }
      CHECK(ends / sum > 1e-3);
    }
  }
}
