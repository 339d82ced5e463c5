// What the warps of some blocks of a launch did, in order: the input of the model of a GPU's time (prediction.h).
#pragma once

#include <cstdint>
#include <vector>

namespace simt::timing {

enum class Did : uint8_t { block, load, store, atomic, barrier, warp_operation };
enum class Space : uint8_t { none, global, shared };

// A basic block that a warp entered, or an instruction of it.
struct Entry {
  uint32_t pc;  // the hook's return address, relative to the module
  Did did;
  Space space;
  uint8_t bytes;    // of one lane
  uint8_t lanes;    // that took part
  uint16_t passes;  // shared memory: wavefronts. Atomics: the most lanes that one address has
  uint16_t lines;   // global memory: how many of WarpTrace::lines follow for it
  // Shared memory, loads, which the compiler may join: wavefronts if each lane took the 16 bytes around its address; 0:
  // they lie in them differently. Atomics: wavefronts if lanes that have one address were one.
  uint16_t wide = 0;
  uint32_t place = 0;    // address of the first lane
  uint32_t pattern = 0;  // equal where the lanes have the same distances from the first
};

struct WarpTrace {
  std::vector<Entry> entries;
  // 128 bytes of global memory each: the address, and in its lowest 4 bits which sectors of 32 bytes were touched.
  std::vector<uint64_t> lines;
};

struct BlockTrace {
  uint64_t number;  // in the grid; in a small one without the idle blocks that are left out
  std::vector<WarpTrace> warps;
};

inline bool is_idle(const BlockTrace& block) {
  for (const WarpTrace& warp : block.warps) {
    for (const Entry& entry : warp.entries) {
      if (entry.did == Did::load || entry.did == Did::store || entry.did == Did::atomic) return false;
    }
  }
  return true;
}

constexpr size_t room = 3'000'000;  // entries of one launch

struct LaunchTrace {
  std::vector<BlockTrace> blocks;  // by rising number; without those that are idle where `idle` is not 0
  uint64_t idle = 0;               // blocks of the grid that access no memory, most often beyond the data's end; 0: as
                                   // many as among the traced ones
  BlockTrace idle_block = {};      // the first of them that was traced
  std::vector<uint32_t> work;      // entries of each block of the grid, without those left out; empty: not known
  bool complete = true;            // no: there was no room for all of the blocks that were to be traced
  size_t cut_off = 0;              // entries that there was room for of the first that did not fit
};

}  // namespace simt::timing
