// Lab 09: softmax + top-K of rows sharded over devices. Every device holds some columns of every row, and every
// device ends with the row's k largest probabilities and their columns.
//
//   packed     top-K of the device's own columns; one all-gather of k keys and (max, sum) per row; merge
//   one_shot   the same message, written straight into the other devices' memory; flags say when it is there
//
// common/bench/sharded/shard.h has what is given: keys, the message of a row, top-K of a shard. library_variants.cuh
// has what most programs do, gather_logits and three_reductions.
#include <cuda/atomic>

#include "shard.h"

// TODO 0: predict before you write code, a number in place of each rung::unknown.
RUNG_PREDICT(
    // packed, 4 devices, V = 32,000, K = 20, f32: bytes per row that one device sends to one other.
    {"packed_bytes", rung::unknown},
    // gather_logits, the same: bytes per row that one device sends to one other.
    {"gather_bytes", rung::unknown},
    // three_reductions: how many times per call does it wait for the links' latency? Collectives of one group are
    // started together.
    {"reduction_latencies", rung::unknown},
    // two H200s, bf16, 8 rows, V = 128,256, K = 50: how many times longer than one_shot does three_reductions take?
    // Within a factor of 1.4.
    {"one_shot_gain", rung::unknown})
// END 0

namespace sharded {

// ---- Merging ------------------------------------------------------------------------------------

// How many of the k keys, which are in falling order, are above `key`.
__device__ int count_above(const Key* keys, int k, Key key) {
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

size_t merge_bytes(int devices, int k) {
  const size_t bytes = devices * message_words(k) * sizeof(Key);
  return bytes <= staged_bytes ? bytes : 0;
}

// The k results of a row from the devices' messages, of which one begins every `stride` words. A key's place in the
// result is the number of keys above it, in its own list and in all others; no two keys are equal. Keys 0 come after
// all columns, of which there are k or more. All threads of the block must call it; dynamic shared memory:
// merge_bytes().
__device__ void merge_row(const Key* messages, size_t stride, int devices, int k, bool staged, int* index,
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
  // TODO 1: the whole row's maximum, and its sum of exp(x - max), from the messages' first words (max_in, sum_in). A
  // device's sum is relative to that device's maximum.
  float max = lowest, sum = 0.0f;
  // END 1
  const float factor = inverse(sum);
  for (int i = threadIdx.x; i < devices * k; i += blockDim.x) {
    const int from = i / k;
    const Key key = messages[from * stride + 1 + i % k];
    // TODO 2: the key's place in the row's result. It is i % k in its own list.
    int rank = i % k;
    (void)from;
    // END 2
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
  // TODO 3: word_of() has the words of a row's message, 0 to k.
  (void)local, (void)k, (void)messages;
  // END 3
}

template <typename T>
cudaError_t packed(const Shard<T>& shard) {
  if (shard.rows == 0) return cudaSuccess;
  const size_t words = shard.rows * message_words(shard.k);
  Pieces pieces(shard.workspace);
  Key* const mine = pieces.take<Key>(words);
  Key* const all = pieces.take<Key>(shard.devices * words);
  // TODO 4: top-K of the shard (topk_of_shard), its messages into `mine`, those of all devices into `all`, and the merge.
  // Choose a launch for pack_kernel. Every call's error is returned (error_of, cudaGetLastError).
  (void)mine, (void)all;
  return cudaErrorNotSupported;
  // END 4
}

// ---- one_shot -----------------------------------------------------------------------------------

// Block b sends the messages of rows b, b + gridDim.x, ... to all devices, says so with one flag on each, waits for the
// flags of the other devices' blocks b, and merges these rows.
//
// The inbox has two halves of peers.half words; each holds (devices, rows, k + 1). The round's number grows with each
// call.
template <typename T>
__global__ void exchange_kernel(Local<T> local, Peers peers, Round* round, int self, int devices, int rows, int k,
                                bool staged, int* index, float* prob) {
  const size_t words = message_words(k), of_device = rows * words;
  const unsigned number = round->number + 1;
  // TODO 5: the block's messages into the inboxes of all devices, each to the place of this device's row. `half`: where
  // this call's part of every inbox begins, in words. A device that is slower may still read what the last call sent.
  const size_t half = 0;
  (void)number, (void)self;
  // END 5
  // TODO 6: a flag for each device, peers.flags[device][self * most_blocks + blockIdx.x], which says that the messages are
  // there: `number`. Then wait for the other devices' flags of this block. cuda::atomic_ref has orders and scopes.
  // END 6
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const size_t out = static_cast<size_t>(row) * k;
    merge_row(peers.inbox[self] + half + row * words, of_device, devices, k, staged, index + out, prob + out);
  }
  end_round(round, number);
}

// How many blocks an exchange may have.
template <typename T, typename Kernel>
cudaError_t blocks_for(Kernel* exchange, const Shard<T>& shard, size_t shared_bytes, int& blocks) {
  // TODO 7: a block waits for blocks of other devices, and those wait for it. How many blocks may there be?
  (void)exchange, (void)shard, (void)shared_bytes;
  blocks = 0;
  return cudaSuccess;
  // END 7
}

template <typename T>
cudaError_t one_shot(const Shard<T>& shard) {
  if (shard.rows == 0) return cudaSuccess;
  Pieces pieces(shard.workspace);
  Local<T> local;
  if (const cudaError_t error = topk_of_shard(shard, pieces, local)) return error;
  const size_t bytes = merge_bytes(shard.devices, shard.k);
  int blocks = 0;
  if (const cudaError_t error = blocks_for(exchange_kernel<T>, shard, bytes, blocks)) return error;
  exchange_kernel<T><<<blocks, merge_threads, bytes, shard.stream>>>(local, shard.peers, shard.round, shard.self,
                                                                     shard.devices, shard.rows, shard.k, bytes > 0,
                                                                     shard.index, shard.prob);
  return cudaGetLastError();
}

}  // namespace sharded

// Given, and made of these: one_shot_ll, in which no store waits for another.
#include "one_shot_ll.cuh"

namespace sharded {
SHARDED_EXPORT()
}  // namespace sharded
