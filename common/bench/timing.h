// Wall-clock timing: seconds of one call, and the median and range of repeats.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

// Wall time of one call, in seconds.
template <typename Function>
double seconds_of(Function&& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Timing {
  double median = 0, min = 0, max = 0;  // seconds of one launch
  int launches = 0;
};

// Of no samples at all: zeros. Of an even number: the mean of the middle two.
inline Timing summarise(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const size_t n = seconds.size();
  const double median = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
  return {median, seconds.front(), seconds.back(), static_cast<int>(n)};
}

}  // namespace bench
