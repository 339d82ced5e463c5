#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "formats.h"
#include "matrix.h"
#include "numbers.h"

namespace testing_ {
namespace {

namespace facts = rung::cross_entropy_operator;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Some rows are ignored: in these groups alone, so that counts are of rows that all have work.
bool ignores(const Case& c) { return c.group == "ignored" || c.group == "hidden"; }

std::vector<int64_t> targets_of(const Case& c, uint64_t seed) {
  std::vector<int64_t> targets(static_cast<size_t>(c.sizes.rows));
  std::mt19937_64 random((seed * 37 + static_cast<uint64_t>(c.sizes.cols)) ^ hash_of(c.name));
  const size_t cols = static_cast<size_t>(c.sizes.cols), middle = targets.size() / 2;
  for (size_t r = 0; r < targets.size(); r++) {
    const size_t drawn = static_cast<size_t>(random());
    targets[r] = static_cast<int64_t>(r % 4 == 0 ? cols - 1 : r % 4 == 2 ? 0 : drawn % cols);
    // The middle row has the NaN, where there is one: ignored in one group, judged in the other.
    if (ignores(c) && (drawn >> 32) % 3 == 0) targets[r] = facts::ignored;
    if (r == middle && c.group == "ignored") targets[r] = facts::ignored;
    if (r == middle && c.group == "hidden") targets[r] = static_cast<int64_t>(drawn % cols);
  }
  return targets;
}

// Unless the target is the NaN.
void mask_targets(const std::vector<int64_t>& targets, const Case& c, rung::Dtype dtype,
                  std::vector<unsigned char>* matrix) {
  const std::vector<unsigned char> masked =
      reference::encode(std::vector<float>{-std::numeric_limits<float>::infinity()}, dtype);
  for (size_t r = 0; r < targets.size(); r++) {
    const size_t element = r * static_cast<size_t>(c.sizes.cols) + static_cast<size_t>(targets[r]);
    unsigned char* const at = matrix->data() + element * masked.size();
    if (!std::isnan(reference::decode(at, 1, dtype)[0])) std::memcpy(at, masked.data(), masked.size());
  }
}

class CrossEntropy : public MatrixOperator {
 public:
  CrossEntropy() : MatrixOperator(rung::Op::cross_entropy) {}

  std::vector<unsigned char> input(const Case& c, rung::Dtype dtype, uint64_t seed) const override {
    std::vector<unsigned char> bytes = MatrixOperator::input(c, dtype, seed);
    const std::vector<int64_t> targets = targets_of(c, seed);
    if (c.name.compare(0, 10, "nan_masked") == 0) mask_targets(targets, c, dtype, &bytes);
    const size_t at = facts::target_offset(c.sizes, dtype);
    bytes.resize(at + targets.size() * sizeof(int64_t));
    std::memcpy(bytes.data() + at, targets.data(), targets.size() * sizeof(int64_t));
    return bytes;
  }

  // Softmax as its own operator has it: all zero where all is masked, NaN where a NaN or +inf is. -log(0) is +inf.
  Verdict expect(const Case& c, uint64_t, const std::vector<unsigned char>& input, rung::Dtype dtype) const override {
    const size_t rows = static_cast<size_t>(c.sizes.rows), cols = static_cast<size_t>(c.sizes.cols);
    const std::vector<double> x = reference::decode(input.data(), rows * cols, dtype);
    std::vector<int64_t> targets(rows);
    std::memcpy(targets.data(), input.data() + facts::target_offset(c.sizes, dtype), rows * sizeof(int64_t));
    const double scale = facts::scale_of(c.sizes);
    std::vector<double> gradient(rows * cols), losses(rows), most(gradient.size()), most_of_loss(rows);
    for (size_t r = 0; r < rows; r++) {
      if (targets[r] == facts::ignored) continue;  // 0, exactly
      const double* const row = x.data() + r * cols;
      const size_t target = static_cast<size_t>(targets[r]);
      double max = -std::numeric_limits<double>::max(), sum = 0;
      for (size_t i = 0; i < cols; i++) max = std::fmax(max, row[i]);
      for (size_t i = 0; i < cols; i++) sum += std::exp(row[i] - max);
      losses[r] = std::isnan(sum) ? sum : std::isinf(row[target]) ? -row[target] : std::log(sum) + max - row[target];
      if (std::isfinite(losses[r])) most_of_loss[r] = 1e-5 * (1 + std::fabs(losses[r]));
      for (size_t i = 0; i < cols; i++) {
        const double softmax = sum == 0 ? 0 : std::exp(row[i] - max) / sum;
        gradient[r * cols + i] = (softmax - (i == target ? 1 : 0)) * scale;
        // At the target, 1 is subtracted, and single precision knows the difference to 6e-8.
        if (!std::isnan(softmax)) most[r * cols + i] = scale * (1e-4 * softmax + (i == target ? 2e-7 : 1e-30));
      }
    }
    return [=](const Outputs& output) {
      const auto is_ignored = [&](size_t row) { return targets[row] == facts::ignored; };
      const std::vector<Special> rows_apart = {{"ignored rows", is_ignored},
                                               {"rows with a masked target", [&](size_t row) {
                                                  return !is_ignored(row) &&
                                                         x[row * cols + static_cast<size_t>(targets[row])] == -infinity;
                                                }}};
      const Comparison loss =
          compare_numbers("loss", losses, most_of_loss, output[1].data(), 1, rung::Dtype::f32, rows_apart);
      if (gradient.empty() || output[0].empty()) return loss;
      const std::vector<Special> elements_apart = {
          {"targets", [&](size_t i) { return targets[i / cols] == static_cast<int64_t>(i % cols); }},
          {"elements of ignored rows", [&](size_t i) { return is_ignored(i / cols); }},
          {"masked elements", [&](size_t i) { return x[i] == -infinity; }}};
      const Comparison both =
          compare_numbers("gradient", gradient, most, output[0].data(), static_cast<int>(cols), dtype, elements_apart);
      return join(loss, both);
    };
  }

  // Everything with the gradient, and much of it without.
  std::vector<Case> cases() const override {
    std::vector<Case> cases = MatrixOperator::cases();
    // It says that the loss alone is wanted.
    const auto is_no_mistake = [](const Case& c) { return c.name == "null-gradient"; };
    cases.erase(std::remove_if(cases.begin(), cases.end(), is_no_mistake), cases.end());
    // Each group in one piece.
    std::vector<std::string> groups;
    for (const Case& c : cases) {
      if (std::find(groups.begin(), groups.end(), c.group) == groups.end()) groups.push_back(c.group);
    }
    const auto place = [&](const Case& c) { return std::find(groups.begin(), groups.end(), c.group); };
    std::stable_sort(cases.begin(), cases.end(), [&](const Case& a, const Case& b) { return place(a) < place(b); });
    return cases;
  }

  std::vector<Case> hidden_cases(uint64_t seed) const override {
    std::vector<Case> cases = MatrixOperator::hidden_cases(seed);
    for (size_t i = 0, count = cases.size(); i < count; i++) {
      cases.push_back(cases[i]);
      cases.back().name += "-loss";
      cases.back().sizes.more[0] = cases.back().called_with.more[0] = 0;
    }
    return cases;
  }

  // Per element max, subtract, exp, add; and subtract, exp, multiply for the gradient.
  double flops(const rung::Sizes& sizes) const override {
    return (facts::wants_gradient(sizes) ? 7.0 : 4.0) * sizes.rows * sizes.cols;
  }

  std::string name(const rung::Sizes& sizes) const override {
    return MatrixOperator::name(sizes) + (facts::wants_gradient(sizes) ? "" : ", the loss alone");
  }

 protected:
  rung::Sizes sized(int rows, int cols) const override { return {rows, cols, {1}}; }
  std::string suffix(const rung::Sizes& sizes) const override { return facts::wants_gradient(sizes) ? "" : "-loss"; }

  std::vector<Case> more_cases() const override {
    std::vector<Case> cases;
    const auto add = [&](const char* group, const char* name, Values values, int rows, int cols, int gradient) {
      cases.push_back(make(group, name, values, {rows, cols, {gradient}}));
    };
    const std::pair<int, int> wide[] = {{64, 64}, {65, 256}, {7, 8192}, {3, 32768}, {2, 131072}};
    for (const auto& [rows, cols] : wide) add("widths", "normal", Values::normal, rows, cols, 1);
    const std::pair<int, int> alone[] = {{7, 1},     {7, 33},     {64, 64},   {7, 161},  {7, 600},
                                         {7, 1025},  {1000, 33},  {4, 4096},  {7, 8192}, {3, 32768},
                                         {2, 50257}, {2, 131072}, {1, 200003}};
    for (const auto& [rows, cols] : alone) add("widths", "normal", Values::normal, rows, cols, 0);
    const std::pair<const char*, Values> kinds[] = {
        {"ascending", Values::ascending},  {"descending", Values::descending},   {"one_huge", Values::one_huge},
        {"extreme", Values::extreme},      {"plus_1e4", Values::plus_1e4},       {"minus_1e4", Values::minus_1e4},
        {"masked", Values::masked},        {"masked_head", Values::masked_head}, {"masked_rows", Values::masked_rows},
        {"masked_all", Values::masked_all}};
    for (const auto& [name, values] : kinds) {
      add(std::strncmp(name, "masked", 6) ? "values" : "masks", name, values, 7, 33, 0);
      add(std::strncmp(name, "masked", 6) ? "values" : "masks", name, values, 7, 1025, 0);
    }
    for (const int gradient : {1, 0}) {
      for (const auto& [rows, cols] :
           {std::pair{1, 33}, std::pair{64, 64}, std::pair{20, 600}, std::pair{7, 1025}, std::pair{4, 4096}})
        add("ignored", "ignored", Values::normal, rows, cols, gradient);
      add("ignored", "ignored_nan", Values::nan, 7, 33, gradient);
      add("ignored", "ignored_nan", Values::nan, 7, 4096, gradient);
      add("ignored", "ignored_masked", Values::masked_all, 7, 600, gradient);
      // A masked target in a row with a NaN: see input().
      add("nan", "nan_masked", Values::nan, 7, 33, gradient);
      add("nan", "nan_masked", Values::nan, 7, 1025, gradient);
      if (gradient) continue;
      for (const auto& [rows, cols] : {std::pair{7, 33}, std::pair{7, 1025}, std::pair{4, 4096}}) {
        add("nan", "nan", Values::nan, rows, cols, 0);
        add("nan", "inf", Values::inf, rows, cols, 0);
      }
    }
    return cases;
  }

 private:
  // Of two outputs of one call.
  static Comparison join(const Comparison& first, const Comparison& second) {
    if (first.right() || second.right()) {
      Comparison result = first.right() ? second : first;
      result.total = first.total + second.total;
      return result;
    }
    Comparison result = first;
    result.total += second.total;
    result.wrong += second.wrong;
    result.unwritten += second.unwritten;
    result.explanation += second.explanation;
    result.without_values += second.without_values;
    if (second.kinds != first.kinds) result.kinds += ", " + second.kinds;
    return result;
  }
};

const CrossEntropy cross_entropy;
[[maybe_unused]] const bool added = add_operator(cross_entropy);

}  // namespace
}  // namespace testing_
