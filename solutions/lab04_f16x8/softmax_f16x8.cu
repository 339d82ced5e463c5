// Lab 04: softmax of halves. Two bytes per element in memory, fp32 arithmetic in registers.
//
// One kernel: a block of 256 threads works on one row, in two passes; (max, sum) online, then exp(x - max) / sum. The
// variants differ in one thing, the bytes that a thread moves with one load or store:
//
//   f16     one half: a warp's request moves 64 bytes
//   f16x2   two halves, a __half2: 128 bytes per request
//   f16x8   eight halves, one 128-bit word: 512 bytes per request, an eighth of f16's memory instructions
//
// Any width, any misalignment.
#include <cfloat>
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // f16: 32-byte sectors that a warp requests when its threads load 32 neighbouring halves.
    {"half_sectors", 32 * 2 / 32},
    // f16x8: the same for 32 neighbouring packs of eight halves.
    {"pack_sectors", 32 * 16 / 32},
    // f16x8, V = 8000: sector bytes of all loads of one row.
    {"two_pass_bytes", 2 * 8000 * 2},
    // f16x8, V = 1001, where rows are not aligned: store instructions per row, of all warps together.
    {"odd_row_stores", 4 + 1},
    // f16x8, 4096 x 4096 on an H200: microseconds. A factor of 1.5 counts as right.
    {"f16x8_us", 2 * 4096 * 4096 * 2 / 4255e3 * 1.2},
    // f16, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"f16_limit", rung::limit::issue})
// END 0

constexpr int threads = 256;  // per block
constexpr int warps = threads / 32;

// Where a maximum starts: the lowest finite float, so that x - max is -INFINITY and never NaN where all x are
// -INFINITY.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. A NaN in the row makes the sum NaN. So does +INFINITY,
// because INFINITY - INFINITY is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// ---- A pack: neighbouring halves that one access moves ------------------------------------------
//
// A half is a way to store a number, not to compute with it: load() widens to fp32, store() rounds, and a result is
// rounded only that once. The address must be a multiple of the bytes moved. For 1 and 2 halves:

__device__ void load(const __half* from, float (&pack)[1]) { pack[0] = __half2float(*from); }

__device__ void load(const __half* from, float (&pack)[2]) {
  const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(from));
  pack[0] = pair.x;
  pack[1] = pair.y;
}

__device__ void store(__half* to, const float (&pack)[1]) { *to = __float2half_rn(pack[0]); }

__device__ void store(__half* to, const float (&pack)[2]) {
  *reinterpret_cast<__half2*>(to) = __floats2half2_rn(pack[0], pack[1]);
}

// Two halves in a 32-bit word, the one at the lower address in the lower 16 bits: to floats and back.
__device__ float2 widen(unsigned word) {
  const __half low = __ushort_as_half(static_cast<unsigned short>(word & 0xFFFF));
  const __half high = __ushort_as_half(static_cast<unsigned short>(word >> 16));
  return make_float2(__half2float(low), __half2float(high));
}

__device__ unsigned narrow(float low, float high) {
  const unsigned low_bits = __half_as_ushort(__float2half_rn(low));
  const unsigned high_bits = __half_as_ushort(__float2half_rn(high));
  return high_bits << 16 | low_bits;
}

// from: a multiple of 16 bytes.
__device__ void load(const __half* from, float (&pack)[8]) {
  // STEP 1: one 16-byte load of a uint4; each of its four words holds two halves.
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const float2 pairs[4] = {widen(words.x), widen(words.y), widen(words.z), widen(words.w)};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    pack[2 * i] = pairs[i].x;
    pack[2 * i + 1] = pairs[i].y;
  }
  // END 1
}

// to: a multiple of 16 bytes.
__device__ void store(__half* to, const float (&pack)[8]) {
  // STEP 2: four words of two halves each, then one 16-byte store.
  *reinterpret_cast<uint4*>(to) = make_uint4(narrow(pack[0], pack[1]), narrow(pack[2], pack[3]),
                                             narrow(pack[4], pack[5]), narrow(pack[6], pack[7]));
  // END 2
}

// ---- (max, sum) in one pass ---------------------------------------------------------------------

struct MaxSum {
  float max;
  float sum;  // of exp(x - max) over the elements seen
};

// Adds a pack of elements to those seen.
template <int Width>
__device__ void absorb(MaxSum& seen, const float (&pack)[Width]) {
  // STEP 3: the maximum of the whole pack first, so that the old sum is rescaled once per pack and not once per element.
  float max = seen.max;
#pragma unroll
  for (int i = 0; i < Width; ++i) max = fmaxf(max, pack[i]);
  float sum = seen.sum * __expf(seen.max - max);
#pragma unroll
  for (int i = 0; i < Width; ++i) sum += __expf(pack[i] - max);
  seen.max = max;
  seen.sum = sum;
  // END 3
}

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
template <typename Op>
__device__ float block_reduce(float mine, Op op) {
  __shared__ float of_warp[warps];
  for (int offset = 16; offset > 0; offset /= 2) mine = op(mine, __shfl_xor_sync(0xFFFFFFFF, mine, offset));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  float all = of_warp[0];
  for (int w = 1; w < warps; ++w) all = op(all, of_warp[w]);
  __syncthreads();  // or the next call could overwrite of_warp before a slow warp has read it
  return all;
}

// ---- A row: head, packs, tail -------------------------------------------------------------------

// A row of `cols` halves as `head` single halves up to the first address that an access of Width halves may have,
// `packs` groups of Width, and `tail` single halves: at most (Width - 1) + (Width - 1) singles.
struct Split {
  int head, packs, tail;
};

// start: the row's first element, counted from the beginning of the matrix, which is a multiple of 256 bytes in memory.
// x and y begin alike, so one split serves the row of x and the row of y.
template <int Width>
__device__ Split split_row(size_t start, int cols) {
  // STEP 4: halves up to the next multiple of Width, but no more than the row has; then all whole packs; then the rest.
  int head = static_cast<int>((Width - start % Width) % Width);
  if (head > cols) head = cols;
  const int packs = (cols - head) / Width;
  const int tail = cols - head - Width * packs;
  // END 4
  return {head, packs, tail};
}

// The column of the single half of thread t, head and tail counted through; -1 if it has none.
template <int Width>
__device__ int single_column(Split split, int t) {
  if (t < split.head) return t;
  if (t < split.head + split.tail) return t + Width * split.packs;
  return -1;
}

template <int Width>
__device__ void normalise(float (&pack)[Width], float max, float scale) {
#pragma unroll
  for (int i = 0; i < Width; ++i) pack[i] = __expf(pack[i] - max) * scale;
}

// x, y: (rows, cols), both aligned to 256 bytes. Block r turns row r of x into row r of y.
template <int Width>
__global__ void softmax_kernel(const __half* __restrict__ x, __half* __restrict__ y, int cols) {
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  const Split split = split_row<Width>(start, cols);
  x += start;
  y += start;
  const int column = single_column<Width>(split, threadIdx.x);

  // First pass: the row's (max, sum). A load needs no result of the pack before it; unrolling puts two in flight.
  MaxSum mine = {lowest, 0.0f};
  if (column >= 0) {
    float single[1];
    load(x + column, single);
    absorb(mine, single);
  }
  const __half* x_packs = x + split.head;
#pragma unroll 2
  for (int p = threadIdx.x; p < split.packs; p += threads) {
    float pack[Width];
    load(x_packs + Width * p, pack);
    absorb(mine, pack);
  }
  const float max = block_reduce(mine.max, Max());
  const float scale = inverse(block_reduce(mine.sum * __expf(mine.max - max), Add()));

  // STEP 5: the row again, while it is still in a cache, and the one rounding to half.
  if (column >= 0) {
    float single[1];
    load(x + column, single);
    normalise(single, max, scale);
    store(y + column, single);
  }
  __half* y_packs = y + split.head;
#pragma unroll 2
  for (int p = threadIdx.x; p < split.packs; p += threads) {
    float pack[Width];
    load(x_packs + Width * p, pack);
    normalise(pack, max, scale);
    store(y_packs + Width * p, pack);
  }
  // END 5
}

template <int Width>
cudaError_t launch(const __half* x, __half* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  // STEP 6: a block per row.
  softmax_kernel<Width><<<rows, threads, 0, stream>>>(x, y, cols);
  // END 6
  return cudaGetLastError();
}

cudaError_t f16(const __half* x, __half* y, int rows, int cols, cudaStream_t stream) {
  return launch<1>(x, y, rows, cols, stream);
}

cudaError_t f16x2(const __half* x, __half* y, int rows, int cols, cudaStream_t stream) {
  return launch<2>(x, y, rows, cols, stream);
}

cudaError_t f16x8(const __half* x, __half* y, int rows, int cols, cudaStream_t stream) {
  return launch<8>(x, y, rows, cols, stream);
}

RUNG_EXPORT(rung::softmax("f16", f16), rung::softmax("f16x2", f16x2), rung::softmax("f16x8", f16x8))
