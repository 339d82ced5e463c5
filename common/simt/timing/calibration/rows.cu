// Work on the rows of a matrix: sums, norms, softmax, with a thread, a warp or a block per row; matrix times vector.
#include "calibration.h"

namespace calibration {

namespace {

__global__ void sum_thread(const float* in, float* out, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; c++) sum += in[static_cast<size_t>(r) * cols + c];
  out[r] = sum;
}

__global__ void argmax_thread(const float* in, int* out, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int best = 0;
  float most = in[static_cast<size_t>(r) * cols];
  for (int c = 1; c < cols; c++) {
    const float x = in[static_cast<size_t>(r) * cols + c];
    if (x > most) {
      most = x;
      best = c;
    }
  }
  out[r] = best;
}

// A column per thread: neighbours read neighbours.
__global__ void column_sums(const float* in, float* out, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float sum = 0;
  for (int r = 0; r < rows; r++) sum += in[static_cast<size_t>(r) * cols + c];
  out[c] = sum;
}

__device__ float sum_of_warp(float x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
  return x;
}

__global__ void rms_warp(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = in + static_cast<size_t>(r) * cols;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += row[c] * row[c];
  const float scale = rsqrtf(sum_of_warp(sum) / cols + 1e-5f);
  for (int c = lane; c < cols; c += 32) out[static_cast<size_t>(r) * cols + c] = row[c] * scale;
}

__device__ float sum_of_block(float x, float* scratch) {
  x = sum_of_warp(x);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  float sum = 0;
  for (unsigned w = 0; w < blockDim.x / 32; w++) sum += scratch[w];
  __syncthreads();
  return sum;
}

__global__ void layer_norm_block(const float* __restrict__ in, float* __restrict__ out, int cols) {
  __shared__ float scratch[32];
  const float* row = in + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c];
  const float mean = sum_of_block(sum, scratch) / cols;
  float squares = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) squares += (row[c] - mean) * (row[c] - mean);
  const float scale = rsqrtf(sum_of_block(squares, scratch) / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * cols + c] = (row[c] - mean) * scale;
}

__global__ void layer_norm_float4(const float4* in, float4* out, int cols4) {
  __shared__ float scratch[32];
  const float4* row = in + static_cast<size_t>(blockIdx.x) * cols4;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < cols4; c += blockDim.x) {
    const float4 v = row[c];
    sum += v.x + v.y + v.z + v.w;
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float n = 4.0f * cols4, mean = sum_of_block(sum, scratch) / n;
  const float scale = rsqrtf(sum_of_block(squares, scratch) / n - mean * mean + 1e-5f);
  for (int c = threadIdx.x; c < cols4; c += blockDim.x) {
    const float4 v = row[c];
    out[static_cast<size_t>(blockIdx.x) * cols4 + c] =
        make_float4((v.x - mean) * scale, (v.y - mean) * scale, (v.z - mean) * scale, (v.w - mean) * scale);
  }
}

__global__ void softmax_warp(const float* in, float* out, int rows, int cols) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = in + static_cast<size_t>(r) * cols;
  float most = -INFINITY;
  for (int c = lane; c < cols; c += 32) most = fmaxf(most, row[c]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += expf(row[c] - most);
  sum = sum_of_warp(sum);
  for (int c = lane; c < cols; c += 32) out[static_cast<size_t>(r) * cols + c] = expf(row[c] - most) / sum;
}

__global__ void gemv_thread(const float* a, const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; c++) sum += a[static_cast<size_t>(r) * cols + c] * x[c];
  y[r] = sum;
}

__global__ void gemv_warp(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int rows,
                          int cols) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += a[static_cast<size_t>(r) * cols + c] * x[c];
  sum = sum_of_warp(sum);
  if (lane == 0) y[r] = sum;
}

__global__ void row_max_block(const float* __restrict__ in, float* __restrict__ out, int cols) {
  __shared__ float tile[1024];
  float most = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    most = fmaxf(most, in[static_cast<size_t>(blockIdx.x) * cols + c]);
  tile[threadIdx.x] = most;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) tile[threadIdx.x] = fmaxf(tile[threadIdx.x], tile[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}

std::string shape(int rows, int cols) { return " " + std::to_string(rows) + "x" + std::to_string(cols); }

}  // namespace

std::vector<Case> rows() {
  std::vector<Case> list;
  struct Shape {
    int rows, cols;
  };
  for (const Shape m : {Shape{1024, 1024}, Shape{8192, 512}, Shape{4096, 4096}}) {
    const size_t bytes = static_cast<size_t>(m.rows) * m.cols * 4;
    const int by_warp = ceil_div(static_cast<size_t>(m.rows) * 32, 256);
    if (m.cols < 4096) {
      list.push_back(
          {"sum_thread" + shape(m.rows, m.cols), "thread per row", bytes, [=](const Buffers& b, cudaStream_t s) {
             sum_thread<<<ceil_div(m.rows, 128), 128, 0, s>>>(b.in, b.out, m.rows, m.cols);
           }});
      list.push_back(
          {"argmax_thread" + shape(m.rows, m.cols), "thread per row", bytes, [=](const Buffers& b, cudaStream_t s) {
             argmax_thread<<<ceil_div(m.rows, 64), 64, 0, s>>>(b.in, b.counters, m.rows, m.cols);
           }});
      list.push_back({"gemv_thread" + shape(m.rows, m.cols), "gemv", bytes, [=](const Buffers& b, cudaStream_t s) {
                        gemv_thread<<<ceil_div(m.rows, 128), 128, 0, s>>>(b.in, b.in2, b.out, m.rows, m.cols);
                      }});
    }
    list.push_back({"column_sums" + shape(m.rows, m.cols), "columns", bytes, [=](const Buffers& b, cudaStream_t s) {
                      column_sums<<<ceil_div(m.cols, 128), 128, 0, s>>>(b.in, b.out, m.rows, m.cols);
                    }});
    list.push_back(
        {"rms_warp" + shape(m.rows, m.cols), "norm by warp", bytes * 2,
         [=](const Buffers& b, cudaStream_t s) { rms_warp<<<by_warp, 256, 0, s>>>(b.in, b.out, m.rows, m.cols); }});
    list.push_back(
        {"softmax_warp" + shape(m.rows, m.cols), "softmax by warp", bytes * 2,
         [=](const Buffers& b, cudaStream_t s) { softmax_warp<<<by_warp, 256, 0, s>>>(b.in, b.out, m.rows, m.cols); }});
    list.push_back({"gemv_warp" + shape(m.rows, m.cols), "gemv", bytes, [=](const Buffers& b, cudaStream_t s) {
                      gemv_warp<<<by_warp, 256, 0, s>>>(b.in, b.in2, b.out, m.rows, m.cols);
                    }});
    for (const int threads : {64, 256, 1024}) {
      const std::string name = shape(m.rows, m.cols) + " by " + std::to_string(threads);
      list.push_back({"layer_norm_block" + name, "norm by block", bytes * 2, [=](const Buffers& b, cudaStream_t s) {
                        layer_norm_block<<<m.rows, threads, 0, s>>>(b.in, b.out, m.cols);
                      }});
      list.push_back({"row_max_block" + name, "maximum by block", bytes, [=](const Buffers& b, cudaStream_t s) {
                        row_max_block<<<m.rows, threads, 0, s>>>(b.in, b.out, m.cols);
                      }});
    }
    list.push_back({"layer_norm_float4" + shape(m.rows, m.cols), "norm by block", bytes * 2,
                    [=](const Buffers& b, cudaStream_t s) {
                      layer_norm_float4<<<m.rows, 128, 0, s>>>(reinterpret_cast<const float4*>(b.in),
                                                               reinterpret_cast<float4*>(b.out), m.cols / 4);
                    }});
  }
  return list;
}

}  // namespace calibration
