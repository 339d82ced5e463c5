// Trees, tables and texts: histograms of features, forests, splits, sorts, hashes of blocks, words of bits.
#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// A histogram of gradients per feature: a block has some rows of one feature. Sums of floats, or of fixed point as
// 64-bit integers.
template <class Sum>
__global__ void feature_histogram(const uint8_t* bins, const float2* gradients, Sum* histogram, int rows,
                                  int rows_per_block) {
  __shared__ Sum sums[512];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) sums[i] = 0;
  __syncthreads();
  const int first = blockIdx.x * rows_per_block, last = min(rows, first + rows_per_block);
  const uint8_t* own = bins + blockIdx.y * rows;
  for (int row = first + threadIdx.x; row < last; row += blockDim.x) {
    const int bin = own[row];
    const float2 g = gradients[row];
    if constexpr (sizeof(Sum) == 4) {
      atomicAdd(&sums[2 * bin], g.x);
      atomicAdd(&sums[2 * bin + 1], g.y);
    } else {
      atomicAdd(&sums[2 * bin], static_cast<Sum>(static_cast<long long>(g.x * 1073741824.0f)));
      atomicAdd(&sums[2 * bin + 1], static_cast<Sum>(static_cast<long long>(g.y * 1073741824.0f)));
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += blockDim.x) atomicAdd(&histogram[blockIdx.y * 512 + i], sums[i]);
}
__global__ void feature_histogram_global(const uint8_t* bins, const float2* gradients, float* histogram, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int bin = bins[blockIdx.y * rows + row];
  const float2 g = gradients[row];
  float* own = histogram + blockIdx.y * 512 + 2 * bin;
  atomicAdd(own, g.x);
  atomicAdd(own + 1, g.y);
}

// The best split of each feature: a scan of its 256 bins, then the largest gain.
__global__ void best_split(const float2* histogram, float2* best, float lambda) {
  __shared__ float2 sums[256];
  __shared__ float gains[256];
  __shared__ int at[256];
  const int t = threadIdx.x;
  sums[t] = histogram[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    float2 other = make_float2(0, 0);
    if (t >= d) other = sums[t - d];
    __syncthreads();
    sums[t].x += other.x;
    sums[t].y += other.y;
    __syncthreads();
  }
  const float2 left = sums[t], all = sums[255], right = make_float2(all.x - left.x, all.y - left.y);
  gains[t] =
      left.x * left.x / (left.y + lambda) + right.x * right.x / (right.y + lambda) - all.x * all.x / (all.y + lambda);
  at[t] = t;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d && gains[t + d] > gains[t]) gains[t] = gains[t + d], at[t] = at[t + d];
    __syncthreads();
  }
  if (t == 0) best[blockIdx.x] = make_float2(gains[0], at[0]);
}

// Trees of a forest in heap order, `depth` tests each. A thread per row.
__global__ void predict_forest(const float* rows, const float2* nodes, float* out, int n, int features, int trees,
                               int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int tree = 0; tree < trees; tree++) {
    const float2* own = nodes + (tree << depth);
    int node = 1;
    for (int level = 0; level < depth; level++) {
      const float2 one = own[node];
      const int feature = static_cast<int>(one.x * features);
      node = 2 * node + (rows[i * features + feature] > one.y);
    }
    sum += (node & 1) * 0.5f - 0.25f + tree * 1e-3f;
  }
  out[i] = 1.0f / (1.0f + __expf(-sum));
}

// Rows that go left and rows that go right, a stable partition in a block's own part of the output.
__global__ void partition_rows(const uint8_t* bins, const int* rows, int* out, int* lefts, int threshold) {
  __shared__ int counts[8];
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = rows[i] & 0xfffff;
  const bool left = bins[row] <= threshold;
  const unsigned votes = __ballot_sync(~0u, left);
  if (lane == 0) counts[warp] = __popc(votes);
  __syncthreads();
  int before = 0, total = 0;
  for (int w = 0; w < 8; w++) {
    if (w < warp) before += counts[w];
    total += counts[w];
  }
  before += __popc(votes & ((1u << lane) - 1));
  out[blockIdx.x * 256 + (left ? before : total + static_cast<int>(threadIdx.x) - before)] = row;
  if (threadIdx.x == 0) lefts[blockIdx.x] = total;
}

// A block sorts 1024 keys by four of their bits: four splits by one bit, each with a scan by warps.
__global__ void radix_sort_block(const unsigned* in, unsigned* out, int shift) {
  __shared__ unsigned keys[1024];
  __shared__ int warps[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned key = in[blockIdx.x * 1024 + t];
  for (int bit = shift; bit < shift + 4; bit++) {
    const bool one = key >> bit & 1;
    const unsigned zeros = __ballot_sync(~0u, !one);
    if (lane == 0) warps[warp] = __popc(zeros);
    __syncthreads();
    if (warp == 0) {
      const int own = warps[lane];
      int sum = own;
      for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += other;
      }
      warps[lane] = sum;
    }
    __syncthreads();
    const int before = (warp ? warps[warp - 1] : 0) + __popc(zeros & ((1u << lane) - 1));
    keys[one ? warps[31] + t - before : before] = key;
    __syncthreads();
    key = keys[t];
    __syncthreads();
  }
  out[blockIdx.x * 1024 + t] = key;
}

// Batcher's odd-even merge sort of keys and values in shared memory.
__global__ void odd_even_merge(const unsigned* keys_in, const unsigned* values_in, unsigned* keys_out,
                               unsigned* values_out) {
  __shared__ unsigned keys[1024], values[1024];
  const int base = blockIdx.x * 1024, t = threadIdx.x;
  keys[t] = keys_in[base + t];
  values[t] = values_in[base + t];
  keys[t + 512] = keys_in[base + t + 512];
  values[t + 512] = values_in[base + t + 512];
  const auto compare = [&](int a, int b) {
    const unsigned ka = keys[a], kb = keys[b];
    if (ka > kb) {
      const unsigned va = values[a], vb = values[b];
      keys[a] = kb, keys[b] = ka;
      values[a] = vb, values[b] = va;
    }
  };
  for (unsigned size = 2; size <= 1024; size <<= 1) {
    unsigned stride = size / 2;
    const unsigned offset = t & (stride - 1);
    __syncthreads();
    unsigned at = 2 * t - (t & (stride - 1));
    compare(at, at + stride);
    stride >>= 1;
    for (; stride > 0; stride >>= 1) {
      __syncthreads();
      at = 2 * t - (t & (stride - 1));
      if (offset >= stride) compare(at - stride, at);
    }
  }
  __syncthreads();
  keys_out[base + t] = keys[t];
  values_out[base + t] = values[t];
  keys_out[base + t + 512] = keys[t + 512];
  values_out[base + t + 512] = values[t + 512];
}

// MD5 of one block of 16 words, as a search for passwords does it.
__device__ __constant__ const unsigned md5_table[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
__global__ void md5_words(const unsigned* words, uint4* digests, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned w[16];
#pragma unroll
  for (int j = 0; j < 16; j++) w[j] = j < 2 ? words[j * n + i] : j == 2 ? 0x80 : j == 14 ? 64 : 0;
  unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
#pragma unroll
  for (int r = 0; r < 64; r++) {
    unsigned f;
    int g, turn;
    if (r < 16)
      f = d ^ (b & (c ^ d)), g = r, turn = 7 + r % 4 * 5;
    else if (r < 32)
      f = c ^ (d & (b ^ c)), g = (5 * r + 1) % 16, turn = r % 4 == 0 ? 5 : r % 4 == 1 ? 9 : r % 4 == 2 ? 14 : 20;
    else if (r < 48)
      f = b ^ c ^ d, g = (3 * r + 5) % 16, turn = r % 4 == 0 ? 4 : r % 4 == 1 ? 11 : r % 4 == 2 ? 16 : 23;
    else
      f = c ^ (b | ~d), g = 7 * r % 16, turn = r % 4 == 0 ? 6 : r % 4 == 1 ? 10 : r % 4 == 2 ? 15 : 21;
    const unsigned sum = a + f + w[g] + md5_table[r];
    a = d;
    d = c;
    c = b;
    b += sum << turn | sum >> (32 - turn);
  }
  digests[i] = make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}

// Checksums of strips of bytes: Adler-32 by bytes, xxHash-32 by words. A thread per strip of `bytes`.
__global__ void adler32(const uint4* data, unsigned* sums, int strips, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= strips) return;
  unsigned a = 1, b = 0;
  for (int j = 0; j < quads; j++) {
    const uint4 v = data[i * quads + j];
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int w = 0; w < 4; w++)
#pragma unroll
      for (int k = 0; k < 32; k += 8) {
        a += words[w] >> k & 255;
        b += a;
      }
    a %= 65521;
    b %= 65521;
  }
  sums[i] = b << 16 | a;
}
__global__ void xxhash32(const uint4* data, unsigned* hashes, int strips, int quads, unsigned seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= strips) return;
  constexpr unsigned p1 = 2654435761u, p2 = 2246822519u, p3 = 3266489917u;
  const auto turned = [](unsigned x, int r) { return x << r | x >> (32 - r); };
  unsigned v1 = seed + p1 + p2, v2 = seed + p2, v3 = seed, v4 = seed - p1;
  for (int j = 0; j < quads; j++) {
    const uint4 v = data[i * quads + j];
    v1 = turned(v1 + v.x * p2, 13) * p1;
    v2 = turned(v2 + v.y * p2, 13) * p1;
    v3 = turned(v3 + v.z * p2, 13) * p1;
    v4 = turned(v4 + v.w * p2, 13) * p1;
  }
  unsigned h = turned(v1, 1) + turned(v2, 7) + turned(v3, 12) + turned(v4, 18) + quads * 16;
  h = (h ^ h >> 15) * p2;
  h = (h ^ h >> 13) * p3;
  hashes[i] = h ^ h >> 16;
}

// Marks in a bitmap which values occur: an atomic per value, or one per warp's word where neighbours share it.
__global__ void mark_bitmap(const unsigned* values, unsigned* bitmap, int n, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned v = values[i] >> 3 & mask;
  atomicOr(&bitmap[v / 32], 1u << v % 32);
}
__global__ void bitmap_of_tests(const float* values, unsigned* bitmap, float low, float high) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = values[i];
  const unsigned word = __ballot_sync(~0u, v >= low && v < high);
  if (threadIdx.x % 32 == 0) bitmap[i / 32] = word;
}

// Rows of a dictionary in the order of codes of 16 bits; characters of UTF-8 counted per block.
__global__ void dictionary_decode(const uint16_t* codes, const float2* dictionary, float2* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = dictionary[codes[i] & 4095];
}
__global__ void utf8_count(const uint4* text, int* count, int quads) {
  int own = 0;
  const auto firsts = [](unsigned w) { return __popc(~(w & ~(w << 1)) & 0x80808080u); };
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uint4 v = text[i];
    own += firsts(v.x) + firsts(v.y) + firsts(v.z) + firsts(v.w);
  }
  own = __reduce_add_sync(~0u, own);
  if (threadIdx.x % 32 == 0) atomicAdd(count, own);
}

// Lengths of sorted runs: where a key differs from the one before.
__global__ void run_heads(const int* keys, int* heads, int n) {
  __shared__ int own[257];
  const int i = blockIdx.x * 256 + threadIdx.x;
  own[threadIdx.x + 1] = keys[i] >> 20;
  if (threadIdx.x == 0) own[0] = i ? keys[i - 1] >> 20 : -1;
  __syncthreads();
  const int count = __syncthreads_count(own[threadIdx.x] != own[threadIdx.x + 1]);
  if (threadIdx.x == 0) heads[blockIdx.x] = count;
}

}  // namespace

std::vector<Case> ninth_tables() {
  std::vector<Case> list;
  const Add add = {list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  const auto bytes = [](float* p) { return reinterpret_cast<uint8_t*>(p); };
  const auto pairs = [](float* p) { return reinterpret_cast<float2*>(p); };
  const auto quads = [](float* p) { return reinterpret_cast<uint4*>(p); };
  add("feature_histogram f32", "histograms of features", size_t{6} << 20, [=](const Buffers& b, cudaStream_t s) {
    feature_histogram<float><<<dim3(32, 16), 256, 0, s>>>(bytes(b.in), pairs(b.in2), b.out, 1 << 18, 1 << 13);
  });
  add("feature_histogram fixed", "histograms of features", size_t{6} << 20, [=](const Buffers& b, cudaStream_t s) {
    feature_histogram<unsigned long long><<<dim3(32, 16), 256, 0, s>>>(
        bytes(b.in), pairs(b.in2), reinterpret_cast<unsigned long long*>(b.out), 1 << 18, 1 << 13);
  });
  add("feature_histogram_global", "histograms of features", size_t{6} << 20, [=](const Buffers& b, cudaStream_t s) {
    feature_histogram_global<<<dim3(1024, 16), 256, 0, s>>>(bytes(b.in), pairs(b.in2), b.out, 1 << 18);
  });
  for (const int features : {100, 2000})
    add("best_split " + std::to_string(features), "best_split", size_t{2048} * features,
        [=](const Buffers& b, cudaStream_t s) {
          best_split<<<features, 256, 0, s>>>(pairs(b.in), pairs(b.out), 1.0f);
        });
  for (const int trees : {8, 32})
    add("predict_forest " + std::to_string(trees), "predict_forest", size_t{9} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          predict_forest<<<256, 256, 0, s>>>(b.in, pairs(b.in2), b.out, 1 << 16, 32, trees, 8);
        });
  add("partition_rows", "sorts and partitions", size_t{9} << 20, [=](const Buffers& b, cudaStream_t s) {
    partition_rows<<<4096, 256, 0, s>>>(bytes(b.in2), ints(b.in), ints(b.out), ints(b.out) + (1 << 20), 127);
  });
  add("radix_sort_block", "sorts and partitions", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { radix_sort_block<<<1024, 1024, 0, s>>>(words(b.in), words(b.out), 8); });
  add("odd_even_merge", "sorts and partitions", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    odd_even_merge<<<1024, 512, 0, s>>>(words(b.in), words(b.in2), words(b.out), words(b.out) + (1 << 20));
  });
  add("md5_words", "hashes of blocks", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    md5_words<<<4096, 256, 0, s>>>(words(b.in), reinterpret_cast<uint4*>(b.out), 1 << 20);
  });
  add("adler32", "checksums of strips", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) { adler32<<<512, 128, 0, s>>>(quads(b.in), words(b.out), 1 << 16, 16); });
  add("xxhash32", "checksums of strips", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    xxhash32<<<512, 128, 0, s>>>(quads(b.in), words(b.out), 1 << 16, 16, 7);
  });
  add("xxhash32 long", "checksums of strips", size_t{32} << 20, [=](const Buffers& b, cudaStream_t s) {
    xxhash32<<<64, 128, 0, s>>>(quads(b.in), words(b.out), 1 << 13, 256, 7);
  });
  add("mark_bitmap 1M", "bitmaps", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    mark_bitmap<<<4096, 512, 0, s>>>(words(b.in), words(b.out), 1 << 21, 0xfffff);
  });
  add("mark_bitmap 4096", "bitmaps", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    mark_bitmap<<<4096, 512, 0, s>>>(words(b.in), words(b.out), 1 << 21, 4095);
  });
  add("bitmap_of_tests", "bitmaps", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { bitmap_of_tests<<<4096, 512, 0, s>>>(b.in, words(b.out), 0.25f, 0.5f); });
  add("dictionary_decode", "columns and texts", size_t{10} << 21, [=](const Buffers& b, cudaStream_t s) {
    dictionary_decode<<<1056, 256, 0, s>>>(reinterpret_cast<uint16_t*>(b.in), pairs(b.in2), pairs(b.out), 1 << 21);
  });
  add("utf8_count", "columns and texts", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) { utf8_count<<<528, 256, 0, s>>>(quads(b.in), ints(b.out), 1 << 20); });
  add("run_heads", "columns and texts", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) { run_heads<<<16384, 256, 0, s>>>(ints(b.in), ints(b.out), 1 << 22); });
  return list;
}

}  // namespace calibration
