// Lab 07, given: number types, the workspace, a core's initial state, and the router's decision.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "rung.h"

using bf16 = __nv_bfloat16;
using rung::SwapFfn;
using rung::SwapFfnSizes;

constexpr int banks = rung::swap_ffn_banks;
constexpr int threads = 256, warps = threads / 32;  // of every block that works on rows
constexpr int most_router = 128;                    // d_router

// kernel<<<grid, block, shared_bytes, stream>>>(arguments...): the executor supports that form only in .cu files.
template <typename... Parameters, typename... Arguments>
void start(void (*kernel)(Parameters...), dim3 grid, int block, size_t shared_bytes, cudaStream_t stream,
           Arguments... arguments) {
#ifdef __SIMT__
  SIMT_LAUNCH((kernel), (grid, block, shared_bytes, stream))(arguments...);
#else
  kernel<<<grid, block, shared_bytes, stream>>>(arguments...);
#endif
}

__device__ float widen(float x) { return x; }
__device__ float widen(bf16 x) { return __bfloat162float(x); }
__device__ void narrow(float x, float* to) { *to = x; }
__device__ void narrow(float x, bf16* to) { *to = __float2bfloat16(x); }

__device__ float silu(float x) { return x / (1.0f + expf(-x)); }

// 16 bytes of T, moved by one access.
template <typename T>
constexpr int pack_size = 16 / sizeof(T);

template <typename T>
__device__ void load_pack(const T* from, float (&values)[pack_size<T>]) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const T* const parts = reinterpret_cast<const T*>(&words);
#pragma unroll
  for (int i = 0; i < pack_size<T>; ++i) values[i] = widen(parts[i]);
}

template <typename T>
__device__ void store_pack(T* to, const float (&values)[pack_size<T>]) {
  uint4 words;
  T* const parts = reinterpret_cast<T*>(&words);
#pragma unroll
  for (int i = 0; i < pack_size<T>; ++i) narrow(values[i], &parts[i]);
  *reinterpret_cast<uint4*>(to) = words;
}

// The sum over a warp, in all lanes.
__device__ float warp_sum(float x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xFFFFFFFF, x, offset);
  return x;
}

// The sum over a block, in all threads. scratch: shared, one float per warp.
__device__ float block_sum(float x, float* scratch) {
  x = warp_sum(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < static_cast<int>(blockDim.x) / 32; ++i) sum += scratch[i];
  return sum;
}

__device__ float inverse_rms(float sum_of_squares, int d) {
  return rsqrtf(sum_of_squares / static_cast<float>(d) + rung::swap_ffn_epsilon);
}

// The data that variants keep between launches, or between phases of one. Row-major.
template <typename T>
struct Scratch {
  T *state, *norm;  // (cores, d_model)
  T *gate, *up;     // (cores, d_ff)
  float* z;         // (cores, d_router)
  int* bank;        // (cores): the bank to exchange with; -1: none
  float* pooled;    // (collapse_k, d_model)
  float* sums;      // (collapse_r), after SiLU

  explicit Scratch(const SwapFfn<T>& step) {
    unsigned char* next = static_cast<unsigned char*>(step.workspace);
    const auto take = [&](auto** pointer, size_t count) {
      *pointer = reinterpret_cast<std::remove_reference_t<decltype(*pointer)>>(next);
      next += (count * sizeof(**pointer) + 255) / 256 * 256;
    };
    const SwapFfnSizes& s = step.sizes;
    const size_t cores = s.cores, d = s.d_model, f = s.d_ff;
    take(&state, cores * d);
    take(&norm, cores * d);
    take(&gate, cores * f);
    take(&up, cores * f);
    take(&z, cores * s.d_router);
    take(&bank, cores);
    take(&pooled, s.collapse_k * d);
    take(&sums, s.collapse_r);
  }
};

// x * scale + shift for one core, by a block. RAM and lanes are copied to the output, where they change from then on.
// state(i, value): keeps it.
template <typename T, typename Keep>
__device__ void begin_core(const SwapFfn<T>& step, int core, Keep keep) {
  const int d = step.sizes.d_model;
  const size_t row = static_cast<size_t>(core) * d;
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    keep(i, widen(step.x[i]) * widen(step.scale[row + i]) + widen(step.shift[row + i]));
  const uint4* const from = reinterpret_cast<const uint4*>(step.ram + banks * row);
  uint4* const to = reinterpret_cast<uint4*>(step.ram_out + banks * row);
  for (int i = threadIdx.x; i < banks * d / pack_size<T>; i += blockDim.x) to[i] = from[i];
  if (threadIdx.x == 0) step.lanes_out[core] = step.lanes[core];
}

// What the router decides for a core, by a whole warp: the physical bank to exchange the state with, or -1. lanes: the
// core's map, brought up to date. z: d_router numbers.
template <typename T>
__device__ int decide(const SwapFfn<T>& step, const float* z, unsigned* lanes) {
  float scores[1 + banks] = {};
  for (int q = threadIdx.x % 32; q < step.sizes.d_router; q += 32) {
    scores[0] += z[q] * widen(step.swap_w[q]);
#pragma unroll
    for (int b = 0; b < banks; ++b) scores[1 + b] += z[q] * widen(step.bank_w[b * step.sizes.d_router + q]);
  }
#pragma unroll
  for (int i = 0; i < 1 + banks; ++i) scores[i] = warp_sum(scores[i]) + widen(step.biases[i]);
  if (scores[0] <= 0.0f) return -1;  // sigmoid(scores[0]) <= 0.5
  int logical = 0;
  float best = scores[1];
#pragma unroll
  for (int b = 1; b < banks; ++b) {
    if (scores[1 + b] <= best) continue;
    best = scores[1 + b];
    logical = b;
  }
  const unsigned physical = *lanes >> 2 * logical & 3, first = *lanes & 3;
  *lanes = (*lanes & ~(3u << 2 * logical)) | first << 2 * logical;
  *lanes = (*lanes & ~3u) | physical;
  return static_cast<int>(physical);
}
