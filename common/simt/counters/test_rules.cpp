// The counting rules against the hardware's readings.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include "readings.h"

using namespace simt::counters;

TEST_CASE("the rules give what the H200 counted") {
  const std::vector<Reading> readings = read_readings("common/simt/counters/h200_warp_accesses.csv");
  CHECK(readings.size() == 359);
  for (const Reading& reading : readings) {
    CAPTURE(reading.line);
    const Counted got = count(reading);
    CHECK(got.first == reading.first);
    CHECK(got.second == reading.second);
  }
}

TEST_CASE("no active lane, no request") {
  const uint64_t addresses[warp_lanes] = {};
  CHECK(count_global({Space::global, Op::load, 4, 0, addresses}).requests == 0);
  CHECK(count_shared({Space::shared, Op::load, 4, 0, addresses}).wavefronts == 0);
  CHECK(count_shared({Space::shared, Op::atomic, 4, 0, addresses}).conflicts == 0);
}
