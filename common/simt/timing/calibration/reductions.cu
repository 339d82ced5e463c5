// Sums of an array, from the textbook's slowest to grid-stride; dot products; histograms; scans.
#include "calibration.h"

namespace calibration {

namespace {

__global__ void interleaved_modulo(const float* in, float* out) {
  extern __shared__ float tile[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[t] = in[i];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) tile[t] += tile[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

__global__ void interleaved_strided(const float* in, float* out) {
  extern __shared__ float tile[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[t] = in[i];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned at = 2 * s * t;
    if (at < blockDim.x) tile[at] += tile[at + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

__global__ void sequential(const float* in, float* out) {
  extern __shared__ float tile[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  tile[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) tile[t] += tile[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

__device__ float warp_sum(float x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, d);
  return x;
}

__device__ float block_sum(float x) {
  __shared__ float of_warp[32];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) x = warp_sum(threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0.0f);
  return x;
}

__global__ void grid_stride(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void grid_stride4(const float4* in, float* out, int n4) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

__global__ void dot(const float* a, const float* b, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

__global__ void histogram_global(const float* in, int* bins, int n, int mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[__float_as_int(in[i]) >> 10 & mask], 1);
}

__global__ void histogram_shared(const float* in, int* bins, int n) {
  __shared__ int mine[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[__float_as_int(in[i]) >> 10 & 255], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

__global__ void scan_doubling(const float* in, float* out) {
  __shared__ float tile[2][512];
  const int t = threadIdx.x, i = blockIdx.x * 512 + t;
  int now = 0;
  tile[0][t] = in[i];
  __syncthreads();
  for (int d = 1; d < 512; d *= 2) {
    tile[1 - now][t] = t >= d ? tile[now][t] + tile[now][t - d] : tile[now][t];
    now = 1 - now;
    __syncthreads();
  }
  out[i] = tile[now][t];
}

__global__ void scan_shuffle(const float* in, float* out) {
  __shared__ float of_warp[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float x = in[i];
  for (int d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += other;
  }
  if (lane == 31) of_warp[warp] = x;
  __syncthreads();
  float before = 0;
  for (int w = 0; w < warp; w++) before += of_warp[w];
  out[i] = x + before;
}

}  // namespace

std::vector<Case> reductions() {
  std::vector<Case> list;
  for (const size_t n : {size_t{1} << 20, size_t{1} << 24}) {
    const std::string size = n == size_t{1} << 20 ? " 1M" : " 16M";
    const int blocks = ceil_div(n, 256);
    list.push_back({"interleaved_modulo" + size, "tree", n * 4, [=](const Buffers& b, cudaStream_t s) {
                      interleaved_modulo<<<blocks, 256, 1024, s>>>(b.in, b.out);
                    }});
    list.push_back({"interleaved_strided" + size, "tree", n * 4, [=](const Buffers& b, cudaStream_t s) {
                      interleaved_strided<<<blocks, 256, 1024, s>>>(b.in, b.out);
                    }});
    list.push_back({"sequential" + size, "tree", n * 4,
                    [=](const Buffers& b, cudaStream_t s) { sequential<<<blocks / 2, 256, 1024, s>>>(b.in, b.out); }});
    list.push_back({"grid_stride" + size, "grid stride", n * 4, [=](const Buffers& b, cudaStream_t s) {
                      grid_stride<<<1056, 256, 0, s>>>(b.in, b.out, static_cast<int>(n));
                    }});
    list.push_back({"grid_stride4" + size, "grid stride", n * 4, [=](const Buffers& b, cudaStream_t s) {
                      grid_stride4<<<528, 512, 0, s>>>(reinterpret_cast<const float4*>(b.in), b.out,
                                                       static_cast<int>(n / 4));
                    }});
    list.push_back({"dot" + size, "dot", n * 8, [=](const Buffers& b, cudaStream_t s) {
                      dot<<<1056, 256, 0, s>>>(b.in, b.in2, b.out, static_cast<int>(n));
                    }});
    list.push_back({"scan_doubling" + size, "scan", n * 8, [=](const Buffers& b, cudaStream_t s) {
                      scan_doubling<<<ceil_div(n, 512), 512, 0, s>>>(b.in, b.out);
                    }});
    list.push_back({"scan_shuffle" + size, "scan", n * 8, [=](const Buffers& b, cudaStream_t s) {
                      scan_shuffle<<<ceil_div(n, 512), 512, 0, s>>>(b.in, b.out);
                    }});
  }
  const size_t n = size_t{1} << 22;
  for (const int mask : {255, 65535}) {
    list.push_back(
        {"histogram_global " + std::to_string(mask + 1), "histogram", n * 4, [=](const Buffers& b, cudaStream_t s) {
           histogram_global<<<ceil_div(n, 256), 256, 0, s>>>(b.in, b.counters, static_cast<int>(n), mask);
         }});
  }
  list.push_back({"histogram_shared", "histogram", n * 4, [=](const Buffers& b, cudaStream_t s) {
                    histogram_shared<<<528, 256, 0, s>>>(b.in, b.counters, static_cast<int>(n));
                  }});
  return list;
}

}  // namespace calibration
