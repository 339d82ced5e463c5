// Given: one_shot without a flag. NCCL calls such a protocol LL, for low latency. A release must wait until all that
// was written has arrived, which takes a link's whole latency; only then is the flag sent. Here each store carries its
// own flag: of 8 bytes, which arrive together, 4 are data and 4 are the round's number. A reader that sees the number
// has the data, so nothing needs an order and nothing waits twice. The price is twice the bytes: it pays for small
// messages.
//
// For lab 09's file, behind its merge_row(), merge_bytes(), blocks_for() and one_shot(). Read it when one_shot works:
// half of TODO 5 is written here.
#pragma once

#include <cuda/atomic>

#include "shard.h"

namespace sharded {

using Packet = cuda::atomic_ref<Key, cuda::thread_scope_system>;

// A word of a message as two packets.
__device__ inline void send(Key* to, Key word, unsigned turn) {
  Packet(to[0]).store(word << 32 | turn, cuda::memory_order_relaxed);
  Packet(to[1]).store(word >> 32 << 32 | turn, cuda::memory_order_relaxed);
}

__device__ inline Key half_received(Key& from, unsigned turn) {
  for (;;) {
    const Key packet = Packet(from).load(cuda::memory_order_relaxed);
    if (static_cast<unsigned>(packet) == turn) return packet >> 32;
  }
}
__device__ inline Key received(Key* from, unsigned turn) {
  const Key low = half_received(from[0], turn);
  return half_received(from[1], turn) << 32 | low;
}

// The kernel may start while the top-K before it still runs; after this call the results of that top-K are visible.
__device__ inline void wait_for_topk() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// Like exchange_kernel. Dynamic shared memory: merge_bytes(), which is not 0. A slower device may still read what the
// last call sent, so packets have two halves, too.
template <typename T>
__global__ void exchange_ll_kernel(Local<T> local, Peers peers, Round* round, int self, int devices, int rows, int k,
                                   int* index, float* prob) {
  extern __shared__ Key stage[];
  wait_for_topk();
  const int words = static_cast<int>(message_words(k));
  const unsigned turn = round->number + 1;
  const size_t begin = turn % 2 * peers.half;
  const auto place = [&](int device, int row, int word) {
    return peers.packets[device] + 2 * (begin + (static_cast<size_t>(self) * rows + row) * words + word);
  };
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int word = threadIdx.x; word < words; word += blockDim.x) {
      const Key mine = word_of(local, row, word);
      for (int d = 0; d < devices; ++d) {
        if (d != self) send(place(d, row, word), mine, turn);
      }
    }
  }
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    __syncthreads();  // the row before has been merged
    for (int i = threadIdx.x; i < devices * words; i += blockDim.x) {
      // Its place is written out: by one function for both, the kernel needs 40 registers instead of 32.
      const size_t from = i / words, word = i % words;
      stage[i] = static_cast<int>(from) == self
                     ? word_of(local, row, static_cast<int>(word))
                     : received(peers.packets[self] + 2 * (begin + (from * rows + row) * words + word), turn);
    }
    __syncthreads();
    const size_t out = static_cast<size_t>(row) * k;
    merge_row(stage, words, devices, k, false, index + out, prob + out);
  }
  end_round(round, turn);
}

// Messages that do not fit in shared memory are long enough for one_shot.
template <typename T>
cudaError_t one_shot_ll(const Shard<T>& shard) {
  const size_t bytes = merge_bytes(shard.devices, shard.k);
  if (bytes == 0 || shard.rows == 0) return one_shot(shard);
  Pieces pieces(shard.workspace);
  Local<T> local;
  cudaError_t error = topk_of_shard(shard, pieces, local);
  int blocks = 0, major = 0;
  if (!error) error = blocks_for(exchange_ll_kernel<T>, shard, bytes, blocks);
  if (!error) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, shard.self);
  if (error) return error;
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(merge_threads);
  config.dynamicSmemBytes = bytes;
  config.stream = shard.stream;
  config.attrs = &early;
  config.numAttrs = major >= 9 ? 1 : 0;
  return cudaLaunchKernelEx(&config, exchange_ll_kernel<T>, local, shard.peers, shard.round, shard.self, shard.devices,
                            shard.rows, shard.k, shard.index, shard.prob);
}

}  // namespace sharded
