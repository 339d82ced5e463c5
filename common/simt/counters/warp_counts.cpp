// warp_counts FILE.csv: holds measured warp accesses against the counting rules. Prints the rows that differ; the exit
// status is 0 if none does, 1 if some do, 2 if the file cannot be used.
#include <cstdio>
#include <stdexcept>

#include "readings.h"

using namespace simt::counters;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: warp_counts FILE.csv (the format of common/simt/counters/h200_warp_accesses.csv)\n");
    return 2;
  }
  try {
    const std::vector<Reading> readings = read_readings(argv[1]);
    size_t mismatches = 0;
    for (const Reading& reading : readings) {
      const Counted got = count(reading);
      if (got.first == reading.first && got.second == reading.second) continue;
      mismatches++;
      const bool global = reading.space == Space::global;
      std::printf("%s:%d: %s %s, %u bytes per lane: measured %u %s and %u %s, by the rules %u and %u\n", argv[1],
                  reading.line, global ? "global" : "shared",
                  reading.op == Op::load    ? "load"
                  : reading.op == Op::store ? "store"
                                            : "atomic",
                  reading.bytes, reading.first, global ? "requests" : "wavefronts", reading.second,
                  global ? "sectors" : "conflicts", got.first, got.second);
    }
    std::printf("mismatches: %zu of %zu\n", mismatches, readings.size());
    return mismatches ? 1 : 0;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "warp_counts: %s\n", error.what());
    return 2;
  }
}
