#include "rules.h"

#include <algorithm>

namespace simt::counters {

namespace {

constexpr uint32_t all_lanes = 0xffffffffu;
constexpr unsigned banks = 32, word_bytes = 4, word_shift = 2;

unsigned max_of(unsigned a, unsigned b) { return a > b ? a : b; }

// Calls visit(address) for every lane of the set.
template <typename Visit>
void for_lanes(uint32_t lanes, const uint64_t* addresses, Visit visit) {
  for (; lanes; lanes &= lanes - 1) visit(addresses[__builtin_ctz(lanes)]);
}

unsigned distinct_sectors(uint32_t lanes, const uint64_t* addresses) {
  uint64_t sectors[warp_lanes];
  unsigned count = 0;
  bool sorted = true;
  for_lanes(lanes, addresses, [&](uint64_t address) {
    const uint64_t sector = address / sector_bytes;
    if (count && sector == sectors[count - 1]) return;
    sorted &= !count || sector > sectors[count - 1];
    sectors[count++] = sector;
  });
  if (sorted) return count;
  std::sort(sectors, sectors + count);
  return static_cast<unsigned>(std::unique(sectors, sectors + count) - sectors);
}

// Lanes on one address go to different rounds, the k-th of them to round k. Sectors count once in every round.
unsigned atomic_sectors(uint32_t lanes, const uint64_t* addresses) {
  unsigned sectors = 0;
  while (lanes) {
    uint32_t round = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctz(left));
      bool taken = false;
      for_lanes(round, addresses, [&](uint64_t other) { taken |= other == addresses[lane]; });
      if (!taken) round |= 1u << lane;
    }
    sectors += distinct_sectors(round, addresses);
    lanes &= ~round;
  }
  return sectors;
}

// The largest number of distinct 4-byte words that the lanes want of one bank.
unsigned phase_wavefronts(uint32_t lanes, const uint64_t* addresses, unsigned bytes) {
  // Wide accesses that begin at a multiple of their size want the same of all banks that they are in.
  uint64_t bits = 0;
  for_lanes(lanes, addresses, [&](uint64_t address) { bits |= address; });
  const unsigned shift =
                     bits & (bytes - 1) ? word_shift : max_of(static_cast<unsigned>(__builtin_ctz(bytes)), word_shift),
                 groups = banks >> (shift - word_shift);
  uint64_t words[banks][warp_lanes];
  unsigned used[banks] = {}, most = 0;
  for_lanes(lanes, addresses, [&](uint64_t address) {
    const uint64_t last = (address + bytes - 1) >> shift;
    for (uint64_t word = address >> shift; word <= last; word++) {
      uint64_t* const of_bank = words[word % groups];
      unsigned& count = used[word % groups];
      if (std::find(of_bank, of_bank + count, word) != of_bank + count) continue;
      of_bank[count++] = word;
      most = max_of(most, count);
    }
  });
  return most;
}

// Does every active lane whose partner (lane ^ distance) is active access its partner's address?
bool partners_agree(uint32_t active, const uint64_t* addresses, unsigned distance) {
  for (uint32_t left = active; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(left)), partner = lane ^ distance;
    if (active >> partner & 1 && addresses[lane] != addresses[partner]) return false;
  }
  return true;
}

SharedCount count_shared_atomic(const WarpAccess& access) {
  unsigned lanes_of[banks] = {}, most = 0;
  for_lanes(access.active, access.addresses,
            [&](uint64_t address) { most = max_of(most, ++lanes_of[address / word_bytes % banks]); });
  return {most, most ? most - 1 : 0};
}

}  // namespace

bool is_contiguous(const uint64_t* addresses, unsigned bytes) {
  uint64_t difference = 0;
  for (unsigned lane = 1; lane < warp_lanes; lane++) difference |= (addresses[lane] - addresses[lane - 1]) ^ bytes;
  return difference == 0;
}

GlobalCount count_global(const WarpAccess& access) {
  if (access.active == 0) return {0, 0};
  const uint64_t* const addresses = access.addresses;
  if (access.active == all_lanes && is_contiguous(addresses, access.bytes)) {
    const uint64_t last = addresses[0] + warp_lanes * access.bytes - 1;
    return {1, static_cast<unsigned>(last / sector_bytes - addresses[0] / sector_bytes) + 1};
  }
  const bool atomic = access.op == Op::atomic || access.op == Op::reduction;
  return {1, atomic ? atomic_sectors(access.active, addresses) : distinct_sectors(access.active, addresses)};
}

SharedCount count_shared(const WarpAccess& access) {
  if (access.op == Op::atomic || access.op == Op::reduction) return count_shared_atomic(access);
  // Wide accesses go in phases: 8 bytes per lane in two half-warps, 16 bytes in four quarter-warps.
  unsigned phases = access.bytes <= 4 ? 1 : access.bytes / 4;
  if (access.active == all_lanes && is_contiguous(access.addresses, access.bytes) &&
      access.addresses[0] % (access.bytes < 4 ? 4 : access.bytes) == 0) {
    return {phases, 0};
  }
  // Loads merge neighbouring phases in pairs if lanes pair up on equal addresses, in one way over the whole warp.
  if (access.op == Op::load && phases > 1 &&
      (partners_agree(access.active, access.addresses, 1) || partners_agree(access.active, access.addresses, 2))) {
    phases /= 2;
  }
  const unsigned lanes = warp_lanes / phases;
  SharedCount count = {0, 0};
  for (unsigned phase = 0; phase < phases; phase++) {
    const uint32_t in_phase = access.active & (lanes == 32 ? all_lanes : ((1u << lanes) - 1) << (phase * lanes));
    if (!in_phase) continue;
    const unsigned wavefronts = phase_wavefronts(in_phase, access.addresses, access.bytes);
    count.wavefronts += wavefronts;
    count.conflicts += wavefronts - 1;
  }
  return count;
}

}  // namespace simt::counters
