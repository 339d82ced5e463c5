// Steps of a trainer and of serving: updates of weights, masks, choices among rows, points, rows of bytes.
#include <cuda_fp16.h>

#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Weights in single precision, gradients and the copy for the next step in halves.
__global__ void adam_mixed(float* p, half* copy, const half* g, float* m, float* v, int n, float lr, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float gradient = __half2float(g[i]) * scale;
  const float first = 0.9f * m[i] + 0.1f * gradient, second = 0.999f * v[i] + 0.001f * gradient * gradient;
  const float next = p[i] - lr * (first / (sqrtf(second) + 1e-8f) + 0.01f * p[i]);
  m[i] = first, v[i] = second, p[i] = next;
  copy[i] = __float2half(next);
}

// Four numbers of Philox a thread: what is left of a residual branch, and a mask in bytes.
__global__ void dropout_residual(const float4* x, const float4* residual, float4* out, uchar4* mask, int packs,
                                 float keep, unsigned seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  unsigned c0 = i, c1 = 0, c2 = 7, c3 = 0, k0 = seed, k1 = 0x12345;
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const unsigned high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const unsigned high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  const float to_unit = 2.3283064e-10f, scale = 1.0f / keep;
  const bool a = c0 * to_unit < keep, b = c1 * to_unit < keep, c = c2 * to_unit < keep, d = c3 * to_unit < keep;
  const float4 v = x[i], r = residual[i];
  out[i] = make_float4(r.x + (a ? v.x * scale : 0.0f), r.y + (b ? v.y * scale : 0.0f), r.z + (c ? v.z * scale : 0.0f),
                       r.w + (d ? v.w * scale : 0.0f));
  mask[i] = make_uchar4(a, b, c, d);
}

// Rotary embedding whose angles are computed where they are used.
__global__ void rope_computed(const float* x, float* y, int heads, int half_of, float log_base) {
  const int token = blockIdx.x;
  for (int i = threadIdx.x; i < heads * half_of; i += blockDim.x) {
    const int head = i / half_of, pair = i % half_of;
    const float angle = token * expf(-log_base * pair / half_of);
    float sine, cosine;
    sincosf(angle, &sine, &cosine);
    const int at = (token * heads + head) * 2 * half_of + pair;
    const float a = x[at], b = x[at + half_of];
    y[at] = a * cosine - b * sine;
    y[at + half_of] = a * sine + b * cosine;
  }
}

// Gradients of an embedding by sorted tokens: a block per token that occurs, its rows one after another.
__global__ void embedding_sorted(const float* dy, const int* rows, float* dw, int each, int columns) {
  const int first = blockIdx.x * each;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float sum = 0.0f;
    for (int r = 0; r < each; r++) sum += dy[rows[first + r] * columns + c];
    dw[blockIdx.x * columns + c] += sum;
  }
}

// The k-th largest of a row by its bytes, highest first: four histograms in shared memory.
__global__ void radix_select(const float* x, float* out, int columns, int k) {
  __shared__ int counts[256];
  __shared__ unsigned prefix;
  __shared__ int wanted;
  const float* row = x + blockIdx.x * columns;
  if (threadIdx.x == 0) prefix = 0, wanted = k;
  for (int shift = 24; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    const unsigned known = prefix;
    for (int i = threadIdx.x; i < columns; i += 256) {
      const unsigned key = __float_as_uint(row[i]) | 0x80000000u;
      if (shift == 24 || key >> (shift + 8) == known >> (shift + 8)) atomicAdd(&counts[key >> shift & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = 255, left = wanted;
      while (digit > 0 && counts[digit] < left) left -= counts[digit--];
      wanted = left;
      prefix = known | static_cast<unsigned>(digit) << shift;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = __uint_as_float(prefix & 0x7fffffffu);
}

// The order of a row's elements: a bitonic sort of their places.
__global__ void argsort_rows(const float* x, int* order, int columns) {
  extern __shared__ int places[];
  const float* row = x + blockIdx.x * columns;
  const int i = threadIdx.x;
  places[i] = i;
  __syncthreads();
  for (int k = 2; k <= columns; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = i ^ j;
      if (other > i) {
        const bool up = (i & k) == 0;
        const int a = places[i], b = places[other];
        if (up ? row[a] > row[b] : row[a] < row[b]) places[i] = b, places[other] = a;
      }
      __syncthreads();
    }
  order[blockIdx.x * columns + i] = places[i];
}

// The first `wanted` of a cloud's points within a radius of each centre.
__global__ void ball_query(const float* points, const float* centres, int* found, int n, int centre_count, int wanted,
                           float radius) {
  const int centre = blockIdx.x * blockDim.x + threadIdx.x;
  if (centre >= centre_count) return;
  points += blockIdx.y * n * 3, centres += blockIdx.y * centre_count * 3;
  found += (blockIdx.y * centre_count + centre) * wanted;
  const float x = centres[centre * 3], y = centres[centre * 3 + 1], z = centres[centre * 3 + 2];
  int count = 0;
  for (int i = 0; i < n && count < wanted; i++) {
    const float dx = x - points[i * 3], dy = y - points[i * 3 + 1], dz = z - points[i * 3 + 2];
    if (dx * dx + dy * dy + dz * dz < radius * radius) found[count++] = i;
  }
}

// A row of bytes with a scale of its own to floats, four at a time; and a row to bytes by its largest value.
__global__ void int8_to_rows(const char4* q, const float* scales, float4* y, int packs) {
  const float scale = scales[blockIdx.x] / 127.0f;
  for (int i = threadIdx.x; i < packs; i += blockDim.x) {
    const char4 v = q[blockIdx.x * packs + i];
    y[blockIdx.x * packs + i] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
  }
}
__global__ void rows_to_int8(const half* x, int8_t* q, float* scales, int columns) {
  __shared__ float parts[32];
  const half* row = x + blockIdx.x * columns;
  float largest = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, fabsf(__half2float(row[i])));
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int w = 0; w < blockDim.x / 32; w++) largest = fmaxf(largest, parts[w]);
  if (threadIdx.x == 0) scales[blockIdx.x] = largest / 127.0f;
  const float scale = 127.0f / largest;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    q[blockIdx.x * columns + i] = static_cast<int8_t>(__float2int_rn(__half2float(row[i]) * scale));
}

}  // namespace

std::vector<Case> tenth_steps() {
  std::vector<Case> list;
  const Add add{list};
  const auto halves = [](float* p) { return reinterpret_cast<half*>(p); };
  const auto quads = [](float* p) { return reinterpret_cast<float4*>(p); };
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  add("adam_mixed", "steps of a trainer", size_t{36} << 20, [=](const Buffers& b, cudaStream_t s) {
    adam_mixed<<<8192, 256, 0, s>>>(b.in, halves(b.out), halves(b.in2), b.in + (4 << 20), b.in + (8 << 20), 1 << 21,
                                    1e-3f, 0.5f);
  });
  add("dropout_residual", "steps of a trainer", size_t{26} << 20, [=](const Buffers& b, cudaStream_t s) {
    dropout_residual<<<2048, 256, 0, s>>>(quads(b.in), quads(b.in2), quads(b.out),
                                          reinterpret_cast<uchar4*>(b.out + (2 << 20)), 1 << 19, 0.9f, 77);
  });
  add("rope_computed", "steps of a trainer", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) { rope_computed<<<1024, 256, 0, s>>>(b.in, b.out, 16, 64, 9.21034f); });
  for (const int each : {2, 16})
    add(
        "embedding_sorted " + std::to_string(each), "embedding_sorted", size_t{24} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          embedding_sorted<<<8192 / each, 256, 0, s>>>(b.in, ints(b.in2), b.out, each, 512);
        },
        indices(8192, 8192));
  add("radix_select 4096", "choices of rows", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { radix_select<<<512, 256, 0, s>>>(b.in, b.out, 4096, 50); });
  for (const int columns : {256, 1024})
    add("argsort_rows " + std::to_string(columns), "argsort_rows", size_t{2} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          argsort_rows<<<(1 << 18) / columns, columns, columns * 4, s>>>(b.in, ints(b.out), columns);
        });
  for (const int n : {512, 1024})
    add("ball_query " + std::to_string(n), "ball_query", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
      ball_query<<<dim3(4, 16), 128, 0, s>>>(b.in, b.in2, ints(b.out), n, 512, 16, 0.1f);
    });
  add("int8_to_rows", "rows of bytes", size_t{20} << 20, [=](const Buffers& b, cudaStream_t s) {
    int8_to_rows<<<2048, 256, 0, s>>>(reinterpret_cast<char4*>(b.in), b.in2, quads(b.out), 512);
  });
  add("rows_to_int8", "rows of bytes", size_t{12} << 20, [=](const Buffers& b, cudaStream_t s) {
    rows_to_int8<<<1024, 512, 0, s>>>(halves(b.in), reinterpret_cast<int8_t*>(b.out), b.out + (1 << 20), 4096);
  });
  return list;
}

}  // namespace calibration
