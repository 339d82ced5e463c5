// The built-in variables of a kernel. The executor sets them whenever it switches to a thread.
#pragma once

#include "../vector_types.h"

// Declared const: within one activation of a kernel they never change, so the compiler may keep them in registers.
#define SIMT_BUILTIN extern __thread const __attribute__((tls_model("initial-exec")))
extern "C" {
SIMT_BUILTIN uint3 threadIdx __asm__("simt_threadIdx");
SIMT_BUILTIN uint3 blockIdx __asm__("simt_blockIdx");
SIMT_BUILTIN dim3 blockDim __asm__("simt_blockDim");
SIMT_BUILTIN dim3 gridDim __asm__("simt_gridDim");
}
#undef SIMT_BUILTIN

// Dynamic shared memory of the block that this OS thread runs.
extern "C" {
extern __thread __attribute__((tls_model("initial-exec"))) unsigned char simt_dynamic_shared[];
}

namespace simt {
// `extern __shared__ T name[];` in a function becomes `T* const name = ::simt::DynamicShared();` (cuda_source.py).
struct DynamicShared {
  template <typename T>
  operator T*() const {
    return reinterpret_cast<T*>(simt_dynamic_shared);
  }
};
// As `T (&name)[]`, where a function takes the address of the array or casts it to a reference.
struct DynamicSharedArray {
  template <typename T>
  operator T&() const {
    return reinterpret_cast<T&>(simt_dynamic_shared);
  }
};
}  // namespace simt

// The same in a header of a rung (common/rung), which nothing rewrites.
#define SIMT_DYNAMIC_SHARED(type, name)       \
  type* const name = ::simt::DynamicShared(); \
  static_cast<void>(name)

// Not a constant expression in CUDA: rules/ has clang find programs that use it as one.
#ifdef SIMT_WARP_SIZE_UNKNOWN
extern const int warpSize;
#else
constexpr int warpSize = 32;
#endif

namespace simt {

constexpr unsigned full_mask = 0xffffffffu;

// Position of the calling thread in its block (x fastest) and in its warp.
inline unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
inline unsigned lane() { return thread_rank() % warpSize; }

}  // namespace simt
