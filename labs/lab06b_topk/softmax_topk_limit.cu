// Lab 06b: softmax fused with top-K, as near to a read as the chip allows.
//
// As in lab 05, (max, sum) and the K largest logits are found in one pass: every logit is read once, 16 bytes at a
// time. Lab 05 spends its time inserting key after key into sorted lists. Here the threads' own maxima give a
// threshold, which few logits pass; those few are set aside and processed in bulk, and nothing is sorted before the
// end. With few rows, up to 16 blocks share one.
//
// Any width; K up to 1024. Logits are f32, f16 or bf16; all arithmetic is in fp32.
#include "rung.h"

#include "limit/keys.h"
#include "limit/vectors.h"

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab06b compares it with the
// count; README.md, "Predict first", has the questions in full.
RUNG_PREDICT(
    // f16, V = 32,000: sector bytes of all loads of one row.
    {"fused_bytes", rung::unknown},
    // f16, V = 32,000: load instructions per row, those of all warps together.
    {"select_loads", rung::unknown},
    // f32, 2048 x 50257, K = 50, on an H200: microseconds. A factor of 1.25 counts as right.
    {"topk_us", rung::unknown},
    // f16, 4096 x 4096, K = 50, on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"topk_limit", rung::unknown})
// END 0

// ---- Selection: the K largest keys of a stream --------------------------------------------------
//
// limit/keys.h has keys, candidates, thresholds and bins.

// Appends this thread's keys at or above the threshold. There must be room. All lanes of a warp must call it.
template <int Room, int N>
__device__ void offer(Candidates<Room>& candidates, const Key (&key)[N], Key threshold) {
  bool wanted[N];
  // TODO 1: store in wanted[i] whether the i-th key is at or above the threshold. Then take_slots() gives each wanted
  // key a slot of its own in candidates.keys, although many threads want one at once; candidates.count is the next free
  // one.
  (void)candidates;
  (void)key;
  (void)threshold;
  (void)wanted;
  // END 1
}

// Turns the number of keys in each bin into the number of those in that bin or above it, and sets `found` to the
// highest bin with at least k keys in it and above it. All threads must call it, after a barrier; it ends with one.
__device__ void add_from_top(int* count, int k, int& found) {
  constexpr int mine = bins / 32;
  const int lane = threadIdx.x;
  if (lane < 32) {
    int of[mine], sum = 0;
#pragma unroll
    for (int i = 0; i < mine; ++i) sum += of[i] = count[lane * mine + i];
    int reaching = sum;  // then of all bins from mine on
    for (int offset = 1; offset < 32; offset *= 2) {
      const int theirs = __shfl_down_sync(0xFFFFFFFF, reaching, offset);
      if (lane + offset < 32) reaching += theirs;
    }
    reaching -= sum;
#pragma unroll
    for (int i = mine - 1; i >= 0; --i) {
      const int b = lane * mine + i, above = reaching;
      count[b] = reaching += of[i];
      // TODO 2: `reaching` keys lie in bin b or above, `above` of them above it. If the k-th largest lies in bin b, store b
      // in `found`. Which of the lanes and bins is it? (Without this, pruning keeps too much, and the candidates
      // overflow.)
      (void)above;
      (void)k;
      (void)found;
      // END 2
    }
  }
  __syncthreads();
}

// Returns a key, low or higher, such that at least k keys are at or above it, and at most `most`, unless that takes
// bins narrower than 2^finest. At least k keys must be at or above low, and none above top. for_each(use): calls
// use(key) for each of this thread's keys. All threads must call it, and a barrier must follow before they do so again.
template <int Room, typename ForEach>
__device__ Key find_threshold(Candidates<Room>& scratch, Key low, Key top, int finest, int k, int most,
                              ForEach for_each) {
  int* reach = scratch.reach;
  // TODO 3: count the keys from `low` on in bins (bin_of, shift_for), let add_from_top() find the bin of the k-th
  // largest, and raise `low` to where it begins. If more than `most` keys reach that, and the bin is wider than
  // 2^finest, divide it in turn. Between two uses of scratch.reach all threads wait for each other. (low itself is
  // always right, and always slow.)
  (void)for_each;
  (void)k;
  (void)most;
  (void)finest;
  (void)top;
  if (threadIdx.x == 0) reach[scratch.found = 0] = 0;
  __syncthreads();
  return low;
  // END 3
}

// Given, and built from these three: limit/candidates.h drops candidates, makes room for more and writes the result;
// limit/hits.h raises the threshold and sets vectors with a hit aside; limit/careful.h reads short parts of a row, and
// rows that read_quickly() gives up; limit/merge.h joins the blocks of a cluster.
#include "limit/candidates.h"
#include "limit/careful.h"
#include "limit/hits.h"
#include "limit/launch.h"
#include "limit/merge.h"

// ---- online -------------------------------------------------------------------------------------

// Reads the columns from `first` to `end` - 1 once. Returns false if it gave up: because the logits are in order, or
// many of the largest are equal, or a guessed threshold was too high. All threads must call it. If it returns true, it
// has ended with a barrier.
template <typename T, int Most, int Groups, int Room>
__device__ bool read_quickly(Candidates<Room>& candidates, Hits<T, Most>& hits, const T* logits, int first, int end,
                             int k, Seen<Groups>& seen, Key& threshold) {
  const float k_per_column = static_cast<float>(k) / static_cast<float>(end - first);
  const int rank_in_tile = rank_in(k_per_column * static_cast<float>(tile_columns<T>()), k);
  // TODO 4: go through the columns from `first` to `end`, a tile at a time: load_tile(), absorb() into `seen`,
  // find_hits(), set_aside() until nothing is waiting; where there is no room, offer_hits() makes some. Call raise()
  // after the first tile and after some of the later ones, so that few logits are at or above the threshold; with
  // rank_in() instead of k the threshold rises further. Return false where falling(), tied() or crowded() say that this
  // is not a row for guesses (limit/careful.h; the others are in limit/vectors.h and limit/hits.h).
  (void)logits;
  (void)rank_in_tile;
  return true;
  // END 4
  if (first + tile_columns<T>() < end) threshold = raise(candidates, seen, k, threshold);
  threshold = offer_hits(candidates, hits, end, k, threshold);
  if (rank_in_tile == k) return true;  // there was no guess
  drop_below(candidates, threshold);
  if (candidates.count < k) return false;
  threshold = drop_most(candidates, k, threshold);
  return true;
}

// logits: (rows, cols), aligned to 16 bytes. index, prob: (rows, k). Cluster r reads row r of logits and writes row r
// of index and prob. OneTile: each block's part of a row is at most one tile.
template <typename T, int Groups, int Room, bool OneTile>
__global__ void __launch_bounds__(max_threads, 2)  // at most 64 registers
    online_kernel(const T* __restrict__ logits, int* __restrict__ index, float* __restrict__ prob, int cols, int k) {
  __shared__ Candidates<Room> candidates;
  __shared__ Hits<T, Room * 3 / 8> hits;
  const size_t row = blockIdx.x / cluster_blocks();
  logits += row * cols;
  // Columns are counted from the row's first logit; the first vector may begin before it, in the row above. Each block
  // has a run of vectors.
  const int before = static_cast<int>(row * cols % lanes<T>);
  const int vectors = (before + cols + lanes<T> - 1) / lanes<T>;
  const int share = (vectors + cluster_blocks() - 1) / cluster_blocks() * lanes<T>;
  const int first = cluster_rank() * share - before;
  const int end = min(first + share, cols);

  if (threadIdx.x == 0) candidates.count = hits.count = 0;
  __syncthreads();
  wait_for_kernel_before();
  Seen<Groups> seen;
  for (int g = 0; g < Groups; ++g) seen.best[g] = -INFINITY;
  Key threshold = no_threshold;
  seen.max = lowest;
  seen.sum = 0.0f;
  if (OneTile) {
    read_one_tile(candidates, hits, logits, first, end, k, seen, threshold);
  } else if (!read_quickly(candidates, hits, logits, first, end, k, seen, threshold)) {
    const Reading reading = read_carefully<T, Groups>(candidates, hits, logits, first, end, k);
    seen.max = reading.max;
    seen.sum = reading.sum;
    threshold = reading.threshold;
  }
  float max = block_reduce(seen.max, Max());
  float sum = block_reduce(seen.sum * __expf(seen.max - max), Add());
  if (!merge_cluster(candidates, k, threshold, max, sum)) return;
  Key* sorted = reinterpret_cast<Key*>(hits.vector);  // free by now
  write_result(candidates, sorted, threshold, max, sum, k, index + row * k, prob + row * k);
}

// How online_kernel is launched.
struct Shape {
  int threads;  // of a block: a power of two
  int blocks;   // to a row, a cluster of them
};

template <typename T, int Groups, int Room>
cudaError_t launch_online(const T* logits, int* index, float* prob, int rows, int cols, int k, Shape shape,
                          const Device& device, cudaStream_t stream) {
  auto kernel = online_kernel<T, Groups, Room, false>;
  int blocks = 0;
  if (const cudaError_t error = largest_cluster(kernel, shape.blocks, shape.threads, device, blocks)) return error;
  // A row that is not aligned can have one vector more, of which only a part belongs to it.
  const int vectors = (cols + (cols % lanes<T> ? 2 * lanes<T> - 2 : 0)) / lanes<T>;
  if constexpr (Room == 1024)  // for larger K it would hardly pay
    if ((vectors + blocks - 1) / blocks <= per_thread * shape.threads) kernel = online_kernel<T, Groups, Room, true>;
  return launch(kernel, static_cast<size_t>(rows) * blocks, shape.threads, 0, blocks, device, stream, logits, index,
                prob, cols, k);
}

// Small blocks, eight per SM: while some wait at a barrier, the others load. If there are too few rows to fill the
// device, a row gets a cluster. (Measured on an H200.)
template <typename T>
cudaError_t shape_for(int rows, int cols, int k, Device& device, Shape& shape) {
  const int vectors = cols / lanes<T>;
  shape = {vectors <= 64 * per_thread ? 64 : k <= 512 ? 128 : 256, 1};
  cudaFuncAttributes kernel = {};
  cudaError_t error = ask(device);
  if (!error) error = cudaFuncGetAttributes(&kernel, online_kernel<T, 1, 1024, false>);
  if (error) return error;
  if (kernel.ptxVersion < 90) device.hopper = device.clusters = false;  // compiled without them
  if (!device.clusters) return cudaSuccess;
  // TODO 5: how many blocks share a row, a power of two up to 16, if there are fewer rows than the chip has room for?
  // And with how many threads each? A GPU shows what is fastest; on the CPU a row has one block. (One is always right.)
  (void)rows;
  // END 5
  return cudaSuccess;
}

template <typename T>
cudaError_t online(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(logits, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  Device device;
  Shape shape;
  if (const cudaError_t error = shape_for<T>(rows, cols, k, device, shape)) return error;
  const auto launch = k > 256                  ? launch_online<T, 4, 2048>
                      : 2 * k <= shape.threads ? launch_online<T, 1, 1024>
                                               : launch_online<T, 4, 1024>;
  return launch(logits, index, prob, rows, cols, k, shape, device, stream);
}

RUNG_EXPORT(rung::softmax_topk("auto", online<float>), rung::softmax_topk("auto", online<__half>),
            rung::softmax_topk("auto", online<__nv_bfloat16>))
