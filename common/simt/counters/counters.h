// Counting what kernels do: switch it on, launch, read the report. Only kernels from an instrumented build count.
//
// Counters are those of Nsight Compute, by its rules (rules.h): an instruction that a warp executes counts once.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "../timing/prediction.h"

namespace simt::counters {

struct GlobalCounts {
  uint64_t requests = 0;  // instructions of a warp
  uint64_t sectors = 0;   // of 32 bytes
  uint64_t bytes = 0;     // requested: active lanes times their width
};

struct SharedCounts {
  uint64_t requests = 0;
  uint64_t wavefronts = 0;
  uint64_t conflicts = 0;  // wavefronts that bank conflicts added
  uint64_t bytes = 0;
};

enum AccessOp { load, store, atomic, access_ops };

struct Counts {
  std::array<GlobalCounts, access_ops> global;  // by AccessOp
  std::array<SharedCounts, access_ops> shared;
  uint64_t barriers = 0;         // __syncthreads and the like, once per warp
  uint64_t warp_operations = 0;  // shuffles, votes, __syncwarp, once per warp
  // Bytes that a thread reads of what others have put into shared memory (handed_over.h), and those of other warps.
  uint64_t handed_over = 0, between_warps = 0;

  void add(const Counts& other);
  bool operator==(const Counts& other) const;
};

struct Line {
  std::string file;  // as the compiler was told, relative to the working directory if it lies there; "" if unknown
  int line;          // 0 if unknown
  Counts counts;
};

// What reaches a thread: by loads and atomics of any memory, by shuffles and votes. Its share is an even one of what
// its warp loads from global memory, or its block, whichever is more: of a block some warps may only load, and some
// have nothing to do.
struct Received {
  uint64_t bytes = 0, share = 0;

  // Of two, the one that gets more beyond eight times its share and a kilobyte for reducing, which is no honest
  // thread's; then the one that gets more; then the one with the smaller share. So the result does not depend on the
  // order in which blocks end on several cores.
  void keep_most(const Received& other) {
    const auto excess = [](const Received& r) { return std::max(r.bytes, 8 * r.share + 1024); };
    const uint64_t mine = excess(*this) - 8 * share, theirs = excess(other) - 8 * other.share;
    if (std::make_tuple(theirs, other.bytes, share) > std::make_tuple(mine, bytes, other.share)) *this = other;
  }
};

// Of a warp, the bytes of global memory that it loads, and those of its block, which has so many warps.
struct WarpLoads {
  uint64_t bytes = 0, block_bytes = 0;
  unsigned warps = 1;

  // Of two, the one that loads more beyond six times the mean of its block; then the one that loads more; then that in
  // the block that loads less, or has more warps.
  void keep_most(const WarpLoads& other) {
    const auto excess = [](const WarpLoads& w) {
      return std::max(int64_t{0}, static_cast<int64_t>(w.bytes - 6 * w.block_bytes / w.warps));
    };
    if (std::make_tuple(excess(other), other.bytes, block_bytes, other.warps) >
        std::make_tuple(excess(*this), bytes, other.block_bytes, warps))
      *this = other;
  }
};

// Of a block, its warps' instructions of global and shared memory. chain: those of the warp that makes the most between
// two barriers, over all of them, beyond those of the warp that makes the most in all; or what threads that wait for
// others otherwise make (instrument/waits.h), if that is more. Warps that take turns make a chain nearly as long as all
// of their work. instructions: of all warps, of which there are so many.
struct OneByOne {
  uint64_t chain = 0, instructions = 0;
  unsigned warps = 1;

  // Of two, the one whose chain is longer beyond six times an even share; then the longer; then the rest.
  void keep_most(const OneByOne& other) {
    const auto excess = [](const OneByOne& o) {
      return std::max(o.chain, 6 * o.instructions / o.warps) - 6 * o.instructions / o.warps;
    };
    if (std::make_tuple(excess(other), other.chain, instructions, other.warps) >
        std::make_tuple(excess(*this), chain, other.instructions, warps))
      *this = other;
  }
};

struct Launch {
  std::string kernel;  // as the launch spells it
  std::string symbol;  // mangled, where its time is to be predicted
  dim3 grid, block;
  size_t dynamic_shared_bytes = 0;
  Counts total;
  std::vector<Line> lines;  // by file and line

  // Distinct sectors of global memory that the launch touched: the least that DRAM must move. Atomics read and write.
  uint64_t sectors_read = 0, sectors_written = 0;

  uint64_t watched_bytes_read = 0;  // requested by loads, of the watched memory

  // Of all threads the one with the most accesses (global and shared), and those of its block together.
  uint64_t longest_thread_accesses = 0, its_block_accesses = 0;
  Received received;
  WarpLoads busiest_warp;
  OneByOne one_by_one;
  uint64_t exchanged = 0;  // bytes that lanes get from other lanes of their warp by shuffles, votes, reductions
  // Blocks that load at least a quarter of what the mean does, and store at least a quarter of it: who only loads has
  // nothing to show for it. In a kernel that neither loads nor stores, all.
  // In them: barriers, once per warp, and those by which another block comes to more; accesses of all threads.
  uint64_t working_blocks = 0, working_barriers = 0, working_accesses = 0;

  timing::Prediction predicted;  // with a GPU's name if there was to be one (timing/predictor.h)
};

// A call of a library, whose kernels cannot be seen. Of cuBLAS, which the host computes, the operands' bytes, each
// once, are the least that it must move. Of Thrust's and CUB's algorithms nothing is counted.
struct LibraryCall {
  std::string name;
  bool counted = true;
  uint64_t bytes_read = 0, bytes_written = 0;
  uint64_t watched_bytes_read = 0;  // of the operands that lie in the watched memory
};

// What copies within device memory and settings of it have moved (cudaMemcpy, cudaMemset and the like, those of a graph
// too): no kernel's loads and stores show it.
struct Copies {
  uint64_t calls = 0, bytes_read = 0, bytes_written = 0;
  uint64_t watched_bytes_read = 0;
};

struct Report {
  std::vector<Launch> launches;            // in the order in which they ended
  std::vector<LibraryCall> library_calls;  // likewise
  Copies copies;
  bool watching = false;
};

// Counts the launches that follow, until finish(), which returns what was counted. Not while a kernel runs. On request
// it leaves out kernels whose names say that they are Thrust's or CUB's, which takes the program's word for it.
void start(bool leave_libraries_out = false);
bool running();
Report finish();

// From now on, what is read of this device memory is counted by itself too: watched_bytes_read. No bytes: none is.
void watch(const void* begin, size_t bytes);
bool is_watched(const void* address);

// Called by the stand-in for a library.
void note_library_call(const LibraryCall& call);

// Called by the device. from: nullptr where memory is set.
void note_copy(const void* from, size_t bytes);

// Stops counting, and forgets what was counted.
void discard();

// Under Nsight Compute's names, where it has one. CSV: one row per launch (line 0) and one per source line.
std::string to_json(const Report& report);
std::string to_csv(const Report& report);

}  // namespace simt::counters
