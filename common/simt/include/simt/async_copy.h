// Copies that CUDA does asynchronously (cp.async). Here the calling threads copy at once, in the widest pieces that
// addresses and size allow. These accesses are counted as loads and stores of the kernel; Nsight Compute counts those
// of the hardware under separate names (ldgsts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "builtins.h"

// The linker cannot subtract what it looks up: `sub name@gottpoff(%rip), ...` does not become a constant in an
// executable.
#if (defined(__PIC__) && !defined(__PIE__)) || defined(__clang__)
#define SIMT_DYNAMIC_BASE simt_dynamic_shared
#else
extern __thread
    __attribute__((tls_model("local-exec"))) unsigned char simt_dynamic_base[] __asm__("simt_dynamic_shared");
#define SIMT_DYNAMIC_BASE simt_dynamic_base
#endif

// The window of shared memory: addresses in it are counted from the dynamic part, the static part may lie below. In a
// library that a program loads the static part lies anywhere: it is counted from a variable beside it, in the middle of
// the window.
#if defined(__PIC__) && !defined(__PIE__) && !defined(__CUDA__)
[[maybe_unused]] static __thread unsigned char simt_beside_static;
inline size_t __cvta_generic_to_shared(const void* address) {
  const auto* const place = static_cast<const unsigned char*>(address);
  const ptrdiff_t offset = place - SIMT_DYNAMIC_BASE;
  if (offset >= -(1 << 30) && offset < 1 << 30) return static_cast<uint32_t>(offset);
  return static_cast<uint32_t>(place - &simt_beside_static) + 0x80000000u;
}
inline void* __cvta_shared_to_generic(size_t address) {
  const auto offset = static_cast<uint32_t>(address);
  if (offset + 0x40000000u < 0x80000000u) return simt_dynamic_shared + static_cast<int32_t>(offset);
  return &simt_beside_static + static_cast<int32_t>(offset - 0x80000000u);
}
#else
inline size_t __cvta_generic_to_shared(const void* address) {
  return static_cast<uint32_t>(static_cast<const unsigned char*>(address) - SIMT_DYNAMIC_BASE);
}
inline void* __cvta_shared_to_generic(size_t address) { return simt_dynamic_shared + static_cast<int32_t>(address); }
#endif
// The other windows begin at address 0.
inline size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<size_t>(address); }
inline size_t __cvta_generic_to_local(const void* address) { return reinterpret_cast<size_t>(address); }
inline size_t __cvta_generic_to_constant(const void* address) { return reinterpret_cast<size_t>(address); }
inline void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline void* __cvta_local_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline void* __cvta_constant_to_generic(size_t address) { return reinterpret_cast<void*>(address); }

namespace simt {

template <typename Piece>
void copy_pieces(void* to, const void* from, size_t bytes, size_t rank, size_t threads) {
  for (size_t i = rank; i < bytes / sizeof(Piece); i += threads)
    static_cast<Piece*>(to)[i] = static_cast<const Piece*>(from)[i];
}

// Copies the part that the thread `rank` has in a copy by `threads` threads together. bytes: of the whole copy.
inline void copy_by_all(void* to, const void* from, size_t bytes, size_t rank, size_t threads) {
  const uintptr_t all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
  if (all % 16 == 0) return copy_pieces<uint4>(to, from, bytes, rank, threads);
  if (all % 8 == 0) return copy_pieces<uint2>(to, from, bytes, rank, threads);
  if (all % 4 == 0) return copy_pieces<unsigned>(to, from, bytes, rank, threads);
  copy_pieces<unsigned char>(to, from, bytes, rank, threads);
}
inline void copy_by_one(void* to, const void* from, size_t bytes) { copy_by_all(to, from, bytes, 0, 1); }

}  // namespace simt
