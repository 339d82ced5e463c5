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
  explicit Initcheck(Shadow& shadow) : shadow_(shadow) {}

  // `bytes` bytes from `address` on, all in one page.
  void written(Page& page, uintptr_t address, size_t bytes) { page.set_written(address % Page::bytes, bytes, true); }
  void read(const Page& page, const BlockInfo& block, const LanesAccess& access, AddressSpace space, uintptr_t address,
            unsigned thread, unsigned threads);

  // A read of unwritten memory is held back until the block's end: if another thread writes the bytes later without
  // synchronisation, the mistake is a race, and racecheck has the better message.
  void block_end();

 private:
  struct Finding {
    ThreadId thread;
    uintptr_t pc;
    const char* what;
    std::string detail;
  };

  Shadow& shadow_;
  bool found_ = false;
  Finding first_ = {};
};

}  // namespace simt::checks
