// What vendors show in their samples: shared memory, constant memory, unrolled templates, steps of a larger algorithm.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__constant__ float kernel_taps[17];
__constant__ unsigned directions[32];

// Exclusive scan of 4 numbers per thread: doubling in twice the shared memory, without conditions.
__device__ unsigned scan_inclusive(unsigned value, volatile unsigned* data, unsigned size) {
  unsigned pos = 2 * threadIdx.x - (threadIdx.x & (size - 1));
  data[pos] = 0;
  pos += size;
  data[pos] = value;
  for (unsigned offset = 1; offset < size; offset <<= 1) {
    __syncthreads();
    unsigned t = data[pos] + data[pos - offset];
    __syncthreads();
    data[pos] = t;
  }
  return data[pos];
}

__global__ void scan_exclusive4(uint4* out, const uint4* in) {
  __shared__ unsigned data[2 * 256];
  unsigned pos = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 v = in[pos];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  unsigned before = scan_inclusive(v.w, data, 256) - v.w;
  out[pos] = {before, before + v.x, before + v.y, before + v.z};
}

__global__ void uniform_update(uint4* data, const unsigned* sums) {
  __shared__ unsigned sum;
  unsigned pos = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) sum = sums[blockIdx.x];
  __syncthreads();
  uint4 v = data[pos];
  v.x += sum;
  v.y += sum;
  v.z += sum;
  v.w += sum;
  data[pos] = v;
}

// Separable convolution of radius 8: each thread eight results, with a halo on both sides.
__global__ void convolution_rows(float* out, const float* in, int width, int pitch) {
  __shared__ float data[4][10 * 16];
  int base_x = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, base_y = blockIdx.y * 4 + threadIdx.y;
  in += base_y * pitch + base_x;
  out += base_y * pitch + base_x;
#pragma unroll
  for (int i = 1; i < 9; i++) data[threadIdx.y][threadIdx.x + i * 16] = in[i * 16];
  data[threadIdx.y][threadIdx.x] = base_x >= 0 ? in[0] : 0;
  data[threadIdx.y][threadIdx.x + 9 * 16] = width - base_x > 9 * 16 ? in[9 * 16] : 0;
  __syncthreads();
#pragma unroll
  for (int i = 1; i < 9; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -8; j <= 8; j++) sum += kernel_taps[8 - j] * data[threadIdx.y][threadIdx.x + i * 16 + j];
    out[i * 16] = sum;
  }
}

__global__ void convolution_columns(float* out, const float* in, int height, int pitch) {
  __shared__ float data[16][10 * 8 + 1];
  int base_x = blockIdx.x * 16 + threadIdx.x, base_y = (blockIdx.y * 8 - 1) * 8 + threadIdx.y;
  in += base_y * pitch + base_x;
  out += base_y * pitch + base_x;
#pragma unroll
  for (int i = 1; i < 9; i++) data[threadIdx.x][threadIdx.y + i * 8] = in[i * 8 * pitch];
  data[threadIdx.x][threadIdx.y] = base_y >= 0 ? in[0] : 0;
  data[threadIdx.x][threadIdx.y + 9 * 8] = height - base_y > 9 * 8 ? in[9 * 8 * pitch] : 0;
  __syncthreads();
#pragma unroll
  for (int i = 1; i < 9; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -8; j <= 8; j++) sum += kernel_taps[8 - j] * data[threadIdx.x][threadIdx.y + i * 8 + j];
    out[i * 8 * pitch] = sum;
  }
}

// Scalar products of vectors, accumulators in shared memory.
__global__ void scalar_prod(float* c, const float* a, const float* b, int vectors, int size) {
  __shared__ float accumulated[1024];
  for (int vec = blockIdx.x; vec < vectors; vec += gridDim.x) {
    int base = size * vec, end = base + size;
    for (int at = threadIdx.x; at < 1024; at += blockDim.x) {
      float sum = 0;
      for (int pos = base + at; pos < end; pos += 1024) sum += a[pos] * b[pos];
      accumulated[at] = sum;
    }
    for (int stride = 512; stride > 0; stride >>= 1) {
      __syncthreads();
      for (int at = threadIdx.x; at < stride; at += blockDim.x) accumulated[at] += accumulated[stride + at];
    }
    __syncthreads();
    if (threadIdx.x == 0) c[vec] = accumulated[0];
  }
}

template <int size>
__global__ void matrix_mul(float* C, const float* A, const float* B, int wA, int wB) {
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int first = wA * size * by, last = first + wA - 1;
  float sum = 0;
  for (int a = first, b = size * bx; a <= last; a += size, b += size * wB) {
    __shared__ float As[size][size], Bs[size][size];
    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < size; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[wB * size * by + size * bx + wB * ty + tx] = sum;
}

// Merge sort in shared memory: ranks by binary search in the other half.
__device__ unsigned rank_of(unsigned value, const unsigned* data, unsigned length, unsigned stride, bool inclusive) {
  unsigned pos = 0;
  for (; stride > 0; stride >>= 1) {
    unsigned next = min(pos + stride, length);
    if (data[next - 1] < value || (inclusive && data[next - 1] == value)) pos = next;
  }
  return pos;
}

__global__ void merge_sort_shared(unsigned* out, const unsigned* in) {
  constexpr unsigned length = 1024;
  __shared__ unsigned keys[length];
  in += blockIdx.x * length + threadIdx.x;
  out += blockIdx.x * length + threadIdx.x;
  keys[threadIdx.x] = in[0];
  keys[threadIdx.x + length / 2] = in[length / 2];
  for (unsigned stride = 1; stride < length; stride <<= 1) {
    unsigned low = threadIdx.x & (stride - 1);
    unsigned* base = keys + 2 * (threadIdx.x - low);
    __syncthreads();
    unsigned a = base[low], b = base[low + stride];
    unsigned at_a = rank_of(a, base + stride, stride, stride, false) + low,
             at_b = rank_of(b, base, stride, stride, true) + low;
    __syncthreads();
    base[at_a] = a;
    base[at_b] = b;
  }
  __syncthreads();
  out[0] = keys[threadIdx.x];
  out[length / 2] = keys[threadIdx.x + length / 2];
}

// Reduction: two loads per step of the grid, a shared tree above the warp, shuffles below.
template <unsigned size>
__global__ void reduce_multiple(const float* in, float* out, unsigned n) {
  __shared__ float data[size];
  unsigned tid = threadIdx.x, i = blockIdx.x * size * 2 + tid, grid = size * 2 * gridDim.x;
  float sum = 0;
  while (i < n) {
    sum += in[i];
    if (i + size < n) sum += in[i + size];
    i += grid;
  }
  data[tid] = sum;
  __syncthreads();
  if (size >= 512 && tid < 256) data[tid] = sum = sum + data[tid + 256];
  __syncthreads();
  if (size >= 256 && tid < 128) data[tid] = sum = sum + data[tid + 128];
  __syncthreads();
  if (size >= 128 && tid < 64) data[tid] = sum = sum + data[tid + 64];
  __syncthreads();
  if (tid < 32) {
    sum += data[tid + 32];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (tid == 0) out[blockIdx.x] = sum;
}

// Walsh transform: four elements per thread and pass in shared memory.
__global__ void walsh_shared(float* out, const float* in, int log2n) {
  extern __shared__ float data[];
  const int n = 1 << log2n, base = blockIdx.x << log2n, pos = threadIdx.x;
  for (int i = pos; i < n; i += blockDim.x) data[i] = in[base + i];
  for (int stride = n >> 2; stride > 0; stride >>= 2) {
    int low = pos & (stride - 1), i0 = ((pos - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    __syncthreads();
    float d0 = data[i0], d1 = data[i1], d2 = data[i2], d3 = data[i3];
    float t = d0;
    d0 += d2;
    d2 = t - d2;
    t = d1;
    d1 += d3;
    d3 = t - d3;
    data[i0] = d0 + d1;
    data[i1] = d0 - d1;
    data[i2] = d2 + d3;
    data[i3] = d2 - d3;
  }
  __syncthreads();
  for (int i = pos; i < n; i += blockDim.x) out[base + i] = data[i];
}

// The transform's passes of large strides, in global memory.
__global__ void walsh_global(float* out, const float* in, int stride) {
  int pos = blockIdx.x * blockDim.x + threadIdx.x, low = pos & (stride - 1), i0 = ((pos - low) << 2) + low;
  float d0 = in[i0], d1 = in[i0 + stride], d2 = in[i0 + 2 * stride], d3 = in[i0 + 3 * stride];
  float t = d0;
  d0 += d2;
  d2 = t - d2;
  t = d1;
  d1 += d3;
  d3 = t - d3;
  out[i0] = d0 + d1;
  out[i0 + stride] = d0 - d1;
  out[i0 + 2 * stride] = d2 + d3;
  out[i0 + 3 * stride] = d2 - d3;
}

// Prices of options from given random numbers: a block per option.
__global__ void monte_carlo_options(float2* prices, const float4* options, const float* samples, int paths) {
  __shared__ float s_sum[256], s_sum2[256];
  float4 option = options[blockIdx.x];
  float S = 20 + 10 * option.x, X = 20 + 10 * option.y, mu = 0.1f * option.z, v = 0.1f + option.w, sum = 0, sum2 = 0;
  for (int i = threadIdx.x; i < paths; i += blockDim.x) {
    float payoff = fmaxf(S * __expf(mu + v * samples[i]) - X, 0.0f);
    sum += payoff;
    sum2 += payoff * payoff;
  }
  s_sum[threadIdx.x] = sum;
  s_sum2[threadIdx.x] = sum2;
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    if (threadIdx.x < stride) {
      s_sum[threadIdx.x] += s_sum[threadIdx.x + stride];
      s_sum2[threadIdx.x] += s_sum2[threadIdx.x + stride];
    }
  }
  if (threadIdx.x == 0) prices[blockIdx.x] = {s_sum[0], s_sum2[0]};
}

// Numbers of low discrepancy by exclusive or of directions.
__global__ void quasirandom(float* out, unsigned n) {
  for (unsigned pos = blockIdx.x * blockDim.x + threadIdx.x; pos < n; pos += blockDim.x * gridDim.x) {
    unsigned result = 0, data = pos;
    for (int bit = 0; bit < 31; bit++, data >>= 1)
      if (data & 1) result ^= directions[bit];
    out[pos] = (result + 1) * (1.0f / 4294967296.0f);
  }
}

// One level of a Haar wavelet: averages and differences.
__global__ void haar_step(float* approximation, float* detail, const float2* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 v = in[i];
  approximation[i] = (v.x + v.y) * 0.70710678f;
  detail[i] = (v.x - v.y) * 0.70710678f;
}

// All pairs of bodies, tiles of positions in shared memory.
__device__ float3 interaction(float3 a, float4 i, float4 j) {
  float x = j.x - i.x, y = j.y - i.y, z = j.z - i.z, squared = x * x + y * y + z * z + 0.01f;
  float inverse = rsqrtf(squared), s = j.w * inverse * inverse * inverse;
  return {a.x + x * s, a.y + y * s, a.z + z * s};
}

__global__ void integrate_bodies(float4* new_position, const float4* position, float4* velocity, int bodies, float dt) {
  extern __shared__ float4 tile[];
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  float4 own = position[index];
  float3 a = {0, 0, 0};
  for (int t = 0; t < bodies / blockDim.x; t++) {
    tile[threadIdx.x] = position[t * blockDim.x + threadIdx.x];
    __syncthreads();
#pragma unroll 32
    for (unsigned k = 0; k < blockDim.x; k++) a = interaction(a, own, tile[k]);
    __syncthreads();
  }
  float4 v = velocity[index];
  v.x = (v.x + a.x * dt) * 0.99f;
  v.y = (v.y + a.y * dt) * 0.99f;
  v.z = (v.z + a.z * dt) * 0.99f;
  own.x += v.x * dt;
  own.y += v.y * dt;
  own.z += v.z * dt;
  new_position[index] = own;
  velocity[index] = v;
}

__device__ float normal_distribution(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float value = 0.39894228f * __expf(-0.5f * d * d) *
                (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - value : value;
}

// Two options per thread.
__global__ void options_by_two(float2* call, float2* put, const float2* price, const float2* strike,
                               const float2* years) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 s = price[i], x = strike[i], t = years[i], c, p;
  const auto one = [](float S, float X, float T, float& call_value, float& put_value) {
    float root = sqrtf(T), d1 = (__logf(S / X) + 0.065f * T) / (0.3f * root), d2 = d1 - 0.3f * root;
    float n1 = normal_distribution(d1), n2 = normal_distribution(d2), discount = __expf(-0.02f * T);
    call_value = S * n1 - X * discount * n2;
    put_value = X * discount * (1.0f - n2) - S * (1.0f - n1);
  };
  one(s.x + 5, x.x + 1, t.x + 0.25f, c.x, p.x);
  one(s.y + 5, x.y + 1, t.y + 0.25f, c.y, p.y);
  call[i] = c;
  put[i] = p;
}

// A tile of 32 x 32 by 32 x 8 threads.
__global__ void transpose_coalesced(float* out, const float* in, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

}  // namespace

std::vector<Case> third_samples() {
  std::vector<Case> list;
  const Add add{list};
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  const auto pairs = [](float* p) { return reinterpret_cast<float2*>(p); };
  const auto fours = [](float* p) { return reinterpret_cast<float4*>(p); };
  constexpr int m = 1 << 20;
  add("scan_exclusive4", "scan of fours", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    scan_exclusive4<<<2048, 256, 0, s>>>(reinterpret_cast<uint4*>(b.out), reinterpret_cast<const uint4*>(b.in));
  });
  add("uniform_update", "scan of fours", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    uniform_update<<<2048, 256, 0, s>>>(reinterpret_cast<uint4*>(b.out), words(b.in));
  });
  add("convolution_rows", "separable convolution", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    convolution_rows<<<dim3(16, 256), dim3(16, 4), 0, s>>>(b.out, b.in, 2048, 2048);
  });
  add("convolution_columns", "separable convolution", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    convolution_columns<<<dim3(128, 16), dim3(16, 8), 0, s>>>(b.out, b.in, 1024, 2048);
  });
  add("scalar_prod 256x4096", "scalar products", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { scalar_prod<<<128, 256, 0, s>>>(b.out, b.in, b.in2, 256, 4096); });
  add("scalar_prod 2048x1024", "scalar products", size_t{8} << 21,
      [=](const Buffers& b, cudaStream_t s) { scalar_prod<<<1024, 256, 0, s>>>(b.out, b.in, b.in2, 2048, 1024); });
  add("matrix_mul 16", "matrix_mul", size_t{12} << 18, [=](const Buffers& b, cudaStream_t s) {
    matrix_mul<16><<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.out, b.in, b.in2, 512, 512);
  });
  add("matrix_mul 32", "matrix_mul", size_t{12} << 18, [=](const Buffers& b, cudaStream_t s) {
    matrix_mul<32><<<dim3(16, 16), dim3(32, 32), 0, s>>>(b.out, b.in, b.in2, 512, 512);
  });
  add("merge_sort_shared", "merge sort", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { merge_sort_shared<<<1024, 512, 0, s>>>(words(b.out), words(b.in)); });
  add("reduce_multiple 128", "reduce", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) { reduce_multiple<128><<<64, 128, 0, s>>>(b.in, b.out, 4 * m); });
  add("reduce_multiple 512", "reduce", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) { reduce_multiple<512><<<528, 512, 0, s>>>(b.in, b.out, 4 * m); });
  add("walsh_shared", "walsh", size_t{8} << 21,
      [=](const Buffers& b, cudaStream_t s) { walsh_shared<<<512, 1024, 4096 * 4, s>>>(b.out, b.in, 12); });
  add("walsh_global", "walsh", size_t{8} << 21,
      [=](const Buffers& b, cudaStream_t s) { walsh_global<<<2048, 256, 0, s>>>(b.out, b.in, 2048); });
  add("monte_carlo_options", "options", size_t{4} << 16, [=](const Buffers& b, cudaStream_t s) {
    monte_carlo_options<<<256, 256, 0, s>>>(pairs(b.out), fours(b.in2), b.in, 32768);
  });
  add("options_by_two", "options", size_t{20} << 20, [=](const Buffers& b, cudaStream_t s) {
    options_by_two<<<4096, 128, 0, s>>>(pairs(b.out), pairs(b.out + m), pairs(b.in), pairs(b.in + m), pairs(b.in2));
  });
  add("quasirandom", "random", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { quasirandom<<<256, 128, 0, s>>>(b.out, m); });
  add("haar_step", "wavelet", size_t{8} << 21,
      [=](const Buffers& b, cudaStream_t s) { haar_step<<<m / 256, 256, 0, s>>>(b.out, b.out + m, pairs(b.in)); });
  add("integrate_bodies 4096", "bodies", size_t{64} << 12, [=](const Buffers& b, cudaStream_t s) {
    integrate_bodies<<<32, 128, 128 * 16, s>>>(fours(b.out), fours(b.in), fours(b.in2), 4096, 0.01f);
  });
  add("transpose_coalesced", "tiled transpose", size_t{8} << 22, [=](const Buffers& b, cudaStream_t s) {
    transpose_coalesced<<<dim3(64, 64), dim3(32, 8), 0, s>>>(b.out, b.in, 2048, 2048);
  });
  return list;
}

}  // namespace calibration
