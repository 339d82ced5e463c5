#include "swap_ffn/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "formats.h"
#include "operator.h"

namespace testing_ {
namespace {

using reference::SwapFfnStep;
using rung::Dtype;
using rung::Job;
using rung::SwapFfnSizes;

// Case::values: how large the states are. A norm without its epsilon, with another, or with one beside the root instead
// of under it, differs only where the mean of the squares is near epsilon.
enum Values {
  ordinary,
  tiny,   // mean of the squares 1.5 epsilon: what goes into the FFN is a quarter smaller for it
  tinier  // 0.02 epsilon: so does what goes into the router, and decisions change
};
constexpr float magnitudes[] = {1, 0x1p-10f, 0x1p-13f};

struct Named {
  const char *group, *name;
  SwapFfnSizes sizes;
  Values values = ordinary;
};

// d_model, d_ff, cores, events, ffn_steps, d_router, collapse_k, collapse_r. One core has a wide FFN, so that what is
// written for the cores that its tile lacks is past the end of the workspace.
const Named named[] = {
    {"sizes", "small", {32, 64, 8, 2, 2, 16, 2, 24}},
    {"sizes", "square", {64, 64, 3, 1, 1, 8, 1, 1}},
    {"sizes", "odd-multiples", {96, 160, 5, 2, 1, 24, 3, 33}},
    {"sizes", "wide-ffn", {64, 608, 4, 1, 1, 64, 8, 40}},
    {"sizes", "wide-model", {256, 288, 3, 1, 1, 128, 2, 7}},
    {"cores", "one-core", {32, 512, 1, 2, 1, 16, 2, 24}},
    {"cores", "15-cores", {32, 64, 15, 1, 1, 16, 2, 24}},
    {"cores", "16-cores", {32, 64, 16, 1, 1, 16, 2, 24}},
    {"cores", "17-cores", {32, 64, 17, 2, 1, 16, 2, 24}},
    {"cores", "70-cores", {32, 64, 70, 1, 1, 16, 2, 24}},
    {"events", "no-event", {32, 64, 4, 0, 2, 16, 2, 24}},
    {"events", "router-only", {32, 64, 20, 4, 0, 16, 2, 24}},
    {"events", "many-swaps", {32, 32, 17, 8, 1, 16, 2, 24}},
    {"events", "whole-chain", {32, 64, 6, 8, 2, 16, 2, 24}},
    {"values", "tiny-states", {32, 64, 5, 1, 1, 16, 2, 24}, tiny},
    {"values", "tiny-states-routed", {32, 64, 24, 3, 0, 16, 2, 24}, tinier},
};

Case make(const std::string& group, const std::string& name, const SwapFfnSizes& sizes) {
  Case c;
  c.name = name;
  c.group = group;
  set_sizes(&c, sizes);
  return c;
}

// What the variant is called with differs from its data in this number.
void change(Case& c, int32_t SwapFfnSizes::*number, int32_t value) {
  SwapFfnSizes sizes = rung::swap_ffn_sizes(c.sizes);
  sizes.*number = value;
  c.called_with = rung::sizes_of(sizes);
}

std::vector<Case> contract_cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* name, auto change) {
    Case c = make("contract", name, {32, 64, 8, 1, 1, 16, 2, 24});
    c.must_refuse = true;
    change(c);
    cases.push_back(c);
  };
  add("null-inputs", [](Case& c) { c.null_argument = Job::Null::input; });
  add("null-delta", [](Case& c) { c.null_argument = Job::Null::output; });
  add("null-ram", [](Case& c) { c.null_argument = Job::Null::second_output; });
  add("no-cores", [](Case& c) { change(c, &SwapFfnSizes::cores, 0); });
  add("negative-d-model", [](Case& c) { change(c, &SwapFfnSizes::d_model, -32); });
  add("d-model-33", [](Case& c) { change(c, &SwapFfnSizes::d_model, 33); });
  add("d-ff-33", [](Case& c) { change(c, &SwapFfnSizes::d_ff, 33); });
  add("negative-events", [](Case& c) { change(c, &SwapFfnSizes::events, -1); });
  return cases;
}

uint64_t number_of(const std::string& name, uint64_t seed) {
  uint64_t hash = 14695981039346656037u ^ seed;
  for (const unsigned char c : name) hash = (hash ^ c) * 1099511628211u;
  return hash >> 20;
}

int drawn(std::mt19937_64& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<uint64_t>(most - least + 1));
}

// ---- The comparison ------------------------------------------------------------------------------

struct Limits {
  double of_row, of_element, row;
};

std::string number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.6g", value);
  return std::isnan(value) ? "NaN" : text;
}

bool is_poison(const unsigned char* bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](unsigned char b) { return b == 0xFF; });
}

// What is wrong so far; the first mistake is told in full.
struct Findings {
  Comparison result;
  std::string first, first_without_values;
  size_t far = 0, slight = 0, untouched = 0, lanes = 0;

  void add(const std::string& where, const std::string& values) {
    result.wrong++;
    if (!first.empty()) return;
    first = where + ": " + values;
    first_without_values = where;
  }
};

// A row of numbers against the reference. exact: it must be the reference's, bit for bit. scale: errors are held
// against this where it is more than the row's root mean square.
void compare_row(Findings* findings, const std::string& name, const double* expected, const unsigned char* got,
                 size_t count, Dtype dtype, Limits limits, bool exact, double scale = 0) {
  const std::vector<double> values = reference::decode(got, count, dtype);
  const size_t bytes = static_cast<size_t>(rung::bytes_of(dtype));
  double squares = 0, errors = 0;
  for (size_t i = 0; i < count; i++) {
    squares += expected[i] * expected[i];
    errors += (values[i] - expected[i]) * (values[i] - expected[i]);
  }
  const double rms = std::max(scale, std::sqrt(squares / static_cast<double>(count)));
  bool any_wrong = false;
  for (size_t i = 0; i < count; i++) {
    findings->result.total++;
    const double difference = std::fabs(values[i] - expected[i]);
    const double allowed = limits.of_row * rms + limits.of_element * std::fabs(expected[i]);
    if (difference <= (exact ? 0 : allowed)) continue;
    any_wrong = true;
    const std::string where = name + ", element " + std::to_string(i);
    if (std::isnan(values[i]) && is_poison(got + i * bytes, bytes)) {
      findings->result.unwritten++;
      findings->add(where, "never written");
      continue;
    }
    if (exact && difference < rms * 1e-1) {
      findings->untouched++;
    } else if (difference <= 4 * allowed) {
      findings->slight++;
    } else {
      findings->far++;
    }
    findings->add(
        where, "expected " + number(expected[i]) + (exact ? " as before the step" : "") + ", got " + number(values[i]));
  }
  const double row = std::sqrt(errors / static_cast<double>(count)) / rms;
  if (any_wrong || row <= (exact ? 0 : limits.row)) return;
  findings->slight++;
  findings->add(name,
                "its errors are " + number(row) + " of its root mean square; " + number(limits.row) + " is allowed");
}

std::string text_of(uint8_t lanes) {
  std::string text;
  for (int i = 0; i < rung::swap_ffn_banks; i++) text += (i ? " " : "") + std::to_string(lanes >> 2 * i & 3);
  return text;
}

}  // namespace

void set_sizes(Case* c, const SwapFfnSizes& sizes) { c->sizes = c->called_with = rung::sizes_of(sizes); }

std::vector<Case> swap_ffn_cases() {
  std::vector<Case> cases;
  for (const Named& n : named) {
    cases.push_back(make(n.group, n.name, n.sizes));
    cases.back().values = n.values;
  }
  for (Case& c : contract_cases()) cases.push_back(std::move(c));
  return cases;
}

std::vector<Case> hidden_swap_ffn_cases(uint64_t seed) {
  std::mt19937_64 random(seed * 77 + 5);
  const int steps = drawn(random, 1, 2);
  return {
      make("hidden", "hidden-few-cores", {64, 32 * drawn(random, 2, 5), drawn(random, 2, 7), 2, 3, 16, 2, 24}),
      make("hidden", "hidden-two-tiles", {32, 96, drawn(random, 18, 30), drawn(random, 1, 3), 1, 24, 3, 17}),
      make("hidden", "hidden-odd-sizes", {96, 32 * drawn(random, 3, 6), drawn(random, 3, 9), 1, steps, 40, 5, 19}),
      make("hidden", "hidden-many-events", {32, 64, drawn(random, 9, 14), drawn(random, 5, 7), 1, 8, 2, 9}),
  };
}

const SwapFfnStep& step_of(const Case& c, uint64_t seed) {
  static std::map<std::pair<std::string, uint64_t>, SwapFfnStep> steps;
  const auto key = std::make_pair(c.name, seed);
  auto found = steps.find(key);
  if (found == steps.end())
    found = steps
                .emplace(key, reference::swap_ffn_step(rung::swap_ffn_sizes(c.sizes), number_of(c.name, seed),
                                                       magnitudes[c.values]))
                .first;
  return found->second;
}

Comparison compare_swap_ffn(const SwapFfnStep& step, const std::vector<unsigned char>& delta,
                            const std::vector<unsigned char>& ram_and_lanes, Dtype dtype) {
  const SwapFfnSizes& s = step.sizes;
  const size_t element = static_cast<size_t>(rung::bytes_of(dtype)), d = static_cast<size_t>(s.d_model);
  const rung::SwapFfnLayout layout = layout_of(s, element);
  const Limits limits = dtype == Dtype::f32 ? Limits{1e-3, 1e-3, 2e-4} : Limits{0.06, 0.04, 0.02};
  Findings findings;
  const unsigned char* lanes = ram_and_lanes.data() + layout.lanes.offset;
  for (size_t c = 0; c < static_cast<size_t>(s.cores); c++) {
    findings.result.total++;
    if (lanes[c] == step.result.lanes[c]) continue;
    const std::string where = "the lanes of core " + std::to_string(c);
    if (lanes[c] == 0xFF) {
      findings.result.unwritten++;
      findings.add(where, "never written");
      continue;
    }
    findings.lanes++;
    findings.add(where, "expected " + text_of(step.result.lanes[c]) + ", got " + text_of(lanes[c]) +
                            "; before the step " + text_of(step.lanes[c]));
  }
  for (size_t bank = 0; bank < static_cast<size_t>(s.cores) * rung::swap_ffn_banks; bank++) {
    const std::string name = "RAM of core " + std::to_string(bank / rung::swap_ffn_banks) + ", bank " +
                             std::to_string(bank % rung::swap_ffn_banks);
    compare_row(&findings, name, step.result.ram.data() + bank * d,
                ram_and_lanes.data() + layout.ram.offset + bank * d * element, d, dtype, limits,
                !step.result.ram_exchanged[bank]);
  }
  compare_row(&findings, "delta", step.result.delta.data(), delta.data(), d, Dtype::f32, limits, false,
              step.result.delta_scale);

  Comparison& result = findings.result;
  if (result.wrong == 0) return result;
  const std::pair<size_t, const char*> kinds[] = {{result.unwritten, "never written"},
                                                  {findings.lanes, "wrong lanes"},
                                                  {findings.far, "far off (logic?)"},
                                                  {findings.untouched, "changed without an exchange"},
                                                  {findings.slight, "slightly off (rounding?)"}};
  for (const auto& [count, kind] : kinds) {
    if (count) result.kinds += (result.kinds.empty() ? "" : ", ") + std::string(kind);
  }
  const std::string summary =
      std::to_string(result.wrong) + " of " + std::to_string(result.total) + " elements wrong: " + result.kinds + "\n";
  result.explanation = findings.first + "\n" + summary;
  result.without_values = findings.first_without_values + "\n" + summary;
  return result;
}

namespace {

class SwapFfn : public Operator {
 public:
  SwapFfn() : Operator(rung::Op::swap_ffn) {}

  std::vector<Case> cases() const override { return swap_ffn_cases(); }
  std::vector<Case> hidden_cases(uint64_t seed) const override { return hidden_swap_ffn_cases(seed); }
  Case integrity_case(uint64_t seed) const override {
    std::mt19937_64 random(seed * 91 + 3);
    return make("integrity", "integrity-memory", {32, 64, drawn(random, 5, 12), 2, 1, 16, 2, 24});
  }

  std::vector<unsigned char> input(const Case& c, Dtype dtype, uint64_t seed) const override {
    return reference::encode(step_of(c, seed), dtype);
  }
  std::vector<unsigned char> input_without_result(const Case& c, Dtype dtype, uint64_t seed) const override {
    return reference::encode(reference::swap_ffn_inputs(rung::swap_ffn_sizes(c.sizes), seed, magnitudes[c.values]),
                             dtype);
  }
  Verdict expect(const Case& c, uint64_t seed, const std::vector<unsigned char>&, Dtype dtype) const override {
    return [&step = step_of(c, seed), dtype](const Outputs& output) {
      return compare_swap_ffn(step, output[0], output[1], dtype);
    };
  }

  double flops(const rung::Sizes& sizes) const override {
    return reference::swap_ffn_flops(rung::swap_ffn_sizes(sizes));
  }
  double cost(const rung::Sizes& sizes, bool) const override {
    const SwapFfnSizes s = rung::swap_ffn_sizes(sizes);
    const double ffn = 3.0 * s.ffn_steps * s.d_ff + s.d_router;
    return 0.01 * s.d_model * (s.cores * (s.events * ffn + 10.0) + s.collapse_k * s.collapse_r);
  }

  std::string name(const rung::Sizes& sizes) const override { return reference::name_of(rung::swap_ffn_sizes(sizes)); }
  bool takes_any_shape() const override { return false; }
  // About as much work, and nothing but d_router as it was: not even the number of tiles of 16 cores.
  rung::Sizes beside(const rung::Sizes& sizes, uint64_t number) const override {
    std::mt19937_64 random(number * 83 + 7);
    SwapFfnSizes s = rung::swap_ffn_sizes(sizes);
    s.d_model *= drawn(random, 1, 2);
    s.d_ff = 32 * drawn(random, 3, 5);
    s.cores += drawn(random, 1, 24);
    s.events = 3;
    s.ffn_steps = drawn(random, 1, 3);
    return rung::sizes_of(s);
  }
  bool has_library_calls() const override { return true; }
};

const SwapFfn swap_ffn;
const bool added = add_operator(swap_ffn);

}  // namespace

}  // namespace testing_
