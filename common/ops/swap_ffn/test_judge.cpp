// The comparison of lab 07's operator: passes what is right, and says what kind of wrong the rest is.
#include "catch2_any.h"

#include <cmath>
#include <cstring>
#include <set>

#include "formats.h"
#include "swap_ffn/judge.h"

using namespace testing_;
using rung::Dtype;

namespace {

constexpr rung::SwapFfnSizes sizes = {32, 64, 6, 3, 1, 16, 2, 24};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The reference's own result as a variant would have written it.
struct Output {
  Dtype dtype;
  reference::SwapFfnStep step = reference::swap_ffn_step(sizes, 1);
  rung::SwapFfnLayout layout;
  std::vector<unsigned char> delta, ram_and_lanes;

  explicit Output(Dtype dtype) : dtype(dtype), layout(layout_of(sizes, static_cast<size_t>(rung::bytes_of(dtype)))) {
    const reference::SwapFfnResult& result = step.result;
    delta = reference::encode(std::vector<float>(result.delta.begin(), result.delta.end()), Dtype::f32);
    ram_and_lanes.resize(layout.output_bytes[1]);
    const auto ram = reference::encode(std::vector<float>(result.ram.begin(), result.ram.end()), dtype);
    memcpy(ram_and_lanes.data() + layout.ram.offset, ram.data(), ram.size());
    memcpy(ram_and_lanes.data() + layout.lanes.offset, result.lanes.data(), result.lanes.size());
  }

  // Multiplies a number of RAM.
  void scale(size_t index, float factor) {
    const size_t bytes = static_cast<size_t>(rung::bytes_of(dtype));
    unsigned char* const at = ram_and_lanes.data() + layout.ram.offset + index * bytes;
    const auto value = static_cast<float>(reference::decode(at, 1, dtype)[0]);
    memcpy(at, reference::encode(std::vector<float>{value * factor}, dtype).data(), bytes);
  }
  size_t first_bank(bool exchanged) const {
    size_t bank = 0;
    while (step.result.ram_exchanged[bank] != exchanged) bank++;
    return bank;
  }
  Comparison compare() const { return compare_swap_ffn(step, delta, ram_and_lanes, dtype); }
};

}  // namespace

TEST_CASE("a Swap-FFN step: the reference, rounded, is right; nothing else is", "[compare]") {
  const Dtype dtype = GENERATE(Dtype::f32, Dtype::bf16);
  Output output(dtype);
  CHECK(output.compare().explanation.empty());

  SECTION("a number that is far off") {
    output.scale(output.first_bank(true) * 32 + 5, -1);
    CHECK(contains(output.compare().explanation, "1 of 806 elements wrong: far off (logic?)"));
    CHECK(contains(output.compare().explanation, "element 5: expected "));
    CHECK_FALSE(contains(output.compare().without_values, "expected "));
  }
  SECTION("a bank that no exchange touched, off by a little") {
    output.scale(output.first_bank(false) * 32, 1.01f);
    CHECK(contains(output.compare().explanation, "changed without an exchange"));
  }
  SECTION("a whole row that is off by less than any of its numbers may be") {
    for (size_t i = 0; i < 32; i++)
      output.scale(output.first_bank(true) * 32 + i, dtype == Dtype::f32 ? 1.0005f : 1.03f);
    CHECK(contains(output.compare().explanation, "slightly off (rounding?)"));
    CHECK(contains(output.compare().explanation, "its errors are "));
  }
  SECTION("lanes") {
    output.ram_and_lanes[output.layout.lanes.offset + 3] ^= 0b0101;
    CHECK(contains(output.compare().explanation, "the lanes of core 3: expected "));
    CHECK(contains(output.compare().explanation, "\n1 of 806 elements wrong: wrong lanes"));
  }
  SECTION("nothing written") {
    output.delta.assign(output.delta.size(), 0xFF);
    output.ram_and_lanes.assign(output.ram_and_lanes.size(), 0xFF);
    CHECK(output.compare().never_written());
  }
  SECTION("NaN that was written") {
    const float not_a_number = std::numeric_limits<float>::quiet_NaN();
    memcpy(output.delta.data() + 4, &not_a_number, 4);
    CHECK(contains(output.compare().explanation, "delta, element 1: expected "));
    CHECK(contains(output.compare().explanation, "got NaN"));
  }
}

TEST_CASE("delta is held against what it would be if its sums did not cancel out", "[compare]") {
  const rung::SwapFfnSizes square = {64, 64, 3, 1, 1, 8, 1, 1};
  uint64_t seed = 0;
  const auto ratio = [](const reference::SwapFfnStep& step) {
    double squares = 0;
    for (const double x : step.result.delta) squares += x * x / 64;
    return std::sqrt(squares) / step.result.delta_scale;
  };
  while (ratio(reference::swap_ffn_step(square, seed)) > 0.05) REQUIRE(++seed < 1000);
  const reference::SwapFfnStep step = reference::swap_ffn_step(square, seed);
  const rung::SwapFfnLayout layout = layout_of(square, 2);
  std::vector<unsigned char> ram_and_lanes(layout.output_bytes[1]);
  const auto ram = reference::encode(std::vector<float>(step.result.ram.begin(), step.result.ram.end()), Dtype::bf16);
  memcpy(ram_and_lanes.data() + layout.ram.offset, ram.data(), ram.size());
  memcpy(ram_and_lanes.data() + layout.lanes.offset, step.result.lanes.data(), step.result.lanes.size());
  const auto off_by = [&](double share) {  // of delta's scale
    std::vector<float> delta;
    for (const double x : step.result.delta) delta.push_back(static_cast<float>(x + share * step.result.delta_scale));
    return compare_swap_ffn(step, reference::encode(delta, Dtype::f32), ram_and_lanes, Dtype::bf16);
  };
  CHECK(off_by(0.01).explanation.empty());  // a fifth of delta and more
  CHECK(contains(off_by(0.03).explanation, "slightly off (rounding?)"));
  CHECK(contains(off_by(1).explanation, "far off (logic?)"));
}

TEST_CASE("the cases of a Swap-FFN step: valid data, each name once, hidden ones by seed", "[cases]") {
  std::set<std::string> names;
  for (const auto& cases : {swap_ffn_cases(), hidden_swap_ffn_cases(3)}) {
    for (const Case& c : cases) {
      INFO(c.name);
      CHECK(names.insert(c.name).second);
      CHECK(valid(rung::swap_ffn_sizes(c.sizes)));
      CHECK((c.must_refuse && c.null_argument == rung::Job::Null::none) == !valid(rung::swap_ffn_sizes(c.called_with)));
    }
  }
  std::set<int> cores;
  for (uint64_t seed = 0; seed < 20; seed++) cores.insert(hidden_swap_ffn_cases(seed)[1].sizes.rows);
  CHECK(cores.size() > 3);
}
