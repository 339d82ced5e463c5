#include "fault.h"

#include <cstdio>
#include <string>

#include "block.h"
#include "device_service.h"
#include "launch.h"
#include "memory.h"
#include "module_tls.h"

namespace simt {

namespace {

// An access at the stack's end is made at the stack pointer, or by a call just below it. Where the two are far from
// each other, an index led there. A large frame may begin far beyond the guard page: then the stack pointer has left
// the stack.
bool has_outgrown_its_stack(uintptr_t address, uintptr_t sp) {
  constexpr uintptr_t near = 512;  // what a function without calls may use below the stack pointer, and more
  const Thread* const thread = current_block ? current_block->running() : nullptr;
  if (!thread) return false;
  const uintptr_t bottom = current_block->stacks().bottom(thread->stack);
  if (sp < bottom || sp > reinterpret_cast<uintptr_t>(thread->stack)) return true;
  return address < bottom && sp - address < near;
}

// Where an index of a shared array that is out of range leads: not far from the block's shared memory. The sentence
// that says so; empty elsewhere.
std::string beside_shared_memory(uintptr_t address) {
  constexpr uintptr_t far = uintptr_t{4} << 20;
  const auto dynamic = reinterpret_cast<uintptr_t>(simt_dynamic_shared);
  const size_t bytes = current_block->launch().config.shared_bytes;
  if (bytes && address - (dynamic - far) < 2 * far) {
    const bool before = address < dynamic;
    return "The address is " + std::to_string(before ? dynamic - address : address - dynamic) + " bytes " +
           (before ? "before" : "after") + " the beginning of the block's dynamic shared memory, which has " +
           std::to_string(bytes) + " bytes: is an index out of range?";
  }
  const ModuleTls variables = module_tls(current_block->kernel_code());
  if (variables.bytes > variables.initialised_bytes &&
      address - (reinterpret_cast<uintptr_t>(variables.begin) - far) < 2 * far)
    return "The address is near the block's shared memory, and in none of its arrays: is an index out of range?";
  return "";
}

}  // namespace

void describe_fault(const siginfo_t& info, uintptr_t sp, Failure* failure) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  const auto say = [failure](const char* what, const std::string& detail) {
    failure->what = what;
    std::snprintf(failure->detail, sizeof failure->detail, "%s", detail.c_str());
  };
  if (has_outgrown_its_stack(address, sp)) {
    return say(stack_overflow,
               "A thread used more than " + std::to_string(Stacks::local_bytes >> 10) +
                   " KiB of stack. Are its local arrays very large, or does it recurse without an end?");
  }
  if (device().keeps_from_host(address)) {
    return say("host code touches device memory",
               "Only kernels can read and write what cudaMalloc gives; the host has cudaMemcpy. On a GPU this crashes, "
               "too.");
  }
  if (info.si_code == SI_KERNEL) {
    // x86 raises this for a 16-byte access that is not aligned, and does not tell the address.
    return say("misaligned or invalid address",
               "The address of a vector access (float4 and the like) must be a multiple of its size; or the pointer is "
               "garbage.");
  }
  char at[32];
  std::snprintf(at, sizeof at, "0x%zx", static_cast<size_t>(address));
  if (address < 1 << 16)
    return say("null pointer", std::string("Access to address ") + at + ": a null pointer, perhaps with an index.");
  if (failure->in_kernel && current_block->stacks().contains(address)) {
    return say("invalid address", std::string("Access to address ") + at +
                                      ", in the local memory of the block's threads but in none of their arrays: is an "
                                      "index of a local array out of range, or of a __shared__ one?");
  }
  const std::string beside = failure->in_kernel ? beside_shared_memory(address) : "";
  if (!beside.empty()) return say("invalid address", beside);
  if (failure->in_kernel && is_host_memory(address)) {
    return say("host memory",
               "A kernel touches memory of the host. It can use what cudaMalloc gives, not variables, arrays and "
               "pointers of the host: copy with cudaMemcpy.");
  }
  say("invalid address",
      std::string("Access to address ") + at + ", which belongs to no buffer: is an index out of range?");
}

}  // namespace simt
