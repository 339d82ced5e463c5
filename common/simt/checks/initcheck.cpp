#include "initcheck.h"

#include "report.h"

namespace simt::checks {

void Initcheck::access(const BlockInfo& block, const ThreadId& thread, const Access& access) {
  if (access.space == AddressSpace::other || access.space == AddressSpace::local) return;
  const bool is_global = access.space == AddressSpace::global;
  for_each_word(access.address, access.bytes, [&](uintptr_t word, unsigned mask) {
    Cell& cell = (is_global ? global_ : shared_).at(word);
    if (!is_global && cell.serial != blocks_) cell = {blocks_, 0};
    if (access.kind != AccessKind::store && (mask & ~cell.written) && !found_) {
      found_ = true;
      first_ = {thread, access.pc,
                "it reads " + describe(block, access.space, word) + " at " + line_of(access.pc) +
                    ", and nothing has written it" + (is_global ? "" : " in this block") + ".\n" +
                    "Usually mended by filling the memory first; does the loop that fills it reach every element?",
                is_global};
    }
    if (access.kind != AccessKind::load) cell.written = static_cast<uint8_t>(cell.written | mask);
  });
}

void Initcheck::block_end() {
  if (!found_) return;
  found_ = false;
  report(first_.global ? "initcheck: uninitialised global memory" : "initcheck: uninitialised shared memory",
         first_.thread, first_.pc, first_.detail);
}

void Initcheck::host_wrote(uintptr_t begin, size_t bytes) {
  for_each_word(begin, bytes, [&](uintptr_t word, unsigned mask) {
    Cell& cell = global_.at(word);
    cell.written = static_cast<uint8_t>(cell.written | mask);
  });
}

void Initcheck::set_uninitialised(uintptr_t begin, size_t bytes) {
  for_each_word(begin, bytes, [&](uintptr_t word, unsigned mask) {
    Cell& cell = global_.at(word);
    cell.written = static_cast<uint8_t>(cell.written & ~mask);
  });
}

}  // namespace simt::checks
