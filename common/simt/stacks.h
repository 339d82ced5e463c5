// Stacks for fibers: one mapping, a guard page below each stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

class Stacks {
 public:
  // A thread's local memory: room for its local arrays and the frames of the math library. The tops are spread over a
  // page, so it may be up to a page less.
  static constexpr size_t local_bytes = 64 * 1024;
  // Below it, for the frames of what says that there is no more.
  static constexpr size_t reserve_bytes = 32 * 1024;
  static constexpr size_t stack_bytes = local_bytes + reserve_bytes;

  Stacks();
  ~Stacks();
  Stacks(const Stacks&) = delete;

  // Makes sure that `count` stacks exist; none may be in use. Memory is taken only when a stack is first touched.
  // Without guard pages a thread that outgrows its stack is not noticed; but Linux limits the number of mappings of a
  // process, and each guard page costs two. Where the process has too many already, there are none either.
  void reserve(size_t count, bool guarded = true);

  // The top (highest address) of a free stack; reserve() must have made enough.
  void* take();
  void give_back(void* top) { free_.push_back(top); }

  // The lowest address of the stack with this top, and the number of the slot that holds an address.
  uintptr_t bottom(void* top) const {
    const uintptr_t last = reinterpret_cast<uintptr_t>(top) - 1;
    return last - (last - base_) % slot_bytes_ + page_bytes_;
  }
  size_t slot_of(uintptr_t address) const { return (address - base_) / slot_bytes_; }

  // Does the address lie in a guard page: has a thread outgrown its stack?
  bool in_guard(uintptr_t address) const;

  bool contains(uintptr_t address) const { return address - base_ < count_ * slot_bytes_; }

 private:
  // A slot is a guard page and a stack. Its length is an odd number of pages: otherwise the stacks would compete for a
  // few sets of the cache of page translations.
  const size_t page_bytes_, slot_bytes_;

  void clear();

  uintptr_t base_ = 0;
  size_t count_ = 0, guards_ = 0;
  std::vector<void*> free_;
};

}  // namespace simt
