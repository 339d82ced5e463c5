// Kernels as other people write them, of kinds that the other files do not have. None was looked at when the model's
// constants were chosen; README.md says what was seen when they were timed.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__constant__ float taps[33];

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// ---- Loops that lanes leave at different times ------------------------------------------------------

__global__ void mandelbrot(float* out, int width, int most) {
  const int i = thread_number();
  const float cx = -2.0f + 3.0f * (i % width) / width, cy = -1.2f + 2.4f * (i / width) / width;
  float x = 0, y = 0;
  int n = 0;
  while (n < most && x * x + y * y < 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    n++;
  }
  out[i] = n;
}

__global__ void collatz(float* out) {
  unsigned n = thread_number() + 1, steps = 0;
  while (n != 1 && steps < 100) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    steps++;
  }
  out[thread_number()] = steps;
}

// The first index whose prefix sum is above a value, in a table of `size` rising numbers.
__global__ void search(const float* in, float* out, int size) {
  const int i = thread_number();
  const float wanted = in[i] * size;
  int low = 0, high = size;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (middle + 0.5f * in[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  out[i] = low;
}

// Sums of segments of 1 to 32 numbers, a thread each.
__global__ void segments(const float* in, const int* sizes, float* out) {
  const int i = thread_number();
  const int length = (sizes[i & 65535] & 31) + 1;
  float sum = 0;
  for (int k = 0; k < length; k++) sum += in[i * 16 + k];
  out[i] = sum;
}

// ---- Integers ------------------------------------------------------------------------------------

__device__ unsigned murmur(unsigned h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  h ^= h >> 16;
  return h;
}

template <int rounds>
__global__ void hash(const float* in, float* out) {
  unsigned h = __float_as_uint(in[thread_number()]);
  for (int r = 0; r < rounds; r++) h = murmur(h + r);
  out[thread_number()] = __uint_as_float(h);
}

__global__ void philox(float* out) {
  unsigned a = thread_number(), b = 0, c = 0x1234, d = 0x5678, k0 = 0xA511E9B3u, k1 = 0x1B56C4E9u;
#pragma unroll
  for (int r = 0; r < 10; r++) {
    const unsigned h0 = __umulhi(0xD2511F53u, a), l0 = 0xD2511F53u * a, h1 = __umulhi(0xCD9E8D57u, c),
                   l1 = 0xCD9E8D57u * c;
    a = h1 ^ b ^ k0, b = l1, c = h0 ^ d ^ k1, d = l0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  const int i = thread_number();
  out[4 * i] = a * 2.3e-10f, out[4 * i + 1] = b * 2.3e-10f, out[4 * i + 2] = c * 2.3e-10f,
          out[4 * i + 3] = d * 2.3e-10f;
}

__global__ void inside_the_circle(float* out, int points) {
  unsigned state = thread_number() * 2654435761u + 1;
  int inside = 0;
  for (int p = 0; p < points; p++) {
    state = state * 1664525u + 1013904223u;
    const float x = (state >> 8) * 5.96e-8f;
    state = state * 1664525u + 1013904223u;
    const float y = (state >> 8) * 5.96e-8f;
    if (x * x + y * y < 1.0f) inside++;
  }
  out[thread_number()] = inside;
}

// (n, c, h, w) to (n, h, w, c), with divisions by numbers that are not known when it is compiled.
__global__ void to_channels_last(const float* in, float* out, int c, int h, int w) {
  const int i = thread_number();
  const int x = i % w, y = i / w % h, channel = i / (w * h) % c, n = i / (w * h * c);
  out[((n * h + y) * w + x) * c + channel] = in[i];
}

__global__ void count_bits(const float* in, float* out, int words) {
  int sum = 0;
  for (int w = 0; w < words; w++) sum += __popc(__float_as_uint(in[thread_number() + w * gridDim.x * blockDim.x]));
  out[thread_number()] = sum;
}

__global__ void life(const float* in, float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  int alive = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      if (dx == 0 && dy == 0) continue;
      const int nx = (x + dx + width) % width, ny = (y + dy + gridDim.y) % gridDim.y;
      alive += in[ny * width + nx] > 0.5f;
    }
  const bool self = in[y * width + x] > 0.5f;
  out[y * width + x] = alive == 3 || (self && alive == 2);
}

// ---- Arrays of a thread ----------------------------------------------------------------------------

// Indexed by data: in local memory on a GPU.
__global__ void bins_of_a_thread(const float* in, float* out, int values) {
  int bins[16] = {};
  for (int k = 0; k < values; k++) bins[static_cast<int>(in[thread_number() + k * gridDim.x * blockDim.x] * 16)]++;
  int most = 0;
  for (int b = 1; b < 16; b++) most = bins[b] > bins[most] ? b : most;
  out[thread_number()] = most;
}

// Of constant indices: in registers.
__global__ void median(const float* in, float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= static_cast<int>(gridDim.y) - 1) return;
  float v[9];
#pragma unroll
  for (int k = 0; k < 9; k++) v[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
#pragma unroll
  for (int i = 0; i < 5; i++)
#pragma unroll
    for (int k = i + 1; k < 9; k++) {
      const float low = fminf(v[i], v[k]);
      v[k] = fmaxf(v[i], v[k]);
      v[i] = low;
    }
  out[y * width + x] = v[4];
}

__global__ void eight_best(const float* in, float* out, int values) {
  float best[8];
  for (int i = 0; i < 8; i++) best[i] = -1;
  for (int k = 0; k < values; k++) {
    float x = in[thread_number() + k * gridDim.x * blockDim.x];
    if (x <= best[7]) continue;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float larger = fmaxf(best[i], x);
      x = fminf(best[i], x);
      best[i] = larger;
    }
  }
  for (int i = 0; i < 8; i++) out[thread_number() * 8 + i] = best[i];
}

// ---- Stencils and filters --------------------------------------------------------------------------

__global__ void seven_points(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const int i = (z * n + y) * n + x;
  out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
}

__global__ void sobel(const float* in, float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= width - 1) return;
  const float* p = in + y * width + x;
  const float gx = p[-width + 1] + 2 * p[1] + p[width + 1] - p[-width - 1] - 2 * p[-1] - p[width - 1];
  const float gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
  out[y * width + x] = sqrtf(gx * gx + gy * gy);
}

__global__ void filter(const float* in, float* out, int radius) {
  const int i = thread_number() + radius;
  float sum = 0;
  for (int k = -radius; k <= radius; k++) sum += in[i + k] * taps[k + radius];
  out[i] = sum;
}

__global__ void filter_in_shared(const float* in, float* out) {
  __shared__ float tile[256 + 32];
  const int i = thread_number();
  tile[threadIdx.x] = in[i];
  if (threadIdx.x < 32) tile[256 + threadIdx.x] = in[i + 256];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 33; k++) sum += tile[threadIdx.x + k] * taps[k];
  out[i] = sum;
}

__global__ void bilinear(const float* in, float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const float fx = x * 0.5f, fy = y * 0.5f;
  const int x0 = static_cast<int>(fx), y0 = static_cast<int>(fy), x1 = min(x0 + 1, width - 1),
            y1 = min(y0 + 1, width - 1);
  const float ax = fx - x0, ay = fy - y0;
  const float top = in[y0 * width + x0] * (1 - ax) + in[y0 * width + x1] * ax,
              bottom = in[y1 * width + x0] * (1 - ax) + in[y1 * width + x1] * ax;
  out[y * 2 * width + x] = top * (1 - ay) + bottom * ay;
}

// ---- Sorting, scanning, compacting -----------------------------------------------------------------

template <int size>
__global__ void bitonic(const float* in, float* out) {
  __shared__ float keys[size];
  const int t = threadIdx.x;
  keys[t] = in[blockIdx.x * size + t];
  keys[t + size / 2] = in[blockIdx.x * size + t + size / 2];
  for (int length = 2; length <= size; length *= 2) {
    for (int stride = length / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int at = 2 * t - (t & (stride - 1));
      const bool up = (at & length) == 0;
      const float a = keys[at], b = keys[at + stride];
      if ((a > b) == up) {
        keys[at] = b;
        keys[at + stride] = a;
      }
    }
  }
  __syncthreads();
  out[blockIdx.x * size + t] = keys[t];
  out[blockIdx.x * size + t + size / 2] = keys[t + size / 2];
}

__global__ void scan_with_two_buffers(const float* in, float* out) {
  __shared__ float buffer[2][512];
  int from = 0;
  buffer[0][threadIdx.x] = in[thread_number()];
  for (int offset = 1; offset < 512; offset *= 2) {
    __syncthreads();
    const int to = 1 - from;
    buffer[to][threadIdx.x] = threadIdx.x >= offset ? buffer[from][threadIdx.x] + buffer[from][threadIdx.x - offset]
                                                    : buffer[from][threadIdx.x];
    from = to;
  }
  out[thread_number()] = buffer[from][threadIdx.x];
}

__global__ void scan_up_and_down(const float* in, float* out) {
  __shared__ float sums[1024];
  const int t = threadIdx.x;
  sums[2 * t] = in[blockIdx.x * 1024 + 2 * t];
  sums[2 * t + 1] = in[blockIdx.x * 1024 + 2 * t + 1];
  int offset = 1;
  for (int d = 512; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) sums[offset * (2 * t + 2) - 1] += sums[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) sums[1023] = 0;
  for (int d = 1; d < 1024; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      const float left = sums[a];
      sums[a] = sums[b];
      sums[b] += left;
    }
  }
  __syncthreads();
  out[blockIdx.x * 1024 + 2 * t] = sums[2 * t];
  out[blockIdx.x * 1024 + 2 * t + 1] = sums[2 * t + 1];
}

__global__ void compact(const float* in, float* out, int* counter) {
  __shared__ int count, base;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const float x = in[thread_number()];
  int at = -1;
  if (x > 0.7f) at = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(counter, count) & 0xfffff;
  __syncthreads();
  if (at >= 0) out[base + at] = x;
}

__global__ void scatter_add(const float* in, const int* to, float* out, int targets) {
  const int i = thread_number();
  atomicAdd(&out[(to[i & 65535] * 977 + i * 31) & (targets - 1)], in[i]);
}

// ---- Rows, gathers, products -----------------------------------------------------------------------

__global__ void embed(const float* table, const int* tokens, float* out, int width) {
  const int token = tokens[blockIdx.x & 16383] & 1023;
  for (int c = threadIdx.x; c < width; c += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * width + c] = table[static_cast<size_t>(token) * width + c];
}

__global__ void gather(const float* in, float* out, int mask) {
  const unsigned i = thread_number();
  out[i] = in[(i * 2654435761u >> 8) & mask];
}

__global__ void sparse_by_thread(const float* values, const int* columns, const float* x, float* y, int per_row) {
  const int row = thread_number();
  float sum = 0;
  for (int k = 0; k < per_row; k++)
    sum += values[row * per_row + k] * x[columns[(row + k * 37) & 65535] * 64 & 0xfffff];
  y[row] = sum;
}

__global__ void sparse_by_warp(const float* values, const int* columns, const float* x, float* y, int per_row) {
  const int row = thread_number() / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = lane; k < per_row; k += 32)
    sum += values[row * per_row + k] * x[columns[(row + k * 37) & 65535] * 64 & 0xfffff];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) y[row] = sum;
}

__global__ void argmax(const float* in, float* out, int cols) {
  const int row = thread_number() / 32, lane = threadIdx.x % 32;
  float best = -1;
  int at = 0;
  for (int c = lane; c < cols; c += 32) {
    const float x = in[static_cast<size_t>(row) * cols + c];
    if (x > best) best = x, at = c;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, best, offset);
    const int place = __shfl_xor_sync(0xffffffff, at, offset);
    if (other > best || (other == best && place < at)) best = other, at = place;
  }
  if (lane == 0) out[row] = at;
}

__global__ void bodies(const float* in, float* out, int n) {
  __shared__ float4 tile[256];
  const float4* body = reinterpret_cast<const float4*>(in);
  const float4 me = body[thread_number()];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 256) {
    tile[threadIdx.x] = body[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; k++) {
      const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
      const float r2 = dx * dx + dy * dy + dz * dz + 1e-4f;
      const float inverse = rsqrtf(r2), scale = tile[k].w * inverse * inverse * inverse;
      ax += dx * scale, ay += dy * scale, az += dz * scale;
    }
    __syncthreads();
  }
  out[thread_number()] = ax + ay + az;
}

__global__ void shortest_paths(const float* in, float* out, int n, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  out[i * n + j] = fminf(in[i * n + j], in[i * n + k] + in[k * n + j]);
}

// ---- Arithmetic ------------------------------------------------------------------------------------

__global__ void gelu(const float* in, float* out) {
  const float x = in[thread_number()], cube = 0.044715f * x * x * x;
  out[thread_number()] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + cube)));
}

__global__ void rotate(const float* in, float* out, int head) {
  const int i = thread_number(), place = i % (head / 2), position = i / (head / 2) % 4096;
  const float angle = position * powf(10000.0f, -2.0f * place / head);
  float s, c;
  sincosf(angle, &s, &c);
  const float a = in[2 * i], b = in[2 * i + 1];
  out[2 * i] = a * c - b * s;
  out[2 * i + 1] = a * s + b * c;
}

__global__ void adam(const float* gradient, float* moment, float* weight, float rate) {
  const int i = thread_number();
  const float g = gradient[i], m = 0.9f * moment[i] + 0.1f * g, v = 0.999f * g * g;
  moment[i] = m;
  weight[i] -= rate * (m / 0.1f) / (sqrtf(v / 0.001f) + 1e-8f);
}

__device__ float normal_below(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float tail =
      0.39894228f * expf(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void black_scholes(const float* price, const float* strike, float* out) {
  const int i = thread_number();
  const float s = price[i] * 30 + 5, x = strike[i] * 99 + 1, t = 0.25f + price[i] * 9.75f, root = sqrtf(t);
  const float d1 = (logf(s / x) + (0.02f + 0.5f * 0.09f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
  out[i] = s * normal_below(d1) - x * expf(-0.02f * t) * normal_below(d2);
}

template <int degree>
__global__ void polynomial(const float* in, float* out) {
  const float x = in[thread_number()];
  float sum = 1.0f;
#pragma unroll
  for (int k = 0; k < degree; k++) sum = sum * x + 0.5f / (k + 1);
  out[thread_number()] = sum;
}

__global__ void doubles(const float* in, float* out, int rounds) {
  double x = in[thread_number()], y = 0.5;
  for (int r = 0; r < rounds; r++) y = y * x + 0.25;
  out[thread_number()] = static_cast<float>(y);
}

__global__ void branches(const float* in, float* out) {
  const float x = in[thread_number()];
  float y;
  if (x < 0.25f) {
    y = sinf(x) + cosf(2 * x);
  } else if (x < 0.5f) {
    y = expf(x) / (1 + x);
  } else if (x < 0.75f) {
    y = logf(x) * sqrtf(x);
  } else {
    y = powf(x, 1.7f);
  }
  out[thread_number()] = y;
}

__global__ void bytes_by_table(const float* in, float* out) {
  __shared__ unsigned table[256];
  table[threadIdx.x] = threadIdx.x * 2654435761u;
  __syncthreads();
  const unsigned word = __float_as_uint(in[thread_number()]);
  out[thread_number()] =
      __uint_as_float(table[word & 255] ^ table[word >> 8 & 255] ^ table[word >> 16 & 255] ^ table[word >> 24]);
}

}  // namespace

std::vector<Case> first_more() {
  constexpr int big = 1 << 22, middle = 1 << 21;
  constexpr size_t M = 1 << 20;
  using S = cudaStream_t;
  return {
      {"mandelbrot 64", "mandelbrot", 16 * M,
       [](const Buffers& b, S s) { mandelbrot<<<middle / 256, 256, 0, s>>>(b.out, 1024, 64); }},
      {"mandelbrot 256", "mandelbrot", 4 * M,
       [](const Buffers& b, S s) { mandelbrot<<<2048, 256, 0, s>>>(b.out, 1024, 256); }},
      {"collatz unsigned", "collatz", 16 * M,
       [](const Buffers& b, S s) { collatz<<<middle / 256, 256, 0, s>>>(b.out); }},
      {"search 4096", "search", 32 * M,
       [](const Buffers& b, S s) { search<<<middle / 256, 256, 0, s>>>(b.in, b.out, 4096); }},
      {"search 1M", "search", 9 * M,
       [](const Buffers& b, S s) { search<<<middle / 256, 256, 0, s>>>(b.in, b.out, 1 << 20); }},
      {"segments", "segments", 18 * M,
       [](const Buffers& b, S s) { segments<<<1024, 256, 0, s>>>(b.in, b.counters, b.out); }},
      {"hash 1", "hash", 32 * M, [](const Buffers& b, S s) { hash<1><<<big / 256, 256, 0, s>>>(b.in, b.out); }},
      {"hash 16", "hash", 32 * M, [](const Buffers& b, S s) { hash<16><<<big / 256, 256, 0, s>>>(b.in, b.out); }},
      {"philox words", "philox", 32 * M, [](const Buffers& b, S s) { philox<<<middle / 256, 256, 0, s>>>(b.out); }},
      {"inside the circle", "circle", 4 * M,
       [](const Buffers& b, S s) { inside_the_circle<<<1024, 256, 0, s>>>(b.out, 64); }},
      {"to channels last", "divisions", 32 * M,
       [](const Buffers& b, S s) { to_channels_last<<<20 * 784, 256, 0, s>>>(b.in, b.out, 64, 56, 56); }},
      {"count bits", "bits", 17 * M, [](const Buffers& b, S s) { count_bits<<<1024, 256, 0, s>>>(b.in, b.out, 16); }},
      {"life", "life", 32 * M, [](const Buffers& b, S s) { life<<<dim3(8, 2048), 256, 0, s>>>(b.in, b.out, 2048); }},
      {"bins of a thread", "local array", 16 * M,
       [](const Buffers& b, S s) { bins_of_a_thread<<<512, 256, 0, s>>>(b.in, b.out, 32); }},
      {"median", "median", 32 * M,
       [](const Buffers& b, S s) { median<<<dim3(8, 2048), 256, 0, s>>>(b.in, b.out, 2048); }},
      {"eight best", "eight best", 18 * M,
       [](const Buffers& b, S s) { eight_best<<<512, 256, 0, s>>>(b.in, b.out, 32); }},
      {"seven points", "seven points", 32 * M,
       [](const Buffers& b, S s) { seven_points<<<dim3(5, 20, 160), dim3(32, 8), 0, s>>>(b.in, b.out, 160); }},
      {"sobel", "sobel", 32 * M,
       [](const Buffers& b, S s) { sobel<<<dim3(64, 256), dim3(32, 8), 0, s>>>(b.in, b.out, 2048); }},
      {"filter 4", "filter", 32 * M,
       [](const Buffers& b, S s) { filter<<<big / 256 - 1, 256, 0, s>>>(b.in, b.out, 4); }},
      {"filter 16", "filter", 32 * M,
       [](const Buffers& b, S s) { filter<<<big / 256 - 1, 256, 0, s>>>(b.in, b.out, 16); }},
      {"filter in shared", "filter", 32 * M,
       [](const Buffers& b, S s) { filter_in_shared<<<big / 256 - 1, 256, 0, s>>>(b.in, b.out); }},
      {"bilinear", "bilinear", 20 * M,
       [](const Buffers& b, S s) { bilinear<<<dim3(8, 2048), 256, 0, s>>>(b.in, b.out, 1024); }},
      {"bitonic 512", "bitonic", 32 * M,
       [](const Buffers& b, S s) { bitonic<512><<<middle / 512, 256, 0, s>>>(b.in, b.out); }},
      {"bitonic 2048", "bitonic", 32 * M,
       [](const Buffers& b, S s) { bitonic<2048><<<middle / 2048, 1024, 0, s>>>(b.in, b.out); }},
      {"scan with two buffers", "scan", 32 * M,
       [](const Buffers& b, S s) { scan_with_two_buffers<<<middle / 512, 512, 0, s>>>(b.in, b.out); }},
      {"scan up and down", "scan", 32 * M,
       [](const Buffers& b, S s) { scan_up_and_down<<<middle / 1024, 512, 0, s>>>(b.in, b.out); }},
      {"compact", "compact", 20 * M,
       [](const Buffers& b, S s) { compact<<<16384, 256, 0, s>>>(b.in, b.out, b.counters); }},
      {"scatter add 64 K", "scatter add", 17 * M,
       [](const Buffers& b, S s) { scatter_add<<<middle / 256, 256, 0, s>>>(b.in, b.counters, b.out, 1 << 16); }},
      {"scatter add 4 M", "scatter add", 32 * M,
       [](const Buffers& b, S s) { scatter_add<<<middle / 256, 256, 0, s>>>(b.in, b.counters, b.out, 1 << 22); }},
      {"embed rows", "embed", 32 * M,
       [](const Buffers& b, S s) { embed<<<8192, 128, 0, s>>>(b.in, b.counters, b.out, 256); }},
      {"gather 1 M", "gather", 17 * M,
       [](const Buffers& b, S s) { gather<<<big / 256, 256, 0, s>>>(b.in, b.out, (1 << 20) - 1); }},
      {"gather 4 M", "gather", 32 * M,
       [](const Buffers& b, S s) { gather<<<big / 256, 256, 0, s>>>(b.in, b.out, big - 1); }},
      {"sparse by thread", "sparse", 17 * M,
       [](const Buffers& b, S s) { sparse_by_thread<<<256, 256, 0, s>>>(b.in, b.counters, b.in2, b.out, 64); }},
      {"sparse by warp", "sparse", 17 * M,
       [](const Buffers& b, S s) { sparse_by_warp<<<8192, 256, 0, s>>>(b.in, b.counters, b.in2, b.out, 64); }},
      {"argmax", "argmax", 16 * M, [](const Buffers& b, S s) { argmax<<<512, 256, 0, s>>>(b.in, b.out, 1024); }},
      {"bodies", "bodies", 1 * M, [](const Buffers& b, S s) { bodies<<<32, 256, 0, s>>>(b.in, b.out, 8192); }},
      {"shortest paths", "shortest paths", 32 * M,
       [](const Buffers& b, S s) { shortest_paths<<<dim3(8, 2048), 256, 0, s>>>(b.in, b.out, 2048, 77); }},
      {"gelu", "gelu", 32 * M, [](const Buffers& b, S s) { gelu<<<big / 256, 256, 0, s>>>(b.in, b.out); }},
      {"rotate", "rotate", 16 * M,
       [](const Buffers& b, S s) { rotate<<<middle / 256, 256, 0, s>>>(b.in, b.out, 128); }},
      {"adam", "adam", 32 * M,
       [](const Buffers& b, S s) { adam<<<middle * 2 / 256, 256, 0, s>>>(b.in, b.in2, b.out, 0.001f); }},
      {"black scholes", "black scholes", 24 * M,
       [](const Buffers& b, S s) { black_scholes<<<middle * 2 / 256, 256, 0, s>>>(b.in, b.in2, b.out); }},
      {"polynomial 16", "polynomial", 32 * M,
       [](const Buffers& b, S s) { polynomial<16><<<big / 256, 256, 0, s>>>(b.in, b.out); }},
      {"polynomial 128", "polynomial", 32 * M,
       [](const Buffers& b, S s) { polynomial<128><<<big / 256, 256, 0, s>>>(b.in, b.out); }},
      {"doubles", "doubles", 32 * M,
       [](const Buffers& b, S s) { doubles<<<middle / 256, 256, 0, s>>>(b.in, b.out, 64); }},
      {"branches", "branches", 32 * M, [](const Buffers& b, S s) { branches<<<big / 256, 256, 0, s>>>(b.in, b.out); }},
      {"bytes by table", "bytes by table", 32 * M,
       [](const Buffers& b, S s) { bytes_by_table<<<big / 256, 256, 0, s>>>(b.in, b.out); }},
  };
}

}  // namespace calibration
