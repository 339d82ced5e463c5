// Exercises as collections of them go: one operation in several widths and types.
#include <cuda_fp16.h>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

__device__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void store4(float* p, float4 value) { *reinterpret_cast<float4*>(p) = value; }

template <int warp = 32>
__device__ float warp_reduce(float value) {
#pragma unroll
  for (int mask = warp >> 1; mask >= 1; mask >>= 1) value += __shfl_xor_sync(0xffffffff, value, mask);
  return value;
}

__global__ void elementwise_add_f32x4(const float* a, const float* b, float* c, int n) {
  int idx = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (idx >= n) return;
  float4 x = load4(a + idx), y = load4(b + idx);
  store4(c + idx, {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w});
}

__global__ void elementwise_add_f16(const half* a, const half* b, half* c, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < n) c[idx] = __hadd(a[idx], b[idx]);
}

__global__ void elementwise_add_f16x8(const half* a, const half* b, half* c, int n) {
  int idx = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (idx + 7 >= n) return;
  half2 x[4], y[4], z[4];
  *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(a + idx);
  *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(b + idx);
#pragma unroll
  for (int i = 0; i < 4; i++) z[i] = __hadd2(x[i], y[i]);
  *reinterpret_cast<float4*>(c + idx) = *reinterpret_cast<float4*>(z);
}

__global__ void relu_f16x2(const half* x, half* y, int n) {
  int idx = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (idx >= n) return;
  half2 value = *reinterpret_cast<const half2*>(x + idx);
  *reinterpret_cast<half2*>(y + idx) = __hmax2(value, __float2half2_rn(0.0f));
}

__global__ void elu_f32x4(const float* x, float* y, int n) {
  int idx = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (idx >= n) return;
  float4 v = load4(x + idx);
  v.x = v.x > 0.2f ? v.x : expf(v.x) - 1.0f;
  v.y = v.y > 0.2f ? v.y : expf(v.y) - 1.0f;
  v.z = v.z > 0.2f ? v.z : expf(v.z) - 1.0f;
  v.w = v.w > 0.2f ? v.w : expf(v.w) - 1.0f;
  store4(y + idx, v);
}

__global__ void hardswish(const float* x, float* y, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= n) return;
  float v = x[idx];
  y[idx] = v >= 3.0f ? v : v <= -3.0f ? 0.0f : v * (v + 3.0f) / 6.0f;
}

// A warp per row, four numbers per lane and step.
__global__ void sgemv_k128(const float* a, const float* x, float* y, int M, int K) {
  int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= M) return;
  float sum = 0.0f;
  int steps = ((K + 31) / 32 + 3) / 4;
  for (int w = 0; w < steps; w++) {
    int k = (w * 32 + lane) * 4;
    float4 p = load4(a + row * K + k), q = load4(x + k);
    sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  sum = warp_reduce(sum);
  if (lane == 0) y[row] = sum;
}

// Two rows per warp, for matrices of 16 columns.
__global__ void sgemv_k16(const float* a, const float* x, float* y, int M, int K) {
  int lane = threadIdx.x, k = lane % 16, row = (blockIdx.x * blockDim.y + threadIdx.y) * 2 + lane / 16;
  if (row >= M) return;
  float sum = warp_reduce<16>(a[row * K + k] * x[k]);
  if (k == 0) y[row] = sum;
}

template <int threads>
__global__ void dot_f32x4(const float* a, const float* b, float* y, int n) {
  int tid = threadIdx.x, idx = (blockIdx.x * threads + tid) * 4;
  constexpr int warps = threads / 32;
  __shared__ float partial[warps];
  float4 p = load4(a + idx), q = load4(b + idx);
  float prod = idx < n ? p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w : 0.0f;
  prod = warp_reduce(prod);
  if (tid % 32 == 0) partial[tid / 32] = prod;
  __syncthreads();
  prod = tid % 32 < warps ? partial[tid % 32] : 0.0f;
  if (tid / 32 == 0) prod = warp_reduce<warps>(prod);
  if (tid == 0) atomicAdd(y, prod);
}

__global__ void histogram_i32x4(const int* a, int* y, int n, int bins) {
  int idx = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (idx >= n) return;
  int4 v = *reinterpret_cast<const int4*>(a + idx);
  atomicAdd(&y[v.x & (bins - 1)], 1);
  atomicAdd(&y[v.y & (bins - 1)], 1);
  atomicAdd(&y[v.z & (bins - 1)], 1);
  atomicAdd(&y[v.w & (bins - 1)], 1);
}

// Rows to columns and columns to rows without shared memory, four numbers per thread.
__global__ void transpose_col2row_f32x4(const float* x, float* y, int rows, int cols) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x, col = idx * 4 % cols, row = idx * 4 / cols;
  if (row >= rows) return;
  float4 v = load4(x + idx * 4);
  y[col * rows + row] = v.x;
  y[(col + 1) * rows + row] = v.y;
  y[(col + 2) * rows + row] = v.z;
  y[(col + 3) * rows + row] = v.w;
}

__global__ void transpose_row2col_f32x4(const float* x, float* y, int rows, int cols) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x, col = idx * 4 / rows, row = idx * 4 % rows;
  if (col >= cols) return;
  store4(y + idx * 4,
         {x[row * cols + col], x[(row + 1) * cols + col], x[(row + 2) * cols + col], x[(row + 3) * cols + col]});
}

__global__ void embedding_f32x4(const int* tokens, const float* weight, float* out, int n, int size) {
  int tx = threadIdx.x * 4, token = tokens[blockIdx.x] & 1023;
  if (blockIdx.x < n) store4(out + blockIdx.x * size + tx, load4(weight + token * size + tx));
}

__global__ void rope_f32x4(const float* x, float* out, int seq_len, int pairs) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= seq_len * pairs / 2) return;
  float4 v = load4(x + idx * 4);
  int pos = idx / (pairs / 2), at = idx % (pairs / 2) * 2;
  float first = 1.0f / powf(10000.0f, 2.0f * at / (pairs * 2.0f)),
        second = 1.0f / powf(10000.0f, 2.0f * (at + 1) / (pairs * 2.0f));
  float s0 = sinf(pos * first), c0 = cosf(pos * first), s1 = sinf(pos * second), c1 = cosf(pos * second);
  store4(out + idx * 4, {v.x * c0 - v.y * s0, v.x * s0 + v.y * c0, v.z * c1 - v.w * s1, v.z * s1 + v.w * c1});
}

// A block per row, all of it in registers, arithmetic in halves.
__global__ void rms_norm_f16x8(const half* x, half* y, float g, int rows, int cols) {
  __shared__ float partial[32];
  int tid = threadIdx.x, idx = (blockIdx.x * blockDim.x + tid) * 8;
  half pack[8], result[8];
  *reinterpret_cast<float4*>(pack) = *reinterpret_cast<const float4*>(x + idx);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    float v = __half2float(pack[i]);
    sum += v * v;
  }
  sum = warp_reduce(sum);
  if (tid % 32 == 0) partial[tid / 32] = sum;
  __syncthreads();
  sum = warp_reduce(tid % 32 < blockDim.x / 32 ? partial[tid % 32] : 0.0f);
  half scale = __float2half(rsqrtf(sum / cols + 1e-5f) * g);
#pragma unroll
  for (int i = 0; i < 8; i++) result[i] = __hmul(pack[i], scale);
  *reinterpret_cast<float4*>(y + idx) = *reinterpret_cast<float4*>(result);
}

// C = A x B: a tile of 128 x 128 per block of 256 threads, 8 x 8 of it per thread.
__global__ void sgemm_t8x8(const float* a, const float* b, float* c, int M, int N, int K) {
  constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
  __shared__ float s_a[BM][BK], s_b[BK][BN];
  int tid = threadIdx.y * blockDim.x + threadIdx.x;
  int a_row = tid / 2, a_col = tid % 2 * 4, b_row = tid / 32, b_col = tid % 32 * 4;
  float sums[TM][TN] = {};
  for (int bk = 0; bk < K / BK; bk++) {
    store4(&s_a[a_row][a_col], load4(a + (blockIdx.y * BM + a_row) * K + bk * BK + a_col));
    store4(&s_b[b_row][b_col], load4(b + (bk * BK + b_row) * N + blockIdx.x * BN + b_col));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
#pragma unroll
      for (int m = 0; m < TM; m++) {
#pragma unroll
        for (int n = 0; n < TN; n++) sums[m][n] += s_a[threadIdx.y * TM + m][k] * s_b[k][threadIdx.x * TN + n];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < TM; m++) {
    int row = blockIdx.y * BM + threadIdx.y * TM + m;
#pragma unroll
    for (int n = 0; n < TN; n += 4)
      store4(c + row * N + blockIdx.x * BN + threadIdx.x * TN + n,
             {sums[m][n], sums[m][n + 1], sums[m][n + 2], sums[m][n + 3]});
  }
}

// The same product of halves, a tile of 32 x 32, one number per thread.
__global__ void hgemm_sliced(const half* a, const half* b, half* c, int M, int N, int K) {
  __shared__ half s_a[32][32], s_b[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  half sum = __float2half(0.0f);
  for (int bk = 0; bk < K / 32; bk++) {
    s_a[ty][tx] = a[row * K + bk * 32 + tx];
    s_b[ty][tx] = b[(bk * 32 + ty) * N + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k++) sum = __hfma(s_a[ty][k], s_b[k][tx], sum);
    __syncthreads();
  }
  c[row * N + col] = sum;
}

// Matrices of a batch, added along the batch.
__global__ void sum_over_batch(const float* x, float* y, int batch, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < batch; k++) sum += x[k * n + i];
  y[i] = sum;
}

}  // namespace

std::vector<Case> third_exercises() {
  std::vector<Case> list;
  const Add add{list};
  const auto halves = [](float* p) { return reinterpret_cast<half*>(p); };
  constexpr int n = 4 << 20, m = 1 << 20;
  add("elementwise_add_f32x4", "add", size_t{12} * n,
      [=](const Buffers& b, cudaStream_t s) { elementwise_add_f32x4<<<n / 1024, 256, 0, s>>>(b.in, b.in2, b.out, n); });
  add("elementwise_add_f16", "add", size_t{6} * n, [=](const Buffers& b, cudaStream_t s) {
    elementwise_add_f16<<<n / 256, 256, 0, s>>>(halves(b.in), halves(b.in2), halves(b.out), n);
  });
  add("elementwise_add_f16x8", "add", size_t{6} * n, [=](const Buffers& b, cudaStream_t s) {
    elementwise_add_f16x8<<<n / 2048, 256, 0, s>>>(halves(b.in), halves(b.in2), halves(b.out), n);
  });
  add("relu_f16x2", "activations", size_t{4} * n,
      [=](const Buffers& b, cudaStream_t s) { relu_f16x2<<<n / 512, 256, 0, s>>>(halves(b.in), halves(b.out), n); });
  add("elu_f32x4", "activations", size_t{8} * n,
      [=](const Buffers& b, cudaStream_t s) { elu_f32x4<<<n / 1024, 256, 0, s>>>(b.in, b.out, n); });
  add("hardswish", "activations", size_t{8} * n,
      [=](const Buffers& b, cudaStream_t s) { hardswish<<<n / 256, 256, 0, s>>>(b.in, b.out, n); });
  add("sgemv_k128 1024x2048", "sgemv", size_t{4} << 21, [=](const Buffers& b, cudaStream_t s) {
    sgemv_k128<<<256, dim3(32, 4), 0, s>>>(b.in, b.in2, b.out, 1024, 2048);
  });
  add("sgemv_k128 16384x256", "sgemv", size_t{4} << 22, [=](const Buffers& b, cudaStream_t s) {
    sgemv_k128<<<4096, dim3(32, 4), 0, s>>>(b.in, b.in2, b.out, 16384, 256);
  });
  add("sgemv_k16", "sgemv", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { sgemv_k16<<<8192, dim3(32, 4), 0, s>>>(b.in, b.in2, b.out, 65536, 16); });
  add("dot_f32x4 256", "dot", size_t{8} * n,
      [=](const Buffers& b, cudaStream_t s) { dot_f32x4<256><<<n / 1024, 256, 0, s>>>(b.in, b.in2, b.out, n); });
  add("dot_f32x4 1024", "dot", size_t{8} * n,
      [=](const Buffers& b, cudaStream_t s) { dot_f32x4<1024><<<n / 4096, 1024, 0, s>>>(b.in, b.in2, b.out, n); });
  for (const int bins : {64, 1024})
    add("histogram_i32x4 " + std::to_string(bins), "histogram", size_t{4} * m, [=](const Buffers& b, cudaStream_t s) {
      histogram_i32x4<<<m / 1024, 256, 0, s>>>(reinterpret_cast<const int*>(b.in), b.counters, m, bins);
    });
  add("transpose_col2row_f32x4", "transposes", size_t{8} * n, [=](const Buffers& b, cudaStream_t s) {
    transpose_col2row_f32x4<<<n / 1024, 256, 0, s>>>(b.in, b.out, 2048, 2048);
  });
  add("transpose_row2col_f32x4", "transposes", size_t{8} * n, [=](const Buffers& b, cudaStream_t s) {
    transpose_row2col_f32x4<<<n / 1024, 256, 0, s>>>(b.in, b.out, 2048, 2048);
  });
  add("embedding_f32x4", "embedding", size_t{8} * n, [=](const Buffers& b, cudaStream_t s) {
    embedding_f32x4<<<8192, 128, 0, s>>>(b.counters, b.in, b.out, 8192, 512);
  });
  add("rope_f32x4", "rope", size_t{8} * n,
      [=](const Buffers& b, cudaStream_t s) { rope_f32x4<<<n / 1024, 256, 0, s>>>(b.in, b.out, 4096, 512); });
  add("rms_norm_f16x8", "norm of halves", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
    rms_norm_f16x8<<<4096, 128, 0, s>>>(halves(b.in), halves(b.out), 1.0f, 4096, 1024);
  });
  add("sgemm_t8x8", "matrix products", size_t{12} << 20, [=](const Buffers& b, cudaStream_t s) {
    sgemm_t8x8<<<dim3(8, 8), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 1024, 1024, 1024);
  });
  add("hgemm_sliced", "matrix products", size_t{6} << 18, [=](const Buffers& b, cudaStream_t s) {
    hgemm_sliced<<<dim3(16, 16), dim3(32, 32), 0, s>>>(halves(b.in), halves(b.in2), halves(b.out), 512, 512, 512);
  });
  for (const int batch : {8, 64})
    add("sum_over_batch " + std::to_string(batch), "batches", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
      sum_over_batch<<<n / batch / 256, 256, 0, s>>>(b.in, b.out, batch, n / batch);
    });
  return list;
}

}  // namespace calibration
