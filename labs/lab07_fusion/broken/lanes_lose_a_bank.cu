// Broken: lane 0 gets the chosen bank, and the lane that had it keeps it: the map is no permutation any more.
// Verdict: wrong lanes
// Variant: fused_per_core f32
// Case: router-only
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

#include "rung.h"

using bf16 = __nv_bfloat16;
using rung::SwapFfn;
using rung::SwapFfnSizes;

constexpr int banks = rung::swap_ffn_banks;
constexpr int threads = 256, warps = threads / 32;  // of every block that works on rows
constexpr int most_router = 128;                    // d_router

// ---- Numbers --------------------------------------------------------------------------------------------------------

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

// ---- The workspace --------------------------------------------------------------------------------------------------

// What the variants keep between launches, or between phases of one. Row-major.
template <typename T>
struct Scratch {
  T *state, *norm;  // (cores, d_model)
  T *gate, *up;     // (cores, d_ff)
  float* z;         // (cores, d_router)
  int* bank;        // (cores): with which one to exchange; -1: with none
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

// ---- Pieces that several variants use -------------------------------------------------------------------------------

// x * scale + shift for one core, by a block; RAM and lanes go to the output, where they change from then on.
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
  const unsigned physical = *lanes >> 2 * logical & 3;

  *lanes = (*lanes & ~3u) | physical;
  return static_cast<int>(physical);
}

// ---- The collapse, three launches -----------------------------------------------------------------------------------

// pooled(k, i) = sum over cores of alpha(c, k) state(c, i). Grid (d_model / 32, collapse_k), a thread for one of 32
// columns and an eighth of the cores.
template <typename T>
__global__ void pool_kernel(SwapFfn<T> step, Scratch<T> scratch) {
  __shared__ float parts[warps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, d = step.sizes.d_model, k = blockIdx.y;
  const int i = blockIdx.x * 32 + lane;
  float sum = 0.0f;
  for (int c = warp; c < step.sizes.cores; c += warps)
    sum += widen(step.alpha[c * step.sizes.collapse_k + k]) * widen(scratch.state[static_cast<size_t>(c) * d + i]);
  parts[warp][lane] = sum;
  __syncthreads();
  if (warp > 0) return;
  for (int w = 1; w < warps; ++w) sum += parts[w][lane];
  scratch.pooled[k * d + i] = sum;
}

// sums(r) = silu(sum over k of basis(k, r) . pooled(k)). A block an r.
template <typename T>
__global__ void basis_kernel(SwapFfn<T> step, Scratch<T> scratch) {
  __shared__ float parts[warps];
  const int d = step.sizes.d_model, r = blockIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < step.sizes.collapse_k; ++k) {
    const T* const row = step.basis + (static_cast<size_t>(k) * step.sizes.collapse_r + r) * d;
    for (int i = threadIdx.x * pack_size<T>; i < d; i += threads * pack_size<T>) {
      float values[pack_size<T>];
      load_pack(row + i, values);
#pragma unroll
      for (int j = 0; j < pack_size<T>; ++j) sum += values[j] * scratch.pooled[k * d + i + j];
    }
  }
  sum = block_sum(sum, parts);
  if (threadIdx.x == 0) scratch.sums[r] = silu(sum);
}

// delta(i) = decoder(i) . sums. A warp an i.
template <typename T>
__global__ void decode_kernel(SwapFfn<T> step, Scratch<T> scratch) {
  const int i = blockIdx.x * warps + threadIdx.x / 32, r = step.sizes.collapse_r;
  const T* const row = step.decoder + static_cast<size_t>(i) * r;
  float sum = 0.0f;
  for (int j = threadIdx.x % 32; j < r; j += 32) sum += widen(row[j]) * scratch.sums[j];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) step.delta[i] = sum;
}

template <typename T>
cudaError_t collapse(const SwapFfn<T>& step, const Scratch<T>& scratch, bool pooled, cudaStream_t stream) {
  const SwapFfnSizes& s = step.sizes;
  const dim3 columns(s.d_model / 32, s.collapse_k);
  if (!pooled) pool_kernel<T><<<columns, threads, 0, stream>>>(step, scratch);
  basis_kernel<T><<<s.collapse_r, threads, 0, stream>>>(step, scratch);
  decode_kernel<T><<<s.d_model / warps, threads, 0, stream>>>(step, scratch);
  return cudaGetLastError();
}

// ---- fused_per_core -------------------------------------------------------------------------------------------------

// The dot products of Rows rows of k weights with x in shared memory, by a warp; in all lanes.
template <typename T, int Rows>
__device__ void dot_rows(const T* const (&rows)[Rows], const float* x, int k, float (&sums)[Rows]) {
#pragma unroll
  for (int r = 0; r < Rows; ++r) sums[r] = 0.0f;
  for (int i = threadIdx.x % 32 * pack_size<T>; i < k; i += 32 * pack_size<T>) {
    float weights[Rows][pack_size<T>];
#pragma unroll
    for (int r = 0; r < Rows; ++r) load_pack(rows[r] + i, weights[r]);
#pragma unroll
    for (int j = 0; j < pack_size<T>; j += 4) {
      const float4 four = *reinterpret_cast<const float4*>(x + i + j);
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        sums[r] += weights[r][j] * four.x + weights[r][j + 1] * four.y + weights[r][j + 2] * four.z +
                   weights[r][j + 3] * four.w;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < Rows; ++r) sums[r] = warp_sum(sums[r]);
}

// y(i) = w(i) . x for all i < n, by a block. n: a multiple of 4.
template <typename T>
__device__ void multiply_vector(const T* w, const float* x, float* y, int n, int k) {
  for (int i = threadIdx.x / 32 * 4; i < n; i += warps * 4) {
    const T* const row = w + static_cast<size_t>(i) * k;
    const T* const rows[4] = {row, row + k, row + 2 * k, row + 3 * k};
    float sums[4];
    dot_rows<T, 4>(rows, x, k, sums);
    if (threadIdx.x % 32 == 0) *reinterpret_cast<float4*>(y + i) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  }
}

// The whole life of a core, state in shared memory.
template <typename T>
__global__ void __launch_bounds__(threads) per_core_kernel(SwapFfn<T> step, Scratch<T> scratch) {
  extern __shared__ float4 shared[];
  __shared__ float z[most_router], parts[warps];
  __shared__ int bank;
  const SwapFfnSizes& s = step.sizes;
  const int core = blockIdx.x, d = s.d_model, f = s.d_ff, t = threadIdx.x;
  float* const x = reinterpret_cast<float*>(shared);  // d: the state
  float* const n = x + d;                             // d: the state, normalised
  float* const h = n + d;                             // f: between the FFN's products

  const auto normalise = [&](const T* weight) {
    float squares = 0.0f;
    for (int i = t; i < d; i += threads) squares += x[i] * x[i];
    const float scale = inverse_rms(block_sum(squares, parts), d);
    for (int i = t; i < d; i += threads) n[i] = x[i] * scale * widen(weight[i]);
    __syncthreads();
  };

  begin_core(step, core, [&](int i, float value) { x[i] = value; });
  unsigned lanes = step.lanes[core];
  for (int event = 0; event < s.events; ++event) {
    normalise(step.router_norm);
    multiply_vector(step.router_w, n, z, s.d_router, d);
    __syncthreads();
    if (t < 32) {
      const int decided = decide(step, z, &lanes);
      if (t == 0) bank = decided;
    }
    __syncthreads();
    if (bank >= 0) {
      T* const ram = step.ram_out + (static_cast<size_t>(core) * banks + bank) * d;
      for (int i = t; i < d; i += threads) {
        const float before = x[i];
        x[i] = widen(ram[i]);
        narrow(before, &ram[i]);
      }
    }
    for (int i = 0; i < s.ffn_steps; ++i) {
      normalise(step.ffn_norm);
      for (int row = t / 32 * 2; row < f; row += warps * 2) {
        const size_t at = static_cast<size_t>(row) * d;
        const T* const rows[4] = {step.w1 + at, step.w1 + at + d, step.w3 + at, step.w3 + at + d};
        float sums[4];
        dot_rows<T, 4>(rows, n, d, sums);
        if (t % 32 == 0) {
          h[row] = silu(sums[0]) * sums[2];
          h[row + 1] = silu(sums[1]) * sums[3];
        }
      }
      __syncthreads();
      multiply_vector(step.w2, h, x, d, f);
      __syncthreads();
    }
  }
  if (t == 0) step.lanes_out[core] = static_cast<uint8_t>(lanes);
  for (int i = t; i < d; i += threads) narrow(x[i], &scratch.state[static_cast<size_t>(core) * d + i]);
}

template <typename T>
cudaError_t fused_per_core(const SwapFfn<T>& step, cudaStream_t stream) {
  if (!valid(step)) return cudaErrorInvalidValue;
  const SwapFfnSizes& s = step.sizes;
  const int shared_bytes = static_cast<int>(sizeof(float)) * (2 * s.d_model + s.d_ff);
  const cudaError_t error =
      cudaFuncSetAttribute(per_core_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error) return error;
  const Scratch<T> scratch(step);
  per_core_kernel<T><<<s.cores, threads, shared_bytes, stream>>>(step, scratch);
  return collapse(step, scratch, false, stream);
}

RUNG_EXPORT(rung::swap_ffn("fused_per_core", fused_per_core<float>))
