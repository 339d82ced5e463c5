#include "initcheck.h"

#include "report.h"

namespace simt::checks {

// The accesses of `threads` threads that follow each other, at addresses that do; the first is `thread`'s at `address`.
void Initcheck::read(const Page& page, const BlockInfo& block, const LanesAccess& access, AddressSpace space,
                     uintptr_t address, unsigned thread, unsigned threads) {
  const size_t offset = address % Page::bytes;
  const size_t unwritten = page.first_unwritten(offset, threads * access.bytes);
  if (unwritten == Page::bytes || found_) return;
  found_ = true;
  const bool is_global = space == AddressSpace::global;
  const unsigned reader = thread + static_cast<unsigned>(unwritten - offset) / access.bytes;
  const uintptr_t element = address - offset + unwritten;
  first_ = {{block.index, thread_index(reader), reader},
            access.pc,
            is_global ? "initcheck: uninitialised global memory" : "initcheck: uninitialised shared memory",
            "it reads " + describe(block, space, element, access.bytes) + " at " + line_of(access.pc) +
                ", and nothing has written it" +
                (is_global ? "" : " in this block of " + std::to_string(block.threads) + " threads") +
                ".\nUsually fixed by filling the memory first; does the loop that fills it reach every element?" +
                (is_global                 ? ""
                 : block.threads % 32 == 0 ? " Does the block have as many threads as the kernel expects?"
                                           : " The threads do not fill whole warps: are the two numbers in <<<blocks, "
                                             "threads>>> in this order?")};
}

void Initcheck::block_end() {
  if (!found_) return;
  found_ = false;
  report(first_.what, first_.thread, first_.pc, first_.detail);
}

}  // namespace simt::checks
