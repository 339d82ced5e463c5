// Cross-entropy's reference and comparison: a case by hand, and what is wrong.
#include <cmath>
#include <cstring>
#include <limits>

#include "catch2_any.h"

#include "formats.h"
#include "operator.h"

using namespace testing_;
using rung::Dtype;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float scale = 5.0f / 7;  // of four rows

// (0, log 3), (0, -inf), (-inf, -inf) and (NaN, 0) with targets 1, 1, 0 and -100, as the input buffer has them. log 3
// is rounded to the type.
std::vector<unsigned char> input_of(Dtype dtype) {
  const float third = std::log(3.0f);
  std::vector<unsigned char> bytes =
      reference::encode(std::vector<float>{0, third, 0, -infinity, -infinity, -infinity, NAN, 0}, dtype);
  bytes.resize(rung::cross_entropy_operator::target_offset({4, 2, {1}}, dtype));
  const int64_t targets[] = {1, 1, 0, -100};
  bytes.resize(bytes.size() + sizeof targets);
  std::memcpy(bytes.data() + bytes.size() - sizeof targets, targets, sizeof targets);
  return bytes;
}

std::string said_of(const std::vector<float>& loss, const std::vector<float>& gradient, Dtype dtype, int wanted = 1,
                    std::vector<unsigned char> input = {}) {
  if (input.empty()) input = input_of(dtype);
  Case c;
  c.sizes = {4, 2, {wanted}};
  Outputs output;
  output[0] = reference::encode(gradient, dtype);
  output[1] = reference::encode(loss, Dtype::f32);
  return operator_of(rung::Op::cross_entropy).expect(c, 0, input, dtype)(output).explanation;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

float loss_of_three(Dtype dtype) {
  const double third = reference::decode(input_of(dtype).data(), 2, dtype)[1];
  return static_cast<float>(std::log1p(std::exp(-third)));
}

}  // namespace

TEST_CASE("cross-entropy by hand: three quarters, a masked target, nothing but masks, an ignored row", "[compare]") {
  const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16);
  const float p = std::exp(-loss_of_three(dtype));
  const std::vector<float> loss = {loss_of_three(dtype), infinity, infinity, 0};
  const std::vector<float> gradient = {(1 - p) * scale, (p - 1) * scale, scale, -scale, -scale, 0, 0, 0};
  CHECK(std::fabs(p - 0.75f) < 0.01f);
  CHECK(said_of(loss, gradient, dtype).empty());
  CHECK(said_of(loss, {}, dtype, 0).empty());

  const auto changed = [](std::vector<float> values, size_t at, float to) {
    values[at] = to;
    return values;
  };
  CHECK(contains(said_of(changed(loss, 0, loss[0] * 1.01f), gradient, dtype), "loss, row 0: expected "));
  CHECK(contains(said_of(changed(loss, 2, NAN), gradient, dtype), "NaN where a number is expected"));
  CHECK(contains(said_of(changed(loss, 3, 1e-3f), gradient, dtype), "loss, row 3"));
  CHECK(contains(said_of(loss, changed(gradient, 1, p * scale), dtype), "gradient, row 0, column 1"));
  CHECK(contains(said_of(loss, changed(gradient, 7, NAN), dtype), "gradient, row 3, column 1"));
  // Which elements are wrong, as far as they are special.
  CHECK(contains(said_of(loss, changed(gradient, 1, p * scale), dtype), "\nwrong only in targets, in 1 of 3\n"));
  CHECK(contains(said_of(loss, changed(gradient, 7, NAN), dtype),
                 "\nwrong only in elements of ignored rows, in 1 of 2\n"));
  CHECK(contains(said_of(loss, changed(gradient, 5, 1), dtype), "\nwrong only in masked elements, in 1 of 3\n"));
  CHECK(contains(said_of(changed(loss, 3, 1), gradient, dtype), "\nwrong only in ignored rows, in all of them\n"));
  CHECK(contains(said_of(changed(loss, 1, 1), gradient, dtype),
                 "\nwrong only in rows with a masked target, in 1 of 2\n"));
  CHECK(!contains(said_of(loss, changed(changed(gradient, 1, 9), 0, 9), dtype), "targets"));
  // The row with a NaN, not ignored: a number is not what must be there.
  std::vector<unsigned char> judged = input_of(dtype);
  const int64_t first = 0;
  std::memcpy(judged.data() + judged.size() - sizeof first, &first, sizeof first);
  const std::vector<float> nan_row = {gradient[0], gradient[1], gradient[2], gradient[3], gradient[4], 0, NAN, NAN};
  CHECK(said_of(changed(loss, 3, NAN), nan_row, dtype, 1, judged).empty());
  CHECK(
      contains(said_of(changed(loss, 3, infinity), nan_row, dtype, 1, judged),
               "loss, row 3: expected NaN, got inf\nloss: 1 of 4 elements wrong: NaN not spread over the whole row\n"));
  const std::string both = said_of(changed(loss, 0, 7), changed(gradient, 0, 7), dtype);
  CHECK(contains(both, "loss, row 0"));
  CHECK(contains(both, "gradient, row 0, column 0"));
  CHECK(contains(both, "gradient: 1 of 8 elements wrong: far off (logic?)"));
}

TEST_CASE("cross-entropy's cases: with and without the gradient, ignored rows, hidden ones too", "[cases]") {
  const Operator& op = operator_of(rung::Op::cross_entropy);
  for (const std::vector<Case>& cases : {op.cases(), op.hidden_cases(7)}) {
    size_t alone = 0, with_ignored = 0;
    for (const Case& c : cases) {
      CHECK(c.name != "null-gradient");
      if (c.must_refuse || c.group == "contract") continue;
      alone += !c.sizes.more[0];
      const std::vector<unsigned char> input = op.input(c, Dtype::f32, 3);
      const size_t at = rung::cross_entropy_operator::target_offset(c.sizes, Dtype::f32);
      std::vector<int64_t> targets(static_cast<size_t>(c.sizes.rows));
      std::memcpy(targets.data(), input.data() + at, targets.size() * sizeof(int64_t));
      bool ignored = false, sound = true;
      for (const int64_t target : targets) {
        ignored = ignored || target == -100;
        sound = sound && (target == -100 || (target >= 0 && target < c.sizes.cols));
      }
      CHECK(sound);
      with_ignored += ignored;
    }
    CHECK(alone >= 10);
    CHECK(with_ignored >= 10);
  }
}
