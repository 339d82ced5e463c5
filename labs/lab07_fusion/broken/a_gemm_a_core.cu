// Broken: a GEMM for every core: each reads all weights.
// Move: a product of all cores reads its weights once
// Variant: unfused bf16
// Case: move-once-a-product
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
  const unsigned physical = *lanes >> 2 * logical & 3, first = *lanes & 3;
  *lanes = (*lanes & ~(3u << 2 * logical)) | first << 2 * logical;
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

// ---- unfused --------------------------------------------------------------------------------------------------------

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

  // y (n, outputs) = x (n, k) w^T with w (outputs, k), all row-major. cuBLAS is column-major: what it is asked for is
  // y^T (outputs, n) = w x^T.
  template <typename T, typename Out>
  void multiply(const T* w, const T* x, Out* y, int outputs, int n, int k) {
    for (size_t i = 0; i < static_cast<size_t>(n); ++i)
      gemm(CUBLAS_OP_T, CUBLAS_OP_N, outputs, 1, k, w, k, x + i * k, k, y + i * outputs);
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
  begin_kernel<T><<<cores, threads, 0, stream>>>(step, scratch);
  for (int event = 0; event < s.events; ++event) {
    norm_kernel<T><<<cores, threads, 0, stream>>>(scratch, step.router_norm, d);
    products.multiply(step.router_w, scratch.norm, scratch.z, s.d_router, cores, d);
    decide_kernel<T><<<cores, 32, 0, stream>>>(step, scratch);
    swap_kernel<T><<<cores, threads, 0, stream>>>(step, scratch);
    for (int i = 0; i < s.ffn_steps; ++i) {
      norm_kernel<T><<<cores, threads, 0, stream>>>(scratch, step.ffn_norm, d);
      products.multiply(step.w1, scratch.norm, scratch.gate, f, cores, d);
      products.multiply(step.w3, scratch.norm, scratch.up, f, cores, d);
      gate_kernel<T><<<gate_blocks, threads, 0, stream>>>(scratch, packs);
      products.multiply(step.w2, scratch.gate, scratch.state, d, cores, f);
    }
  }
  products.pool(step.alpha, scratch.state, scratch.pooled, s.collapse_k, d, cores);
  const cudaError_t error = collapse(step, scratch, true, stream);
  return products.status == CUBLAS_STATUS_SUCCESS ? error : cudaErrorUnknown;
}

RUNG_EXPORT(rung::swap_ffn("unfused", unfused<bf16>))
