// What the parts of sharded softmax + top-K have in common: keys, the message of a row, the arguments of a call, top-K
// of one device's shard. Rows' columns are spread over several GPUs of one process: device d holds the logits of some
// consecutive columns of every row, as a language model with a sharded vocabulary has them. Every device ends with the
// k largest probabilities of the whole row, and their columns.
//
//   gather_logits     all logits to all devices, then top-K of whole rows              library_variants.cuh
//   three_reductions  top-K of the shard; all-reduce of the maximum, all-reduce of     library_variants.cuh
//                     the sum, all-gather of the pairs
//   packed            top-K of the shard; one all-gather of k keys and (max, sum) per  lab 09
//                     row; merge
//   one_shot          the same message, written straight into the peers' memory, with  lab 09
//                     flags: no library call
//   one_shot_ll       the same, a flag in every word; given, with lab 09's merge           one_shot_ll.cuh
//
// Top-K of one device's rows is lab 06b's.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cuda/atomic>

#include "../../rung/predict.h"
#include "local_topk.h"

namespace sharded {

constexpr int most_devices = 8;
constexpr int most_blocks = 2048;   // of an exchange
constexpr int merge_threads = 256;  // of a block
constexpr size_t staged_bytes = 48 << 10;

// Where a maximum starts. The difference of two values at or above it is never NaN.
constexpr float lowest = -FLT_MAX;

// 1 / x; 0 for the sum 0 of a fully masked row; NaN for NaN.
__device__ inline float inverse(float x) { return x > 0.0f ? 1.0f / x : x; }

__device__ inline float to_float(float logit) { return logit; }
__device__ inline float to_float(__half logit) { return __half2float(logit); }
__device__ inline float to_float(__nv_bfloat16 logit) { return __bfloat162float(logit); }

// A logit and its column as one number that sorts in the order of the result: of equal logits, the lower column has the
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

// The memory that all devices can access on each other. Only its owner uses a device's Round: the number of exchanges
// that it has made.
struct Peers {
  Key* inbox[most_devices];       // two halves; each (devices, rows, k + 1) words or more
  Key* packets[most_devices];     // one_shot_ll's inbox: two packets for each word
  unsigned* flags[most_devices];  // (devices, most_blocks): the last round that the device's block has sent
  size_t half;                    // words
};
struct Round {
  unsigned number, blocks_done;
};

// Each block of an exchange calls this at its end, with the number of its round. The last block begins the next round:
// by then all others have read the number.
__device__ inline void end_round(Round* round, unsigned number) {
  if (threadIdx.x != 0) return;
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> done(round->blocks_done);
  if (done.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
    done.store(0, cuda::memory_order_relaxed);
    round->number = number;
  }
}

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

// ---- A shard's own result -----------------------------------------------------------------------

// Top-K of the shard alone. The shard's sum is the inverse of its largest probability, and its maximum is the logit of
// that column.
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

// ---- Lab 09 -------------------------------------------------------------------------------------

// messages: (devices, rows, k + 1), of all devices, in this device's memory. Writes shard.index and shard.prob.
template <typename T>
cudaError_t merge(const Shard<T>& shard, const Key* messages);
template <typename T>
cudaError_t packed(const Shard<T>& shard);
template <typename T>
cudaError_t one_shot(const Shard<T>& shard);
template <typename T>
cudaError_t one_shot_ll(const Shard<T>& shard);

#define SHARDED_EXPORT_TYPE(T)                             \
  template cudaError_t merge(const Shard<T>&, const Key*); \
  template cudaError_t packed(const Shard<T>&);            \
  template cudaError_t one_shot(const Shard<T>&);          \
  template cudaError_t one_shot_ll(const Shard<T>&);

// The three for all types, at the end of lab 09's file. ONLY_F32: for float, which compiles faster.
#ifdef ONLY_F32
#define SHARDED_EXPORT() SHARDED_EXPORT_TYPE(float)
#else
#define SHARDED_EXPORT() SHARDED_EXPORT_TYPE(float) SHARDED_EXPORT_TYPE(__half) SHARDED_EXPORT_TYPE(__nv_bfloat16)
#endif

}  // namespace sharded
