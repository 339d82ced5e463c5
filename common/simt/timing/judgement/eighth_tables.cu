// Work on tables, texts and bits.
#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

__device__ uint64_t rotl(uint64_t x, int b) { return x << b | x >> (64 - b); }

// SipHash-2-4 of keys of 16 bytes.
__global__ void siphash(const ulonglong2* keys, uint64_t* out, int n, uint64_t k0, uint64_t k1) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint64_t v0 = k0 ^ 0x736f6d6570736575ull, v1 = k1 ^ 0x646f72616e646f6dull, v2 = k0 ^ 0x6c7967656e657261ull,
           v3 = k1 ^ 0x7465646279746573ull;
  const auto round = [&] {
    v0 += v1;
    v1 = rotl(v1, 13) ^ v0;
    v0 = rotl(v0, 32);
    v2 += v3;
    v3 = rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotl(v1, 17) ^ v2;
    v2 = rotl(v2, 32);
  };
  const ulonglong2 key = keys[i];
  const uint64_t words[3] = {key.x, key.y, uint64_t{16} << 56};
#pragma unroll
  for (int w = 0; w < 3; w++) {
    v3 ^= words[w];
    round();
    round();
    v0 ^= words[w];
  }
  v2 ^= 0xff;
  for (int r = 0; r < 4; r++) round();
  out[i] = v0 ^ v1 ^ v2 ^ v3;
}

// Three bytes to four letters.
__global__ void base64_encode(const unsigned char* in, uchar4* out, int groups) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  const unsigned v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
  const auto letter = [](unsigned x) -> unsigned char {
    return x < 26 ? 'A' + x : x < 52 ? 'a' + x - 26 : x < 62 ? '0' + x - 52 : x == 62 ? '+' : '/';
  };
  out[i] = make_uchar4(letter(v >> 18), letter(v >> 12 & 63), letter(v >> 6 & 63), letter(v & 63));
}

// Days since 1970 to year, month and day.
__global__ void civil_from_days(const int* days, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int z = (days[i] & 0xffff) + 719468;
  const unsigned era = z / 146097, doe = z - era * 146097;
  const unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  const unsigned d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
  out[i] = (yoe + era * 400 + (m <= 2)) << 16 | m << 8 | d;
}

// A query of decision support: the revenue of rows that pass three tests. One sum per block.
__global__ void filter_sum(const int* date, const float* discount, const float* quantity, const float* price,
                           float* sums, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int d = date[i] & 4095;
    if (d >= 365 && d < 1500 && discount[i] >= 0.05f && discount[i] <= 0.7f && quantity[i] < 0.24f)
      sum += price[i] * discount[i];
  }
  __shared__ float part[256];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// Sums of 64 groups: in shared memory, then to global memory.
__global__ void group_by_sum(const unsigned* keys, const int* values, int* sums, int* counts, int n) {
  __shared__ int sum[64], count[64];
  if (threadIdx.x < 64) sum[threadIdx.x] = count[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned group = keys[i] >> 7 & 63;
    atomicAdd(&sum[group], values[i] & 1023);
    atomicAdd(&count[group], 1);
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    atomicAdd(&sums[threadIdx.x], sum[threadIdx.x]);
    atomicAdd(&counts[threadIdx.x], count[threadIdx.x]);
  }
}

// Differences of eight bits to values, a warp per 128 of them.
__global__ void delta_decode(const uchar4* deltas, const int* first, int4* out, int chunks) {
  const int chunk = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (chunk >= chunks) return;
  const uchar4 d = deltas[chunk * 32 + lane];
  int total = d.x + d.y + d.z + d.w, before = total;
  for (int offset = 1; offset < 32; offset <<= 1) {
    const int other = __shfl_up_sync(0xffffffff, before, offset);
    if (lane >= offset) before += other;
  }
  int v = first[chunk] + before - total;
  int4 r;
  r.x = v += d.x;
  r.y = v += d.y;
  r.z = v += d.z;
  r.w = v += d.w;
  out[chunk * 32 + lane] = r;
}

// Down an implicit k-d tree of three dimensions to a leaf.
__global__ void kd_descend(const float* split, const float3* points, int* leaf, int n, int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 p = points[i];
  int node = 0;
  for (int level = 0; level < depth; level++) {
    const int axis = level % 3;
    const float v = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
    node = 2 * node + 1 + (v >= split[node]);
  }
  leaf[i] = node;
}

// Life on bits: 32 cells of a row per thread, sums by full adders.
__global__ void life_bits(const unsigned* in, unsigned* out, int words, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= h) return;
  unsigned ones = 0, twos = 0, fours = 0;
  const auto add = [&](unsigned v) {
    const unsigned c = ones & v;
    ones ^= v;
    fours |= twos & c;
    twos ^= c;
  };
  const int left = (x + words - 1) % words, right = (x + 1) % words;
  unsigned own = 0;
  for (int dy = -1; dy <= 1; dy++) {
    const int row = (y + dy + h) % h * words;
    const unsigned l = in[row + left], c = in[row + x], r = in[row + right];
    add(c << 1 | l >> 31);
    add(c >> 1 | r << 31);
    if (dy) add(c);
    if (!dy) own = c;
  }
  out[y * words + x] = twos & ~fours & (ones | own);
}

// Codes of all words of 12 letters of a text of four letters.
__global__ void kmer_codes(const unsigned char* text, unsigned* codes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 12) return;
  unsigned forward = 0, backward = 0;
#pragma unroll
  for (int k = 0; k < 12; k++) {
    const unsigned letter = text[i + k] >> 1 & 3;
    forward = forward << 2 | letter;
    backward |= (3 - letter) << (2 * k);
  }
  codes[i] = min(forward, backward);
}

// PCG's generator, eight numbers of a thread's own stream.
__global__ void pcg32(float* out, int threads, uint64_t seed) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= threads) return;
  const uint64_t stream = static_cast<uint64_t>(t) << 1 | 1;
  uint64_t state = (seed + stream) * 6364136223846793005ull + stream;
  for (int i = 0; i < 8; i++) {
    const unsigned shifted = static_cast<unsigned>((state >> 18 ^ state) >> 27),
                   turn = static_cast<unsigned>(state >> 59);
    state = state * 6364136223846793005ull + stream;
    const unsigned word = shifted >> turn | shifted << (-turn & 31);
    out[i * threads + t] = word * 2.3283064e-10f;
  }
}

// The lower triangle of a symmetric matrix, packed.
__global__ void pack_triangle(const float* full, float* packed, int n, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int row = static_cast<int>((sqrtf(8.0f * i + 1.0f) - 1.0f) * 0.5f);
  while (row * (row + 1) / 2 > i) row--;
  while ((row + 1) * (row + 2) / 2 <= i) row++;
  packed[i] = full[row * n + i - row * (row + 1) / 2];
}

// Axes of a volume in another order, in tiles.
__global__ void axes_201(const float* in, float* out, int d, int h, int w) {
  __shared__ float tile[32][33];
  const int z = blockIdx.z, x = blockIdx.x * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) tile[j][threadIdx.x] = in[(z * h + blockIdx.y * 32 + j) * w + x];
  __syncthreads();
  const int y = blockIdx.y * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) out[((blockIdx.x * 32 + j) * d + z) * h + y] = tile[threadIdx.x][j];
}

}  // namespace

std::vector<Case> eighth_tables() {
  std::vector<Case> list;
  const Add add = {list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  const auto bytes = [](float* p) { return reinterpret_cast<unsigned char*>(p); };
  add("siphash", "hashes of keys", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    siphash<<<4096, 256, 0, s>>>(reinterpret_cast<ulonglong2*>(b.in), reinterpret_cast<uint64_t*>(b.out), 1 << 20,
                                 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull);
  });
  add("base64_encode", "texts", size_t{7} << 21, [=](const Buffers& b, cudaStream_t s) {
    base64_encode<<<8192, 256, 0, s>>>(bytes(b.in), reinterpret_cast<uchar4*>(b.out), 1 << 21);
  });
  add("kmer_codes", "texts", size_t{5} << 22,
      [=](const Buffers& b, cudaStream_t s) { kmer_codes<<<16384, 256, 0, s>>>(bytes(b.in), words(b.out), 1 << 22); });
  add("civil_from_days", "columns of tables", size_t{8} << 22, [=](const Buffers& b, cudaStream_t s) {
    civil_from_days<<<16384, 256, 0, s>>>(ints(b.in), ints(b.out), 1 << 22);
  });
  add("filter_sum", "columns of tables", size_t{16} << 22, [=](const Buffers& b, cudaStream_t s) {
    filter_sum<<<1024, 256, 0, s>>>(ints(b.in), b.in2, b.in + (1 << 22), b.in2 + (1 << 22), b.out, 1 << 22);
  });
  add("group_by_sum", "columns of tables", size_t{8} << 22, [=](const Buffers& b, cudaStream_t s) {
    group_by_sum<<<528, 256, 0, s>>>(words(b.in), ints(b.in2), ints(b.out), ints(b.out) + 64, 1 << 22);
  });
  add("delta_decode", "columns of tables", size_t{5} << 22, [=](const Buffers& b, cudaStream_t s) {
    delta_decode<<<4096, 256, 0, s>>>(reinterpret_cast<uchar4*>(b.in), ints(b.in2), reinterpret_cast<int4*>(b.out),
                                      1 << 15);
  });
  add("kd_descend 16", "trees, more", size_t{20} << 19, [=](const Buffers& b, cudaStream_t s) {
    kd_descend<<<2048, 256, 0, s>>>(b.in, reinterpret_cast<float3*>(b.in2), ints(b.out), 1 << 19, 16);
  });
  add("life_bits", "bits, more", size_t{8} << 19, [=](const Buffers& b, cudaStream_t s) {
    life_bits<<<dim3(4, 1024), dim3(32, 4), 0, s>>>(words(b.in), words(b.out), 128, 4096);
  });
  add("pcg32", "numbers at random", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) { pcg32<<<2048, 256, 0, s>>>(b.out, 1 << 19, 42); });
  add("pack_triangle", "moves, more", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    pack_triangle<<<8196, 256, 0, s>>>(b.in, b.out, 2048, 2048 * 2049 / 2);
  });
  add("axes_201", "moves, more", size_t{8} << 22, [=](const Buffers& b, cudaStream_t s) {
    axes_201<<<dim3(4, 4, 256), dim3(32, 8), 0, s>>>(b.in, b.out, 256, 128, 128);
  });
  return list;
}

}  // namespace calibration
