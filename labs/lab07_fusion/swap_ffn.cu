// Lab 07: one decode step of a Swap-FFN layer, four ways. common/ops/swap_ffn/arguments.h says what the step is.
//
// All cores run through the same weights. At the sizes of the course 512 cores multiply their state by 24 MB of FFN
// weights 16 times, one product after the other. Who reads the weights how often is what tells the variants apart:
//
//   unfused         an operation a launch; a product is a GEMM of cuBLAS for all cores at once
//   fused_per_core  one launch, one block per core: every block reads all weights
//   graphed         unfused, recorded once and launched as one graph
//   fused_tiled     one launch, a group of blocks for a tile of cores: a piece of the weights that a block has loaded
//                   to shared memory serves all cores of the tile
//
// The fused variants leave the collapse at the end to three more launches: it sums over all cores, and a kernel's end
// is where all cores are done.
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

#include "rung.h"

// TODO 0: predict before you write code, in place of each rung::unknown; `make lab07 CASE='predict-*'` says how far off you
// are. Sizes: 32 cores, d_model 32, d_ff 64, 2 events of 2 FFN steps.
RUNG_PREDICT(
    // unfused: kernels and GEMMs that are launched.
    {"unfused_launches", rung::unknown},
    // fused_per_core, bf16: bytes of the FFN's weights that all loads ask for.
    {"per_core_weight_bytes", rung::unknown},
    // fused_tiled, bf16, tiles of 16 cores: the same.
    {"tiled_weight_bytes", rung::unknown},
    // The same with cuBLAS, if every GEMM reads each of its operands once.
    {"unfused_weight_bytes", rung::unknown})
// END 0

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

// ---- graphed --------------------------------------------------------------------------------------------------------

// The graph of one step: what unfused launches, recorded and not run.
template <typename T>
cudaError_t record(const SwapFfn<T>& step, cudaGraphExec_t* exec) {
  // TODO 1: make a stream of your own (the null stream cannot be captured), begin to capture, call unfused() on it, end
  // the capture in any case, instantiate the graph, and destroy what is no longer needed. Return the first error.
  (void)step, (void)exec;
  return cudaErrorUnknown;
  // END 1
}

// A graph holds pointers and sizes as they were: another step needs another graph. The last few are kept.
template <typename T>
cudaError_t graphed(const SwapFfn<T>& step, cudaStream_t stream) {
  if (!valid(step)) return cudaErrorInvalidValue;
  constexpr int most = 32;
  static struct {
    SwapFfn<T> step;
    cudaGraphExec_t exec;
  } kept[most] = {};
  static int next = 0;
  for (const auto& entry : kept) {
    if (entry.exec && !memcmp(&entry.step, &step, sizeof step)) return cudaGraphLaunch(entry.exec, stream);
  }
  auto& entry = kept[next];
  if (entry.exec) cudaGraphExecDestroy(entry.exec);
  entry.exec = nullptr;
  if (const cudaError_t error = record(step, &entry.exec)) return error;
  if (!entry.exec) return cudaErrorUnknown;
  entry.step = step;
  next = (next + 1) % most;
  return cudaGraphLaunch(entry.exec, stream);
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

// ---- fused_tiled ----------------------------------------------------------------------------------------------------

// A group of blocks owns a tile of 16 or 64 cores for the whole step. Its blocks share out the columns of every
// product: each loads its own part of the weights, once, and multiplies all cores of the tile by it. What a product has
// made goes through the workspace, where the other blocks of the group find it after a barrier. That is a barrier of
// the whole grid, so all blocks must be at work at once: a cooperative launch.
//
// On the CPU a group is one block.
__device__ void group_sync(int blocks) {
  if (blocks == 1)
    __syncthreads();
  else
    cooperative_groups::this_grid().sync();
}

// 16 bytes from global to shared memory, on their way while the thread goes on; arrived() waits until at most `Left` of
// the groups that were closed by begun() are still on the way.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void copy_pack(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ void begun() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Left>
__device__ void arrived() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}
#else
__device__ void copy_pack(void* to, const void* from) { *static_cast<uint4*>(to) = *static_cast<const uint4*>(from); }
__device__ void begun() {}
template <int Left>
__device__ void arrived() {}
#endif

// A panel is a piece of a matrix in shared memory: `chunk` columns of some rows, with 16 bytes between two rows so that
// eight rows begin in different banks.
template <typename T, int Chunk>
constexpr int panel_width = Chunk + pack_size<T>;

// Loads rows 0 to `rows` - 1 and columns [k, k + Chunk), as far as they are below k_end, of a row-major matrix.
template <typename T, int Chunk>
__device__ void load_panel(T* panel, const T* from, int rows, int k, int k_end) {
  // TODO 2: the block's threads take the panel's packs of 16 bytes in turn, neighbours neighbouring packs of a row.
  // copy_pack(to, from) moves one. Rows of the panel are panel_width<T, Chunk> apart, rows of the matrix k_end.
  (void)panel, (void)from, (void)rows, (void)k, (void)k_end;
  // END 2
}

// What a warp adds up: M x 8 tiles of 16 cores x 8 columns. Of a tile, lane l has rows l / 4 and l / 4 + 8, columns
// l % 4 * 2 and the next: sums[0], [1] of the first row, [2], [3] of the second.
template <int M>
using Sums = float[M][8][4];

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// Four matrices of 8 x 8 bf16 from shared memory; lane l gives the address of row l % 8 of matrix l / 8.
__device__ void load_matrices(unsigned (&to)[4], const bf16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row)));
}
// One product of the tensor cores: 16 x 8 sums += 16 x 16 times 16 x 8.
__device__ void tensor_product(float (&sums)[4], const unsigned (&a)[4], unsigned b_low, unsigned b_high) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}
template <int M>
__device__ void multiply_on_tensor_cores(Sums<M>& sums, const bf16* a, const bf16* w, const bf16* w_second, int width) {
  const int lane = threadIdx.x % 32;
  // All operands first, so that they are on their way together.
  unsigned of_w[4][4], of_a[M][4];
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const bf16* const rows = (pair < 2 ? w : w_second) + pair % 2 * 16 * width;
    load_matrices(of_w[pair], rows + (lane / 16 * 8 + lane % 8) * width + lane / 8 % 2 * 8);
  }
#pragma unroll
  for (int m = 0; m < M; ++m)
    load_matrices(of_a[m], a + (m * 16 + lane / 8 % 2 * 8 + lane % 8) * width + lane / 16 * 8);
#pragma unroll
  for (int m = 0; m < M; ++m) {
#pragma unroll
    for (int j = 0; j < 8; ++j) tensor_product(sums[m][j], of_a[m], of_w[j / 2][j % 2 * 2], of_w[j / 2][j % 2 * 2 + 1]);
  }
}
#endif

// sums += a w^T over 16 columns of two panels: a has the tile's cores, of which `cores` are there; w 32 rows of
// weights, for tiles 0 to 3, and w_second another 32, for tiles 4 to 7, or none (null).
template <typename T, int M>
__device__ void multiply(Sums<M>& sums, const T* a, const T* w, const T* w_second, int width, int cores) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same<T, bf16>::value) {
    // A second half that is not there is multiplied too: nobody looks at it.
    return multiply_on_tensor_cores<M>(sums, a, w, w_second ? w_second : w, width);
  }
#endif
  // TODO 3: the plain path: each lane its own sums, as Sums says which they are, over 16 columns of k. widen() makes a
  // float of a T. Leave out cores that are not there, and tiles 4 to 7 where there is no second half.
  (void)sums, (void)a, (void)w, (void)w_second, (void)width, (void)cores;
  // END 3
}

// How the products are cut. Up: 32 columns of gate and the same 32 of up a warp, all of k together. Down: 64 columns,
// of which every warp adds up its own eighth of a chunk of k.
template <typename T, int M>
struct Cut {
  static constexpr int cores = 16 * M;
  // Pieces of weights on their way or in use. Tiles of 16 cores do with 99 KB, the most that some chips have.
  static constexpr int up_stages = 2, down_stages = M == 1 || sizeof(T) == 4 ? 2 : 4;
  static constexpr int up_columns = 32 * warps, up_chunk = (M == 1 ? 64 : 128) / sizeof(T),
                       up_rows = cores + 2 * up_columns;
  static constexpr int down_columns = 64, down_chunk = 16 * warps, down_rows = cores + down_columns;
  static constexpr int up_stage = up_rows * panel_width<T, up_chunk>;        // elements
  static constexpr int down_stage = down_rows * panel_width<T, down_chunk>;  // elements
  static constexpr int sum_width = down_columns + 8;                         // floats
  static constexpr int own = 4;  // cores whose norm and router a block computes together

  static size_t shared_bytes(const SwapFfnSizes& s) {
    size_t bytes = sizeof(T) * up_stages * up_stage;
    const size_t down = sizeof(T) * down_stages * down_stage;
    const size_t sums = sizeof(float) * warps * cores * sum_width;
    const size_t rows = sizeof(float) * own * (s.d_model + most_router);
    if (bytes < down) bytes = down;
    if (bytes < sums) bytes = sums;
    return bytes < rows ? rows : bytes;
  }
};

// [begin, end) of `columns` in multiples of 32: the part of one of `blocks` blocks.
struct Part {
  int begin, end;
  __device__ Part(int columns, int rank, int blocks) {
    const int each = (columns / 32 + blocks - 1) / blocks * 32;
    begin = min(rank * each, columns);
    end = min(begin + each, columns);
  }
};

// Runs load(stage, i) ahead of use(stage, i), for i from 0 to chunks - 1, over the stages of shared memory.
template <int Stages, typename Load, typename Use>
__device__ void pipeline(int chunks, Load load, Use use) {
  __syncthreads();  // what was there before has been used
#pragma unroll
  for (int i = 0; i < Stages - 1; ++i) {
    if (i < chunks) load(i, i);
    begun();
  }
  for (int i = 0; i < chunks; ++i) {
    arrived<Stages - 2>();
    __syncthreads();  // chunk i is there for all, and the stage of chunk i - 1 is free
    const int ahead = i + Stages - 1;
    if (ahead < chunks) load(ahead % Stages, ahead);
    begun();
    use(i % Stages, i);
  }
}

// A tile while it is worked on.
template <typename T>
struct Tile {
  T *state, *norm, *hidden;  // rows of the workspace: (cores, d_model), (cores, d_model), (cores, d_ff)
  int first, cores;          // of the step's; fewer than the tile has room for at the end
  int rank, blocks;          // of the group that works on it
};

// hidden = silu(norm w1^T) * (norm w3^T), this block's columns.
template <typename T, int M>
__device__ void multiply_up(const SwapFfn<T>& step, const Tile<T>& tile, T* shared) {
  using C = Cut<T, M>;
  constexpr int width = panel_width<T, C::up_chunk>;
  const int d = step.sizes.d_model, f = step.sizes.d_ff, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Part part(f, tile.rank, tile.blocks);
  for (int first = part.begin; first < part.end; first += C::up_columns) {
    const int columns = min(C::up_columns, part.end - first);
    const bool busy = warp * 32 < columns;
    Sums<M> sums = {};
    const auto load = [&](int stage, int i) {
      T* const to = shared + stage * C::up_stage;
      const size_t row = static_cast<size_t>(first) * d;
      load_panel<T, C::up_chunk>(to, tile.norm, tile.cores, i * C::up_chunk, d);
      load_panel<T, C::up_chunk>(to + C::cores * width, step.w1 + row, columns, i * C::up_chunk, d);
      load_panel<T, C::up_chunk>(to + (C::cores + C::up_columns) * width, step.w3 + row, columns, i * C::up_chunk, d);
    };
    const auto use = [&](int stage, int) {
      if (!busy) return;
      const T* const a = shared + stage * C::up_stage;
      const T* const w = a + (C::cores + warp * 32) * width;
#pragma unroll
      for (int k = 0; k < C::up_chunk; k += 16)
        multiply<T, M>(sums, a + k, w + k, w + C::up_columns * width + k, width, tile.cores);
    };
    pipeline<C::up_stages>(d / C::up_chunk, load, use);
    if (!busy) continue;
    // TODO 4: hidden = silu(gate) * up for every sum of this lane. Tile j + 4 has the up of tile j's gate, at the same
    // place in the same lane. Leave out cores that are not there.
    (void)lane;
    // END 4
  }
}

// state = hidden w2^T, this block's columns.
template <typename T, int M>
__device__ void multiply_down(const SwapFfn<T>& step, const Tile<T>& tile, T* shared) {
  using C = Cut<T, M>;
  constexpr int width = panel_width<T, C::down_chunk>;
  const int d = step.sizes.d_model, f = step.sizes.d_ff, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Part part(d, tile.rank, tile.blocks);
  for (int first = part.begin; first < part.end; first += C::down_columns) {
    const int columns = min(C::down_columns, part.end - first);
    Sums<M> sums = {};
    const auto load = [&](int stage, int i) {
      T* const to = shared + stage * C::down_stage;
      load_panel<T, C::down_chunk>(to, tile.hidden, tile.cores, i * C::down_chunk, f);
      load_panel<T, C::down_chunk>(to + C::cores * width, step.w2 + static_cast<size_t>(first) * f, columns,
                                   i * C::down_chunk, f);
    };
    const auto use = [&](int stage, int i) {
      if (i * C::down_chunk + warp * 16 >= f) return;
      const T* const a = shared + stage * C::down_stage + warp * 16;
      const T* const w = a + C::cores * width;
      multiply<T, M>(sums, a, w, columns > 32 ? w + 32 * width : nullptr, width, tile.cores);
    };
    pipeline<C::down_stages>((f + C::down_chunk - 1) / C::down_chunk, load, use);

    float* const parts = reinterpret_cast<float*>(shared);  // (warps, cores, sum_width)
    __syncthreads();
    // TODO 5: every warp's sums to its own part of `parts`, a barrier, and then a thread adds up what the eight warps
    // have of one element and stores it to tile.state.
    (void)parts, (void)lane;
    // END 5
  }
}

// n(i) = state(i) / rms(state) * weight(i), by a warp. keep(i, values): takes a pack of them.
template <typename T, typename Keep>
__device__ void normalise_row(const T* state, const T* weight, int d, Keep keep) {
  float values[pack_size<T>], weights[pack_size<T>];
  float squares = 0.0f;
  for (int i = threadIdx.x % 32 * pack_size<T>; i < d; i += 32 * pack_size<T>) {
    load_pack(state + i, values);
#pragma unroll
    for (int j = 0; j < pack_size<T>; ++j) squares += values[j] * values[j];
  }
  const float scale = inverse_rms(warp_sum(squares), d);
  for (int i = threadIdx.x % 32 * pack_size<T>; i < d; i += 32 * pack_size<T>) {
    load_pack(state + i, values);
    load_pack(weight + i, weights);
#pragma unroll
    for (int j = 0; j < pack_size<T>; ++j) values[j] *= scale * weights[j];
    keep(i, values);
  }
}

// The router and the exchange, for some of the tile's cores: `count` from `core` on, at most Own.
template <typename T, int Own>
__device__ void route(const SwapFfn<T>& step, const Tile<T>& tile, int core, int count, float* shared) {
  const int d = step.sizes.d_model, router = step.sizes.d_router, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* const n = shared;            // (Own, d_model)
  float* const z = shared + Own * d;  // (Own, most_router)
  T* const states = tile.state + static_cast<size_t>(core) * d;
  __syncthreads();
  if (warp < count) {
    normalise_row(states + static_cast<size_t>(warp) * d, step.router_norm, d,
                  [&](int i, const float(&values)[pack_size<T>]) {
                    for (int j = 0; j < pack_size<T>; ++j) n[warp * d + i + j] = values[j];
                  });
  }
  __syncthreads();
  // A row of weights is loaded once for all cores.
  for (int q = warp; q < router; q += warps) {
    float sums[Own] = {};
    for (int i = lane * pack_size<T>; i < d; i += 32 * pack_size<T>) {
      float weights[pack_size<T>];
      load_pack(step.router_w + static_cast<size_t>(q) * d + i, weights);
#pragma unroll
      for (int c = 0; c < Own; ++c) {
        if (c >= count) break;
#pragma unroll
        for (int j = 0; j < pack_size<T>; ++j) sums[c] += weights[j] * n[c * d + i + j];
      }
    }
#pragma unroll
    for (int c = 0; c < Own; ++c) {
      sums[c] = warp_sum(sums[c]);
      if (lane == 0) z[c * most_router + q] = sums[c];
    }
  }
  __syncthreads();
  if (warp >= count) return;
  const int of_step = tile.first + core + warp;
  unsigned lanes = step.lanes_out[of_step];
  const int bank = decide(step, z + warp * most_router, &lanes);
  __syncwarp();
  if (bank < 0) return;
  if (lane == 0) step.lanes_out[of_step] = static_cast<uint8_t>(lanes);
  T* const x = states + static_cast<size_t>(warp) * d;
  T* const ram = step.ram_out + (static_cast<size_t>(of_step) * banks + bank) * d;
  for (int i = lane; i < d; i += 32) {
    const T before = x[i];
    x[i] = ram[i];
    ram[i] = before;
  }
}

// The whole life of a tile of 16 M cores, by a group of `blocks` blocks.
template <typename T, int M>
__global__ void __launch_bounds__(threads) tiled_kernel(SwapFfn<T> step, Scratch<T> scratch, int blocks) {
  extern __shared__ uint4 dynamic_shared[];
  using C = Cut<T, M>;
  T* const shared = reinterpret_cast<T*>(dynamic_shared);
  const int d = step.sizes.d_model, warp = threadIdx.x / 32, rank = static_cast<int>(blockIdx.x) % blocks;
  const int first = static_cast<int>(blockIdx.x) / blocks * C::cores;
  const size_t row = static_cast<size_t>(first) * d;
  const Tile<T> tile = {scratch.state + row,
                        scratch.norm + row,
                        scratch.gate + static_cast<size_t>(first) * step.sizes.d_ff,
                        first,
                        min(C::cores, step.sizes.cores - first),
                        rank,
                        blocks};
  // Cores whose norm and router are this block's work.
  const int each = (tile.cores + blocks - 1) / blocks;
  const int begin = min(rank * each, tile.cores), end = min(begin + each, tile.cores);

  for (int core = begin; core < end; ++core) {
    T* const state = tile.state + static_cast<size_t>(core) * d;
    begin_core(step, first + core, [&](int i, float value) { narrow(value, &state[i]); });
  }
  for (int event = 0; event < step.sizes.events; ++event) {
    for (int core = begin; core < end; core += C::own)
      route<T, C::own>(step, tile, core, min(C::own, end - core), reinterpret_cast<float*>(shared));
    for (int i = 0; i < step.sizes.ffn_steps; ++i) {
      __syncthreads();
      for (int core = begin + warp; core < end; core += warps) {
        const size_t at = static_cast<size_t>(core) * d;
        normalise_row(tile.state + at, step.ffn_norm, d,
                      [&](int j, const float(&values)[pack_size<T>]) { store_pack(tile.norm + at + j, values); });
      }
      group_sync(blocks);
      multiply_up<T, M>(step, tile, shared);
      group_sync(blocks);
      multiply_down<T, M>(step, tile, shared);
      group_sync(blocks);
    }
  }
}

// 16 m cores per tile, and the blocks of its group.
struct Tiling {
  int m, blocks;
};

// So that all blocks are at work at once, one on an SM. The larger a tile, the less often the weights are read; the
// more blocks, the more of the chip has work.
Tiling choose_tiling(const SwapFfnSizes& s) {
  int device = 0, sms = 0, shared_bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  const bool large = shared_bytes >= 200 * 1024;
  const int m = large && s.cores >= 256 ? 4 : 1;
  const int tiles = (s.cores + 16 * m - 1) / (16 * m), most = s.d_ff / 256 > 1 ? s.d_ff / 256 : 1;
  const int blocks = sms / tiles < most ? sms / tiles : most;
  return {m, blocks > 1 ? blocks : 1};
}

template <typename T, int M>
cudaError_t launch_tiled(SwapFfn<T> step, Scratch<T> scratch, int blocks, cudaStream_t stream) {
  const int tiles = (step.sizes.cores + 16 * M - 1) / (16 * M);
  const size_t shared_bytes = Cut<T, M>::shared_bytes(step.sizes);
  const cudaError_t error = cudaFuncSetAttribute(tiled_kernel<T, M>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 static_cast<int>(shared_bytes));
  if (error) return error;
  if (blocks == 1) {
    tiled_kernel<T, M><<<tiles, threads, shared_bytes, stream>>>(step, scratch, blocks);
    return cudaGetLastError();
  }
  void* arguments[] = {&step, &scratch, &blocks};
  return cudaLaunchCooperativeKernel(tiled_kernel<T, M>, dim3(tiles * blocks), dim3(threads), arguments, shared_bytes,
                                     stream);
}

template <typename T>
cudaError_t fused_tiled(const SwapFfn<T>& step, cudaStream_t stream) {
  if (!valid(step)) return cudaErrorInvalidValue;
  const Scratch<T> scratch(step);
#ifdef __SIMT__  // one kernel and not two: it compiles in half the time
  const cudaError_t error = launch_tiled<T, 1>(step, scratch, 1, stream);
#else
  const Tiling tiling = choose_tiling(step.sizes);
  const cudaError_t error = tiling.m == 4 ? launch_tiled<T, 4>(step, scratch, tiling.blocks, stream)
                                          : launch_tiled<T, 1>(step, scratch, tiling.blocks, stream);
#endif
  return error ? error : collapse(step, scratch, false, stream);
}

RUNG_EXPORT(rung::swap_ffn("unfused", unfused<float>), rung::swap_ffn("unfused", unfused<bf16>),
            rung::swap_ffn("fused_per_core", fused_per_core<float>),
            rung::swap_ffn("fused_per_core", fused_per_core<bf16>), rung::swap_ffn("graphed", graphed<float>),
            rung::swap_ffn("graphed", graphed<bf16>), rung::swap_ffn("fused_tiled", fused_tiled<float>),
            rung::swap_ffn("fused_tiled", fused_tiled<bf16>))
