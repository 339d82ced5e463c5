// CUDA's declaration specifiers, in terms of C++.
#pragma once

#define __global__
#define __device__
#define __host__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...) static_assert(false, "the CPU executor has no thread block clusters");

// A block's threads are fibers of one OS thread, so what is local to that OS thread is shared by the block.
// `extern __shared__ T name[];` needs more than a macro: rewrite.sed turns it into simt_dynamic_shared.
#define __shared__ thread_local

// Every thread may read it, the host fills it with cudaMemcpyToSymbol: an ordinary variable.
#define __constant__

#define __forceinline__ inline __attribute__((always_inline))
// Empty, because the C++ library itself writes __attribute__((__noinline__)).
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __restrict __restrict__
