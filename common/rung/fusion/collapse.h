// Lab 07, given: the collapse at the end, three launches.
#pragma once

#include "core.h"

// pooled(k, i) = sum over cores of alpha(c, k) state(c, i). Grid (d_model / 32, collapse_k); a thread has one of 32
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

// sums(r) = silu(sum over k of basis(k, r) . pooled(k)). One block per r.
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

// delta(i) = decoder(i) . sums. One warp per i.
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
  if (!pooled) start(pool_kernel<T>, columns, threads, 0, stream, step, scratch);
  start(basis_kernel<T>, s.collapse_r, threads, 0, stream, step, scratch);
  start(decode_kernel<T>, s.d_model / warps, threads, 0, stream, step, scratch);
  return cudaGetLastError();
}
