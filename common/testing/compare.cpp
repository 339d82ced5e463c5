#include "compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "formats.h"
#include "patterns.h"

namespace testing_ {
namespace {

using rung::Dtype;

constexpr double infinity = std::numeric_limits<double>::infinity();

const char* words(Fault fault) {
  switch (fault) {
    case Fault::unwritten: return "never written";
    case Fault::not_zero: return "not zero where masked";
    case Fault::nan_missing: return "NaN not spread over the whole row";
    case Fault::nan_unexpected: return "NaN where a number is expected";
    case Fault::slightly_off: return "slightly off (rounding?)";
    case Fault::far_off: return "far off (logic?)";
    case Fault::index_range: return "index out of range";
    case Fault::index_repeated: return "index repeated";
    case Fault::tie_order: return "equal logits in the wrong order (the lower index comes first)";
    case Fault::wrong_index: return "wrong index (not the logit of that rank)";
    default: return "";
  }
}

// A value against the exact one. poisoned: the bytes are still those of the poison, which reads as NaN.
Fault judge(double expected, double got, bool poisoned, bool masked, Dtype dtype,
            double relative = relative_tolerance) {
  if (poisoned) return Fault::unwritten;
  if (std::isnan(expected)) return std::isnan(got) ? Fault::none : Fault::nan_missing;
  if (std::isnan(got)) return Fault::nan_unexpected;
  if (masked) return got == 0 ? Fault::none : Fault::not_zero;
  const double rounding = dtype == Dtype::f32 ? 0 : reference::half_ulp(expected, dtype);
  const double difference = std::fabs(got - expected);
  const double tolerance = rounding + relative * std::fabs(expected) + absolute_tolerance;
  if (difference <= tolerance) return Fault::none;
  return difference <= 4 * rounding + 1e-2 * std::fabs(expected) ? Fault::slightly_off : Fault::far_off;
}

bool all_poison(const void* element, size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(element);
  return std::all_of(p, p + bytes, [](unsigned char b) { return b == 0xFF; });
}

double sum_of_row(const std::vector<double>& values, size_t row, size_t cols) {
  double sum = 0;
  for (size_t c = 0; c < cols; c++) sum += values[row * cols + c];
  return sum;
}

}  // namespace

std::string value_text(double value) {
  if (std::isnan(value)) return "NaN";  // printf would show a sign that means nothing
  char text[32];
  snprintf(text, sizeof text, "%.7g", value);
  return text;
}

std::string got_text(Fault fault, double value) {
  return fault == Fault::unwritten ? "nothing (it was not written)" : value_text(value);
}

Comparison explained(const std::vector<Fault>& faults, const std::string& name,
                     const std::function<std::string(size_t)>& first, int rows, int cols, size_t row_bytes,
                     const char* column_word, const std::vector<Special>& special) {
  Comparison result;
  result.total = faults.size();
  std::array<size_t, static_cast<size_t>(Fault::count)> counts{};
  for (Fault f : faults) counts[static_cast<size_t>(f)]++;
  result.wrong = result.total - counts[static_cast<size_t>(Fault::none)];
  result.unwritten = counts[static_cast<size_t>(Fault::unwritten)];
  if (result.wrong == 0) return result;

  std::vector<Fault> kinds;  // the commonest first
  for (size_t f = 1; f < counts.size(); f++) {
    if (counts[f]) kinds.push_back(static_cast<Fault>(f));
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [&](Fault a, Fault b) { return counts[static_cast<size_t>(a)] > counts[static_cast<size_t>(b)]; });
  std::string text = (name.empty() ? "" : name + ": ") + std::to_string(result.wrong) + " of " +
                     std::to_string(result.total) + " elements wrong: ";
  for (size_t i = 0; i < kinds.size(); i++) {
    if (i) text += ", ";
    if (kinds.size() > 1) text += std::to_string(counts[static_cast<size_t>(kinds[i])]) + " ";
    text += words(kinds[i]);
    result.kinds += (i ? ", " : "") + std::string(words(kinds[i]));
  }
  text += "\n";
  const std::string only = describe_special(faults, special);
  text += only;
  if (only.empty() && !result.never_written()) text += describe_patterns(faults, rows, cols, row_bytes, column_word);
  result.without_values = text;
  const auto found = std::find_if(faults.begin(), faults.end(), [](Fault f) { return f != Fault::none; });
  result.explanation = first(static_cast<size_t>(found - faults.begin())) + "\n" + text;
  return result;
}

Comparison compare_softmax(const std::vector<double>& x, const std::vector<double>& expected, const void* got, int rows,
                           int cols, Dtype dtype) {
  const size_t width = static_cast<size_t>(cols), element_bytes = static_cast<size_t>(rung::bytes_of(dtype));
  const std::vector<double> values = reference::decode(got, expected.size(), dtype);
  std::vector<Fault> faults(expected.size());
  for (size_t i = 0; i < expected.size(); i++) {
    const bool poisoned =
        std::isnan(values[i]) && all_poison(static_cast<const unsigned char*>(got) + i * element_bytes, element_bytes);
    faults[i] = judge(expected[i], values[i], poisoned, x[i] == -infinity, dtype);
  }

  const auto first = [&](size_t at) {
    const size_t row = at / width;
    std::string text = "row " + std::to_string(row) + ", column " + std::to_string(at % width) + ": expected " +
                       value_text(expected[at]) + ", got " + got_text(faults[at], values[at]);
    const double sum = sum_of_row(values, row, width), right_sum = sum_of_row(expected, row, width);
    if (std::isfinite(sum) && std::isfinite(right_sum) && !(std::fabs(sum - right_sum) <= 1e-3)) {
      text +=
          "\nrow " + std::to_string(row) + " sums to " + value_text(sum) + ", not " + value_text(std::round(right_sum));
    }
    return text;
  };
  Comparison result = explained(faults, "", first, rows, cols, width * element_bytes, "column");
  if (result.wrong > 0) return result;
  for (size_t row = 0; dtype == Dtype::f32 && row < static_cast<size_t>(rows); row++) {
    const double right_sum = sum_of_row(expected, row, width), sum = sum_of_row(values, row, width);
    if (std::isnan(right_sum) || std::fabs(sum - right_sum) <= row_sum_tolerance) continue;
    result.explanation = "row " + std::to_string(row) + " sums to " + value_text(sum) + ", not " +
                         value_text(std::round(right_sum)) + "; each element by itself is close enough\n";
    result.kinds = "the sum of a row is not 1, though each element by itself is close enough";
    result.without_values = result.kinds + "\n";
    break;
  }
  return result;
}

Comparison compare_topk(const std::vector<double>& x, const reference::TopK& expected, const int* index,
                        const float* prob, int rows, int cols, int k, Dtype dtype, double relative) {
  const size_t width = static_cast<size_t>(cols), ranks = static_cast<size_t>(k);
  std::vector<Fault> faults(expected.index.size());
  std::vector<size_t> seen_in_row(width, 0);  // row + 1 of the last row that returned this column
  for (size_t i = 0; i < faults.size(); i++) {
    const size_t row = i / ranks;
    const double right = expected.probability[i];
    Fault& fault = faults[i];
    const bool poisoned = all_poison(&prob[i], sizeof prob[i]);
    if (poisoned || index[i] == -1) {
      fault = Fault::unwritten;
      continue;
    }
    if (index[i] < 0 || index[i] >= cols) {
      fault = Fault::index_range;
      continue;
    }
    const size_t column = static_cast<size_t>(index[i]);
    if (seen_in_row[column] == row + 1) {
      fault = Fault::index_repeated;
      continue;
    }
    seen_in_row[column] = row + 1;
    // In a row with NaN or +inf every order is as good as another.
    if (!std::isnan(right) && index[i] != expected.index[i]) {
      const double mine = x[row * width + column], theirs = x[row * width + static_cast<size_t>(expected.index[i])];
      fault = mine == theirs ? Fault::tie_order : Fault::wrong_index;
      continue;
    }
    fault =
        judge(right, static_cast<double>(prob[i]), false, x[row * width + column] == -infinity, Dtype::f32, relative);
  }

  const auto first = [&](size_t at) {
    std::string text = "row " + std::to_string(at / ranks) + ", rank " + std::to_string(at % ranks) + ": expected ";
    if (!std::isnan(expected.probability[at])) text += "index " + std::to_string(expected.index[at]) + ", ";
    text += "probability " + value_text(expected.probability[at]) + "; got ";
    text += index[at] == -1 ? "no index (it was not written)" : "index " + std::to_string(index[at]);
    return text + (all_poison(&prob[at], sizeof prob[at])
                       ? ", no probability (it was not written)"
                       : ", probability " + value_text(static_cast<double>(prob[at])));
  };
  return explained(faults, "", first, rows, k, width * static_cast<size_t>(rung::bytes_of(dtype)), "rank");
}

}  // namespace testing_
