// Broken: where a vector brings a new maximum, the sum so far is not scaled down to it.
// Verdict: far off
// Variant: online
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
  for (int begin = 0; begin < n; begin += portion) {
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

// ---- Tiles: the row in pieces that a block takes at once ----------------------------------------
//
// A vector is the 16 bytes of one load: 4 or 8 logits. Thread t has the vectors t, t + threads, ... of a tile:
// neighbours in a warp read neighbours in memory, and a thread's four loads do not wait for each other.
constexpr int per_thread = 4;

template <typename T>
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // logits in a vector

template <typename T>
struct Tile {
  uint4 vector[per_thread];
  float top[per_thread];  // the largest logit of each
};

template <typename T>
__device__ int tile_columns() {
  return per_thread * static_cast<int>(blockDim.x) * lanes<T>;
}

// The column of the first logit of this thread's i-th vector, in the tile that begins at column `begin`.
template <typename T>
__device__ int column_of_vector(int begin, int i) {
  return begin + (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * lanes<T>;
}

// Two logits in a 32-bit word, the one at the lower address in the lower 16 bits.
__device__ float2 widen(unsigned word, __half) { return __half22float2(*reinterpret_cast<const __half2*>(&word)); }
__device__ float2 widen(unsigned word, __nv_bfloat16) {
  return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xFFFF0000u));
}

template <typename T>
__device__ void unpack(uint4 vector, float (&x)[8]) {
  const float2 pairs[4] = {widen(vector.x, T()), widen(vector.y, T()), widen(vector.z, T()), widen(vector.w, T())};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = pairs[i].x;
    x[2 * i + 1] = pairs[i].y;
  }
}

template <typename T>
__device__ void unpack(uint4 vector, float (&x)[4]) {
  x[0] = __uint_as_float(vector.x);
  x[1] = __uint_as_float(vector.y);
  x[2] = __uint_as_float(vector.z);
  x[3] = __uint_as_float(vector.w);
}

// The vector at `column`, an address that 16 divides, of which the row may have only a part, or nothing. The rest is
// -INFINITY, which changes neither the maximum nor the sum.
template <typename T>
__device__ uint4 load_vector(const T* row, int column, int cols) {
  if (column >= 0 && column + lanes<T> <= cols) return *reinterpret_cast<const uint4*>(row + column);
  alignas(16) T part[lanes<T>];
#pragma unroll
  for (int i = 0; i < lanes<T>; ++i) {
    const bool inside = column + i >= 0 && column + i < cols;
    part[i] = inside ? row[column + i] : static_cast<T>(-INFINITY);
  }
  return *reinterpret_cast<const uint4*>(part);
}

// This thread's vectors of the tile that begins at column `begin`, of a row that ends before `end`.
template <typename T>
__device__ void load_tile(const T* row, int begin, int end, Tile<T>& tile) {
  if (begin >= 0 && begin + tile_columns<T>() <= end) {  // almost always, and then nothing else must be asked
#pragma unroll
    for (int i = 0; i < per_thread; ++i)
      tile.vector[i] = *reinterpret_cast<const uint4*>(row + column_of_vector<T>(begin, i));
  } else {
#pragma unroll
    for (int i = 0; i < per_thread; ++i) tile.vector[i] = load_vector(row, column_of_vector<T>(begin, i), end);
  }
}

// What a thread has seen so far. Its vectors belong to one group, or to four that take turns.
template <int Groups>
struct Seen {
  float max = lowest;
  float sum = 0.0f;    // of exp(x - max)
  float best[Groups];  // the largest logit of each group
};

// Brings `seen` up to date, and notes the largest logit of each vector.
template <typename T, int Groups>
__device__ void absorb(Seen<Groups>& seen, Tile<T>& tile) {
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    float x[lanes<T>];
    unpack<T>(tile.vector[v], x);
    float top = x[0];
#pragma unroll
    for (int i = 1; i < lanes<T>; ++i) top = fmaxf(top, x[i]);
    if (top > seen.max) {  // seldom, after the first tiles
      seen.max = top;
    }
#pragma unroll
    for (int i = 0; i < lanes<T>; ++i) seen.sum += fast_exp(x[i] - seen.max);
    seen.best[v % Groups] = fmaxf(seen.best[v % Groups], top);
    tile.top[v] = top;
  }
}

// ---- Thresholds and hits ------------------------------------------------------------------------

// A threshold from what the threads have seen. Their groups' maxima belong to different columns: if k of them reach a
// logit, k columns do. And few columns more than that do, as long as k is well below the number of groups. All threads
// must call it.
template <int Groups>
__device__ Key raise(const Seen<Groups>& seen, int k, Key threshold) {
  Key best[Groups];
#pragma unroll
  for (int g = 0; g < Groups; ++g) best[g] = make_key(seen.best[g], 0);
  const Key finest = Key(1) << 49;  // of the logit: sign, exponent and the upper 6 bits of the fraction
  return find_threshold(threshold, finest, k, k + k / 8 + 3, [&](Key key) {
    int reaching = 0;
#pragma unroll
    for (int g = 0; g < Groups; ++g) reaching += __syncthreads_count(best[g] >= key);
    return reaching;
  });
}

// Vectors with a logit at or above the threshold are only appended to a buffer. Most lanes of a warp would have to wait
// while one processes its logits. That is done in bulk later, with one thread per logit.
constexpr int max_hits = 512;

template <typename T>
struct Hits {
  uint4 vector[max_hits];
  int column[max_hits];  // of the vector's first logit
  int count;             // may be more: those found no room
};

// Sets this thread's hits of a tile aside. waiting: bit v is set for each vector v that is still to be looked at.
// Returns false if there was no room for some thread's; those are still waiting. All threads must call it.
template <typename T>
__device__ bool set_aside(Hits<T>& hits, const Tile<T>& tile, int begin, Key threshold, unsigned& waiting) {
  const float least = logit_of(threshold);
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    if (!(waiting >> v & 1)) continue;
    if (!(tile.top[v] < least)) {  // also where there is no threshold yet, and where logits are NaN
      const int slot = atomicAdd(&hits.count, 1);
      if (slot >= max_hits) continue;
      hits.vector[slot] = tile.vector[v];
      hits.column[slot] = column_of_vector<T>(begin, v);
    }
    waiting &= ~(1u << v);
  }
  return !__syncthreads_or(waiting);
}

// Offers the logits of all hits that lie before column `end`, and forgets the hits. Returns the threshold. All threads
// must call it, after a barrier that follows the last set_aside().
template <typename T>
__device__ Key offer_hits(Candidates& candidates, Hits<T>& hits, int end, int k, Key threshold) {
  const int count = min(hits.count, max_hits);
  __syncthreads();
  if (threadIdx.x == 0) hits.count = 0;
  const T* logits = reinterpret_cast<const T*>(hits.vector);
  const float least = logit_of(threshold);
  return offer_all(candidates, count * lanes<T>, k, threshold, [&](int i) -> Key {
    const int column = hits.column[i / lanes<T>] + i % lanes<T>;
    const float logit = to_float(logits[i]);
    return logit < least || column < 0 || column >= end ? 0 : make_key(logit, column);
  });
}

// ---- Clusters: several blocks for one row, where there are few rows -----------------------------
//
// From compute capability 9.0 on the blocks of a cluster can read each other's shared memory. Elsewhere, and on the
// CPU, every cluster is a single block.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ int cluster_size() { return static_cast<int>(cooperative_groups::this_cluster().num_blocks()); }
__device__ int cluster_rank() { return static_cast<int>(cooperative_groups::this_cluster().block_rank()); }
__device__ void cluster_sync() { cooperative_groups::this_cluster().sync(); }
template <typename S>
__device__ const S& in_block(int rank, S& mine) {  // the same variable of another block
  return *cooperative_groups::this_cluster().map_shared_rank(&mine, rank);
}
#else
__device__ int cluster_size() { return 1; }
__device__ int cluster_rank() { return 0; }
__device__ void cluster_sync() {}
template <typename S>
__device__ const S& in_block(int, S& mine) {
  return mine;
}
#endif

// What the blocks of a cluster tell each other of their parts of a row.
struct Part {
  float max, sum;
  Key threshold;
};

// Adds the other blocks' candidates to those of the first block, and makes max and sum those of the whole row. All
// threads of all blocks must call it. Returns true in the first block, which then has the result.
__device__ bool merge_cluster(Candidates& candidates, int k, Key& threshold, float& max, float& sum) {
  __shared__ Part part;
  const int size = cluster_size();
  if (size == 1) return true;
  const int most = min(k + 32, rung::max_k);
  threshold = prune(candidates, k, most, threshold);
  if (threadIdx.x == 0) part = {max, sum, threshold};
  cluster_sync();
  if (cluster_rank() == 0) {
    Part other = {lowest, 0.0f, no_threshold};
    if (static_cast<int>(threadIdx.x) < size) other = in_block(threadIdx.x, part);
    max = block_reduce(other.max, Max());
    sum = block_reduce(other.sum * __expf(other.max - max), Add());
    threshold = block_reduce(other.threshold, Max());  // what is true of a part is true of the row
    threshold = offer_all(candidates, (size - 1) * most, k, threshold, [&](int i) -> Key {
      const Candidates& theirs = in_block(1 + i / most, candidates);
      return i % most < theirs.count ? theirs.keys[i % most] : 0;
    });
  }
  cluster_sync();  // nobody may leave while its shared memory is read
  return cluster_rank() == 0;
}

// ---- online -------------------------------------------------------------------------------------

// logits: (rows, cols), aligned to 16 bytes. index, prob: (rows, k). Cluster r reads row r of logits and writes row r
// of index and prob.
template <typename T, int Groups>
__global__ void __launch_bounds__(max_threads, 2)  // at most 64 registers
    online_kernel(const T* __restrict__ logits, int* __restrict__ index, float* __restrict__ prob, int cols, int k) {
  __shared__ Candidates candidates;
  __shared__ Hits<T> hits;
  const size_t row = blockIdx.x / cluster_size();
  logits += row * cols;
  // Columns are counted from the row's first logit; the first vector may begin before it, in the row above. Each block
  // has a run of vectors.
  const int before = static_cast<int>(row * cols % lanes<T>);
  const int vectors = (before + cols + lanes<T> - 1) / lanes<T>;
  const int share = (vectors + cluster_size() - 1) / cluster_size() * lanes<T>;
  const int first = cluster_rank() * share - before;
  const int end = min(first + share, cols);

  if (threadIdx.x == 0) candidates.count = hits.count = 0;
  __syncthreads();
  Seen<Groups> seen;
  for (int g = 0; g < Groups; ++g) seen.best[g] = -INFINITY;
  Key threshold = no_threshold;
  long long raise_at = first;
  for (int begin = first; begin < end; begin += tile_columns<T>()) {
    Tile<T> tile;
    load_tile(logits, begin, end, tile);
    absorb(seen, tile);
    if (begin >= raise_at) {  // after 1, 2, 5, 14 ... tiles: the more are behind, the less a tile can change
      threshold = raise(seen, k, threshold);
      raise_at = begin + 2ll * (begin - first) + tile_columns<T>();
    }
    unsigned waiting = (1u << per_thread) - 1;
    while (!set_aside(hits, tile, begin, threshold, waiting)) {
      threshold = raise(seen, k, threshold);
      threshold = offer_hits(candidates, hits, end, k, threshold);
    }
  }
  if (first + tile_columns<T>() < end) threshold = raise(seen, k, threshold);
  threshold = offer_hits(candidates, hits, end, k, threshold);
  float max = block_reduce(seen.max, Max());
  float sum = block_reduce(seen.sum * __expf(seen.max - max), Add());
  if (!merge_cluster(candidates, k, threshold, max, sum)) return;
  write_result(candidates, threshold, max, sum, k, index + row * k, prob + row * k);
}

// How online_kernel is launched.
struct Shape {
  int threads;  // of a block: a power of two
  int blocks;   // to a row, a cluster of them
};

template <typename T, int Groups>
cudaError_t launch_online(const T* logits, int* index, float* prob, int rows, int cols, int k, Shape shape,
                          cudaStream_t stream) {
#ifndef __SIMT__
  if (shape.blocks > 1) {
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(shape.blocks);
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(rows * shape.blocks));
    config.blockDim = dim3(static_cast<unsigned>(shape.threads));
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    if (shape.blocks > 8) {  // not every device that has clusters has such large ones
      int most = 0;
      cudaError_t error =
          cudaFuncSetAttribute(online_kernel<T, Groups>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
      if (!error) error = cudaOccupancyMaxPotentialClusterSize(&most, online_kernel<T, Groups>, &config);
      if (error) return error;
      if (most < shape.blocks)
        return launch_online<T, Groups>(logits, index, prob, rows, cols, k, {shape.threads, 8}, stream);
    }
    return cudaLaunchKernelEx(&config, online_kernel<T, Groups>, logits, index, prob, cols, k);
  }
#endif
  online_kernel<T, Groups><<<rows, shape.threads, 0, stream>>>(logits, index, prob, cols, k);
  return cudaGetLastError();
}

// Small blocks, eight per SM: while some wait at a barrier, the others load. Where there are too few rows to fill the
// device so, a row gets a cluster. (Measured on an H200.)
template <typename T>
cudaError_t shape_for(int rows, int cols, int k, Shape& shape) {
  const int vectors = cols / lanes<T>;
  shape = {vectors <= 64 * per_thread ? 64 : k <= 512 ? 128 : 256, 1};
#ifndef __SIMT__
  int device = 0, multiprocessors = 0;
  cudaFuncAttributes kernel = {};
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaFuncGetAttributes(&kernel, online_kernel<T, 1>);
  if (error) return error;
  if (kernel.ptxVersion < 90) return cudaSuccess;  // compiled without clusters
  int blocks = vectors < 65536 ? 8 : 16;
  while (blocks > 1 && (rows > 2 * multiprocessors / blocks || vectors < 512 * blocks)) blocks /= 2;
  if (blocks > 1) shape = {k <= 64 ? 256 : max_threads, blocks};
#else
  (void)rows;
#endif
  return cudaSuccess;
}

template <typename T>
cudaError_t online(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(logits, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  Shape shape;
  if (const cudaError_t error = shape_for<T>(rows, cols, k, shape)) return error;
  const auto launch = 2 * k <= shape.threads ? launch_online<T, 1> : launch_online<T, 4>;
  return launch(logits, index, prob, rows, cols, k, shape, stream);
}

RUNG_EXPORT(rung::softmax_topk("online", online<float>))
