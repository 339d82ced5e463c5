// Texts, runs, permutations of words and ciphers.
#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Bytes: words counted, letters made small, four letters to three bytes; runs put out at their length.
__global__ void count_words(const uint8_t* text, int* total, int length) {
  int count = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    const bool now = (text[i] & 31) > 4, before = i > 0 && (text[i - 1] & 31) > 4;
    count += now && !before;
  }
  for (int offset = 16; offset > 0; offset /= 2) count += __shfl_down_sync(~0u, count, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(total, count);
}
__global__ void lower_case(const uint8_t* in, uint8_t* out, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  const uint8_t letter = in[i];
  out[i] = letter >= 'A' && letter <= 'Z' ? letter + 32 : letter;
}
__global__ void base64_decode(const uchar4* in, uint8_t* out, const int* values, int packs) {
  __shared__ uint8_t table[256];
  table[threadIdx.x] = static_cast<uint8_t>(values[threadIdx.x] & 63);
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= packs) return;
  const uchar4 v = in[i];
  const unsigned bits = table[v.x] << 18 | table[v.y] << 12 | table[v.z] << 6 | table[v.w];
  out[3 * i] = bits >> 16, out[3 * i + 1] = bits >> 8, out[3 * i + 2] = bits;
}
__global__ void expand_runs(const int* ends, const int* values, int* out, int runs, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  int low = 0, high = runs - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ends[middle] > i)
      high = middle;
    else
      low = middle + 1;
  }
  out[i] = values[low];
}

// Keccak's permutation of 25 words in registers, and rounds of a block cipher by tables of words.
__global__ void keccak_f(const uint64_t* in, uint64_t* out, int rounds, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t a[25], c[5];
#pragma unroll
  for (int k = 0; k < 25; k++) a[k] = in[k * count + i];
  const auto turned = [](uint64_t v, int by) { return v << by | v >> (64 - by); };
  for (int round = 0; round < rounds; round++) {
#pragma unroll
    for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
    for (int x = 0; x < 5; x++) {
      const uint64_t d = c[(x + 4) % 5] ^ turned(c[(x + 1) % 5], 1);
#pragma unroll
      for (int y = 0; y < 25; y += 5) a[y + x] ^= d;
    }
    uint64_t last = a[1];
    constexpr int places[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
    constexpr int turns[24] = {1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                               27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44};
#pragma unroll
    for (int k = 0; k < 24; k++) {
      const uint64_t held = a[places[k]];
      a[places[k]] = turned(last, turns[k]);
      last = held;
    }
#pragma unroll
    for (int y = 0; y < 25; y += 5) {
#pragma unroll
      for (int x = 0; x < 5; x++) c[x] = a[y + x];
#pragma unroll
      for (int x = 0; x < 5; x++) a[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
    }
    a[0] ^= 0x8000000080008081ull + round;
  }
#pragma unroll
  for (int k = 0; k < 4; k++) out[k * count + i] = a[k];
}
__global__ void cipher_by_tables(const uint4* in, uint4* out, const unsigned* words, const unsigned* keys, int rounds) {
  __shared__ unsigned t[4][256];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) t[0][i] = words[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 s = in[i];
  for (int r = 0; r < rounds; r++) {
    const unsigned a = t[0][s.x & 255] ^ t[1][s.y >> 8 & 255] ^ t[2][s.z >> 16 & 255] ^ t[3][s.w >> 24] ^ keys[4 * r];
    const unsigned b =
        t[0][s.y & 255] ^ t[1][s.z >> 8 & 255] ^ t[2][s.w >> 16 & 255] ^ t[3][s.x >> 24] ^ keys[4 * r + 1];
    const unsigned c =
        t[0][s.z & 255] ^ t[1][s.w >> 8 & 255] ^ t[2][s.x >> 16 & 255] ^ t[3][s.y >> 24] ^ keys[4 * r + 2];
    const unsigned d =
        t[0][s.w & 255] ^ t[1][s.x >> 8 & 255] ^ t[2][s.y >> 16 & 255] ^ t[3][s.z >> 24] ^ keys[4 * r + 3];
    s = make_uint4(a, b, c, d);
  }
  out[i] = s;
}

}  // namespace

std::vector<Case> tenth_texts() {
  std::vector<Case> list;
  const Add add{list};
  const auto bytes = [](float* p) { return reinterpret_cast<uint8_t*>(p); };
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  add("count_words", "texts and runs", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { count_words<<<528, 256, 0, s>>>(bytes(b.in), b.counters, 1 << 22); });
  add("lower_case", "texts and runs", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    lower_case<<<1 << 14, 256, 0, s>>>(bytes(b.in), bytes(b.out), 1 << 22);
  });
  add("base64_decode", "texts and runs", size_t{7} << 20, [=](const Buffers& b, cudaStream_t s) {
    base64_decode<<<4096, 256, 0, s>>>(reinterpret_cast<uchar4*>(b.in), bytes(b.out), b.counters, 1 << 20);
  });
  add(
      "expand_runs", "texts and runs", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        expand_runs<<<2048, 256, 0, s>>>(ints(b.in2), ints(b.in), ints(b.out), 1 << 14, 1 << 19);
      },
      [](const Buffers& b) {
        std::vector<int> ends(1 << 14);
        for (size_t i = 0; i < ends.size(); i++) ends[i] = static_cast<int>(i * 32 + 17 + i % 7);
        cudaMemcpy(b.in2, ends.data(), ends.size() * 4, cudaMemcpyHostToDevice);
      });
  for (const int rounds : {6, 24})
    add("keccak_f " + std::to_string(rounds), "keccak_f", size_t{15} << 20, [=](const Buffers& b, cudaStream_t s) {
      keccak_f<<<512, 128, 0, s>>>(reinterpret_cast<uint64_t*>(b.in), reinterpret_cast<uint64_t*>(b.out), rounds,
                                   1 << 16);
    });
  for (const int rounds : {4, 14})
    add("cipher_by_tables " + std::to_string(rounds), "cipher_by_tables", size_t{4} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          cipher_by_tables<<<512, 256, 0, s>>>(reinterpret_cast<uint4*>(b.in), reinterpret_cast<uint4*>(b.out),
                                               words(b.in2), words(b.in2) + 1024, rounds);
        });
  return list;
}

}  // namespace calibration
