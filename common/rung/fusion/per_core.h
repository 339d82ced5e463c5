// Lab 07, given: one launch, one block per core.
#pragma once

#include "collapse.h"

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

// The whole step of a core, with the state in shared memory.
template <typename T>
__global__ void __launch_bounds__(threads) per_core_kernel(SwapFfn<T> step, Scratch<T> scratch) {
#ifdef __SIMT__  // in .cu files the executor supports the other form
  SIMT_DYNAMIC_SHARED(float4, shared);
#else
  extern __shared__ float4 shared[];
#endif
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
  start(per_core_kernel<T>, s.cores, threads, shared_bytes, stream, step, scratch);
  return collapse(step, scratch, false, stream);
}
