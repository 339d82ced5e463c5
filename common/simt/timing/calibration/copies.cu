// What moves bytes and does little else: copies, strides, transposes, stencils, few blocks, 16-bit numbers.
#include <cuda_fp16.h>

#include "calibration.h"

namespace calibration {

namespace {

__global__ void copy1(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy4(const float4* in, float4* out, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) out[i] = in[i];
}

__global__ void axpy(const float* x, float* y, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

__global__ void copy_strided(const float* in, float* out, int n, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[static_cast<size_t>(i) * stride];
}

__global__ void gather(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(static_cast<unsigned>(i) * 2654435761u) >> 8];
}

__global__ void fill(float* out, float value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

__global__ void transpose_naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[static_cast<size_t>(x) * n + y] = in[static_cast<size_t>(y) * n + x];
}

template <int pad>
__global__ void transpose_tiled(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + pad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[static_cast<size_t>(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[static_cast<size_t>(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void stencil2d(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const size_t at = static_cast<size_t>(y) * n + x;
  out[at] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - n] + in[at + n]);
}

__global__ void stencil1d(const float* in, float* out, int n) {
  __shared__ float tile[256 + 6];
  const int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x + 3] = in[i];
  if (threadIdx.x < 3) {
    tile[threadIdx.x] = i >= 3 ? in[i - 3] : 0.0f;
    tile[threadIdx.x + 259] = i + 256 < n ? in[i + 256] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
  for (int d = 0; d < 7; d++) sum += tile[threadIdx.x + d];
  out[i] = sum / 7;
}

__global__ void scale_half(const __half* in, __half* out, __half a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hmul(in[i], a);
}

__global__ void scale_half2(const __half2* in, __half2* out, __half2 a, int n2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n2) out[i] = __hfma2(in[i], a, in[i]);
}

__global__ void half_to_float(const __half* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __half2float(in[i]) * 2.0f;
}

__global__ void scale_half8(const uint4* in, uint4* out, float a, int n8) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n8) return;
  uint4 words = in[i];
  __half2* const pairs = reinterpret_cast<__half2*>(&words);
#pragma unroll
  for (int p = 0; p < 4; p++) {
    float2 v = __half22float2(pairs[p]);
    v.x *= a;
    v.y *= a;
    pairs[p] = __float22half2_rn(v);
  }
  out[i] = words;
}

}  // namespace

std::vector<Case> copies() {
  std::vector<Case> list;
  const int n = 1 << 24, million = 1 << 20;
  const auto as4 = [](float* p) { return reinterpret_cast<float4*>(p); };
  for (const int threads : {64, 256, 1024})
    list.push_back(
        {"copy1 16M by " + std::to_string(threads), "copy", size_t{8} * n,
         [=](const Buffers& b, cudaStream_t s) { copy1<<<ceil_div(n, threads), threads, 0, s>>>(b.in, b.out, n); }});
  for (const int size : {million, n})
    list.push_back(
        {"copy4 " + std::to_string(size >> 20) + "M", "copy", size_t{8} * size, [=](const Buffers& b, cudaStream_t s) {
           copy4<<<ceil_div(size, 1024), 256, 0, s>>>(as4(b.in), as4(b.out), size / 4);
         }});
  for (const int blocks : {1, 8, 66, 132, 133, 200})
    list.push_back(
        {"axpy " + std::to_string(blocks) + " blocks", "few blocks", size_t{8} * 4096 * blocks,
         [=](const Buffers& b, cudaStream_t s) { axpy<<<blocks, 512, 0, s>>>(b.in, b.out, 2.0f, blocks * 4096); }});
  list.push_back({"axpy 16M", "few blocks", size_t{8} * n,
                  [=](const Buffers& b, cudaStream_t s) { axpy<<<1056, 256, 0, s>>>(b.in, b.out, 2.0f, n); }});
  for (const int stride : {2, 8, 32})
    list.push_back(
        {"copy_strided " + std::to_string(stride), "strided", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
           copy_strided<<<ceil_div(n / 32, 256), 256, 0, s>>>(b.in, b.out, n / 32, stride);
         }});
  list.push_back({"gather", "strided", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
                    gather<<<ceil_div(million, 256), 256, 0, s>>>(b.in, b.out, million);
                  }});
  list.push_back({"fill 16M", "fill", size_t{4} * n,
                  [=](const Buffers& b, cudaStream_t s) { fill<<<ceil_div(n, 256), 256, 0, s>>>(b.out, 1.0f, n); }});
  for (const int side : {1024, 4096}) {
    const size_t bytes = size_t{8} * side * side;
    const std::string size = " " + std::to_string(side);
    const dim3 tiles(side / 32, side / 32);
    list.push_back({"transpose_naive" + size, "transpose", bytes, [=](const Buffers& b, cudaStream_t s) {
                      transpose_naive<<<dim3(side / 32, side / 8), dim3(32, 8), 0, s>>>(b.in, b.out, side);
                    }});
    list.push_back({"transpose_tiled" + size, "transpose", bytes, [=](const Buffers& b, cudaStream_t s) {
                      transpose_tiled<0><<<tiles, dim3(32, 8), 0, s>>>(b.in, b.out, side);
                    }});
    list.push_back({"transpose_padded" + size, "transpose", bytes, [=](const Buffers& b, cudaStream_t s) {
                      transpose_tiled<1><<<tiles, dim3(32, 8), 0, s>>>(b.in, b.out, side);
                    }});
    list.push_back({"stencil2d" + size, "stencil", bytes, [=](const Buffers& b, cudaStream_t s) {
                      stencil2d<<<tiles, dim3(32, 32), 0, s>>>(b.in, b.out, side);
                    }});
    list.push_back({"stencil1d" + size, "stencil", bytes, [=](const Buffers& b, cudaStream_t s) {
                      stencil1d<<<side * side / 256, 256, 0, s>>>(b.in, b.out, side * side);
                    }});
  }
  const auto half_of = [](float* p) { return reinterpret_cast<__half*>(p); };
  list.push_back({"scale_half", "half", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
                    scale_half<<<ceil_div(n, 256), 256, 0, s>>>(half_of(b.in), half_of(b.out), __float2half(2.0f), n);
                  }});
  list.push_back({"scale_half2", "half", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
                    scale_half2<<<ceil_div(n, 512), 256, 0, s>>>(reinterpret_cast<__half2*>(b.in),
                                                                 reinterpret_cast<__half2*>(b.out),
                                                                 __float2half2_rn(2.0f), n / 2);
                  }});
  list.push_back({"half_to_float", "half", size_t{6} * n, [=](const Buffers& b, cudaStream_t s) {
                    half_to_float<<<ceil_div(n, 256), 256, 0, s>>>(half_of(b.in), b.out, n);
                  }});
  list.push_back({"scale_half8", "half", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
                    scale_half8<<<ceil_div(n / 8, 256), 256, 0, s>>>(reinterpret_cast<uint4*>(b.in),
                                                                     reinterpret_cast<uint4*>(b.out), 2.0f, n / 8);
                  }});
  return list;
}

}  // namespace calibration
