// Tests of the watch on a GPU's clock, with readings made up.
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <atomic>
#include <chrono>
#include <thread>

#include "clocks.h"

namespace {

using bench::ClockReading;
constexpr uint64_t idle = 0x1, power_cap = 0x4, hardware_slowdown = 0x8;
constexpr auto no_pause = std::chrono::milliseconds(0);

}  // namespace

TEST_CASE("the range of the clock leaves out the readings of an idle device") {
  bench::Clocks clocks;
  uint64_t throttled = 0;
  for (const ClockReading reading : {ClockReading{345, idle}, {1980, 0}, {1965, 0}}) add(clocks, &throttled, reading);
  CHECK(clocks.min_mhz == 1965);
  CHECK(clocks.max_mhz == 1980);
  CHECK(clocks.throttled.empty());
  add(clocks, &throttled, {1200, power_cap});
  add(clocks, &throttled, {1300, hardware_slowdown});
  CHECK(clocks.throttled == "power cap, hardware slowdown");
}

TEST_CASE("a run during which the clock was lowered is thrown away and repeated") {
  int attempts = 0;
  std::atomic<bool> lowered{false};
  std::atomic<int> readings{0};
  const auto reader = [&] {
    const ClockReading reading{1500, lowered ? power_cap : 0};
    readings++;
    return reading;
  };
  const auto attempt = [&] {
    lowered = ++attempts <= 2;
    // The first may have begun before that.
    for (const int before = readings; readings < before + 2;) std::this_thread::yield();
    lowered = false;
    return true;
  };
  const bench::Watched watched = bench::unthrottled(reader, attempt, 4, no_pause);
  CHECK(attempts == 3);
  CHECK(watched.thrown_away == 2);
  CHECK(watched.clocks.throttled.empty());
}

TEST_CASE("a device that stays slow is said to be, after as many attempts as asked") {
  int attempts = 0;
  const auto reader = [] { return ClockReading{900, hardware_slowdown}; };
  const auto attempt = [&] { return ++attempts > 0; };
  const bench::Watched watched = bench::unthrottled(reader, attempt, 3, no_pause);
  CHECK(attempts == 3);
  CHECK(watched.clocks.throttled == "hardware slowdown");
}

TEST_CASE("without a reader, and after a failure, nothing is repeated") {
  int attempts = 0;
  const auto attempt = [&] { return ++attempts > 0; };
  CHECK(bench::unthrottled({}, attempt, 3, no_pause).clocks.max_mhz == 0);
  CHECK(attempts == 1);
  const auto fails = [&] { return ++attempts < 0; };
  bench::unthrottled([] { return ClockReading{900, power_cap}; }, fails, 3, no_pause);
  CHECK(attempts == 2);
}
