#include "cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "formats.h"
#include "step_operator.h"

namespace testing_ {
namespace {

using rung::Job;
using rung::Op;

struct NamedValues {
  const char* name;
  Values values;
};

Case make(const char* group, NamedValues values, Shape shape, int k = 0) {
  Case c;
  c.name = std::string(values.name) + "-" + std::to_string(shape.rows) + "x" + std::to_string(shape.cols);
  if (k) c.name += "-k" + std::to_string(k);
  c.group = group;
  c.values = values.values;
  c.rows = c.buffer_rows = shape.rows;
  c.cols = c.buffer_cols = shape.cols;
  c.k = c.buffer_k = k;
  return c;
}

// A call that must be refused, with good buffers for 7 x 33 (or 2000 columns, for k > 1024).
Case refused(Op op, const char* name) {
  Case c;
  c.name = name;
  c.group = "contract";
  c.must_refuse = true;
  c.rows = c.buffer_rows = 7;
  c.cols = c.buffer_cols = 33;
  c.k = c.buffer_k = op == Op::softmax_topk ? 5 : 0;
  return c;
}

std::vector<Case> contract_cases(Op op) {
  std::vector<Case> cases;
  auto add = [&](const char* name, auto change) {
    cases.push_back(refused(op, name));
    change(cases.back());
  };
  add("null-input", [](Case& c) { c.null_argument = Job::Null::input; });
  if (op == Op::softmax) {
    add("null-output", [](Case& c) { c.null_argument = Job::Null::output; });
  } else {
    add("null-index", [](Case& c) { c.null_argument = Job::Null::output; });
    add("null-prob", [](Case& c) { c.null_argument = Job::Null::second_output; });
  }
  add("rows-negative", [](Case& c) { c.rows = -1; });
  add("cols-zero", [](Case& c) { c.cols = 0; });
  add("cols-negative", [](Case& c) { c.cols = -33; });
  if (op == Op::softmax_topk) {
    add("k-zero", [](Case& c) { c.k = 0; });
    add("k-negative", [](Case& c) { c.k = -1; });
    add("k-above-cols", [](Case& c) { c.k = 34; });
    add("k-above-1024", [](Case& c) {
      c.cols = c.buffer_cols = 2000;
      c.k = c.buffer_k = 1025;
    });
  }
  // Not refused: an empty matrix is a success that writes nothing.
  add("rows-zero", [](Case& c) {
    c.rows = 0;
    c.must_refuse = false;
  });
  return cases;
}

// The values, each with the shapes that it is tried in. Odd widths make rows that do not start on 16 bytes; widths
// round 1024 and 4096 are where loops over a block's threads or vectors end; 1000 rows come with narrow widths, to stay
// fast.
struct Line {
  const char* group;
  NamedValues values;
  std::vector<Shape> shapes;
};

const std::vector<Line>& lines() {
  static const std::vector<Line> table = {
      {"widths",
       {"normal", Values::normal},
       {{7, 33},
        {7, 1},
        {64, 2},
        {7, 31},
        {64, 32},
        {7, 600},
        {7, 1023},
        {7, 1024},
        {7, 1025},
        {7, 4096},
        {7, 50257},
        {1, 200003}}},
      {"rows",
       {"normal", Values::normal},
       {{1, 1}, {1, 33}, {1, 600}, {1, 1025}, {1, 4096}, {1, 50257}, {64, 31}, {64, 1024}, {1000, 33}}},
      {"values", {"uniform", Values::uniform}, {{64, 33}, {7, 1024}, {7, 4096}}},
      {"values", {"constant", Values::constant}, {{7, 31}, {7, 600}, {1, 4096}}},
      {"values", {"one_above", Values::one_above}, {{1, 50257}}},
      {"values", {"ascending", Values::ascending}, {{7, 33}, {7, 1025}, {7, 4096}}},
      {"values", {"descending", Values::descending}, {{7, 33}, {7, 1025}, {7, 4096}}},
      {"values", {"signed_zeros", Values::signed_zeros}, {{7, 33}, {7, 1025}, {1, 4096}}},
      {"values", {"one_huge", Values::one_huge}, {{7, 33}, {64, 600}, {1, 4096}}},
      {"values", {"extreme", Values::extreme}, {{7, 31}, {7, 1024}}},
      {"values", {"plus_1e4", Values::plus_1e4}, {{7, 600}, {1, 1}}},
      {"values", {"minus_1e4", Values::minus_1e4}, {{7, 600}, {7, 1023}}},
      {"masks", {"masked", Values::masked}, {{7, 33}, {64, 600}, {7, 4096}}},
      {"masks", {"masked_tail", Values::masked_tail}, {{7, 33}, {7, 1025}, {1, 50257}}},
      {"masks", {"masked_head", Values::masked_head}, {{7, 33}, {7, 1025}, {7, 4096}}},
      {"masks", {"masked_rows", Values::masked_rows}, {{7, 33}, {64, 1024}, {7, 1025}, {7, 4096}}},
      {"masks", {"masked_all", Values::masked_all}, {{1, 1}, {7, 600}}},
      {"nan", {"inf", Values::inf}, {{1, 1}, {7, 33}, {64, 600}, {7, 4096}}},
      {"nan", {"nan", Values::nan}, {{1, 1}, {7, 33}, {64, 600}, {7, 1025}, {7, 4096}}},
      {"nan", {"nan_first", Values::nan_first}, {{7, 33}, {7, 1024}}},
      {"nan", {"nan_last", Values::nan_last}, {{7, 33}, {7, 1025}}},
  };
  return table;
}

// Top-K: a k for each shape of the lines above, and a group of its own in which k varies.
int k_for(Shape shape) { return std::min(shape.cols, shape.rows >= 64 || shape.cols < 100 ? 5 : 50); }

std::vector<Case> k_cases() {
  std::vector<Case> cases;
  const NamedValues normal = {"normal", Values::normal}, constant = {"constant", Values::constant};
  const NamedValues ascending = {"ascending", Values::ascending}, descending = {"descending", Values::descending};
  const NamedValues masked = {"masked", Values::masked};
  for (auto [rows, cols, k] : {std::array<int, 3>{7, 33, 33},
                               {7, 600, 1},
                               {7, 600, 256},
                               {7, 600, 600},
                               {7, 1023, 1023},
                               {7, 1024, 1024},
                               {1, 4096, 1},
                               {1, 4096, 256},
                               {1, 4096, 1024},
                               {1, 50257, 1},
                               {1, 50257, 256},
                               {1, 50257, 1024},
                               {64, 33, 1}}) {
    cases.push_back(make("k", normal, {rows, cols}, k));
  }
  cases.push_back(make("k", constant, {7, 1025}, 256));  // ties only
  cases.push_back(make("k", constant, {1, 4096}, 1024));
  cases.push_back(make("k", ascending, {7, 1025}, 1024));   // the best come last
  cases.push_back(make("k", descending, {1, 20000}, 200));  // a threshold guessed from what comes first is too high
  cases.push_back(make("k", masked, {7, 600}, 500));        // fewer finite entries than k
  return cases;
}

uint64_t hash_of(const std::string& name) {  // FNV-1a
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : name) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

const StepOperator*& added() {
  static const StepOperator* functions = nullptr;
  return functions;
}

}  // namespace

const StepOperator& step_operator() {
  if (!added()) throw std::logic_error("this program has no swap_ffn: link common/testing/swap_ffn_cases.cpp");
  return *added();
}

bool add_step_operator(const StepOperator& functions) {
  added() = &functions;
  return true;
}

std::vector<Case> all_cases(Op op) {
  if (op == Op::swap_ffn) return step_operator().cases();
  std::vector<Case> cases;
  for (const Line& line : lines()) {
    for (Shape shape : line.shapes) {
      cases.push_back(make(line.group, line.values, shape, op == Op::softmax_topk ? k_for(shape) : 0));
    }
  }
  if (op == Op::softmax_topk) {
    for (Case& c : k_cases()) cases.push_back(std::move(c));
  }
  for (Case& c : contract_cases(op)) cases.push_back(std::move(c));
  return cases;
}

std::vector<unsigned char> input_of(const Case& c, rung::Dtype dtype, uint64_t seed) {
  return c.sizes.cores ? step_operator().input(c, dtype, seed) : reference::encode(logits(c, seed), dtype);
}

std::vector<float> logits(const Case& c, uint64_t seed) {
  const size_t rows = static_cast<size_t>(c.buffer_rows), cols = static_cast<size_t>(c.buffer_cols);
  std::vector<float> x(rows * cols);
  std::mt19937_64 random(hash_of(c.name) ^ seed);
  std::normal_distribution<float> normal(0.0f, 3.0f);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  auto column = [&] { return std::uniform_int_distribution<size_t>(0, cols - 1)(random); };
  const float inf = std::numeric_limits<float>::infinity();
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();

  for (size_t r = 0; r < rows; r++) {
    float* row = x.data() + r * cols;
    const bool middle = r == rows / 2;
    for (size_t i = 0; i < cols; i++) {
      const float position = cols == 1 ? 0.0f : static_cast<float>(i) / static_cast<float>(cols - 1);
      switch (c.values) {
        case Values::uniform: row[i] = 5 * uniform(random); break;
        case Values::constant: row[i] = 1.5f; break;
        case Values::one_above: row[i] = i == 0 ? 5.0f : 0.0f; break;
        case Values::ascending: row[i] = -10 + 20 * position; break;
        case Values::descending: row[i] = 10 - 20 * position; break;
        case Values::signed_zeros: {
          const float u = uniform(random);
          row[i] = u < -0.75f ? -1.0f : std::copysign(0.0f, u);
          break;
        }
        case Values::extreme: row[i] = 1e4f * uniform(random); break;
        case Values::plus_1e4: row[i] = 1e4f + normal(random); break;
        case Values::minus_1e4: row[i] = -1e4f + normal(random); break;
        case Values::masked: row[i] = uniform(random) < 0 ? -inf : normal(random); break;
        case Values::masked_tail: row[i] = i >= cols - cols / 3 ? -inf : normal(random); break;
        case Values::masked_head: row[i] = i < 2 * cols / 3 ? -inf : normal(random); break;
        case Values::masked_rows: row[i] = r % 3 == 1 ? -inf : normal(random); break;
        case Values::masked_all: row[i] = -inf; break;
        default: row[i] = normal(random);
      }
    }
    if (c.values == Values::one_huge) row[column()] = 5000;
    if (c.values == Values::inf && middle) row[column()] = inf;
    if (c.values == Values::nan && middle) row[column()] = not_a_number;
    if (c.values == Values::nan_first && middle) row[0] = not_a_number;
    if (c.values == Values::nan_last && middle) row[cols - 1] = not_a_number;
  }
  return x;
}

std::vector<std::string> similar_names(const std::vector<Case>& cases, const std::string& name) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const Case& c : cases) ranked.emplace_back(edit_distance(c.name, name), c.name);
  std::stable_sort(ranked.begin(), ranked.end(), [](auto& a, auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < ranked.size() && i < 3; i++) names.push_back(ranked[i].second);
  return names;
}

}  // namespace testing_
