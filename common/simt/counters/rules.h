// How many requests, sectors, wavefronts and bank conflicts the hardware counts for one warp instruction.
//
// The rules were found by running single-warp kernels with known addresses under Nsight Compute on an H200 (compute
// capability 9.0). h200_warp_accesses.csv holds the readings; warp_counts compares them with these functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt::counters {

enum class Space : uint8_t { global, shared };

// An atomic whose result nobody uses is a reduction: the hardware counts it under another name, by the same rule.
enum class Op : uint8_t { load, store, atomic, reduction };

constexpr unsigned warp_lanes = 32;
constexpr unsigned sector_bytes = 32;

// One memory instruction of a warp. Each active lane accesses `bytes` (1, 2, 4, 8 or 16) bytes at its address, a
// multiple of `bytes`.
struct WarpAccess {
  Space space;
  Op op;
  unsigned bytes;
  uint32_t active;            // one bit per lane
  const uint64_t* addresses;  // 32; those of inactive lanes are not looked at
};

struct GlobalCount {
  unsigned requests, sectors;
};
struct SharedCount {
  unsigned wavefronts, conflicts;
};

GlobalCount count_global(const WarpAccess& access);
SharedCount count_shared(const WarpAccess& access);

// Do the lanes access neighbouring addresses, lane 0 first? All 32 lanes must be active. The common case, and quickly
// seen.
bool is_contiguous(const uint64_t* addresses, unsigned bytes);

}  // namespace simt::counters
