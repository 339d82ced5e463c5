// Loads of shared memory as nvcc joins them. It leaves out a load whose value the thread has in a register, and makes
// one load of 8 or 16 bytes of neighbouring ones. Both need straight code: as it stands, or the rounds of a loop that
// nvcc unrolls, which the executor's compiler does not. timing/operations/joined_loads.py finds out which loads these
// are and what their addresses are multiples of; here what a warp did decides what lies beside what.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "../timing/operations.h"

namespace simt::counters {

// Of one OS thread.
class SharedLoads {
 public:
  // A load that is made: by which instruction, of how many bytes per lane.
  using Made = std::function<void(uint32_t pc, unsigned bytes, uint32_t lanes, const uint64_t* addresses)>;

  // origin: what added to a pc is its offset in the module. table: nullptr if the module has none.
  SharedLoads(const timing::Operations* table, uint64_t origin, Made made)
      : table_(table), origin_(origin), made_(std::move(made)) {}

  void begin_block(unsigned warps);
  void end_block();

  // A warp's load, all of whose lanes are in shared memory. path: of calls. False: it stands for itself.
  bool load(unsigned warp, unsigned path, uint32_t pc, unsigned bytes, uint32_t lanes, const uint64_t* addresses);
  // What nvcc moves no load of shared memory past: a store there, a barrier.
  void fence(unsigned warp) {
    if (warp < used_) settle(&warps_[warp]);
  }
  void warp_operation(unsigned warp, uint32_t pc);
  void jump_back(unsigned warp, uint32_t to);

 private:
  struct Fact {
    uint32_t pc = ~uint32_t{0};
    timing::FoundLoad found;
  };
  struct Load {
    uint32_t pc;
    uint8_t offset, bytes;  // offset: in the group's window
    bool straight;          // in no loop that is unrolled
    uint16_t round;
  };
  // Loads of the same lanes from the same windows of 16, 8 or fewer bytes.
  struct Group {
    uint32_t lanes;
    unsigned window;
    uint64_t begins[32];
    std::vector<Load> loads;
  };
  struct Warp {
    uint64_t region = 0;  // 0: none
    timing::FoundLoad of;
    unsigned round = 0, last_round = 0;  // of a loop that is unrolled by so many; the last one with a load
    std::vector<uint64_t> hashes;        // of the groups in use
    std::vector<Group> groups;
  };

  const timing::FoundLoad& fact(uint32_t pc);
  Group* group_of(Warp* warp, uint64_t hash, unsigned window, uint32_t lanes, const uint64_t* addresses);
  void settle(Warp* warp, bool stays = false);
  void join(const Group& group, const Load* const* loads, size_t count);
  void join_half(const Group& group, const Load* const* loads, size_t count, unsigned offset, unsigned bytes);

  const timing::Operations* const table_;
  const uint64_t origin_;
  const Made made_;
  Fact facts_[256];
  std::vector<Warp> warps_;
  unsigned used_ = 0;  // warps of the block
};

}  // namespace simt::counters
