// Methods of data: sorted numbers, bits, transforms, sparse matrices, graphs, states.
#include <algorithm>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Two sorted rows into one: each thread finds where its eight numbers begin, and merges them.
__global__ void merge_path(const float* a, const float* b, float* out, int na, int nb) {
  const int start = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (start >= na + nb) return;
  int low = max(0, start - nb), high = min(start, na);
  while (low < high) {
    const int mid = (low + high) / 2;
    if (a[mid] <= b[start - 1 - mid])
      low = mid + 1;
    else
      high = mid;
  }
  int i = low, j = start - low;
  for (int k = start; k < min(start + 8, na + nb); k++) {
    if (j >= nb || (i < na && a[i] <= b[j]))
      out[k] = a[i++];
    else
      out[k] = b[j++];
  }
}

__device__ unsigned spread(unsigned v) {
  v = (v * 0x00010001u) & 0xFF0000FFu;
  v = (v * 0x00000101u) & 0x0F00F00Fu;
  v = (v * 0x00000011u) & 0xC30C30C3u;
  v = (v * 0x00000005u) & 0x49249249u;
  return v;
}

__global__ void morton_codes(const float* points, unsigned* codes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = fminf(fmaxf(points[3 * i] * 1024.0f, 0.0f), 1023.0f);
  const float y = fminf(fmaxf(points[3 * i + 1] * 1024.0f, 0.0f), 1023.0f);
  const float z = fminf(fmaxf(points[3 * i + 2] * 1024.0f, 0.0f), 1023.0f);
  codes[i] =
      spread(static_cast<unsigned>(x)) * 4 + spread(static_cast<unsigned>(y)) * 2 + spread(static_cast<unsigned>(z));
}

__device__ int common_prefix(const unsigned* codes, int n, int i, int j) {
  if (j < 0 || j >= n) return -1;
  const unsigned a = codes[i], b = codes[j];
  return a == b ? 32 + __clz(i ^ j) : __clz(a ^ b);
}

// A tree over sorted codes, each inner node by itself (Karras).
__global__ void radix_tree(const unsigned* codes, int2* children, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 1) return;
  const int d = common_prefix(codes, n, i, i + 1) > common_prefix(codes, n, i, i - 1) ? 1 : -1;
  const int least = common_prefix(codes, n, i, i - d);
  int most = 2;
  while (common_prefix(codes, n, i, i + most * d) > least) most *= 2;
  int length = 0;
  for (int t = most / 2; t >= 1; t /= 2) {
    if (common_prefix(codes, n, i, i + (length + t) * d) > least) length += t;
  }
  const int j = i + length * d, node = common_prefix(codes, n, i, j);
  int split = 0, t = length;
  do {
    t = (t + 1) / 2;
    if (common_prefix(codes, n, i, i + (split + t) * d) > node) split += t;
  } while (t > 1);
  const int gamma = i + split * d + min(d, 0);
  children[i] = make_int2(min(i, j) == gamma ? ~gamma : gamma, max(i, j) == gamma + 1 ? ~(gamma + 1) : gamma + 1);
}

// A Bloom filter: is a key perhaps there?
__global__ void bloom_query(const unsigned* keys, const unsigned* bits, unsigned char* found, int n, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h1 = keys[i] * 0xcc9e2d51u, h2 = keys[i] * 0x1b873593u | 1u;
  h1 ^= h1 >> 15;
  bool all = true;
  for (int k = 0; k < 5 && all; k++) {
    const unsigned h = (h1 + k * h2) & mask;
    all = bits[h >> 5] >> (h & 31) & 1;
  }
  found[i] = all;
}

__global__ void bit_reversal(const float2* in, float2* out, int bits) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[__brev(i) >> (32 - bits)] = in[i];
}

// A transform of 1024 numbers per block in shared memory, two per thread, radix 2.
__global__ void fft1024(const float2* in, float2* out) {
  __shared__ float2 s[1024];
  const int t = threadIdx.x, base = blockIdx.x * 1024;
  s[__brev(t) >> 22] = in[base + t];
  s[__brev(t + 512) >> 22] = in[base + t + 512];
  __syncthreads();
  for (int half = 1; half < 1024; half *= 2) {
    const int k = t % half, i = t / half * 2 * half + k;
    float sn, cs;
    __sincosf(-3.14159265f * k / half, &sn, &cs);
    const float2 a = s[i], b = s[i + half];
    const float2 p = make_float2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
    s[i] = make_float2(a.x + p.x, a.y + p.y);
    s[i + half] = make_float2(a.x - p.x, a.y - p.y);
    __syncthreads();
  }
  out[base + t] = s[t];
  out[base + t + 512] = s[t + 512];
}

// A sparse matrix by its diagonals.
__global__ void spmv_dia(int rows, int cols, int diagonals, const int* offsets, const float* data, const float* x,
                         float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float dot = 0;
  for (int n = 0; n < diagonals; n++) {
    const int col = row + offsets[n] - 512;
    const float val = data[rows * n + row];
    if (col >= 0 && col < cols) dot += val * x[col];
  }
  y[row] = dot;
}

// A round of colouring a graph of eight neighbours per node: nodes above all of their neighbours.
__global__ void colour_maxima(const int* neighbours, const float* priority, int* colour, int n, int round) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float mine = priority[i];
  bool largest = true;
  for (int k = 0; k < 8; k++) {
    const int j = neighbours[8 * i + k];
    if (j != i && priority[j] > mine) {
      largest = false;
      break;
    }
  }
  if (largest) colour[i] = round;
}

// Bellman and Ford: every edge once.
__global__ void relax_edges(const int* from_to, const int* weight, const int* distance, int* next, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const int from = from_to[2 * e], to = from_to[2 * e + 1];
  const int d = (distance[from] & 0xffffff) + (weight[e] & 255);
  if (d < (distance[to] & 0xffffff)) atomicMin(&next[to], d);
}

// How likely each point is in each of K clusters.
__global__ void mixture_step(const float* points, const float* means, const float* variances, float* out, int n, int K,
                             int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float most = -1e30f;
  for (int k = 0; k < K; k++) {
    float sum = 0.0f;
    for (int d = 0; d < D; d++) {
      const float diff = points[d * n + i] - means[k * D + d], v = variances[k * D + d] + 0.1f;
      sum += diff * diff / v + logf(v);
    }
    out[k * n + i] = -0.5f * sum;
    most = fmaxf(most, -0.5f * sum);
  }
  float total = 0.0f;
  for (int k = 0; k < K; k++) total += expf(out[k * n + i] - most);
  for (int k = 0; k < K; k++) out[k * n + i] = expf(out[k * n + i] - most) / total;
}

__device__ float radical_inverse(int base, unsigned i) {
  float f = 1.0f, r = 0.0f;
  while (i > 0) {
    f /= base;
    r += f * (i % base);
    i /= base;
  }
  return r;
}

__global__ void halton(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[3 * i] = radical_inverse(2, i + 1);
  out[3 * i + 1] = radical_inverse(3, i + 1);
  out[3 * i + 2] = radical_inverse(5, i + 1);
}

// Viterbi's step for many sequences: the best of S earlier states for each.
__global__ void viterbi(const float* before, const float* transition, const float* emission, float* after, int* back,
                        int S) {
  extern __shared__ float score[];
  const int s = threadIdx.x, base = blockIdx.x * S;
  score[s] = before[base + s];
  __syncthreads();
  float best = -1e30f;
  int from = 0;
  for (int p = 0; p < S; p++) {
    const float value = score[p] + transition[p * S + s];
    if (value > best) {
      best = value;
      from = p;
    }
  }
  after[base + s] = best + emission[base + s];
  back[base + s] = from;
}

// Numbers of 11 bits, packed, to words.
__global__ void unpack11(const unsigned* packed, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned bit = i * 11u, word = bit >> 5, shift = bit & 31;
  const unsigned long long both = packed[word] | static_cast<unsigned long long>(packed[word + 1]) << 32;
  out[i] = static_cast<unsigned>(both >> shift) & 2047u;
}

// Sorted numbers in the first and the second half of in2.
void sorted_halves(const Buffers& b) {
  std::vector<float> values(1 << 21);
  unsigned state = 5;
  for (float& v : values) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f;
  std::sort(values.begin(), values.begin() + (1 << 20));
  std::sort(values.begin() + (1 << 20), values.end());
  cudaMemcpy(b.in2, values.data(), values.size() * 4, cudaMemcpyHostToDevice);
}

void sorted_codes(const Buffers& b) {
  std::vector<unsigned> codes(1 << 18);
  unsigned state = 3;
  for (unsigned& c : codes) c = (state = state * 1664525u + 1013904223u) >> 2;
  std::sort(codes.begin(), codes.end());
  cudaMemcpy(b.in2, codes.data(), codes.size() * 4, cudaMemcpyHostToDevice);
}

}  // namespace

std::vector<Case> seventh_data() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  const auto twos = [](float* p) { return reinterpret_cast<float2*>(p); };
  add(
      "merge_path", "sorted", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        merge_path<<<1024, 256, 0, s>>>(b.in2, b.in2 + (1 << 20), b.out, 1 << 20, 1 << 20);
      },
      sorted_halves);
  add(
      "radix_tree", "sorted", size_t{12} << 18,
      [=](const Buffers& b, cudaStream_t s) {
        radix_tree<<<1024, 256, 0, s>>>(words(b.in2), reinterpret_cast<int2*>(b.out), 1 << 18);
      },
      sorted_codes);
  add("morton_codes", "bits", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) { morton_codes<<<4096, 256, 0, s>>>(b.in, words(b.out), 1 << 20); });
  add("unpack11", "bits", size_t{6} << 22,
      [=](const Buffers& b, cudaStream_t s) { unpack11<<<16384, 256, 0, s>>>(words(b.in), words(b.out), 1 << 22); });
  add("bloom_query", "bits", size_t{5} << 21, [=](const Buffers& b, cudaStream_t s) {
    bloom_query<<<4096, 256, 0, s>>>(words(b.in), words(b.in2), reinterpret_cast<unsigned char*>(b.out), 1 << 20,
                                     (1u << 24) - 1);
  });
  add("bit_reversal", "transforms", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) { bit_reversal<<<4096, 256, 0, s>>>(twos(b.in), twos(b.out), 20); });
  add("fft1024", "transforms", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) { fft1024<<<1024, 512, 0, s>>>(twos(b.in), twos(b.out)); });
  add("spmv_dia 15", "sparse", size_t{68} << 17, [=](const Buffers& b, cudaStream_t s) {
    spmv_dia<<<512, 256, 0, s>>>(1 << 17, 1 << 17, 15, b.counters, b.in, b.in2, b.out);
  });
  add(
      "colour_maxima", "graphs", size_t{40} << 17,
      [=](const Buffers& b, cudaStream_t s) {
        colour_maxima<<<512, 256, 0, s>>>(ints(b.in2), b.in, ints(b.out), 1 << 17, 1);
      },
      indices(8 << 17, 1 << 17));
  add(
      "relax_edges", "graphs", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        relax_edges<<<4096, 256, 0, s>>>(ints(b.in2), ints(b.in), ints(b.in) + (1 << 20), ints(b.out), 1 << 20);
      },
      indices(2 << 20, 1 << 17));
  add("mixture_step 8", "clusters", size_t{64} << 17, [=](const Buffers& b, cudaStream_t s) {
    mixture_step<<<512, 256, 0, s>>>(b.in, b.in2, b.in2 + 64, b.out, 1 << 17, 8, 8);
  });
  add("halton", "random numbers", size_t{12} << 18,
      [=](const Buffers& b, cudaStream_t s) { halton<<<1024, 256, 0, s>>>(b.out, 1 << 18); });
  add("viterbi 128", "states", size_t{16} << 17, [=](const Buffers& b, cudaStream_t s) {
    viterbi<<<1024, 128, 512, s>>>(b.in, b.in2, b.in + (1 << 17), b.out, ints(b.out) + (1 << 17), 128);
  });
  return list;
}

}  // namespace calibration
