#include "stacks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace simt {

namespace {

// Of all stacks of the process, half of the mappings that Linux gives it by default: those of several devices, too.
constexpr size_t most_guards = 16000;
std::atomic<size_t> guards{0};

}  // namespace

Stacks::Stacks()
    : page_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
      slot_bytes_(((stack_bytes / page_bytes_ + 1) | 1) * page_bytes_) {}

Stacks::~Stacks() { clear(); }

void Stacks::clear() {
  if (base_) munmap(reinterpret_cast<void*>(base_), count_ * slot_bytes_);
  guards -= guards_;
  guards_ = 0;
}

void Stacks::reserve(size_t count, bool guarded) {
  if (count <= count_) return;
  clear();
  if (guarded && guards.fetch_add(count) + count > most_guards) {
    guards -= count;
    guarded = false;
  }
  guards_ = guarded ? count : 0;
  void* mapping =
      mmap(nullptr, count * slot_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    std::fprintf(stderr, "simt: no memory for the stacks of %zu threads (%zu MiB of address space)\n", count,
                 count * slot_bytes_ >> 20);
    std::abort();
  }
  base_ = reinterpret_cast<uintptr_t>(mapping);
  count_ = count;
  free_.clear();
  free_.reserve(count);
  for (size_t i = count; i-- > 0;) {
    const uintptr_t slot = base_ + i * slot_bytes_;
    if (guarded) mprotect(reinterpret_cast<void*>(slot), page_bytes_, PROT_NONE);
    // Tops at the same distance from a page would all fall into the same few sets of the cache. Spread them over a
    // page, 192 bytes apart: as many lines as a waiting thread uses.
    free_.push_back(reinterpret_cast<void*>(slot + slot_bytes_ - i % 21 * 192));
  }
}

void* Stacks::take() {
  void* top = free_.back();
  free_.pop_back();
  return top;
}

bool Stacks::in_guard(uintptr_t address) const {
  return contains(address) && (address - base_) % slot_bytes_ < page_bytes_;
}

}  // namespace simt
