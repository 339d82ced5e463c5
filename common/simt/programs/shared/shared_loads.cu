// Kernels that live on shared memory, as public repositories write them. Loads that nvcc keeps in registers or joins
// decide how often shared memory is asked: shared_loads.json has what ncu read of each kernel on a GPU, and the
// executor's counts are held against it.
#include <cuda_fp16.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    cudaError_t e = (call);                                                           \
    if (e != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

// C (n, n) = A (n, n) B (n, n). One element per thread, tiles of 32 x 32.
__global__ void tiled_32(const float* A, const float* B, float* C, int n) {
  __shared__ float As[32][32], Bs[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < n; t += 32) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

// The same with tiles of 16 x 16 and a pragma.
__global__ void tiled_16(const float* A, const float* B, float* C, int n) {
  __shared__ float As[16][16], Bs[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < n; t += 16) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

// Eight results per thread in a column: 64 x 64 per block, 8 of k at a time.
__global__ void tile_1d(const float* A, const float* B, float* C, int n) {
  constexpr int BM = 64, BN = 64, BK = 8, TM = 8;
  __shared__ float As[BM * BK], Bs[BK * BN];
  const int tx = threadIdx.x % BN, ty = threadIdx.x / BN;
  const int ia = threadIdx.x / BK, ka = threadIdx.x % BK, ib = threadIdx.x % BN, kb = threadIdx.x / BN;
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * n + blockIdx.x * BN;
  float result[TM] = {0.0f};
  for (int t = 0; t < n; t += BK) {
    As[ia * BK + ka] = A[ia * n + ka];
    Bs[kb * BN + ib] = B[kb * n + ib];
    __syncthreads();
    A += BK;
    B += BK * n;
    for (int dot = 0; dot < BK; dot++) {
      const float b = Bs[dot * BN + tx];
      for (int i = 0; i < TM; i++) result[i] += As[(ty * TM + i) * BK + dot] * b;
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; i++) C[(ty * TM + i) * n + tx] = result[i];
}

// 8 x 8 results per thread, 128 x 128 per block; registers hold a column of A and a row of B.
__global__ void __launch_bounds__(256) tile_2d(const float* A, const float* B, float* C, int n) {
  constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
  __shared__ float As[BM * BK], Bs[BK * BN];
  const int tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN);
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * n + blockIdx.x * BN;
  float result[TM * TN] = {0.0f}, m[TM], v[TN];
  for (int t = 0; t < n; t += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 256) As[i] = A[i / BK * n + i % BK];
    for (int i = threadIdx.x; i < BN * BK; i += 256) Bs[i] = B[i / BN * n + i % BN];
    __syncthreads();
    A += BK;
    B += BK * n;
    for (int dot = 0; dot < BK; dot++) {
      for (int i = 0; i < TM; i++) m[i] = As[(ty * TM + i) * BK + dot];
      for (int i = 0; i < TN; i++) v[i] = Bs[dot * BN + tx * TN + i];
      for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) result[i * TN + j] += m[i] * v[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; i++)
    for (int j = 0; j < TN; j++) C[(ty * TM + i) * n + tx * TN + j] = result[i * TN + j];
}

// The same with A's tile transposed and float4 everywhere.
__global__ void __launch_bounds__(256) tile_2d_float4(float* A, float* B, float* C, int n) {
  constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
  __shared__ float As[BK * BM], Bs[BK * BN];
  const int tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN);
  const int ra = threadIdx.x / (BK / 4), ca = threadIdx.x % (BK / 4), rb = threadIdx.x / (BN / 4),
            cb = threadIdx.x % (BN / 4);
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * n + blockIdx.x * BN;
  float result[TM * TN] = {0.0f}, m[TM], v[TN];
  for (int t = 0; t < n; t += BK) {
    const float4 a = reinterpret_cast<float4*>(&A[ra * n + ca * 4])[0];
    As[(ca * 4 + 0) * BM + ra] = a.x;
    As[(ca * 4 + 1) * BM + ra] = a.y;
    As[(ca * 4 + 2) * BM + ra] = a.z;
    As[(ca * 4 + 3) * BM + ra] = a.w;
    reinterpret_cast<float4*>(&Bs[rb * BN + cb * 4])[0] = reinterpret_cast<float4*>(&B[rb * n + cb * 4])[0];
    __syncthreads();
    A += BK;
    B += BK * n;
    for (int dot = 0; dot < BK; dot++) {
      for (int i = 0; i < TM; i++) m[i] = As[dot * BM + ty * TM + i];
      for (int i = 0; i < TN; i++) v[i] = Bs[dot * BN + tx * TN + i];
      for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) result[i * TN + j] += m[i] * v[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; i++)
    for (int j = 0; j < TN; j += 4) {
      float4 c;
      c.x = result[i * TN + j], c.y = result[i * TN + j + 1], c.z = result[i * TN + j + 2],
      c.w = result[i * TN + j + 3];
      reinterpret_cast<float4*>(&C[(ty * TM + i) * n + tx * TN + j])[0] = c;
    }
}

// y (n, n) = x transposed, a 4 x 4 tile per thread by float4 through shared memory of (64, 64 + 4).
__global__ void transpose_float4(const float* x, float* y, int n) {
  __shared__ float tile[64][68];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  for (int i = 0; i < 4; i++)
    *reinterpret_cast<float4*>(&tile[ty + 16 * i][tx * 4]) =
        *reinterpret_cast<const float4*>(&x[(blockIdx.y * 64 + ty + 16 * i) * n + blockIdx.x * 64 + tx * 4]);
  __syncthreads();
  for (int i = 0; i < 4; i++) {
    float4 v;
    v.x = tile[tx * 4 + 0][ty + 16 * i];
    v.y = tile[tx * 4 + 1][ty + 16 * i];
    v.z = tile[tx * 4 + 2][ty + 16 * i];
    v.w = tile[tx * 4 + 3][ty + 16 * i];
    *reinterpret_cast<float4*>(&y[(blockIdx.x * 64 + ty + 16 * i) * n + blockIdx.y * 64 + tx * 4]) = v;
  }
}

__global__ void transpose_32x8(const float* x, float* y, int n) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = x[(r + i) * n + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) y[(r + i) * n + c] = tile[threadIdx.x][threadIdx.y + i];
}

__device__ float warp_sum(float v) {
#pragma unroll
  for (int mask = 16; mask >= 1; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask);
  return v;
}

template <int threads>
__device__ float block_sum(float v) {
  constexpr int warps = threads / 32;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  static __shared__ float shared[warps];
  v = warp_sum(v);
  if (lane == 0) shared[warp] = v;
  __syncthreads();
  v = lane < warps ? shared[lane] : 0.0f;
  v = warp_sum(v);
  return v;
}

// A row per block of 256 threads, half2 per thread.
__global__ void rms_norm_f16x2(half* x, half* y, float g, int cols) {
  __shared__ float scale;
  const half2 v = reinterpret_cast<half2*>(x)[blockIdx.x * cols / 2 + threadIdx.x];
  const float2 f = __half22float2(v);
  const float sum = block_sum<256>(f.x * f.x + f.y * f.y);
  if (threadIdx.x == 0) scale = rsqrtf(sum / cols + 1e-5f);
  __syncthreads();
  half2 result;
  result.x = __float2half(f.x * scale * g);
  result.y = __float2half(f.y * scale * g);
  reinterpret_cast<half2*>(y)[blockIdx.x * cols / 2 + threadIdx.x] = result;
}

// Two reductions per row, the row in registers.
__global__ void layer_norm(const float* x, float* y, int cols) {
  __shared__ float mean, variance;
  const float v = x[blockIdx.x * cols + threadIdx.x];
  const float sum = block_sum<256>(v);
  if (threadIdx.x == 0) mean = sum / cols;
  __syncthreads();
  const float d = v - mean;
  __syncthreads();
  const float squares = block_sum<256>(d * d);
  if (threadIdx.x == 0) variance = rsqrtf(squares / cols + 1e-5f);
  __syncthreads();
  y[blockIdx.x * cols + threadIdx.x] = d * variance;
}

// y = x convolved with 9 weights, a halo of 4 on each side.
__global__ void convolution_1d(const float* x, const float* w, float* y, int n) {
  __shared__ float tile[256 + 8];
  const int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x + 4] = x[i];
  if (threadIdx.x < 4) tile[threadIdx.x] = i >= 4 ? x[i - 4] : 0.0f;
  if (threadIdx.x >= 252) tile[threadIdx.x + 8] = i + 4 < n ? x[i + 4] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int k = -4; k <= 4; k++) sum += tile[threadIdx.x + 4 + k] * w[k + 4];
  y[i] = sum;
}

// Five-point stencil, one tile of (8 + 2) x (32 + 2).
__global__ void stencil_2d(const float* x, float* y, int n) {
  __shared__ float t[10][34];
  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y, lx = threadIdx.x + 1,
            ly = threadIdx.y + 1;
  t[ly][lx] = x[r * n + c];
  if (threadIdx.x == 0) t[ly][0] = c > 0 ? x[r * n + c - 1] : 0.0f;
  if (threadIdx.x == 31) t[ly][33] = c < n - 1 ? x[r * n + c + 1] : 0.0f;
  if (threadIdx.y == 0) t[0][lx] = r > 0 ? x[(r - 1) * n + c] : 0.0f;
  if (threadIdx.y == 7) t[9][lx] = r < n - 1 ? x[(r + 1) * n + c] : 0.0f;
  __syncthreads();
  y[r * n + c] = t[ly][lx] - 0.25f * (t[ly - 1][lx] + t[ly + 1][lx] + t[ly][lx - 1] + t[ly][lx + 1]);
}

// As NVIDIA's reduction: two elements per thread, then a tree.
__global__ void reduce_tree(const float* x, float* y, int n) {
  extern __shared__ float s[];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  s[tid] = x[i] + (i + blockDim.x < n ? x[i + blockDim.x] : 0.0f);
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
    if (tid < step) s[tid] += s[tid + step];
    __syncthreads();
  }
  if (tid == 0) y[blockIdx.x] = s[0];
}

// Hillis and Steele's scan of a block, two buffers.
__global__ void scan_block(const float* x, float* y) {
  __shared__ float buffer[2][256];
  int out = 0, in = 1;
  buffer[out][threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    out = 1 - out, in = 1 - out;
    if (threadIdx.x >= offset)
      buffer[out][threadIdx.x] = buffer[in][threadIdx.x] + buffer[in][threadIdx.x - offset];
    else
      buffer[out][threadIdx.x] = buffer[in][threadIdx.x];
    __syncthreads();
  }
  y[blockIdx.x * 256 + threadIdx.x] = buffer[out][threadIdx.x];
}

// Bodies as float4 in shared memory, all of them read by every thread.
__global__ void n_body(const float4* p, float4* a, int n) {
  __shared__ float4 tile[128];
  const float4 me = p[blockIdx.x * 128 + threadIdx.x];
  float3 sum = make_float3(0.0f, 0.0f, 0.0f);
  for (int t = 0; t < n; t += 128) {
    tile[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 128; j++) {
      const float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      const float d = dx * dx + dy * dy + dz * dz + 1e-3f, inverse = rsqrtf(d),
                  s = tile[j].w * inverse * inverse * inverse;
      sum.x += dx * s, sum.y += dy * s, sum.z += dz * s;
    }
    __syncthreads();
  }
  a[blockIdx.x * 128 + threadIdx.x] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}

int main() {
  constexpr int n = 256;
  std::vector<float> host(n * n);
  for (int i = 0; i < n * n; i++) host[i] = static_cast<float>(i * 7919 % 1000) / 1000;
  float *A, *B, *C;
  CHECK(cudaMalloc(&A, n * n * sizeof(float)));
  CHECK(cudaMalloc(&B, n * n * sizeof(float)));
  CHECK(cudaMalloc(&C, n * n * sizeof(float)));
  CHECK(cudaMemcpy(A, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(B, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  tiled_32<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(A, B, C, n);
  tiled_16<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(A, B, C, n);
  tile_1d<<<dim3(n / 64, n / 64), 512>>>(A, B, C, n);
  tile_2d<<<dim3(n / 128, n / 128), 256>>>(A, B, C, n);
  tile_2d_float4<<<dim3(n / 128, n / 128), 256>>>(A, B, C, n);
  transpose_float4<<<dim3(n / 64, n / 64), 256>>>(A, C, n);
  transpose_32x8<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(A, C, n);
  rms_norm_f16x2<<<64, 256>>>(reinterpret_cast<half*>(A), reinterpret_cast<half*>(C), 1.5f, 512);
  layer_norm<<<n, n>>>(A, C, n);
  convolution_1d<<<n, 256>>>(A, B, C, n * n);
  stencil_2d<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(A, C, n);
  reduce_tree<<<n / 2, 256, 256 * sizeof(float)>>>(A, C, n * n);
  scan_block<<<n, 256>>>(A, C);
  n_body<<<4, 128>>>(reinterpret_cast<float4*>(A), reinterpret_cast<float4*>(C), 512);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::puts("done");
}
