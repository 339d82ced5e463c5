// Lab 05: softmax fused with top-K. The K most probable columns of every row and their probabilities, and nothing else.
//
// Softmax keeps the order of the logits. So the K largest logits are enough; with the row's (max, sum) each of them
// becomes a probability, and the probabilities of all other columns need not be computed, let alone stored. Logits are
// f32, f16 or bf16; all arithmetic is in fp32. A block works on one row.
//
//   two_kernels   softmax, which stores all probabilities; then a selection, which reads the logits again
//   three_pass    one kernel: maximum, sum, selection; each reads the row
//   online        (max, sum) and selection in one pass: every logit is read once, 16 bytes at a time
//
// Any width; K up to 64, because a warp keeps its K largest logits in registers, two per lane.
#include <cfloat>
#include <cmath>

#include "rung.h"

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab05 compares it with the
// count; README.md, "Predict first", has the questions in full.
RUNG_PREDICT(
    // three_pass, f32, V = 32,000: sector bytes of all loads of one row.
    {"three_pass_bytes", rung::unknown},
    // online, f16, V = 32,000: load instructions per row, those of all warps together.
    {"fused_loads", rung::unknown},
    // online, V = 32,000, K = 20: bytes written per row.
    {"topk_bytes", rung::unknown},
    // three_pass against online, f32, 4096 x 4096, K = 50, on an H200: how many times longer? Within a factor of 1.4.
    {"fusion_gain", rung::unknown},
    // online, 4096 x 4096, K = 50, on an H200: how many times longer with f32 than with f16? Within a factor of 1.3.
    {"half_gain", rung::unknown},
    // online, f32, 4096 x 4096, K = 50, on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"fused_limit", rung::unknown})
// END 0

constexpr int most_k = 64;
constexpr int most_warps = 8;  // per block
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// Where a maximum starts: the lowest finite float, so that x - max is -INFINITY and never NaN where all x are
// -INFINITY.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. A NaN in the row makes the sum NaN. So does +INFINITY,
// because INFINITY - INFINITY is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

__device__ float to_float(float logit) { return logit; }
__device__ float to_float(__half logit) { return __half2float(logit); }
__device__ float to_float(__nv_bfloat16 logit) { return __bfloat162float(logit); }

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
template <typename Op>
__device__ float block_reduce(float mine, Op op) {
  __shared__ float of_warp[most_warps];
  for (int offset = 16; offset > 0; offset /= 2) mine = op(mine, __shfl_xor_sync(all_lanes, mine, offset));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  float all = of_warp[0];
  for (int w = 1; w < static_cast<int>(blockDim.x) / 32; ++w) all = op(all, of_warp[w]);
  __syncthreads();  // or the next call could overwrite of_warp before a slow warp has read it
  return all;
}

// ---- Keys: a logit and its column as one number that sorts as the result is sorted --------------
//
// Upper 32 bits: the logit, as an unsigned number of the same order. Lower 32 bits: the column, such that of equal
// logits the lower column has the larger key. No two columns have equal keys, and no column has the key 0.
using Key = unsigned long long;

__device__ Key make_key(float logit, int column) {
  // TODO 1: make the key. For the upper half: compare the bits (__float_as_uint) of 1.0f and 2.0f, then of -1.0f and
  // -2.0f, then of one of each sign; logit_of() undoes what you do here. And beware of -0.0f and 0.0f, which are
  // equal.
  (void)logit;
  (void)column;
  return 0;
  // END 1
}

__device__ int column_of(Key key) { return static_cast<int>(~static_cast<unsigned>(key)); }

// NaN for the key 0.
__device__ float logit_of(Key key) {
  const unsigned ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7FFFFFFFu : ~ordered);
}

// ---- A warp's list: the 64 largest keys that it has seen, sorted --------------------------------
//
// Lane l holds ranks 2 l and 2 l + 1, in registers. An empty place holds the key 0.
struct List {
  Key high = 0, low = 0;  // high >= low
};

// Puts a key in its place; the smallest is dropped. All 32 lanes must call it, with the same key.
__device__ void insert(List& list, Key key) {
  // TODO 2: after the insertion, rank r holds one of three keys: what it held, the new key, or what rank r - 1 held.
  // Which? Two operations for each of this lane's two places, no branch. Rank 2 l - 1 is in the previous lane
  // (__shfl_up_sync); what is above rank 0?
  (void)list;
  (void)key;
  // END 2
}

// The k-th largest key: a key that is not above it cannot be in the result.
__device__ Key threshold_of(const List& list, int k) {
  return __shfl_sync(all_lanes, (k - 1) % 2 ? list.low : list.high, (k - 1) / 2);
}

// Every lane offers a key, or 0; those above the threshold are inserted. All 32 lanes must call it.
__device__ void offer(List& list, Key& threshold, Key mine, int k) {
  // TODO 3: find out which lanes' keys are above the threshold (__ballot_sync). One after the other, these lanes
  // broadcast their keys to all 32 (__shfl_sync), and all insert them. Then the threshold may have risen. All lanes
  // must return together.
  (void)list;
  (void)threshold;
  (void)mine;
  (void)k;
  // END 3
}

// Makes `list` the 64 largest keys of itself and of another list, whose key of rank r is other[r]. All 32 lanes must
// call it.
__device__ void merge(List& list, const Key* other) {
  const int lane = threadIdx.x % 32;
  // TODO 4: two sorted lists of 64, one in registers and one in shared memory; the 64 largest of the 128 are wanted,
  // sorted again. Which of list's ranks does the other's rank 63 replace, if any, and which its rank 62? The result
  // only rises and falls once, and six rounds of max and min sort it: at a distance of 32 ranks, 16, 8, 4, 2, 1.
  (void)list;
  (void)other;
  (void)lane;
  // END 4
}

// Merges the lists of all warps and writes the row's k outputs, in order. lists: room for 64 keys of each warp.
// prob_of(column, logit): the probability. All threads must call it.
template <typename ProbOf>
__device__ void write_result(List list, Key* lists, int k, int* index, float* prob, ProbOf prob_of) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  lists[most_k * warp + 2 * lane] = list.high;
  lists[most_k * warp + 2 * lane + 1] = list.low;
  __syncthreads();
  if (warp != 0) return;
  for (int w = 1; w < warps; ++w) merge(list, lists + most_k * w);
  const Key mine[2] = {list.high, list.low};
  for (int i = 0; i < 2; ++i) {
    const int rank = 2 * lane + i;
    if (rank >= k) continue;
    index[rank] = column_of(mine[i]);
    prob[rank] = prob_of(column_of(mine[i]), logit_of(mine[i]));
  }
}

// ---- two_kernels and three_pass: one logit per lane and load ------------------------------------

// Turns the logit of a column into its probability.
struct Scale {
  float max, factor;
  __device__ float operator()(int, float logit) const { return expf(logit - max) * factor; }
};

// The row's maximum and 1 / sum, by two reads of the row. All threads must call it.
template <typename T>
__device__ Scale max_and_scale(const T* logits, int cols) {
  float max = lowest, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) max = fmaxf(max, to_float(logits[c]));
  max = block_reduce(max, Max());
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += __expf(to_float(logits[c]) - max);
  return {max, inverse(block_reduce(sum, Add()))};
}

// The largest keys among those of a warp's columns.
template <typename T>
__device__ List select(const T* logits, int cols, int k) {
  List list;
  Key threshold = 0;
  for (int begin = 0; begin < cols; begin += blockDim.x) {  // the trip count is the same for all lanes
    const int c = begin + static_cast<int>(threadIdx.x);
    offer(list, threshold, c < cols ? make_key(to_float(logits[c]), c) : 0, k);
  }
  return list;
}

// logits, all: (rows, cols). Block r writes the probabilities of row r to row r of `all`.
template <typename T>
__global__ void softmax_kernel(const T* __restrict__ logits, float* __restrict__ all, int cols) {
  logits += static_cast<size_t>(blockIdx.x) * cols;
  all += static_cast<size_t>(blockIdx.x) * cols;
  const Scale prob_of = max_and_scale(logits, cols);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) all[c] = prob_of(c, to_float(logits[c]));
}

// Different logits may have the same probability, so this looks for the largest logits, and then their probabilities
// up.
template <typename T>
__global__ void select_kernel(const T* __restrict__ logits, const float* __restrict__ all, int* __restrict__ index,
                              float* __restrict__ prob, int cols, int k) {
  extern __shared__ Key lists[];
  const size_t row = blockIdx.x;
  logits += row * cols;
  all += row * cols;
  write_result(select(logits, cols, k), lists, k, index + row * k, prob + row * k,
               [&](int column, float) { return all[column]; });
}

// logits: (rows, cols). index, prob: (rows, k). Block r reads row r of logits and writes row r of index and prob.
// Dynamic shared memory: 64 keys for each warp.
template <typename T>
__global__ void three_pass_kernel(const T* __restrict__ logits, int* __restrict__ index, float* __restrict__ prob,
                                  int cols, int k) {
  extern __shared__ Key lists[];
  const size_t row = blockIdx.x;
  logits += row * cols;
  const Scale prob_of = max_and_scale(logits, cols);
  write_result(select(logits, cols, k), lists, k, index + row * k, prob + row * k, prob_of);
}

// ---- online: a row as head, packs of 16 bytes, and tail, as in lab 04 ---------------------------

template <typename T>
constexpr int width = 16 / static_cast<int>(sizeof(T));  // logits in a pack

template <typename T>
__device__ void unpack(const uint4& words, float (&x)[width<T>]) {
#pragma unroll
  for (int i = 0; i < width<T>; ++i) x[i] = to_float(reinterpret_cast<const T*>(&words)[i]);
}

// The maximum and the sum of exp(x - max) of what a thread has read.
struct MaxSum {
  float max = lowest, sum = 0.0f;
};

// Brings `seen` up to date and returns the largest of x.
template <int N>
__device__ float absorb(MaxSum& seen, const float (&x)[N]) {
  float top = x[0];
#pragma unroll
  for (int i = 1; i < N; ++i) top = fmaxf(top, x[i]);
  if (top > seen.max) {  // rare, after the first packs
    seen.sum *= __expf(seen.max - top);
    seen.max = top;
  }
#pragma unroll
  for (int i = 0; i < N; ++i) seen.sum += __expf(x[i] - seen.max);
  return top;
}

// As three_pass_kernel; logits aligned to 256 bytes.
template <typename T>
__global__ void online_kernel(const T* __restrict__ logits, int* __restrict__ index, float* __restrict__ prob, int cols,
                              int k) {
  extern __shared__ Key lists[];
  constexpr int loads = 4;  // of a thread, in flight
  const size_t row = blockIdx.x;
  const int t = threadIdx.x, head = min(cols, static_cast<int>((width<T> - row * cols % width<T>) % width<T>));
  const int packs = (cols - head) / width<T>, tail = cols - head - width<T> * packs;
  logits += row * cols;
  const uint4* pack = reinterpret_cast<const uint4*>(logits + head);

  MaxSum seen;
  List list;
  Key threshold = 0;
  const int single = t < head ? t : t < head + tail ? t + width<T> * packs : -1;
  const float x[1] = {single >= 0 ? to_float(logits[single]) : -INFINITY};
  absorb(seen, x);
  offer(list, threshold, single >= 0 ? make_key(x[0], single) : 0, k);
  // TODO 5: go through the row's packs, `loads` of each thread at a time. First load them all (a pack is one uint4),
  // then use each: absorb() for (max, sum), and offer() for its logits, with the column that each has in the row. Few
  // packs have a logit above the threshold: test the whole pack at once. offer() and __any_sync() need all 32 lanes,
  // also those that have no pack left.
  (void)pack;
  (void)loads;
  (void)k;
  // END 5
  const float max = block_reduce(seen.max, Max());
  const Scale prob_of = {max, inverse(block_reduce(seen.sum * __expf(seen.max - max), Add()))};
  write_result(list, lists, k, index + row * k, prob + row * k, prob_of);
}

// ---- Launches -----------------------------------------------------------------------------------

struct Shape {
  int blocks, threads;
  size_t shared_bytes;  // dynamic, of a block
};

// The launch of a kernel with one block per row.
cudaError_t shape_for(int rows, Shape& shape) {
  int device = 0, processors = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  // TODO 6: write this one first, with one warp per row: without it nothing is launched. How many threads does a block
  // have, and how much dynamic shared memory? Look up what write_result() puts there. When all is right, come back: one
  // warp or several per row? Every warp has a list of its own to fill; but an SM needs some 12 warps with loads in
  // flight. `processors` is the number of SMs.
  (void)rows;
  (void)processors;
  shape = {};
  // END 6
  return error;
}

// Whether the arguments are valid, and a list has room for K.
bool takes(const void* logits, const void* index, const void* prob, int rows, int cols, int k) {
  return rung::valid(logits, index, prob, rows, cols, k) && k <= most_k;
}

template <typename T>
cudaError_t two_kernels(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!takes(logits, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;              // a grid of no blocks would be an error
  const int together = max(1, (1 << 28) / cols);  // rows whose probabilities are stored at a time: 1 GiB
  float* all = nullptr;
  cudaError_t error = cudaMallocAsync(&all, static_cast<size_t>(min(rows, together)) * cols * sizeof(float), stream);
  for (size_t first = 0; first < static_cast<size_t>(rows) && !error; first += together) {
    Shape shape;
    error = shape_for(static_cast<int>(min(static_cast<size_t>(together), rows - first)), shape);
    if (error) break;
    const T* part = logits + first * cols;
    softmax_kernel<T><<<shape.blocks, 32 * most_warps, 0, stream>>>(part, all, cols);
    select_kernel<T><<<shape.blocks, shape.threads, shape.shared_bytes, stream>>>(part, all, index + first * k,
                                                                                  prob + first * k, cols, k);
    error = cudaGetLastError();
  }
  return all && !error ? cudaFreeAsync(all, stream) : error;
}

template <typename T>
cudaError_t launch(void (*kernel)(const T*, int*, float*, int, int), const T* logits, int* index, float* prob, int rows,
                   int cols, int k, cudaStream_t stream) {
  if (!takes(logits, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  Shape shape;
  if (const cudaError_t error = shape_for(rows, shape)) return error;
  kernel<<<shape.blocks, shape.threads, shape.shared_bytes, stream>>>(logits, index, prob, cols, k);
  return cudaGetLastError();
}

template <typename T>
cudaError_t three_pass(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  return launch(three_pass_kernel<T>, logits, index, prob, rows, cols, k, stream);
}

template <typename T>
cudaError_t online(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  return launch(online_kernel<T>, logits, index, prob, rows, cols, k, stream);
}

RUNG_EXPORT(rung::softmax_topk("two_kernels", two_kernels<float>),
            rung::softmax_topk("two_kernels", two_kernels<__half>),
            rung::softmax_topk("two_kernels", two_kernels<__nv_bfloat16>),
            rung::softmax_topk("three_pass", three_pass<float>), rung::softmax_topk("three_pass", three_pass<__half>),
            rung::softmax_topk("three_pass", three_pass<__nv_bfloat16>), rung::softmax_topk("online", online<float>),
            rung::softmax_topk("online", online<__half>), rung::softmax_topk("online", online<__nv_bfloat16>))
