// What computes more than it moves: matrix products, chains of arithmetic, special functions, dependent loads.
#include "calibration.h"

namespace calibration {

namespace {

__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[static_cast<size_t>(y) * n + k] * b[static_cast<size_t>(k) * n + x];
  c[static_cast<size_t>(y) * n + x] = sum;
}

template <int tile>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[tile][tile], tb[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * tile + tx, y = blockIdx.y * tile + ty;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += tile) {
    ta[ty][tx] = a[static_cast<size_t>(y) * n + k0 + tx];
    tb[ty][tx] = b[static_cast<size_t>(k0 + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < tile; k++) sum += ta[ty][k] * tb[k][tx];
    __syncthreads();
  }
  c[static_cast<size_t>(y) * n + x] = sum;
}

__global__ void multiply_add(const float* in, float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], y = x + 1;
  for (int r = 0; r < rounds; r++) {
    x = x * 0.999f + 0.5f;
    y = y * 0.998f + 0.25f;
  }
  out[i] = x + y;
}

__global__ void exponentials(const float* in, float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int r = 0; r < rounds; r++) x = expf(-x);
  out[i] = x;
}

__global__ void roots(const float* in, float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int r = 0; r < rounds; r++) x = sqrtf(x * x + 1.0f) / (x + 2.0f);
  out[i] = x;
}

__global__ void chase(const int* next, float* out, int rounds) {
  int at = (blockIdx.x * blockDim.x + threadIdx.x) & 1023;
  for (int r = 0; r < rounds; r++) at = next[at] & 1023;
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(at);
}

__global__ void gelu(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

__global__ void sigmoid4(const float4* in, float4* out, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  const float4 v = in[i];
  out[i] = make_float4(1.0f / (1.0f + expf(-v.x)), 1.0f / (1.0f + expf(-v.y)), 1.0f / (1.0f + expf(-v.z)),
                       1.0f / (1.0f + expf(-v.w)));
}

__global__ void integer_hash(const int* in, int* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h = static_cast<unsigned>(in[i]);
  for (int r = 0; r < rounds; r++) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
  }
  out[i] = static_cast<int>(h);
}

__global__ void barriers(const float* in, float* out, int rounds) {
  __shared__ float tile[256];
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  for (int r = 0; r < rounds; r++) {
    __syncthreads();
    const float x = tile[(threadIdx.x + 1) % 256];
    __syncthreads();
    tile[threadIdx.x] = x;
  }
  out[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x];
}

}  // namespace

std::vector<Case> compute() {
  std::vector<Case> list;
  const int n = 1 << 20;
  for (const int side : {256, 512}) {
    const size_t bytes = size_t{12} * side * side;
    const std::string size = " " + std::to_string(side);
    list.push_back({"matmul_naive" + size, "matmul", bytes, [=](const Buffers& b, cudaStream_t s) {
                      matmul_naive<<<dim3(side / 16, side / 16), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, side);
                    }});
    list.push_back({"matmul_tiled16" + size, "matmul", bytes, [=](const Buffers& b, cudaStream_t s) {
                      matmul_tiled<16><<<dim3(side / 16, side / 16), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, side);
                    }});
    list.push_back({"matmul_tiled32" + size, "matmul", bytes, [=](const Buffers& b, cudaStream_t s) {
                      matmul_tiled<32><<<dim3(side / 32, side / 32), dim3(32, 32), 0, s>>>(b.in, b.in2, b.out, side);
                    }});
  }
  for (const int rounds : {16, 256})
    list.push_back(
        {"multiply_add " + std::to_string(rounds), "arithmetic", size_t{8} * n,
         [=](const Buffers& b, cudaStream_t s) { multiply_add<<<n / 256, 256, 0, s>>>(b.in, b.out, rounds); }});
  list.push_back({"integer_hash", "arithmetic", size_t{8} * n, [=](const Buffers& b, cudaStream_t s) {
                    integer_hash<<<n / 256, 256, 0, s>>>(reinterpret_cast<const int*>(b.in),
                                                         reinterpret_cast<int*>(b.out), 64);
                  }});
  list.push_back({"exponentials", "special functions", size_t{8} * n,
                  [=](const Buffers& b, cudaStream_t s) { exponentials<<<n / 256, 256, 0, s>>>(b.in, b.out, 32); }});
  list.push_back({"roots", "special functions", size_t{8} * n,
                  [=](const Buffers& b, cudaStream_t s) { roots<<<n / 256, 256, 0, s>>>(b.in, b.out, 32); }});
  for (const int blocks : {1, 132})
    list.push_back({"chase " + std::to_string(blocks), "dependent loads", size_t{1} << 16,
                    [=](const Buffers& b, cudaStream_t s) { chase<<<blocks, 32, 0, s>>>(b.counters, b.out, 128); }});
  list.push_back({"gelu", "activation", size_t{64} * n,
                  [=](const Buffers& b, cudaStream_t s) { gelu<<<n * 8 / 256, 256, 0, s>>>(b.in, b.out, n * 8); }});
  list.push_back({"sigmoid4", "activation", size_t{64} * n, [=](const Buffers& b, cudaStream_t s) {
                    sigmoid4<<<n * 2 / 256, 256, 0, s>>>(reinterpret_cast<const float4*>(b.in),
                                                         reinterpret_cast<float4*>(b.out), n * 2);
                  }});
  list.push_back({"barriers", "barriers", size_t{8} * n,
                  [=](const Buffers& b, cudaStream_t s) { barriers<<<n / 4 / 256, 256, 0, s>>>(b.in, b.out, 64); }});
  return list;
}

}  // namespace calibration
