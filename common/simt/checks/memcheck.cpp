#include "memcheck.h"

#include <link.h>
#include <pthread.h>

#include <utility>

#include "../device_heap.h"
#include "../launch_state.h"
#include "report.h"

extern "C" {
extern void* __libc_stack_end;  // of the C library's loader: where the first thread's stack begins
}

namespace simt::checks {

namespace {

constexpr uintptr_t null_page = 64 * 1024;
constexpr uintptr_t shared_neighbourhood = 1 << 20;

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
  } else {
    // Of the first thread it is read from /proc, which a sandbox need not have. A kernel's arguments are in the frames
    // of those who called this.
    const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    program_.push_back({frame, reinterpret_cast<uintptr_t>(__libc_stack_end), false});
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

Memcheck::Finding Memcheck::look_at(const BlockInfo& block, const Access& access, Allocation* right) {
  *right = {};
  const AddressSpace space = space_of(block, access.address);
  const bool shared = space != AddressSpace::global && space != AddressSpace::other;
  Finding finding = shared                             ? look_at_shared(block, access, right)
                    : buffers_.is_live(access.address) ? look_at_global(block, access, right)
                                                       : look_at_other(block, access, right);
  if (finding.what || !access.aligned || access.address % access.bytes == 0) return finding;
  return {
      shared ? "memcheck: misaligned address in shared memory" : "memcheck: misaligned address in global memory",
      access_text(access) + describe(block, space, access.address, access.bytes) + ", which is " +
          std::to_string(access.address % access.bytes) + " bytes past a multiple of " + std::to_string(access.bytes) +
          ".\nA vector access must lie at a multiple of its size: handle the elements before the first such address "
          "one by one."};
}

Memcheck::Finding Memcheck::look_at_global(const BlockInfo& block, const Access& access, Allocation* right) const {
  if (buffers_.allows(access.address, access.bytes, right)) return {};
  const uintptr_t last = access.address + access.bytes - 1;
  const uintptr_t culprit = buffers_.allows(access.address, 1, right) ? last : access.address;
  return {"memcheck: out of bounds in global memory",
          access_text(access) + describe(block, AddressSpace::global, culprit, access.bytes) +
              ".\nUsually mended by a bounds check: is the last column, or the last row, handled?"};
}

Memcheck::Finding Memcheck::look_at_shared(const BlockInfo& block, const Access& access, Allocation* right) const {
  const char* const what = "memcheck: out of bounds in shared memory";
  if (access.address - block.dynamic_shared < max_shared_bytes) {
    *right = {block.dynamic_shared, block.dynamic_shared_bytes};
    if (access.address + access.bytes <= right->begin + right->bytes) return {};
    return {what, access_text(access) + describe(block, AddressSpace::shared_dynamic, access.address, access.bytes) +
                      ".\nUsually mended by giving the launch more dynamic shared memory (the third argument of <<< "
                      ">>>), or by an index that stays inside."};
  }
  const std::vector<SharedVariable>& variables = shared_variables(block);
  *right = {block.static_shared, block.static_shared_bytes};
  if (variables.empty()) return {};
  for (const SharedVariable& variable : variables) {
    const uintptr_t offset = access.address - block.static_shared - variable.offset;
    if (offset >= variable.bytes) continue;
    *right = {block.static_shared + variable.offset, variable.bytes};
    if (offset + access.bytes <= variable.bytes) return {};
  }
  return {what, access_text(access) + describe_static(block, access.address, access.bytes) +
                    ".\nUsually mended by an index that stays inside the array."};
}

Memcheck::Finding Memcheck::look_at_other(const BlockInfo& block, const Access& access, Allocation* right) {
  const std::string text = access_text(access) + describe(block, AddressSpace::global, access.address, access.bytes);
  if (access.address < null_page) return {"memcheck: null pointer", text + ": a null pointer, perhaps with an index."};
  if (buffers_.was_freed(access.address)) {
    return {"memcheck: freed memory",
            text + ".\nUsually mended by freeing after the last launch that uses the memory."};
  }
  if (device_heap::contains(access.address)) return {};
  if (const Range* range = program_data(access.address)) {
    *right = {range->begin, range->end - range->begin};
    return {};
  }
  const bool past_static = block.static_shared_bytes && access.address - block.static_shared < shared_neighbourhood;
  if (past_static || access.address - block.dynamic_shared < shared_neighbourhood) {
    return {"memcheck: out of bounds in shared memory",
            access_text(access) +
                (past_static ? describe_static(block, access.address, access.bytes)
                             : describe(block, AddressSpace::shared_dynamic, access.address, access.bytes)) +
                ", beyond the block's shared memory.\nUsually mended by an index that stays inside the array."};
  }
  if (buffers_.neighbour(access.address)) {
    return {"memcheck: out of bounds in global memory",
            text + ".\nUsually mended by a bounds check, or by a larger allocation."};
  }
  return {"memcheck: invalid address", text +
                                           ", which belongs to no buffer of the device.\nIs the pointer one of the "
                                           "host's, or an index out of range?"};
}

}  // namespace simt::checks
