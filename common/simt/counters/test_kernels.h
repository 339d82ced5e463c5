// What the tests of the counters share.
#pragma once

#define CATCH_CONFIG_ENABLE_PAIR_STRINGMAKER
#include <functional>

#include "../testing.h"
#include "counters.h"

// Counts the launches that `run` makes. Not inline: see testing_child.h.
[[gnu::noinline]] inline std::vector<simt::counters::Launch> count_launches(const std::function<void()>& run) {
  simt::counters::start();
  run();
  const auto report = simt::counters::finish();
  REQUIRE(cudaGetLastError() == cudaSuccess);
  return report.launches;
}

// Counts one launch.
[[gnu::noinline]] inline simt::counters::Launch count_launch(const std::function<void()>& run) {
  const auto launches = count_launches(run);
  REQUIRE(launches.size() == 1);
  return launches[0];
}

// requests / sectors, or wavefronts / conflicts, so that a failure shows both.
using Pair = std::pair<uint64_t, uint64_t>;

inline Pair loads(const simt::counters::Counts& c) { return {c.global[0].requests, c.global[0].sectors}; }
inline Pair stores(const simt::counters::Counts& c) { return {c.global[1].requests, c.global[1].sectors}; }
inline Pair atomics(const simt::counters::Counts& c) { return {c.global[2].requests, c.global[2].sectors}; }
inline Pair shared_loads(const simt::counters::Counts& c) { return {c.shared[0].wavefronts, c.shared[0].conflicts}; }
inline Pair shared_stores(const simt::counters::Counts& c) { return {c.shared[1].wavefronts, c.shared[1].conflicts}; }
inline Pair shared_atomics(const simt::counters::Counts& c) { return {c.shared[2].wavefronts, c.shared[2].conflicts}; }
