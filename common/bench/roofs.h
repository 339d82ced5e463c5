// The roofs of this machine's CPU, measured over all cores that the process may use.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

struct Bandwidth {
  double copy_gbs, read_gbs;  // decimal gigabytes per second; a copy counts bytes read plus bytes written
  size_t buffer_bytes;        // size of the buffer that was read; the copy writes a second one of the same size
};

// Streams through buffers of four times the last-level cache, but at most 320 MiB each and a quarter of the free memory
// together. Where the cache is larger than that (a slice of a server whose cache all guests share), the caller reports
// the size, and the numbers are what such a stream gets, not the speed of the memory chips.
Bandwidth measure_bandwidth();

struct FmaRate {
  double gflops;             // one fused multiply-add is two operations
  std::string instructions;  // the fastest of those that the CPU has: "AVX-512", "AVX2", "baseline"
};

FmaRate measure_fma();

// Rate of the C library's expf, in 1e9 calls per second; one number per call, as kernels on the CPU executor call it.
double measure_exp();

}  // namespace bench
