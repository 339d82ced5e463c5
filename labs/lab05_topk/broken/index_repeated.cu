// Broken: the selection moves on by half a portion at a time: it is offered the other half twice.
// Verdict: index repeated
// Variant: three_pass
// Case: normal-7x4096-k50
#include <cfloat>
#include <cmath>

#include "rung.h"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#include <cooperative_groups.h>
#endif

constexpr int max_threads = 512;  // of a block; always whole warps

// Where a maximum starts: the lowest finite float, so that x - max is -INFINITY and never NaN where all x are
// -INFINITY.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. A NaN in the row makes the sum NaN. So does +INFINITY,
// because INFINITY - INFINITY is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// exp(x). __expf, without the three instructions that it spends on results below 2^-126: those are 0 here.
__device__ float fast_exp(float x) {
#ifdef __SIMT__
  return __expf(x);
#else
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.44269504f));  // 2 to the power of x * log2(e)
  return power;
#endif
}

__device__ float to_float(float logit) { return logit; }
__device__ float to_float(__half logit) { return __half2float(logit); }
__device__ float to_float(__nv_bfloat16 logit) { return __bfloat162float(logit); }

struct Max {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return b > a ? b : a;  // a where b is NaN
  }
};
struct Add {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
template <typename T, typename Op>
__device__ T block_reduce(T mine, Op op) {
  __shared__ T of_warp[max_threads / 32];
  for (int offset = 16; offset > 0; offset /= 2) mine = op(mine, __shfl_xor_sync(0xFFFFFFFF, mine, offset));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  T all = of_warp[0];
  for (int w = 1; w < static_cast<int>(blockDim.x) / 32; ++w) all = op(all, of_warp[w]);
  __syncthreads();  // or the next call could overwrite of_warp before a slow warp has read it
  return all;
}

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

// NaN for the keys 0 and 1.
__device__ float logit_of(Key key) {
  const unsigned ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7FFFFFFFu : ~ordered);
}

// ---- Selection: the K largest keys of a stream --------------------------------------------------
//
// Candidates gather in shared memory. A threshold is a key such that at least K of the row's keys are known to be at or
// above it. A key below it cannot be in the result. In a long row almost all keys are below it, and each of them costs
// one comparison.
constexpr int capacity = 1536;

// The threshold while none is known: every column's key is at or above it. Key 0, which stands for no column, is not.
constexpr Key no_threshold = 1;

struct Candidates {
  Key keys[capacity];
  int count;
};

// Takes a key if it reaches the threshold. There must be room.
__device__ void offer(Candidates& candidates, Key key, Key threshold) {
  if (key < threshold) return;
  const int slot = atomicAdd(&candidates.count, 1);
  candidates.keys[slot] = key;
}

// The largest key, to within `finest`, that at least k of some keys reach; or an earlier one that no more than `most`
// of them reach; but never less than low, which must be a threshold already. count(key): how many of the keys reach it;
// all threads must call it together, and get the same answer.
template <typename Count>
__device__ Key find_threshold(Key low, Key finest, int k, int most, Count count) {
  if (count(low) <= most) return low;
  Key found = low, step = Key(1) << 56;  // of the logit's bits the upper 8, sign and most of the exponent, are above it
  if (count(low + 2 * step) >= k) {      // it is far away: look everywhere
    found = 0;
    step = Key(1) << 63;
  }
  for (; step >= finest; step /= 2) {
    const int reaching = count(found + step);
    if (reaching < k) continue;
    found += step;
    if (reaching <= most) break;
  }
  return max(found, low);
}

// Drops candidates until at most `most` are left, the k largest among them; k <= most <= rung::max_k. Returns the
// threshold that follows, at least the one given. All threads must call it, after a barrier that follows the last
// offer().
__device__ Key prune(Candidates& candidates, int k, int most, Key threshold) {
  const int count = candidates.count;
  __syncthreads();
  if (count <= most) return threshold;
  threshold = find_threshold(threshold, 1, k, most, [&](Key key) {
    int reaching = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) reaching += candidates.keys[i] >= key;
    return block_reduce(reaching, Add());
  });
  if (threadIdx.x == 0) candidates.count = 0;
  for (int begin = 0; begin < count; begin += blockDim.x) {
    const int i = begin + static_cast<int>(threadIdx.x);
    const Key key = i < count ? candidates.keys[i] : 0;
    __syncthreads();  // the keys up to here have been read: their slots are free
    offer(candidates, key, threshold);
  }
  __syncthreads();
  return threshold;
}

// Offers key_of(0) to key_of(n - 1). Returns the threshold, raised if there was a prune. All threads must call it,
// after a barrier that follows the last offer(); it ends with one.
template <typename KeyOf>
__device__ Key offer_all(Candidates& candidates, int n, int k, Key threshold, KeyOf key_of) {
  const int most = min(2 * k, rung::max_k);        // after a prune
  const int portion = min(1024, capacity - most);  // for so many there is then room
  for (int begin = 0; begin < n; begin += portion / 2) {
    const bool due = candidates.count > capacity - portion;
    __syncthreads();
    if (due) threshold = prune(candidates, k, most, threshold);
    const int end = min(n, begin + portion);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) offer(candidates, key_of(i), threshold);
    __syncthreads();
  }
  return threshold;
}

// Sorts n keys, n a power of two, with the whole block (bitonic sort): log2(n) * (log2(n) + 1) / 2 rounds, in each of
// them n / 2 pairs that have nothing to do with each other.
__device__ void sort_descending(Key* keys, int n) {
  for (int run = 2; run <= n; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      for (int pair = threadIdx.x; pair < n / 2; pair += blockDim.x) {
        const int i = 2 * pair - (pair & (distance - 1));
        const int j = i + distance;
        const bool falling = (i & run) == 0;  // a falling run beside a rising one is what the next `run` starts from
        const Key a = keys[i], b = keys[j];
        if ((a < b) == falling) {
          keys[i] = b;
          keys[j] = a;
        }
      }
      // A warp's 32 pairs lie in 64 neighbouring keys: up to distance 32 it need not wait for other warps, until the
      // next round has a longer one.
      if (distance > 32 || (distance == 1 && run > 32)) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();
}

// Writes the row's k outputs. max, sum: of the whole row.
__device__ void write_result(Candidates& candidates, Key threshold, float max, float sum, int k, int* index,
                             float* prob) {
  int most = 128;  // to sort so many is no more work than to find the threshold for fewer
  while (most < k) most *= 2;
  prune(candidates, k, most, threshold);
  int padded = 1;
  while (padded < candidates.count) padded *= 2;
  for (int i = candidates.count + threadIdx.x; i < padded; i += blockDim.x) candidates.keys[i] = 0;
  __syncthreads();
  sort_descending(candidates.keys, padded);
  for (int i = threadIdx.x; i < k; i += blockDim.x) {
    const Key key = candidates.keys[i];
    index[i] = column_of(key);
    prob[i] = expf(logit_of(key) - max) * inverse(sum);
  }
}

// ---- three_pass ---------------------------------------------------------------------------------

// logits: (rows, cols). index, prob: (rows, k). Block r reads row r of logits and writes row r of index and prob.
template <typename T>
__global__ void three_pass_kernel(const T* __restrict__ logits, int* __restrict__ index, float* __restrict__ prob,
                                  int cols, int k) {
  __shared__ Candidates candidates;
  const size_t row = blockIdx.x;
  logits += row * cols;

  float max = lowest;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) max = fmaxf(max, to_float(logits[c]));
  max = block_reduce(max, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += __expf(to_float(logits[c]) - max);
  sum = block_reduce(sum, Add());

  if (threadIdx.x == 0) candidates.count = 0;
  __syncthreads();
  const Key threshold =
      offer_all(candidates, cols, k, no_threshold, [&](int c) { return make_key(to_float(logits[c]), c); });
  write_result(candidates, threshold, max, sum, k, index + row * k, prob + row * k);
}

template <typename T>
cudaError_t three_pass(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(logits, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;  // a grid of no blocks would be an error
  three_pass_kernel<T><<<rows, 256, 0, stream>>>(logits, index, prob, cols, k);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax_topk("three_pass", three_pass<float>))
