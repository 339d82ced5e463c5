// Adds up the warp instructions of a launch, on one OS thread; LaunchCounters adds up the OS threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../instrument/log.h"
#include "../timing/tracer.h"
#include "counters.h"
#include "footprint.h"
#include "handed_over.h"
#include "shared_loads.h"

namespace simt::counters {

// Of one block: bytes of global memory (stores: by atomics, too); barriers, once per warp; accesses of all threads; by
// return address, bytes read from shared memory that others have put there.
struct BlockSums {
  uint64_t loads = 0, stores = 0, barriers = 0, accesses = 0;
  std::map<uintptr_t, uint64_t> handed_over = {};
};

// Of a block of a cluster: in each time between two barriers of the cluster, the instructions of the warp that makes
// the most, barriers of its own between; of the busiest warp in all, and of all its warps, which are so many.
struct BetweenClusterBarriers {
  uint64_t cluster = 0;
  std::vector<uint64_t> longest = {};
  uint64_t busiest = 0, instructions = 0;
  unsigned warps = 0;
};

// A launch while it is being counted. What OS threads add does not depend on how many they are or in what order they
// come.
struct LaunchCounters {
  Footprint footprint;
  std::mutex mutex;
  std::map<uintptr_t, Counts> by_pc;    // return addresses of hooks
  std::map<uint64_t, Counts> by_place;  // barriers and warp operations: pack(Place)
  uint64_t longest_thread_accesses = 0, its_block_accesses = 0;
  Received received;
  WarpLoads busiest_warp;
  OneByOne one_by_one;
  std::vector<BetweenClusterBarriers> of_clusters;
  std::vector<BlockSums> blocks;
  uint64_t watched_bytes_read = 0, exchanged = 0;
  std::unique_ptr<timing::LaunchTracer> tracer;    // if its time is to be predicted
  const timing::Operations* operations = nullptr;  // of the kernel's module; nullptr: it has no table
  uintptr_t module_base = 0;
};

OneByOne blocks_one_by_one(const std::vector<BetweenClusterBarriers>& blocks);

bool is_watching();  // session.h

class Collector {
 public:
  // base: what program counters are relative to.
  Collector(LaunchCounters& launch, uintptr_t base);

  void begin_block(unsigned warps) {
    since_barrier_.assign(warps, 0);
    of_warp_.assign(warps, 0);
    barriers_.assign(warps, 0);
    shared_loads_.begin_block(warps);
    dynamic_words_.begin_block();
    static_words_.begin_block();
    remote_words_.clear();
    turns_.clear();
    turn_ = 0;
  }

  // A memory instruction of a warp, by its key in the log. Returns the lanes whose address is in device or shared
  // memory; the others do not count.
  uint32_t access(unsigned warp, uint64_t key, uint32_t lanes, const uint64_t* addresses);

  // Parts of copies between global and shared memory that no thread makes, by their key and each one's first address.
  void copy_in_bulk(uint64_t key, uint32_t lanes, const uint64_t* values);

  // A barrier or a warp operation of a warp.
  void synchronisation(unsigned warp, uint64_t key, uint64_t place);

  // All warps have come to a barrier; blocks of the cluster have waited for each other so often.
  void barrier_completed(unsigned of_cluster);

  // Lanes of a warp begin another round of a loop.
  void jump_back(unsigned warp, uint32_t pc) { shared_loads_.jump_back(warp, pc); }

  // Bytes of global memory that this block has loaded so far.
  uint64_t loaded() const { return block_.loads; }

  // accesses, received: one number per thread. loaded: bytes of global memory, one per warp. exchanged: bytes, of all.
  // waited: accesses of the longest chain of threads that wait for each other, beyond those of the busiest one.
  void end_block(const uint64_t* accesses, const uint64_t* received, const uint64_t* loaded, unsigned threads,
                 uint64_t exchanged, uint64_t waited);

  // Hands everything over to the launch.
  void add_to_launch();

 private:
  struct Cached {
    uint64_t key = ~uint64_t{0};
    Counts* counts = nullptr;
  };

  Counts& line(uint64_t key);
  void note_barrier(unsigned warp);
  void note_cluster(unsigned warps);
  void count_bulk(uint64_t key, bool shared, unsigned count, const uint64_t* addresses);
  Region* region_of(uint64_t address);
  void count_global(Counts* counts, Event event, unsigned bytes, uint32_t lanes, const uint64_t* addresses);
  void count_shared(Counts* counts, Event event, unsigned bytes, uint32_t lanes, const uint64_t* addresses);
  // Returns how many bytes.
  uint64_t count_handed_over(Counts* counts, Event event, unsigned bytes, unsigned thread, uint64_t address);
  // Shared memory of another block of the cluster. A word counts once per block that reads it and barrier.
  uint64_t count_between_blocks(Counts* counts, Event event, unsigned bytes, unsigned warp, uint64_t address);

  LaunchCounters& launch_;
  const uintptr_t base_;
  SharedLoads shared_loads_;
  std::unordered_map<uint64_t, Counts> lines_;  // by pc, or by place with is_place
  Cached cache_[64];
  Region* region_ = nullptr;  // of the last global access
  uint64_t longest_thread_accesses_ = 0, its_block_accesses_ = 0;
  BlockSums block_;  // the one that runs
  std::vector<BlockSums> blocks_;
  Received received_;
  WarpLoads busiest_warp_;
  const bool watching_ = is_watching();
  uint64_t watched_bytes_read_ = 0, exchanged_ = 0;
  HandedOver dynamic_words_, static_words_;
  std::unordered_set<uint64_t> remote_words_;
  std::vector<uint16_t> barriers_;  // that each warp has come to
  // Instructions of each warp since its last barrier; of the warp that makes the most before each barrier; of each warp
  // in the whole block before that; and of all.
  std::vector<uint32_t> since_barrier_, before_barrier_, of_warp_;
  uint64_t block_instructions_ = 0;
  // How many barriers of the cluster were before each of the block's; and are.
  std::vector<unsigned> turns_;
  unsigned turn_ = 0;
  std::vector<BetweenClusterBarriers> of_clusters_;
  OneByOne one_by_one_;
};

// Is the address in the shared memory of the block that this OS thread runs?
bool is_shared(uint64_t address);

}  // namespace simt::counters
