// CUDA's declaration specifiers, in terms of C++.
#pragma once

// What simtcc substitutes for __CUDA_ARCH__ in the device's branch of a condition (cuda_arch.py): an H200's value.
#define SIMT_CUDA_ARCH 900

// In an instrumented build a kernel stays a function of its own, with its parameters as they are declared: the model of
// a GPU's time (timing/) reads it in the compiler's output. Its visibility says in the symbol table that it is a kernel
// (module_symbols.h), if it is not static.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define __global__ __attribute__((noipa, visibility("protected")))
#else
#define __global__
#endif
#define __device__
#define __host__
#define __managed__
#define __grid_constant__
// The launch reads it (launch_bounds.cpp). clang knows no such attribute of a template's parameters: there it is one
// without effect. Either may stand where nvcc takes one, and nowhere else.
#if defined(__GNUC__) && !defined(__clang__)
// sizeof, so that it is a number also where it names a variable; a function, so that commas in a template's arguments
// do no harm.
#define SIMT_BOUND(...) sizeof(char[::simt::no_operations(__VA_ARGS__)])
#define __launch_bounds__(...) \
  __attribute__((patchable_function_entry(SIMT_BOUND(__VA_ARGS__), SIMT_BOUND(__VA_ARGS__))))
#define SIMT_CLUSTER(...) sizeof(char[::simt::no_operations_of_cluster(__VA_ARGS__)])
#define __cluster_dims__(...) \
  __attribute__((patchable_function_entry(SIMT_CLUSTER(__VA_ARGS__), SIMT_CLUSTER(__VA_ARGS__))))
namespace simt {
// The compiler aligns a function by no-operations of its own before these: at most one of x86-64, three of aarch64.
#ifdef __aarch64__
constexpr int no_operations_per_thread = 4, cluster_no_operations = 8192;
#else
constexpr int no_operations_per_thread = 2, cluster_no_operations = 4096;
#endif
constexpr int no_operations(long long threads, long long = 0, long long = 0) {
  return (threads < 1024 ? static_cast<int>(threads) : 1024) * no_operations_per_thread;
}
// A kernel has one such attribute, so that of a cluster comes before its bounds (cuda_source.py). It has more
// no-operations than any number of threads, and no_operations_per_shape more for each shape that comes before it, of
// those with up to 16 blocks. An impossible shape, such as 17 blocks, gets a length that the compiler refuses.
constexpr int no_operations_per_shape = 16, most_in_cluster = 16;
constexpr int no_operations_of_cluster(int x, int y = 1, int z = 1) {
  int before = 0;
  for (int c = 1; c <= most_in_cluster; c++) {
    for (int b = 1; b * c <= most_in_cluster; b++) {
      for (int a = 1; a * b * c <= most_in_cluster; a++, before++) {
        if (a == x && b == y && c == z) return cluster_no_operations + no_operations_per_shape * before;
      }
    }
  }
  return -1;
}
}  // namespace simt
#else
#define __launch_bounds__(...) __attribute__((unused))
#define __cluster_dims__(...) __attribute__((unused))
#endif
#define __maxnreg__(...)
#define __builtin_assume(condition) static_cast<void>(0)
#define __device_builtin__
#define __cudart_builtin__

// A block's threads are fibers of one OS thread, so what is local to that OS thread is shared by the block.
// `extern __shared__ T name[];` needs more than a macro: cuda_source.py turns it into simt_dynamic_shared.
// 16 in simtcc's programs: on GPUs, arrays that programs read 16 bytes at a time are so aligned without being asked.
// tls_model: with its own choice, g++ makes one 32-bit number of a variable's place and an index that it knows, and of
// s[lane - 1u], where lane is 0, one that does not fit. A module is loaded while the program runs; initial-exec would
// need room beside the program's own variables, which there need not be.
#if defined(SIMT_WHOLE_PROGRAM) && (!defined(__PIC__) || defined(__PIE__))
#define __shared__ thread_local __attribute__((aligned(16), tls_model("initial-exec")))
#elif defined(SIMT_WHOLE_PROGRAM)
#define __shared__ thread_local __attribute__((aligned(16), tls_model("global-dynamic")))
#else
#define __shared__ thread_local
#endif

// Every thread may read it and the host fills it with cudaMemcpyToSymbol, so it is an ordinary variable. What is
// __device__ counts as global memory in an instrumented kernel and what is __constant__ does not, so there the latter
// has a section of its own. A `#` begins a comment to the assembler: to the compiler the sections differ, so constant
// and other variables may be in it.
#if defined(__SANITIZE_THREAD__) && defined(__x86_64__)
#define SIMT_TEXT_OF(x) #x
#define SIMT_CONSTANT_SECTION(number) section("simt_constant,\"aw\",@progbits#" SIMT_TEXT_OF(number))
#define __constant__ __attribute__((SIMT_CONSTANT_SECTION(__COUNTER__)))
#else
#define __constant__
#endif

#define __forceinline__ inline __attribute__((always_inline))
// Empty, because the C++ library itself writes __attribute__((__noinline__)).
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __restrict __restrict__
