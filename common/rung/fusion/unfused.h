// Lab 07, given: one operation per launch, the products by cuBLAS.
#pragma once

#include <cublas_v2.h>

#include "collapse.h"

template <typename T>
__global__ void begin_kernel(SwapFfn<T> step, Scratch<T> scratch) {
  T* const row = scratch.state + static_cast<size_t>(blockIdx.x) * step.sizes.d_model;
  begin_core(step, blockIdx.x, [&](int i, float value) { narrow(value, &row[i]); });
}

// norm = state / rms(state) * weight, one block per core.
template <typename T>
__global__ void norm_kernel(Scratch<T> scratch, const T* weight, int d) {
  __shared__ float parts[warps];
  const T* const x = scratch.state + static_cast<size_t>(blockIdx.x) * d;
  T* const y = scratch.norm + static_cast<size_t>(blockIdx.x) * d;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < d; i += threads) {
    const float value = widen(x[i]);
    squares += value * value;
  }
  const float scale = inverse_rms(block_sum(squares, parts), d);
  for (int i = threadIdx.x; i < d; i += threads) narrow(widen(x[i]) * scale * widen(weight[i]), &y[i]);
}

// One warp per core.
template <typename T>
__global__ void decide_kernel(SwapFfn<T> step, Scratch<T> scratch) {
  const int core = blockIdx.x;
  unsigned lanes = step.lanes_out[core];
  const int bank = decide(step, scratch.z + static_cast<size_t>(core) * step.sizes.d_router, &lanes);
  __syncwarp();
  if (threadIdx.x > 0) return;
  step.lanes_out[core] = static_cast<uint8_t>(lanes);
  scratch.bank[core] = bank;
}

// One block per core.
template <typename T>
__global__ void swap_kernel(SwapFfn<T> step, Scratch<T> scratch) {
  const int core = blockIdx.x, bank = scratch.bank[core], d = step.sizes.d_model;
  if (bank < 0) return;
  T* const x = scratch.state + static_cast<size_t>(core) * d;
  T* const ram = step.ram_out + (static_cast<size_t>(core) * banks + bank) * d;
  for (int i = threadIdx.x; i < d; i += threads) {
    const T before = x[i];
    x[i] = ram[i];
    ram[i] = before;
  }
}

// gate = silu(gate) * up, one thread per pack.
template <typename T>
__global__ void gate_kernel(Scratch<T> scratch, size_t packs) {
  const size_t i = static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= packs) return;
  float gate[pack_size<T>], up[pack_size<T>];
  load_pack(scratch.gate + i * pack_size<T>, gate);
  load_pack(scratch.up + i * pack_size<T>, up);
#pragma unroll
  for (int j = 0; j < pack_size<T>; ++j) gate[j] = silu(gate[j]) * up[j];
  store_pack(scratch.gate + i * pack_size<T>, gate);
}

constexpr cudaDataType_t type_of(const float*) { return CUDA_R_32F; }
constexpr cudaDataType_t type_of(const bf16*) { return CUDA_R_16BF; }

// GEMMs by cuBLAS on one stream. The handle is made once: that takes milliseconds.
struct Products {
  cublasHandle_t handle = nullptr;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

  explicit Products(cudaStream_t stream) {
    static cublasHandle_t made = nullptr;
    if (!made) status = cublasCreate(&made);
    handle = made;
    if (status == CUBLAS_STATUS_SUCCESS) status = cublasSetStream(handle, stream);
  }

  // y (n, outputs) = x (n, k) w^T with w (outputs, k), all row-major. cuBLAS is column-major: the call computes
  // y^T (outputs, n) = w x^T.
  template <typename T, typename Out>
  void multiply(const T* w, const T* x, Out* y, int outputs, int n, int k) {
    gemm(CUBLAS_OP_T, CUBLAS_OP_N, outputs, n, k, w, k, x, k, y);
  }

  // pooled (k, d) = alpha^T (k, cores) state (cores, d), all row-major.
  template <typename T>
  void pool(const T* alpha, const T* state, float* pooled, int k, int d, int cores) {
    gemm(CUBLAS_OP_N, CUBLAS_OP_T, d, k, cores, state, d, alpha, k, pooled);
  }

 private:
  template <typename T, typename Out>
  void gemm(cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T* a, int lda, const T* b,
            int ldb, Out* c) {
    if (status != CUBLAS_STATUS_SUCCESS) return;
    const float one = 1.0f, zero = 0.0f;
    status = cublasGemmEx(handle, of_a, of_b, m, n, k, &one, a, type_of(a), lda, b, type_of(b), ldb, &zero, c,
                          type_of(c), m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  }
};

template <typename T>
cudaError_t unfused(const SwapFfn<T>& step, cudaStream_t stream) {
  if (!valid(step)) return cudaErrorInvalidValue;
  const SwapFfnSizes& s = step.sizes;
  const int cores = s.cores, d = s.d_model, f = s.d_ff;
  const size_t packs = static_cast<size_t>(cores) * f / pack_size<T>;
  const unsigned gate_blocks = static_cast<unsigned>((packs + threads - 1) / threads);
  Scratch<T> scratch(step);
  Products products(stream);
  start(begin_kernel<T>, cores, threads, 0, stream, step, scratch);
  for (int event = 0; event < s.events; ++event) {
    start(norm_kernel<T>, cores, threads, 0, stream, scratch, step.router_norm, d);
    products.multiply(step.router_w, scratch.norm, scratch.z, s.d_router, cores, d);
    start(decide_kernel<T>, cores, 32, 0, stream, step, scratch);
    start(swap_kernel<T>, cores, threads, 0, stream, step, scratch);
    for (int i = 0; i < s.ffn_steps; ++i) {
      start(norm_kernel<T>, cores, threads, 0, stream, scratch, step.ffn_norm, d);
      products.multiply(step.w1, scratch.norm, scratch.gate, f, cores, d);
      products.multiply(step.w3, scratch.norm, scratch.up, f, cores, d);
      start(gate_kernel<T>, gate_blocks, threads, 0, stream, scratch, packs);
      products.multiply(step.w2, scratch.gate, scratch.state, d, cores, f);
    }
  }
  products.pool(step.alpha, scratch.state, scratch.pooled, s.collapse_k, d, cores);
  const cudaError_t error = collapse(step, scratch, true, stream);
  return products.status == CUBLAS_STATUS_SUCCESS ? error : cudaErrorUnknown;
}
