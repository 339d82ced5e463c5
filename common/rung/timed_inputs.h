// The logits on which the grader measures speed: a function of seed, set, row and column only. The worker writes them
// on the device, and the judge recomputes the rows that it compares, so only the seed has to be sent.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define TIMED_BOTH __host__ __device__
#else
#define TIMED_BOTH
#endif

namespace timed {

// Every bit of the result depends on every bit of x.
TIMED_BOTH inline uint32_t mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x21f0aaadu;
  x = (x ^ (x >> 15)) * 0xd35a2d97u;
  return x ^ (x >> 15);
}

struct RowKey {
  uint32_t first, second;
};

TIMED_BOTH inline RowKey row_key(uint64_t seed, int set, int row) {
  const uint32_t low = mixed(static_cast<uint32_t>(seed) ^ mixed(static_cast<uint32_t>(row)));
  const uint32_t high = mixed(static_cast<uint32_t>(seed >> 32) ^ mixed(static_cast<uint32_t>(set) + 0x9e3779b9u));
  return {mixed(low + high), mixed(low ^ (high << 7 | high >> 25))};
}

// Uniform between -8 and 8; in one of 16 rows a thousand higher, so that no kernel can leave the maximum out. Computed
// in integers with one rounding at the end, so it is the same on every machine.
TIMED_BOTH inline float logit(RowKey row, int col) {
  const uint32_t bits = mixed(mixed(static_cast<uint32_t>(col) + row.first) ^ row.second);
  const int32_t high = row.second % 16 == 0 ? 1000 : 0;
  return static_cast<float>(static_cast<int32_t>(bits >> 8) - (1 << 23) + high * (1 << 20)) * 0x1p-20f;
}

}  // namespace timed
