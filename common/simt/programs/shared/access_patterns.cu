// Kernels as programs have them whose accesses are of no simple shape.
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

constexpr int n = 10007;

__global__ void forces(const float4* bodies, float4* out, int count) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = i < count ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 sum = {0, 0, 0};
  for (int first = 0; first < count; first += 128) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      const float x = tile[j].x - own.x, y = tile[j].y - own.y, z = tile[j].z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
      const float factor = tile[j].w * inverse * inverse * inverse;
      sum.x += factor * x, sum.y += factor * y, sum.z += factor * z;
    }
    __syncthreads();
  }
  if (i < count) out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
__global__ void looked_up(const unsigned char* in, const unsigned* table, unsigned* out, int count) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = own[in[i]];
}
// Blelloch's scan, with the conflicts that it has without padding.
__global__ void scanned(const int* in, int* out) {
  __shared__ int own[512];
  const int t = threadIdx.x;
  own[2 * t] = in[blockIdx.x * 512 + 2 * t];
  own[2 * t + 1] = in[blockIdx.x * 512 + 2 * t + 1];
  int offset = 1;
  for (int d = 256; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) own[offset * (2 * t + 2) - 1] += own[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) own[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, kept = own[a];
      own[a] = own[b];
      own[b] += kept;
    }
  }
  __syncthreads();
  out[blockIdx.x * 512 + 2 * t] = own[2 * t];
  out[blockIdx.x * 512 + 2 * t + 1] = own[2 * t + 1];
}
__global__ void interleaved_sum(const int* in, int* out) {
  __shared__ int own[256];
  const int t = threadIdx.x;
  own[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    const int at = 2 * s * t;
    if (at < 256) own[at] += own[at + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = own[0];
}
__global__ void heat(const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int plane = nx * ny;
  int at = y * nx + x + plane;
  float below = in[at - plane], here = in[at];
  for (int z = 1; z < nz - 1; z++) {
    const float above = in[at + plane];
    out[at] = 0.4f * here + 0.1f * (below + above + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]);
    below = here;
    here = above;
    at += plane;
  }
}
__global__ void blurred(const unsigned char* in, unsigned char* out, int width, int height) {
  __shared__ unsigned char tile[18][34];
  const int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 16 - 1;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 18 * 34; i += 512) {
    const int x = x0 + i % 34, y = y0 + i / 34;
    tile[i / 34][i % 34] = x >= 0 && y >= 0 && x < width && y < height ? in[y * width + x] : 0;
  }
  __syncthreads();
  const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) sum += tile[threadIdx.y + j][threadIdx.x + i];
  out[y * width + x] = sum / 9;
}
__global__ void visited(const int* starts, const int* neighbours, const int* frontier, int in_frontier,
                        const int* levels, int* next, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= in_frontier) return;
  const int vertex = frontier[i];
  for (int e = starts[vertex]; e < starts[vertex + 1]; e++) {
    const int to = neighbours[e];
    if (levels[to] != 5) next[to] = level;
  }
}
__global__ void grouped_adds(const int* in, int* sums, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int key = in[i] % 10;
  const unsigned same = __match_any_sync(__activemask(), key);
  if ((int)(threadIdx.x % 32) == __ffs(same) - 1) atomicAdd(&sums[key], __popc(same));
}
__global__ void inserted(const unsigned* keys, unsigned* slots, unsigned capacity, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned key = keys[i] + 1;
  unsigned at = key & (capacity - 1);
  atomicExch(&slots[at], key);
}
__global__ void shared_words(const int* in, int* out, int count) {
  __shared__ unsigned long long sums[8];
  __shared__ unsigned bits[32];
  __shared__ int last[64];
  if (threadIdx.x < 8) sums[threadIdx.x] = 0;
  if (threadIdx.x < 32) bits[threadIdx.x] = 0;
  if (threadIdx.x < 64) last[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    atomicAdd(&sums[in[i] % 8], (unsigned long long)in[i]);
    atomicOr(&bits[in[i] / 32 % 32], 1u << in[i] % 32);
    atomicExch(&last[threadIdx.x % 64], in[i]);
  }
  __syncthreads();
  if (threadIdx.x < 8)
    out[blockIdx.x * 8 + threadIdx.x] = (int)sums[threadIdx.x] + (int)bits[threadIdx.x] + last[threadIdx.x];
}
__global__ void ranked(const int* in, int* out, int count) {
  __shared__ int used;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = -1;
  if (i < count && in[i] % 2) at = atomicAdd(&used, 1);
  __syncthreads();
  if (at >= 0) out[i] = at;
}
__global__ void vectors_scaled(const float* in, float* out, int count, float factor) {
  const float4* from = reinterpret_cast<const float4*>(in);
  float4* to = reinterpret_cast<float4*>(out);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 4; i += blockDim.x * gridDim.x) {
    const float4 v = from[i];
    to[i] = make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
  }
  const int rest = count / 4 * 4 + threadIdx.x;
  if (blockIdx.x == 0 && rest < count) out[rest] = factor * in[rest];
}
__global__ void rows_times_vector(const float* matrix, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int j = 0; j < columns; j++) sum += matrix[row * columns + j] * x[j];
  y[row] = sum;
}
__global__ void warps_times_vector(const float* matrix, const float* x, float* y, int columns) {
  __shared__ float parts[8];
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += matrix[blockIdx.x * columns + j] * x[j];
  for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < 8; i++) all += parts[i];
    y[blockIdx.x] = all;
  }
}
__global__ void polled(volatile int* flags, int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    flags[i] = flags[i] + 1;
    out[i] = flags[i] + flags[i];
  }
}
__global__ void sorted_alone(int* values, int each) {
  int* own = values + (blockIdx.x * blockDim.x + threadIdx.x) * each;
  for (int i = 1; i < each; i++) {
    const int key = own[i];
    int j = i - 1;
    while (j >= 0 && own[j] > key) {
      own[j + 1] = own[j];
      j--;
    }
    own[j + 1] = key;
  }
}
__global__ void tiles_of_doubles(const double* a, const double* b, double* c, int size) {
  __shared__ double as[16][16], bs[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  double sum = 0;
  for (int first = 0; first < size; first += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * size + first + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + column];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * size + column] = sum;
}
__global__ void dots_of_bytes(const char4* a, const char4* b, int* out, int each) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < each; k++) {
    const char4 x = a[i * each + k], y = b[k];
    sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
  }
  out[i] = sum;
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
  auto* doubles = device<double>(room, 5, 1000);
  auto* sums = device<int>(room, 5, 1);
  auto* unseen = device<int>(room, 5, 1);
  CHECK(cudaMemset(unseen, 0xff, room));
  std::vector<int> starts(1025), neighbours;
  for (int v = 0; v < 1024; v++) {
    starts[v] = (int)neighbours.size();
    for (int j = 0; j < (v * 37) % 23; j++) neighbours.push_back((v * 131 + j * j * 17) % 1024);
  }
  starts[1024] = (int)neighbours.size();
  auto* from = device<int>(4 * 1025, 6, n);
  auto* to_vertices = device<int>(4 * neighbours.size(), 6, n);
  auto* frontier = device<int>(4 * 1024, 8, 1024);
  CHECK(cudaMemcpy(from, starts.data(), 4 * 1025, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(to_vertices, neighbours.data(), 4 * neighbours.size(), cudaMemcpyHostToDevice));
  const int blocks = (n + 255) / 256;

  forces<<<8, 128>>>((float4*)floats, (float4*)out, 1024);
  looked_up<<<blocks, 256>>>(bytes, (unsigned*)ints, (unsigned*)out, n);
  scanned<<<4, 256>>>(ints, (int*)out);
  interleaved_sum<<<8, 256>>>(ints, (int*)out);
  heat<<<dim3(3, 9), dim3(32, 8)>>>(floats, (float*)out, 70, 66, 10);
  blurred<<<dim3(4, 7), dim3(32, 16)>>>(bytes, out, 101, 99);
  visited<<<4, 128>>>(from, to_vertices, frontier, 500, unseen, (int*)out, 1);
  grouped_adds<<<blocks, 256>>>(ints, sums, n);
  inserted<<<blocks, 256>>>((unsigned*)ints, (unsigned*)out, 16384, n);
  shared_words<<<blocks, 256>>>(ints, (int*)out, n);
  ranked<<<blocks, 256>>>(ints, (int*)out, n);
  vectors_scaled<<<16, 128>>>(floats, (float*)out, n, 2.0f);
  rows_times_vector<<<4, 64>>>(floats, floats, (float*)out, 250, 203);
  warps_times_vector<<<50, 256>>>(floats, floats, (float*)out, 1003);
  polled<<<blocks, 256>>>(ints, (int*)out, n);
  sorted_alone<<<4, 64>>>(ints, 20);
  tiles_of_doubles<<<dim3(4, 4), dim3(16, 16)>>>(doubles, doubles, (double*)out, 64);
  dots_of_bytes<<<16, 128>>>((char4*)bytes, (char4*)bytes, (int*)out, 50);
  CHECK(cudaDeviceSynchronize());
  std::puts("PASS");
}
