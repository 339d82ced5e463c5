#include "numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "formats.h"

namespace testing_ {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return std::isnan(value) ? "NaN" : text;
}

}  // namespace

Comparison compare_numbers(const std::string& name, const std::vector<double>& expected,
                           const std::vector<double>& allowed, const unsigned char* got, int cols, rung::Dtype dtype) {
  const std::vector<double> values = reference::decode(got, expected.size(), dtype);
  const size_t bytes = static_cast<size_t>(rung::bytes_of(dtype)), width = static_cast<size_t>(cols);
  Comparison result;
  result.total = expected.size();
  size_t nan = 0, far = 0, slight = 0;
  std::string where, values_there;
  for (size_t i = 0; i < expected.size(); i++) {
    const double e = expected[i], v = values[i];
    if (std::isnan(e) ? std::isnan(v) : e == v) continue;
    const double most = allowed[i] + (dtype == rung::Dtype::f32 ? 0 : reference::half_ulp(e, dtype));
    const double difference = std::fabs(v - e);
    if (difference <= most) continue;
    result.wrong++;
    const unsigned char* const at = got + i * bytes;
    const bool unwritten = std::all_of(at, at + bytes, [](unsigned char b) { return b == 0xFF; });
    if (unwritten)
      result.unwritten++;
    else if (std::isnan(e) || std::isnan(v))
      nan++;
    else if (difference <= 100 * most)
      slight++;
    else
      far++;
    if (!where.empty()) continue;
    where = name + ", row " + std::to_string(i / width) + ", column " + std::to_string(i % width);
    values_there = unwritten ? "never written" : "expected " + number(e) + ", got " + number(v);
  }
  if (!result.wrong) return result;
  const std::pair<size_t, const char*> kinds[] = {{result.unwritten, "never written"},
                                                  {nan, "NaN where a number is expected, or a number where NaN is"},
                                                  {far, "far off (logic?)"},
                                                  {slight, "slightly off (rounding?)"}};
  for (const auto& [count, kind] : kinds) {
    if (count) result.kinds += (result.kinds.empty() ? "" : ", ") + std::string(kind);
  }
  const std::string begin =
      std::to_string(result.wrong) + " of " + std::to_string(result.total) + " elements wrong: " + result.kinds + "\n";
  result.explanation = begin + "first, " + where + ": " + values_there + "\n";
  result.without_values = begin + "first, " + where + "\n";
  return result;
}

}  // namespace testing_
