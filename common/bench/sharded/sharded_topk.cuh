// Softmax and top-K of rows whose columns are spread over several GPUs of one process. Device d holds the logits of
// some consecutive columns of every row, as a language model with a sharded vocabulary has them; every device ends with
// the k largest probabilities of the whole row, and their columns.
//
//   gather_logits     all logits to all devices, then top-K of whole rows
//   three_reductions  top-K of the shard; all-reduce of the maximum, all-reduce of the sum, all-gather of the pairs
//   packed            top-K of the shard; one all-gather of k keys and (max, sum) per row; merge
//   one_shot          the same message, written straight into the peers' memory, with flags: no library call
//
// Top-K of one device's rows is lab 06's.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cuda/atomic>

#include "local_topk.h"

namespace sharded {

constexpr int most_devices = 8;
constexpr int most_blocks = 2048;   // of an exchange
constexpr int merge_threads = 256;  // of a block
constexpr size_t staged_bytes = 48 << 10;

// Where a maximum starts: the difference of two that are at or above it is never NaN.
constexpr float lowest = -FLT_MAX;

// 1 / x; 0 for the sum 0 of a fully masked row; NaN for NaN.
__device__ inline float inverse(float x) { return x > 0.0f ? 1.0f / x : x; }

__device__ inline float to_float(float logit) { return logit; }
__device__ inline float to_float(__half logit) { return __half2float(logit); }
__device__ inline float to_float(__nv_bfloat16 logit) { return __bfloat162float(logit); }

// A logit and its column as one number that sorts as the result is sorted: of equal logits the lower column has the
// larger key. No two columns have equal keys, and no column has the key 0.
using Key = unsigned long long;

__device__ inline Key make_key(float logit, int column) {
  const unsigned bits = __float_as_uint(logit + 0.0f);  // -0 + 0 is +0: equal numbers get equal bits
  const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(ordered) << 32 | ~static_cast<unsigned>(column);
}
__device__ inline int column_of(Key key) { return static_cast<int>(~static_cast<unsigned>(key)); }
__device__ inline float logit_of(Key key) {
  const unsigned ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7FFFFFFFu : ~ordered);
}

// A row's message is k + 1 words: the shard's (max, sum), then its k largest keys in falling order, 0 where a shard
// has fewer columns. The columns in the keys are those of the whole row.
__host__ __device__ constexpr size_t message_words(int k) { return static_cast<size_t>(k) + 1; }

// What all devices can reach of each other. The round is the owner's alone: how many exchanges it has made.
struct Peers {
  Key* inbox[most_devices];       // two halves; each (devices, rows, k + 1) words or more
  unsigned* flags[most_devices];  // (devices, most_blocks): the last round that the device's block has sent
  size_t half;                    // words
};
struct Round {
  unsigned number, blocks_done;
};

// One device's part of a call. Every device has a host thread, which has made it current and calls the variant; all
// call the same variants in the same order.
template <typename T>
struct Shard {
  int self, devices, rows, k;  // k: at most 1024, and at most all devices' columns
  const int* cols;             // of every device, on the host
  const T* logits;             // (rows, cols[self])
  int* index;                  // (rows, k)
  float* prob;                 // (rows, k)
  unsigned char* workspace;    // workspace_bytes(), aligned to 256
  Peers peers;                 // all zero where one_shot is not called
  Round* round;                // begins with zeros, as the flags do
  ncclComm_t comm;
  cudaStream_t stream;

  int first() const {  // column
    int sum = 0;
    for (int d = 0; d < self; ++d) sum += cols[d];
    return sum;
  }
  int all_cols() const {
    int sum = 0;
    for (int d = 0; d < devices; ++d) sum += cols[d];
    return sum;
  }
  int local_k() const { return std::min(k, cols[self]); }
};

// Device memory that any variant uses besides its arguments.
template <typename T>
size_t workspace_bytes(int devices, int rows, int all_cols, int k) {
  const size_t logits = static_cast<size_t>(rows) * all_cols * sizeof(T);
  const size_t messages = static_cast<size_t>(rows) * message_words(k) * sizeof(Key);
  return 2 * logits + (2 * devices + 5) * messages + (64 << 10);
}

// Cuts pieces of the workspace, each aligned to 256 bytes.
class Pieces {
 public:
  explicit Pieces(unsigned char* at) : at_(at) {}
  template <typename T>
  T* take(size_t count) {
    T* const piece = reinterpret_cast<T*>(at_);
    at_ += (count * sizeof(T) + 255) / 256 * 256;
    return piece;
  }

 private:
  unsigned char* at_;
};

inline cudaError_t error_of(ncclResult_t result) { return result == ncclSuccess ? cudaSuccess : cudaErrorUnknown; }

// ---- What a shard has to say --------------------------------------------------------------------

// Top-K of the shard alone. Its sum is the inverse of its largest probability, and its maximum the logit there.
template <typename T>
struct Local {
  const T* logits;    // (rows, cols)
  const int* index;   // (rows, k), columns of the shard
  const float* prob;  // (rows, k)
  int cols, k, first;

  __device__ float logit(size_t row, int rank) const { return to_float(logits[row * cols + index[row * k + rank]]); }
  __device__ float max(size_t row) const { return k == 0 ? lowest : fmaxf(logit(row, 0), lowest); }
  __device__ float sum(size_t row) const { return k == 0 ? 0.0f : inverse(prob[row * k]); }
  __device__ Key key(size_t row, int rank) const {
    return rank < k ? make_key(logit(row, rank), first + index[row * k + rank]) : 0;
  }
};

template <typename T>
cudaError_t topk_of_shard(const Shard<T>& shard, Pieces& pieces, Local<T>& local) {
  const int k = shard.local_k();
  int* const index = pieces.take<int>(static_cast<size_t>(shard.rows) * k);
  float* const prob = pieces.take<float>(static_cast<size_t>(shard.rows) * k);
  local = {shard.logits, index, prob, shard.cols[shard.self], k, shard.first()};
  return k == 0 ? cudaSuccess : topk_of_rows(shard.logits, index, prob, shard.rows, local.cols, k, shard.stream);
}

__device__ inline Key pack(float max, float sum) {
  return static_cast<Key>(__float_as_uint(max)) << 32 | __float_as_uint(sum);
}
__device__ inline float max_in(Key word) { return __uint_as_float(static_cast<unsigned>(word >> 32)); }
__device__ inline float sum_in(Key word) { return __uint_as_float(static_cast<unsigned>(word)); }

template <typename T>
__device__ Key word_of(const Local<T>& local, size_t row, int word) {
  return word == 0 ? pack(local.max(row), local.sum(row)) : local.key(row, word - 1);
}

// ---- Merging ------------------------------------------------------------------------------------

// How many of the k keys, which fall, are above `key`.
__device__ inline int count_above(const Key* keys, int k, Key key) {
  int low = 0, high = k;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle] > key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

inline size_t merge_bytes(int devices, int k) {
  const size_t bytes = devices * message_words(k) * sizeof(Key);
  return bytes <= staged_bytes ? bytes : 0;
}

// The k results of a row from the devices' messages, of which one begins every `stride` words. A key's place in the
// result is the number of keys above it, in its own list and in all others; no two keys are equal. Keys 0 come behind
// all columns, of which there are k or more. All threads of the block must call it; dynamic shared memory:
// merge_bytes().
__device__ inline void merge_row(const Key* messages, size_t stride, int devices, int k, bool staged, int* index,
                                 float* prob) {
  extern __shared__ Key stage[];
  if (staged) {
    __syncthreads();  // the row before has been read
    for (int i = threadIdx.x; i < devices * (k + 1); i += blockDim.x)
      stage[i] = messages[i / (k + 1) * stride + i % (k + 1)];
    messages = stage;
    stride = message_words(k);
    __syncthreads();
  }
  float max = lowest, sum = 0.0f;
  for (int d = 0; d < devices; ++d) max = fmaxf(max, max_in(messages[d * stride]));
  for (int d = 0; d < devices; ++d) sum += sum_in(messages[d * stride]) * __expf(max_in(messages[d * stride]) - max);
  const float factor = inverse(sum);
  for (int i = threadIdx.x; i < devices * k; i += blockDim.x) {
    const int from = i / k;
    const Key key = messages[from * stride + 1 + i % k];
    int rank = i % k;
    for (int d = 0; d < devices && rank < k; ++d) {
      if (d != from) rank += count_above(messages + d * stride + 1, k, key);
    }
    if (rank >= k) continue;
    index[rank] = column_of(key);
    prob[rank] = expf(logit_of(key) - max) * factor;
  }
}

// messages: (devices, rows, k + 1). Block r merges row r.
__global__ void merge_kernel(const Key* messages, int devices, int k, bool staged, int* index, float* prob) {
  const size_t row = blockIdx.x, words = message_words(k);
  merge_row(messages + row * words, gridDim.x * words, devices, k, staged, index + row * k, prob + row * k);
}

template <typename T>
cudaError_t merge(const Shard<T>& shard, const Key* messages) {
  const size_t bytes = merge_bytes(shard.devices, shard.k);
  merge_kernel<<<shard.rows, merge_threads, bytes, shard.stream>>>(messages, shard.devices, shard.k, bytes > 0,
                                                                   shard.index, shard.prob);
  return cudaGetLastError();
}

// ---- packed -------------------------------------------------------------------------------------

// messages: (rows, k + 1). Block r writes row r.
template <typename T>
__global__ void pack_kernel(Local<T> local, int k, Key* messages) {
  const size_t row = blockIdx.x;
  for (int word = threadIdx.x; word <= k; word += blockDim.x)
    messages[row * message_words(k) + word] = word_of(local, row, word);
}

template <typename T>
cudaError_t packed(const Shard<T>& shard) {
  if (shard.rows == 0) return cudaSuccess;
  const size_t words = shard.rows * message_words(shard.k);
  Pieces pieces(shard.workspace);
  Key* const mine = pieces.take<Key>(words);
  Key* const all = pieces.take<Key>(shard.devices * words);
  Local<T> local;
  if (const cudaError_t error = topk_of_shard(shard, pieces, local)) return error;
  pack_kernel<<<shard.rows, 128, 0, shard.stream>>>(local, shard.k, mine);
  if (const cudaError_t error = cudaGetLastError()) return error;
  const ncclResult_t result = ncclAllGather(mine, all, words, ncclUint64, shard.comm, shard.stream);
  if (result != ncclSuccess) return error_of(result);
  return merge(shard, all);
}

// ---- one_shot -----------------------------------------------------------------------------------

// Block b sends the messages of rows b, b + gridDim.x, ... to all devices, says so with one flag on each, waits for the
// flags of the other devices' blocks b, and merges these rows.
//
// Two halves of the inbox in turn. Whoever writes a half for the second time has seen flags of the round between, so
// the other device's kernel of the round before that has ended: it has read what is overwritten.
//
// All blocks must be on the device at once, or each device's blocks must start in the same order.
template <typename T>
__global__ void exchange_kernel(Local<T> local, Peers peers, Round* round, int self, int devices, int rows, int k,
                                bool staged, int* index, float* prob) {
  using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;
  const size_t words = message_words(k), of_device = rows * words;
  const unsigned number = round->number + 1;
  const size_t half = number % 2 * peers.half;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int word = threadIdx.x; word <= k; word += blockDim.x) {
      const Key mine = word_of(local, row, word);
      for (int d = 0; d < devices; ++d) peers.inbox[d][half + self * of_device + row * words + word] = mine;
    }
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < devices) {
    const int peer = threadIdx.x;
    Flag(peers.flags[peer][self * most_blocks + blockIdx.x]).store(number, cuda::memory_order_release);
    const Flag theirs(peers.flags[self][peer * most_blocks + blockIdx.x]);
    while (static_cast<int>(theirs.load(cuda::memory_order_acquire) - number) < 0) {
    }
  }
  __syncthreads();
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const size_t out = static_cast<size_t>(row) * k;
    merge_row(peers.inbox[self] + half + row * words, of_device, devices, k, staged, index + out, prob + out);
  }
  // The last block that is done begins the next round; all others have read the number.
  if (threadIdx.x == 0) {
    const cuda::atomic_ref<unsigned, cuda::thread_scope_device> done(round->blocks_done);
    if (done.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
      done.store(0, cuda::memory_order_relaxed);
      round->number = number;
    }
  }
}

template <typename T>
cudaError_t one_shot(const Shard<T>& shard) {
  if (shard.rows == 0) return cudaSuccess;
  Pieces pieces(shard.workspace);
  Local<T> local;
  if (const cudaError_t error = topk_of_shard(shard, pieces, local)) return error;
  const size_t bytes = merge_bytes(shard.devices, shard.k);
  int processors = 0, resident = 0;
  cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, shard.self);
  if (!error)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, exchange_kernel<T>, merge_threads, bytes);
  if (error) return error;
  const int blocks = std::min({shard.rows, most_blocks, processors * resident});
  exchange_kernel<T><<<blocks, merge_threads, bytes, shard.stream>>>(local, shard.peers, shard.round, shard.self,
                                                                     shard.devices, shard.rows, shard.k, bytes > 0,
                                                                     shard.index, shard.prob);
  return cudaGetLastError();
}

}  // namespace sharded
