// Wall-clock timing: seconds of one call, and the median and range of repeats.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
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
  // On a GPU whose clock can be read (clocks.h).
  unsigned min_mhz = 0, max_mhz = 0;
  int thrown_away = 0;    // runs during which the clock was lowered
  std::string throttled;  // why it was lowered in this one too, after several attempts; "" if it was not
};

// seconds: one sample per launch. All zeros if there is none; the median of an even number is the mean of the middle
// two.
inline Timing summarise(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const size_t n = seconds.size();
  const double median = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
  Timing timing;
  timing.median = median;
  timing.min = seconds.front();
  timing.max = seconds.back();
  timing.launches = static_cast<int>(n);
  return timing;
}

}  // namespace bench
