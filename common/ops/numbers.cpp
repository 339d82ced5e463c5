#include "numbers.h"

#include <algorithm>
#include <cmath>

#include "formats.h"

namespace testing_ {
namespace {

Fault judge(double expected, double got, double allowed, bool poisoned) {
  if (std::isnan(expected) ? std::isnan(got) && !poisoned : expected == got) return Fault::none;
  const double difference = std::fabs(got - expected);
  if (difference <= allowed) return Fault::none;
  if (poisoned) return Fault::unwritten;
  if (std::isnan(expected)) return Fault::nan_missing;
  if (std::isnan(got)) return Fault::nan_unexpected;
  return difference <= 100 * allowed ? Fault::slightly_off : Fault::far_off;
}

}  // namespace

Comparison compare_numbers(const std::string& name, const std::vector<double>& expected,
                           const std::vector<double>& allowed, const unsigned char* got, int cols, rung::Dtype dtype,
                           const std::vector<Special>& special) {
  const std::vector<double> values = reference::decode(got, expected.size(), dtype);
  const size_t bytes = static_cast<size_t>(rung::bytes_of(dtype)), width = static_cast<size_t>(cols);
  std::vector<Fault> faults(expected.size());
  for (size_t i = 0; i < expected.size(); i++) {
    const unsigned char* const at = got + i * bytes;
    const bool poisoned = std::all_of(at, at + bytes, [](unsigned char b) { return b == 0xFF; });
    const double rounding = dtype == rung::Dtype::f32 ? 0 : reference::half_ulp(expected[i], dtype);
    faults[i] = judge(expected[i], values[i], allowed[i] + rounding, poisoned);
  }
  const auto first = [&](size_t at) {
    std::string text = (name.empty() ? "" : name + ", ") + "row " + std::to_string(at / width);
    if (cols > 1) text += ", column " + std::to_string(at % width);
    return text + ": expected " + value_text(expected[at]) + ", got " + got_text(faults[at], values[at]);
  };
  // One number per row has no row that could be misaligned.
  return explained(faults, name, first, static_cast<int>(faults.size() / width), cols, cols > 1 ? width * bytes : 16,
                   "column", special);
}

}  // namespace testing_
