// Broken: only the threads that saw the list full go to prune(), which has barriers.
// Verdict: synccheck: divergent barrier
// Line: those that hold `<- here`
// Variant: online
// Case: normal-1x4096-k256
#include <cfloat>
#include <cmath>

#include "rung.h"

constexpr int threads = 256;  // per block
constexpr int warps = threads / 32;

// Where a maximum starts: the lowest finite float, so that x - max is -INFINITY and never NaN where all x are
// -INFINITY.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a row that is masked altogether; NaN for NaN. A NaN in the row makes the sum NaN, and so
// does +INFINITY, as INFINITY - INFINITY.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// ---- Keys: a logit and its column as one number that sorts as the result is sorted --------------
//
// Upper 32 bits: the logit, as an unsigned number of the same order. Lower 32 bits: the column, inverted, so that of
// equal logits the lower column has the larger key. No two columns have equal keys, and no column has the key 0.
using Key = unsigned long long;

__device__ Key make_key(float logit, int column) {
  const unsigned bits = __float_as_uint(logit + 0.0f);  // -0 + 0 is +0: they are equal, so they must have the same bits
  const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(ordered) << 32 | ~static_cast<unsigned>(column);
}

__device__ int column_of(Key key) { return static_cast<int>(~static_cast<unsigned>(key)); }

__device__ float logit_of(Key key) {
  const unsigned ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7FFFFFFFu : ~ordered);
}

// ---- Tiles: the row in pieces that a block takes at once ----------------------------------------
//
// Thread t has the columns t, t + 256, t + 512 ... of a tile: neighbours in a warp read neighbours in memory, and a
// thread's eight loads do not wait for each other.
constexpr int per_thread = 8;
constexpr int tile_columns = threads * per_thread;

__device__ int tile_column(int begin, int i) { return begin + i * threads + static_cast<int>(threadIdx.x); }

__device__ float to_float(float logit) { return logit; }
__device__ float to_float(__half logit) { return __half2float(logit); }
__device__ float to_float(__nv_bfloat16 logit) { return __bfloat162float(logit); }

// This thread's logits of the tile that begins at column `begin`. Past the row's end: -INFINITY, which changes neither
// the maximum nor the sum.
template <typename T>
__device__ void load_tile(const T* row, int begin, int cols, float (&tile)[per_thread]) {
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int column = tile_column(begin, i);
    tile[i] = column < cols ? to_float(row[column]) : -INFINITY;
  }
}

__device__ float max_of(const float (&tile)[per_thread], float max) {
#pragma unroll
  for (int i = 0; i < per_thread; ++i) max = fmaxf(max, tile[i]);
  return max;
}

__device__ float sum_of_exp(const float (&tile)[per_thread], float max) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < per_thread; ++i) sum += __expf(tile[i] - max);
  return sum;
}

// ---- Selection: the K largest keys of a stream --------------------------------------------------
//
// Candidates gather in shared memory. Once K of them are known, the K-th largest is the threshold: a key that is not
// above it cannot be in the result. In a long row almost all keys are below, and the one comparison is all that they
// cost.

// Prune as soon as there are this many candidates. That leaves K <= 1024, so the next prune is at least 1024 candidates
// off.
constexpr int prune_at = 2048;
// The threads see that a prune is due only at the end of the tile: up to then the tile may add all its columns.
constexpr int capacity = prune_at + tile_columns;
static_assert((capacity & (capacity - 1)) == 0, "prune() pads to a power of two");

struct Candidates {
  Key keys[capacity];
  int count;
};

// Sorts n keys, n a power of two, with the whole block (bitonic sort): log2(n) * (log2(n) + 1) / 2 rounds, in each of
// them n / 2 pairs that have nothing to do with each other.
__device__ void sort_descending(Key* keys, int n) {
  for (int run = 2; run <= n; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      for (int pair = threadIdx.x; pair < n / 2; pair += threads) {
        const int i = 2 * pair - (pair & (distance - 1));
        const int j = i + distance;
        const bool falling = (i & run) == 0;  // a falling run beside a rising one is what the next `run` starts from
        const Key a = keys[i], b = keys[j];
        if ((a < b) == falling) {
          keys[i] = b;
          keys[j] = a;
        }
      }
      __syncthreads();
    }
  }
}

// Takes a key if it is above the threshold. Returns true if a prune is due.
__device__ bool offer(Candidates& candidates, Key key, Key threshold) {
  if (key <= threshold) return false;
  const int slot = atomicAdd(&candidates.count, 1);
  candidates.keys[slot] = key;
  return slot + 1 >= prune_at;
}

// Sorts the candidates, drops all but the first k and returns the new threshold. All threads must call it, with a
// barrier between the last offer() and the call. On return they may offer again.
__device__ Key prune(Candidates& candidates, int k) {
  const int count = candidates.count;
  const int kept = min(count, k);
  int padded = 1;
  while (padded < count) padded *= 2;
  for (int i = count + threadIdx.x; i < padded; i += threads) candidates.keys[i] = 0;
  __syncthreads();  // <- here
  sort_descending(candidates.keys, padded);
  const Key threshold = kept < k ? 0 : candidates.keys[k - 1];
  if (threadIdx.x == 0) candidates.count = kept;
  __syncthreads();
  return threshold;
}

// Offers the columns of a tile; prunes, and raises the threshold, if that is due.
__device__ void select(Candidates& candidates, const float (&tile)[per_thread], int begin, int cols, int k,
                       Key& threshold) {
  bool due = false;
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int column = tile_column(begin, i);
    if (column < cols && offer(candidates, make_key(tile[i], column), threshold)) due = true;
  }
  __syncthreads();  // <- here
  if (due) threshold = prune(candidates, k);
}

// Writes the row's k outputs.
__device__ void write_result(Candidates& candidates, float max, float sum, int k, int* index, float* prob) {
  prune(candidates, k);
  for (int i = threadIdx.x; i < k; i += threads) {
    const Key key = candidates.keys[i];
    index[i] = column_of(key);
    prob[i] = expf(logit_of(key) - max) * inverse(sum);
  }
}

// ---- The kernels --------------------------------------------------------------------------------

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Folds the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
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

// logits: (rows, cols). index, prob: (rows, k). Block r reads row r of logits and writes row r of index and prob.
template <typename T>
__global__ void online_kernel(const T* __restrict__ logits, int* __restrict__ index, float* __restrict__ prob, int cols,
                              int k) {
  __shared__ Candidates candidates;
  const size_t row = blockIdx.x;
  logits += row * cols;

  if (threadIdx.x == 0) candidates.count = 0;
  __syncthreads();
  float max = lowest, sum = 0.0f;  // of the columns that this thread has seen
  Key threshold = 0;
  for (int begin = 0; begin < cols; begin += tile_columns) {
    float tile[per_thread];
    load_tile(logits, begin, cols, tile);
    const float old_max = max;
    max = max_of(tile, old_max);
    sum = sum * __expf(old_max - max) + sum_of_exp(tile, max);
    select(candidates, tile, begin, cols, k, threshold);
  }
  const float row_max = block_reduce(max, Max());
  const float row_sum = block_reduce(sum * __expf(max - row_max), Add());
  write_result(candidates, row_max, row_sum, k, index + row * k, prob + row * k);
}

template <typename T>
cudaError_t online(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(logits, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  online_kernel<T><<<rows, threads, 0, stream>>>(logits, index, prob, cols, k);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax_topk("online", online<float>))
