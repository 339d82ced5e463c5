// Expect: pass
//
// Honest: speaks of REQUIRE, asm and system calls in comments and strings, and does none of it.

#include <cfloat>
#include <cmath>

#include "rung.h"
RUNG_PREDICT(
    {"neighbours_sectors", 32 * 4 / 32},
    {"smem_row_bytes", 1000 * 4},
    {"float4_loads", (2000 / 4 + 31) / 32},
    {"tree_barriers", 2 * (1 + 8 + 1)},
    {"tree_us", 2 * 4096 * 4096 * 4 / 4257e3})

constexpr int threads = 256;
constexpr float lowest = -FLT_MAX;
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }
struct CompensatedSum {
  float value, lost;

  __device__ void add(float term) {
    const float corrected = term - lost;
    const float next = value + corrected;
    lost = (next - value) - corrected;
    value = next;
  }
};
// REQUIRE(y[0] > 0) holds after this. Do not system("rm -rf /"), fork(), dlopen() or asm volatile("syscall") here; see
// #include "/etc/passwd", __attribute__((constructor)), _exit(0), LADDER_CASE and __SANITIZE_THREAD__ for what not to do.
/* ptrace, mmap, getenv("LADDER_RUNG"), <script>, =1+1, #line 1 "x", 100 passed, 0 failed */
[[maybe_unused]] constexpr char note[] = "asm(\"syscall\"); REQUIRE(false); __attribute__((constructor)); #line 1";

__global__ void serial_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  float* found = row + cols;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += threads) row[c] = x[c];
  __syncthreads();

  if (threadIdx.x == 0) {
    float max = lowest;
    for (int c = 0; c < cols; ++c) max = fmaxf(max, row[c]);
    *found = max;
  }
  __syncthreads();
  const float max = *found;

  for (int c = threadIdx.x; c < cols; c += threads) row[c] = expf(row[c] - max);
  __syncthreads();

  if (threadIdx.x == 0) {
    CompensatedSum sum = {0.0f, 0.0f};
    for (int c = 0; c < cols; ++c) sum.add(row[c]);
    *found = inverse(sum.value);
  }
  __syncthreads();
  const float scale = *found;

  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
}
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
template <typename Op>
__device__ float block_reduce(float mine, float* scratch, Op op) {
  const int t = threadIdx.x;
  scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = op(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();
  return all;
}
__global__ void tree_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  float* scratch = row + cols;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float max = lowest;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float value = x[c];
    row[c] = value;
    max = fmaxf(max, value);
  }
  max = block_reduce(max, scratch, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float e = expf(row[c] - max);
    row[c] = e;
    sum += e;
  }
  const float scale = inverse(block_reduce(sum, scratch, Add()));

  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
}
struct Split {
  int head, quads, tail;
};
__device__ Split split_row(size_t start, int cols) {
  int head = static_cast<int>((4 - start % 4) % 4);
  if (head > cols) head = cols;
  const int quads = (cols - head) / 4;
  return {head, quads, cols - head - 4 * quads};
}
__device__ int single_column(Split split, int t) {
  if (t < split.head) return t;
  if (t < split.head + split.tail) return t + 4 * split.quads;
  return -1;
}

__device__ float max4(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
__device__ float sum4(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ float4 exp4(float4 v, float max) {
  return make_float4(expf(v.x - max), expf(v.y - max), expf(v.z - max), expf(v.w - max));
}
__device__ float4 scale4(float4 v, float scale) {
  return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}
__global__ void tree_f32x4_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float4 row4[];
  float* scratch = reinterpret_cast<float*>(row4 + cols / 4);
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  x += start;
  y += start;
  const Split split = split_row(start, cols);
  const int column = single_column(split, threadIdx.x);
  float single = column >= 0 ? x[column] : -INFINITY;

  float max = fmaxf(lowest, single);
  const float4* x4 = reinterpret_cast<const float4*>(x + split.head);
  for (int q = threadIdx.x; q < split.quads; q += threads) {
    const float4 value = x4[q];
    row4[q] = value;
    max = fmaxf(max, max4(value));
  }
  max = block_reduce(max, scratch, Max());

  single = expf(single - max);
  float sum = single;
  for (int q = threadIdx.x; q < split.quads; q += threads) {
    const float4 e = exp4(row4[q], max);
    row4[q] = e;
    sum += sum4(e);
  }
  const float scale = inverse(block_reduce(sum, scratch, Add()));
  if (column >= 0) y[column] = single * scale;
  float4* y4 = reinterpret_cast<float4*>(y + split.head);
  for (int q = threadIdx.x; q < split.quads; q += threads) y4[q] = scale4(row4[q], scale);
}
cudaError_t allow_shared(void (*kernel)(const float*, float*, int), size_t bytes) {
  int device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  if (bytes > static_cast<size_t>(most)) return cudaErrorInvalidValue;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}
cudaError_t serial(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + 1) * sizeof(float);
  const cudaError_t error = allow_shared(serial_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  serial_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

cudaError_t tree(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + threads) * sizeof(float);
  const cudaError_t error = allow_shared(tree_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  tree_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

cudaError_t tree_f32x4(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = static_cast<size_t>(cols / 4) * sizeof(float4) + threads * sizeof(float);
  const cudaError_t error = allow_shared(tree_f32x4_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  tree_f32x4_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", serial), rung::softmax("tree", tree), rung::softmax("tree_f32x4", tree_f32x4))
