#include "memcheck.h"

#include <link.h>
#include <pthread.h>

#include <utility>

#include "../device_heap.h"
#include "report.h"

namespace simt::checks {

namespace {

constexpr uintptr_t null_page = 64 * 1024;

std::string access_text(const Access& access) {
  const char* const verb = access.kind == AccessKind::load    ? " reads "
                           : access.kind == AccessKind::store ? " writes "
                                                              : " updates ";
  return "it" + std::string(verb) + std::to_string(access.bytes) + " bytes at ";
}

}  // namespace

void Memcheck::launch_begin() {
  program_.clear();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const auto& segment = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD)
            static_cast<std::vector<Range>*>(data)->push_back({begin, begin + segment.p_memsz, true});
        }
        return 0;
      },
      &program_);
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* stack = nullptr;
    size_t bytes = 0;
    pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
    program_.push_back({reinterpret_cast<uintptr_t>(stack), reinterpret_cast<uintptr_t>(stack) + bytes, false});
  }
  // threadIdx and the like: variables of this OS thread, which also runs the blocks.
  const auto add = [&](const auto& variable) {
    const auto begin = reinterpret_cast<uintptr_t>(&variable);
    program_.push_back({begin, begin + sizeof variable, false});
  };
  add(threadIdx);
  add(blockIdx);
  add(blockDim);
  add(gridDim);
}

const Memcheck::Range* Memcheck::program_data(uintptr_t address) {
  for (Range& range : program_) {
    if (address < range.begin || address >= range.end) continue;
    std::swap(range, program_.front());  // the next one is likely to be the same
    return &program_.front();
  }
  return nullptr;
}

void Memcheck::access(const BlockInfo& block, const ThreadId& thread, const Access& access) {
  const auto what_for = [&](const char* in_global, const char* in_shared) {
    return access.space == AddressSpace::global ? in_global : in_shared;
  };
  if (access.space == AddressSpace::other) {
    check_other(block, thread, access);
    return;
  }
  if (access.space == AddressSpace::global && !buffers_.allows(access.address, access.bytes)) {
    const uintptr_t last = access.address + access.bytes - 1;
    const uintptr_t culprit = buffers_.allows(access.address, 1) ? last : access.address;
    report("memcheck: out of bounds in global memory", thread, access.pc,
           access_text(access) + describe(block, access.space, culprit) + ".\n" +
               "Usually mended by a bounds check: is the last column, or the last row, handled?");
  }
  if (access.space == AddressSpace::shared_dynamic &&
      access.address + access.bytes > block.dynamic_shared + block.dynamic_shared_bytes) {
    report(
        "memcheck: out of bounds in shared memory", thread, access.pc,
        access_text(access) + describe(block, access.space, access.address) + ".\n" +
            "Usually mended by giving the launch more dynamic shared memory (the third argument of <<< >>>), or by an "
            "index that stays inside.");
  }
  if (access.bytes > 1 && (access.bytes & (access.bytes - 1)) == 0 && access.address % access.bytes != 0) {
    report(what_for("memcheck: misaligned address in global memory", "memcheck: misaligned address in shared memory"),
           thread, access.pc,
           access_text(access) + describe(block, access.space, access.address) + ", which is " +
               std::to_string(access.address % access.bytes) + " bytes past a multiple of " +
               std::to_string(access.bytes) +
               ".\nA vector access must lie at a multiple of its size: handle the elements before the first such "
               "address one "
               "by one.");
  }
}

void Memcheck::check_other(const BlockInfo& block, const ThreadId& thread, const Access& access) {
  if (access.address < null_page) {
    report("memcheck: null pointer", thread, access.pc,
           access_text(access) + describe(block, access.space, access.address) +
               ": a null pointer, perhaps with an index.");
  }
  if (buffers_.was_freed(access.address)) {
    report("memcheck: freed memory", thread, access.pc,
           access_text(access) + describe(block, access.space, access.address) +
               ".\nUsually mended by freeing after the last launch that uses the memory.");
  }
  if (program_data(access.address) || device_heap::contains(access.address)) return;
  const bool past_shared = access.address - block.dynamic_shared < (1u << 20) ||
                           (block.static_shared_bytes && access.address - block.static_shared < (1u << 20));
  report(past_shared ? "memcheck: out of bounds in shared memory" : "memcheck: invalid address", thread, access.pc,
         access_text(access) + describe(block, access.space, access.address) +
             (past_shared
                  ? ", beyond the block's shared memory.\nUsually mended by an index that stays inside the array."
                  : ", which belongs to no buffer of the device.\nIs the pointer one of the host's, or an index out "
                    "of range?"));
}

}  // namespace simt::checks
