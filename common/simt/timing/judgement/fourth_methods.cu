// Scans, sorts, sparse formats, tiles, products of small matrices with vectors.
// GPU.
#include <cuda_fp16.h>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// A prefix sum in one pass: each tile publishes its sum, then its prefix, and looks back for those before it. The
// upper two bits of a word say which of both it is; 0 is neither.
__global__ void scan_with_lookback(const float* in, unsigned* out, volatile unsigned* state) {
  __shared__ unsigned warp_sums[8], before;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, base = blockIdx.x * 1024 + threadIdx.x * 4;
  const float4 v = *reinterpret_cast<const float4*>(in + base);
  const unsigned x = v.x * 16, y = x + static_cast<unsigned>(v.y * 16), z = y + static_cast<unsigned>(v.z * 16),
                 w = z + static_cast<unsigned>(v.w * 16);
  unsigned sum = w;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += other;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  unsigned own = sum - w, total = 0;
  for (int k = 0; k < 8; k++) {
    if (k < warp) own += warp_sums[k];
    total += warp_sums[k];
  }
  if (threadIdx.x == 0) {
    state[blockIdx.x] = total | (blockIdx.x == 0 ? 0x80000000u : 0x40000000u);
    unsigned prefix = 0;
    for (int tile = blockIdx.x - 1; tile >= 0; tile--) {
      unsigned found;
      do found = state[tile];
      while (found < 0x40000000u);
      prefix += found & 0x3fffffffu;
      if (found & 0x80000000u) break;
    }
    if (blockIdx.x > 0) state[blockIdx.x] = ((prefix + total) & 0x3fffffffu) | 0x80000000u;
    before = prefix;
  }
  __syncthreads();
  own += before;
  *reinterpret_cast<uint4*>(out + base) = {own + x, own + y, own + z, own + w};
}

// A histogram of bytes, one for each warp of the block in shared memory, merged in the end.
__global__ void histogram_per_warp(const uchar4* data, unsigned* bins, int n) {
  __shared__ unsigned local[8][256];
  for (int i = threadIdx.x; i < 2048; i += 256) (&local[0][0])[i] = 0;
  __syncthreads();
  unsigned* own = local[threadIdx.x / 32];
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const uchar4 four = data[i];
    atomicAdd(&own[four.x], 1u);
    atomicAdd(&own[four.y], 1u);
    atomicAdd(&own[four.z], 1u);
    atomicAdd(&own[four.w], 1u);
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < 8; w++) sum += local[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}

// Each value to the next free place of its bucket.
__global__ void scatter_to_buckets(const float* in, float* out, int* cursor, int buckets) {
  const float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  const int bucket = static_cast<int>(v * buckets);
  out[bucket * 4096 + (atomicAdd(&cursor[bucket], 1) & 4095)] = v;
}

// 32 numbers sorted by a warp with shuffles; a warp is a block.
__global__ void sort_warp(float* data) {
  const int lane = threadIdx.x;
  float own = data[blockIdx.x * 32 + lane];
#pragma unroll
  for (int k = 2; k <= 32; k *= 2)
#pragma unroll
    for (int j = k / 2; j > 0; j /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, own, j);
      const bool lower = (lane & j) == 0, up = (lane & k) == 0;
      own = lower == up ? fminf(own, other) : fmaxf(own, other);
    }
  data[blockIdx.x * 32 + lane] = own;
}

// Sparse rows of one length, column by column, a thread per row.
__global__ void spmv_ell(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; k++) {
    const int c = columns[k * rows + r];
    if (c >= 0) sum += values[k * rows + r] * x[c];
  }
  y[r] = sum;
}

// Sparse rows of different length, eight lanes per row.
__global__ void spmv_eight_lanes(const int* start, const int* columns, const float* values, const float* x, float* y,
                                 int rows) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  float sum = 0;
  if (r < rows)
    for (int k = start[r] + lane; k < start[r + 1]; k += 8) sum += values[k] * __ldg(&x[columns[k]]);
#pragma unroll
  for (int offset = 4; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset, 8);
  if (r < rows && lane == 0) y[r] = sum;
}

// A filter of 5 x 5 over a tile with its halo in shared memory.
__constant__ float taps25[25];
__global__ void filter_tile5(const float* in, float* out, int w, int h) {
  __shared__ float tile[20][21];
  const int x0 = blockIdx.x * 16 - 2, y0 = blockIdx.y * 16 - 2;
  for (int y = threadIdx.y; y < 20; y += 16)
    for (int x = threadIdx.x; x < 20; x += 16) {
      const int gx = min(max(x0 + x, 0), w - 1), gy = min(max(y0 + y, 0), h - 1);
      tile[y][x] = in[gy * w + gx];
    }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 5; dy++)
#pragma unroll
    for (int dx = 0; dx < 5; dx++) sum += taps25[dy * 5 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
  out[(y0 + 2 + threadIdx.y) * w + x0 + 2 + threadIdx.x] = sum;
}

// Halves in tiles of 64 x 64 whose columns are exchanged by exclusive or instead of padded.
__global__ void transpose_swizzled(const half2* in, half* out, int width, int height) {
  __shared__ half2 tile[64][32];
  const int x = threadIdx.x, bx = blockIdx.x, by = blockIdx.y;
  for (int y = threadIdx.y; y < 64; y += 8) tile[y][x ^ (y / 2 & 31)] = in[(by * 64 + y) * (width / 2) + bx * 32 + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) {
    const half2 a = tile[2 * x][y ^ x], b = tile[2 * x + 1][y ^ x];
    half2* to = reinterpret_cast<half2*>(out);
    to[(bx * 64 + 2 * y) * (height / 2) + by * 32 + x] = __halves2half2(__low2half(a), __low2half(b));
    to[(bx * 64 + 2 * y + 1) * (height / 2) + by * 32 + x] = __halves2half2(__high2half(a), __high2half(b));
  }
}

// Products of many matrices of 64 x 64 with a vector each: a block of 64 threads each, the vector in shared memory.
__global__ void gemv_batched(const float* a, const float* x, float* y) {
  __shared__ float vector[64];
  const int row = threadIdx.x;
  vector[row] = x[blockIdx.x * 64 + row];
  __syncthreads();
  const float4* own = reinterpret_cast<const float4*>(a + static_cast<size_t>(blockIdx.x) * 4096 + row * 64);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    const float4 v = own[k];
    sum += v.x * vector[4 * k] + v.y * vector[4 * k + 1] + v.z * vector[4 * k + 2] + v.w * vector[4 * k + 3];
  }
  y[blockIdx.x * 64 + row] = sum;
}

// A matrix's columns times a vector, rows split over the blocks, added up by atomics.
__global__ void gemv_transposed(const float* a, const float* x, float* y, int cols, int rows_each) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * rows_each;
  float sum = 0;
#pragma unroll 8
  for (int r = 0; r < rows_each; r++) sum += a[(first + r) * cols + c] * x[first + r];
  atomicAdd(&y[c], sum);
}

// A running sum of everything by one warp.
__global__ void scan_by_one_warp(const float* in, float* out, int n) {
  float carry = 0;
  for (int base = 0; base < n; base += 32) {
    float v = in[base + threadIdx.x];
    for (int offset = 1; offset < 32; offset <<= 1) {
      const float other = __shfl_up_sync(0xffffffffu, v, offset);
      if (threadIdx.x >= offset) v += other;
    }
    out[base + threadIdx.x] = v + carry;
    carry += __shfl_sync(0xffffffffu, v, 31);
  }
}

}  // namespace

std::vector<Case> fourth_methods() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  add("scan_with_lookback", "scans", size_t{12} << 20, [=](const Buffers& b, cudaStream_t s) {
    scan_with_lookback<<<1536, 256, 0, s>>>(b.in, words(b.out), reinterpret_cast<unsigned*>(b.counters));
  });
  add("scan_by_one_warp", "scans", size_t{8} << 12,
      [=](const Buffers& b, cudaStream_t s) { scan_by_one_warp<<<1, 32, 0, s>>>(b.in, b.out, 4096); });
  add("histogram_per_warp", "counting", size_t{4} << 19, [=](const Buffers& b, cudaStream_t s) {
    histogram_per_warp<<<264, 256, 0, s>>>(reinterpret_cast<const uchar4*>(b.in), words(b.out), 1 << 19);
  });
  add("scatter_to_buckets", "counting", size_t{12} << 20,
      [=](const Buffers& b, cudaStream_t s) { scatter_to_buckets<<<1024, 256, 0, s>>>(b.in, b.out, b.counters, 256); });
  add("sort_warp", "sorting", size_t{4} << 19,
      [=](const Buffers& b, cudaStream_t s) { sort_warp<<<16384, 32, 0, s>>>(b.in); });
  add(
      "spmv_ell", "sparse", size_t{8} << 19,
      [=](const Buffers& b, cudaStream_t s) {
        spmv_ell<<<256, 128, 0, s>>>(ints(b.in2), b.in, b.in2 + (1 << 19), b.out, 1 << 15, 16);
      },
      indices(1 << 19, 1 << 15));
  add(
      "spmv_eight_lanes", "sparse", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        spmv_eight_lanes<<<1024, 256, 0, s>>>(ints(b.in2), ints(b.in2 + 65536), b.in, b.in2 + (1 << 20), b.out, 32768);
      },
      [](const Buffers& b) {
        constexpr int rows = 32768;
        std::vector<int> index(1 << 20);
        unsigned state = 5;
        for (int r = 0; r < rows; r++)
          index[r + 1] = index[r] + static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % 48;
        for (int k = 65536; k < 1 << 20; k++)
          index[k] = static_cast<int>((state = state * 1664525u + 1013904223u) >> 8) % rows;
        cudaMemcpy(b.in2, index.data(), index.size() * 4, cudaMemcpyHostToDevice);
      });
  add("filter_tile5", "images", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    filter_tile5<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.out, 1024, 1024);
  });
  add("transpose_swizzled", "images", size_t{4} << 22, [=](const Buffers& b, cudaStream_t s) {
    transpose_swizzled<<<dim3(32, 32), dim3(32, 8), 0, s>>>(reinterpret_cast<half2*>(b.in),
                                                            reinterpret_cast<half*>(b.out), 2048, 2048);
  });
  for (const int count : {132, 2048})
    add("gemv_batched " + std::to_string(count), "products", size_t{4} * 4096 * count,
        [=](const Buffers& b, cudaStream_t s) { gemv_batched<<<count, 64, 0, s>>>(b.in, b.in2, b.out); });
  add("gemv_transposed", "products", size_t{4} << 22, [=](const Buffers& b, cudaStream_t s) {
    gemv_transposed<<<dim3(8, 32), 256, 0, s>>>(b.in, b.in2, b.out, 2048, 64);
  });
  return list;
}

}  // namespace calibration
