#include "held_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>

#include "../failure.h"

namespace simt::apart {

namespace {
HeldPages* the_pages = nullptr;  // for the signal handler
}

HeldPages::HeldPages(Fetch fetch, Return give_back)
    : page_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), fetch_(fetch), return_(give_back) {
  the_pages = this;
  repair_faults(repair);
}

bool HeldPages::add(uintptr_t begin, size_t bytes) {
  void* const wanted = reinterpret_cast<void*>(begin);
  void* const got = mmap(wanted, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return false;
  if (got != wanted) {
    munmap(got, bytes);
    return false;
  }
  ranges_[begin] = bytes;
  return true;
}

void HeldPages::remove(uintptr_t begin, size_t bytes) {
  ranges_.erase(begin);
  held_.erase(held_.lower_bound(begin), held_.lower_bound(begin + bytes));
  munmap(reinterpret_cast<void*>(begin), bytes);
}

bool HeldPages::give_back() {
  bool well = true;
  for (const uintptr_t page : held_) {
    const auto& [begin, bytes] = *std::prev(ranges_.upper_bound(page));
    const size_t part = begin + bytes - page < page_bytes_ ? begin + bytes - page : page_bytes_;
    well = well && return_(page, part, reinterpret_cast<void*>(page));
    mprotect(reinterpret_cast<void*>(page), page_bytes_, PROT_NONE);
  }
  held_.clear();
  return well;
}

// In a signal handler, but of a fault that the program's own access raised, not somewhere in a library.
bool HeldPages::take(uintptr_t address) {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  const uintptr_t page = address / page_bytes_ * page_bytes_;
  if (address - begin >= bytes || held_.count(page)) return false;
  const size_t part = begin + bytes - page < page_bytes_ ? begin + bytes - page : page_bytes_;
  static unsigned char content[1 << 16];
  if (part > sizeof content || !fetch_(page, part, content)) return false;
  mprotect(reinterpret_cast<void*>(page), page_bytes_, PROT_READ | PROT_WRITE);
  auto* const to = reinterpret_cast<unsigned char*>(page);
  for (size_t i = 0; i < part; i++) to[i] = content[i];
  held_.insert(page);
  return true;
}

bool HeldPages::repair(uintptr_t address) { return the_pages->take(address); }

}  // namespace simt::apart
