// initcheck: reads of memory that nothing wrote. Shared memory counts as unwritten when a block begins, device memory
// when it is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "observer.h"
#include "shadow.h"

namespace simt::checks {

class Initcheck {
 public:
  void block_begin() { blocks_++; }
  void access(const BlockInfo& block, const ThreadId& thread, const Access& access);

  // A read of unwritten memory is held back until the block's end: if another thread writes the bytes later without
  // synchronisation, the mistake is a race, and racecheck has the better message.
  void block_end();

  void host_wrote(uintptr_t begin, size_t bytes);
  void set_uninitialised(uintptr_t begin, size_t bytes);
  void freed(uintptr_t begin, size_t bytes) { global_.forget(begin, bytes); }

 private:
  struct Cell {
    uint64_t serial = 0;  // of the block, for shared memory
    uint8_t written = 0;  // mask of the word's bytes
  };
  struct Finding {
    ThreadId thread;
    uintptr_t pc;
    std::string detail;
    bool global;
  };

  Shadow<Cell> global_, shared_;
  uint64_t blocks_ = 0;
  bool found_ = false;
  Finding first_ = {};
};

}  // namespace simt::checks
