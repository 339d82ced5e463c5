// Accesses of every kind that programs make, one kernel each: what ncu read of them is in
// access_kinds-nvidia-h200.json.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                      \
  do {                                                                   \
    const cudaError_t error = (call);                                    \
    if (error != cudaSuccess) {                                          \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

struct Pixel {
  unsigned char r, g, b;
};
struct Point {
  float x, y, z;
};
struct __align__(16) Padded {
  unsigned r, g, b;
};
struct __align__(16) Eight {
  uint4 low, high;
};
struct Body {
  double position;
  float mass;
  int id;
};
struct Loose {
  uint4 a, b;
};
struct Mixed {
  char tag;
  short level;
  int key;
  long long value;
};

constexpr int n = 10007;

// ---- Narrow types --------------------------------------------------------------------------------------------

__global__ void grey(const unsigned char* rgb, unsigned char* grey, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  grey[i] = (unsigned char)(0.21f * rgb[3 * i] + 0.72f * rgb[3 * i + 1] + 0.07f * rgb[3 * i + 2]);
}
__global__ void pixels_of_structs(const Pixel* in, Pixel* out, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) out[i] = in[i];
}
__global__ void shorts_strided(const short* in, short* out, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 3; i += gridDim.x * blockDim.x)
    out[i] = in[3 * i] + 1;
}
__global__ void char4s(const uchar4* in, uchar4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    uchar4 p = in[i];
    p.w = 255 - p.w;
    out[i] = p;
  }
}
__global__ void half2s(const __half2* in, __half2* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = __hadd2(in[i], in[i]);
}

// ---- Structures ----------------------------------------------------------------------------------------------

__global__ void points(const Point* in, Point* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Point p = in[i];
  p.x += p.z;
  out[i] = p;
}
template <typename T>
__global__ void copies(T* __restrict__ out, const T* __restrict__ in, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i];
}
__global__ void bodies(const Body* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = (float)in[i].position * in[i].mass;
}
__global__ void mixed(Mixed* all, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    all[i].value += all[i].key;
    all[i].level = all[i].tag;
  }
}

// ---- Branches and loops --------------------------------------------------------------------------------------

__global__ void predicated(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float left = x > 0 ? in[y * width + x - 1] : 0, right = x + 1 < width ? in[y * width + x + 1] : 0;
  const float up = y > 0 ? in[(y - 1) * width + x] : 0, down = y + 1 < height ? in[(y + 1) * width + x] : 0;
  out[y * width + x] = left + right + up + down - 4 * in[y * width + x];
}
__global__ void collatz(const int* in, int* steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned value = in[i], taken = 0;
  while (value != 1) {
    value = value & 1 ? 3 * value + 1 : value / 2;
    taken++;
  }
  steps[i] = taken;
}
__global__ void sparse_rows(const int* starts, const int* columns, const float* values, const float* x, float* y,
                            int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int j = starts[row]; j < starts[row + 1]; j++) sum += values[j] * x[columns[j]];
  y[row] = sum;
}
__global__ void sparse_rows_by_warps(const int* starts, const int* columns, const float* values, const float* x,
                                     float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int j = starts[row] + lane; j < starts[row + 1]; j += 32) sum += values[j] * x[columns[j]];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) y[row] = sum;
}
__global__ void searches(const int* sorted, const int* wanted, int* found, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int low = 0, high = count;
  const int key = wanted[i];
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  found[i] = low;
}
__global__ void local_array(const int* in, int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int digits[12], used = 0;
  for (int value = in[i]; value > 0; value /= 10) digits[used++] = value % 10;
  int reversed = 0;
  for (int j = 0; j < used; j++) reversed = reversed * 10 + digits[j];
  out[i] = reversed;
}
__global__ void read_only(const float4* __restrict__ in, float* __restrict__ out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    const float4 v = __ldg(in + i);
    out[i] = v.x * v.w;
  }
}
__global__ void gathers(const double* __restrict__ table, const int* __restrict__ at, double* __restrict__ out,
                        int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[at[i]] = table[at[(i + 1) % count]];
}

// ---- Atomics -------------------------------------------------------------------------------------------------

__global__ void histogram(const unsigned char* in, unsigned* bins, int count) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&own[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
__global__ void compacted(const int* in, int* out, int* used, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && in[i] % 3 == 0) out[i] = atomicAdd(used, 1);
}
__global__ void floats_added(const float* in, float* sums, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&sums[i % 100], in[i]);
}
__global__ void largest(const int* in, unsigned long long* best, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicMax(&best[i % 8], (unsigned long long)in[i] << 32 | (unsigned)i);
}

// ---- Shared memory -------------------------------------------------------------------------------------------

__global__ void bytes_in_tile(const unsigned char* in, unsigned char* out) {
  __shared__ unsigned char tile[32][33];
  for (int y = threadIdx.y; y < 32; y += 8) tile[y][threadIdx.x] = in[y * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) out[y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}
__global__ void shorts_in_tile(const short* in, short* out) {
  __shared__ short tile[32][32];
  for (int y = threadIdx.y; y < 32; y += 8) tile[y][threadIdx.x] = in[y * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) out[y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}
__global__ void doubles_in_tile(const double* in, double* out) {
  __shared__ double tile[16][17];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void float4s_strided(const float4* in, float4* out, int stride) {
  extern __shared__ float4 rows[];
  rows[threadIdx.x * stride] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = rows[(blockDim.x - 1 - threadIdx.x) * stride];
}
__global__ void float2s_strided(const float2* in, float2* out, int stride) {
  extern __shared__ float2 pairs[];
  pairs[threadIdx.x * stride] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = pairs[(threadIdx.x ^ 1) * stride];
}
__global__ void points_shared(const Point* in, float* out) {
  __shared__ Point all[128];
  all[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const Point p = all[127 - threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.z;
}
__global__ void bitonic(int* values) {
  __shared__ int own[256];
  own[threadIdx.x] = values[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int size = 2; size <= 256; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      const int other = threadIdx.x ^ step;
      if (other > threadIdx.x) {
        const bool up = (threadIdx.x & size) == 0;
        const int a = own[threadIdx.x], b = own[other];
        if ((a > b) == up) {
          own[threadIdx.x] = b;
          own[other] = a;
        }
      }
      __syncthreads();
    }
  }
  values[blockIdx.x * 256 + threadIdx.x] = own[threadIdx.x];
}
__global__ void floats_shared_atomics(const float* in, float* out, int count) {
  __shared__ float sums[32];
  if (threadIdx.x < 32) sums[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&sums[i % 7], in[i]);
  __syncthreads();
  if (threadIdx.x < 7) out[blockIdx.x * 7 + threadIdx.x] = sums[threadIdx.x];
}
__global__ void shared_maximum(const int* in, int* out, int count) {
  __shared__ int best, first;
  if (threadIdx.x == 0) best = 0, first = 1 << 30;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    atomicMax(&best, in[i]);
    if (in[i] % 2 == 0) atomicMin(&first, i);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[2 * blockIdx.x] = best, out[2 * blockIdx.x + 1] = first;
}

template <typename T>
T* device(size_t bytes, unsigned seed, unsigned limit) {
  std::vector<T> host(bytes / sizeof(T));
  for (auto& x : host) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<T>((seed >> 8) % limit);
  }
  T* memory;
  CHECK(cudaMalloc(&memory, bytes));
  CHECK(cudaMemcpy(memory, host.data(), bytes, cudaMemcpyHostToDevice));
  return memory;
}

int main() {
  const size_t room = 1 << 20;
  auto* bytes = device<unsigned char>(room, 1, 256);
  auto* out = device<unsigned char>(room, 2, 256);
  auto* ints = device<int>(room, 3, 10000);
  auto* floats = device<float>(room, 4, 1000);
  auto* sums = device<int>(room, 5, 1);
  std::vector<int> order(n), sorted(n), starts(1025), columns;
  for (int i = 0; i < n; i++) order[i] = (int)((long long)i * 7919 % n), sorted[i] = 2 * i;
  for (int row = 0; row < 1024; row++) {
    starts[row] = (int)columns.size();
    for (int j = 0; j < (row * 37) % 61; j++) columns.push_back((row * 131 + j * j * 17) % 1024);
  }
  starts[1024] = (int)columns.size();
  auto* at = device<int>(4 * n, 6, n);
  auto* all_sorted = device<int>(4 * n, 6, n);
  auto* row_starts = device<int>(4 * 1025, 6, n);
  auto* row_columns = device<int>(4 * columns.size(), 6, n);
  CHECK(cudaMemcpy(at, order.data(), 4 * n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(all_sorted, sorted.data(), 4 * n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(row_starts, starts.data(), 4 * 1025, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(row_columns, columns.data(), 4 * columns.size(), cudaMemcpyHostToDevice));
  const int blocks = (n + 255) / 256;
  void* const in = bytes;
  void* const to = out;

  grey<<<blocks, 256>>>(bytes, out, n);
  pixels_of_structs<<<blocks, 256>>>((Pixel*)in, (Pixel*)to, n);
  shorts_strided<<<8, 128>>>((short*)in, (short*)to, n);
  char4s<<<blocks, 256>>>((uchar4*)in, (uchar4*)to, n);
  half2s<<<blocks, 256>>>((__half2*)in, (__half2*)to, n);
  points<<<blocks, 256>>>((Point*)floats, (Point*)to, n);
  copies<Padded><<<blocks, 256>>>((Padded*)to, (Padded*)in, n);
  copies<Eight><<<blocks, 256>>>((Eight*)to, (Eight*)in, n);
  copies<Loose><<<blocks, 256>>>((Loose*)to, (Loose*)in, n);
  copies<double3><<<blocks, 256>>>((double3*)to, (double3*)in, n);
  bodies<<<blocks, 256>>>((Body*)in, (float*)to, n);
  mixed<<<blocks, 256>>>((Mixed*)to, n);
  predicated<<<dim3(4, 13), dim3(32, 8)>>>(floats, (float*)to, 101, 99);
  CHECK(cudaMemcpy(sums, all_sorted, 4 * n, cudaMemcpyDeviceToDevice));
  collatz<<<8, 256>>>(all_sorted + 1, (int*)to, 2000);
  sparse_rows<<<8, 128>>>(row_starts, row_columns, floats, floats, (float*)to, 1024);
  sparse_rows_by_warps<<<256, 128>>>(row_starts, row_columns, floats, floats, (float*)to, 1024);
  searches<<<blocks, 256>>>(all_sorted, ints, (int*)to, n);
  local_array<<<blocks, 256>>>(ints, (int*)to, n);
  read_only<<<blocks, 256>>>((float4*)floats, (float*)to, n);
  gathers<<<blocks, 256>>>((double*)in, at, (double*)to, n);
  CHECK(cudaMemset(sums, 0, room));
  histogram<<<8, 256>>>(bytes, (unsigned*)sums, n);
  compacted<<<blocks, 256>>>(ints, (int*)to, sums + 256, n);
  floats_added<<<blocks, 256>>>(floats, (float*)to, n);
  largest<<<blocks, 256>>>(ints, (unsigned long long*)to, n);
  bytes_in_tile<<<1, dim3(32, 8)>>>(bytes, out);
  shorts_in_tile<<<1, dim3(32, 8)>>>((short*)in, (short*)to);
  doubles_in_tile<<<1, dim3(16, 16)>>>((double*)in, (double*)to);
  float4s_strided<<<1, 128, 128 * 3 * 16>>>((float4*)in, (float4*)to, 3);
  float2s_strided<<<1, 128, 128 * 5 * 8>>>((float2*)in, (float2*)to, 5);
  points_shared<<<1, 128>>>((Point*)floats, (float*)to);
  bitonic<<<4, 256>>>(ints);
  floats_shared_atomics<<<blocks, 256>>>(floats, (float*)to, n);
  shared_maximum<<<blocks, 256>>>(ints, (int*)to, n);
  CHECK(cudaDeviceSynchronize());
  std::puts("PASS");
}
