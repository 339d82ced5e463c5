// The variants of shard.h that most programs use: gather_logits and three_reductions.
#pragma once

#include "shard.h"

namespace sharded {

// ---- gather_logits ------------------------------------------------------------------------------

// gathered: of device after device (rows, cols of the device). whole: (rows, all_cols). One device's columns.
template <typename T>
__global__ void columns_kernel(const T* gathered, T* whole, int rows, int cols, int first, int all_cols) {
  const size_t count = static_cast<size_t>(rows) * cols;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<size_t>(gridDim.x) * blockDim.x)
    whole[i / cols * all_cols + first + i % cols] = gathered[i];
}

// An all-gather if all shards have the same width, else one broadcast per device.
template <typename T>
cudaError_t gather_all(const Shard<T>& shard, T* gathered) {
  bool even = true;
  for (int d = 0; d < shard.devices; ++d) even &= shard.cols[d] == shard.cols[0];
  const size_t row_bytes = shard.rows * sizeof(T);
  if (even)
    return error_of(
        ncclAllGather(shard.logits, gathered, row_bytes * shard.cols[0], ncclUint8, shard.comm, shard.stream));
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < shard.devices && result == ncclSuccess; ++d) {
    if (shard.cols[d] > 0)
      result = ncclBroadcast(d == shard.self ? shard.logits : gathered, gathered, row_bytes * shard.cols[d], ncclUint8,
                             d, shard.comm, shard.stream);
    gathered += static_cast<size_t>(shard.rows) * shard.cols[d];
  }
  const ncclResult_t ended = ncclGroupEnd();
  return error_of(result != ncclSuccess ? result : ended);
}

template <typename T>
cudaError_t gather_logits(const Shard<T>& shard) {
  if (shard.rows == 0) return cudaSuccess;
  const int all_cols = shard.all_cols();
  const size_t count = static_cast<size_t>(shard.rows) * all_cols;
  Pieces pieces(shard.workspace);
  T* const gathered = pieces.take<T>(count);
  T* const whole = pieces.take<T>(count);
  if (const cudaError_t error = gather_all(shard, gathered)) return error;
  size_t before = 0;
  int first = 0;
  for (int d = 0; d < shard.devices; ++d) {
    const int cols = shard.cols[d];
    const int blocks = static_cast<int>(std::min((static_cast<size_t>(shard.rows) * cols + 1023) / 1024, size_t{1024}));
    if (blocks > 0)
      columns_kernel<<<blocks, 256, 0, shard.stream>>>(gathered + before, whole, shard.rows, cols, first, all_cols);
    before += static_cast<size_t>(shard.rows) * cols;
    first += cols;
  }
  if (const cudaError_t error = cudaGetLastError()) return error;
  return topk_of_rows<T>(whole, shard.index, shard.prob, shard.rows, all_cols, shard.k, shard.stream);
}

// ---- three_reductions ---------------------------------------------------------------------------

// max, sum: (rows). logits, columns: (rows, k), column -1 where a shard has no more. Block r writes row r.
template <typename T>
__global__ void parts_kernel(Local<T> local, int k, float* max, float* sum, float* logits, int* columns) {
  const size_t row = blockIdx.x;
  if (threadIdx.x == 0) {
    max[row] = local.max(row);
    sum[row] = local.sum(row);
  }
  for (int i = threadIdx.x; i < k; i += blockDim.x) {
    logits[row * k + i] = i < local.k ? local.logit(row, i) : 0.0f;
    columns[row * k + i] = i < local.k ? local.first + local.index[row * local.k + i] : -1;
  }
}

// Rescales the shard's sum from the shard's maximum to the whole row's.
__global__ void rescale_kernel(const float* max, const float* max_of_all, float* sum, int rows) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < rows) sum[row] *= __expf(max[row] - max_of_all[row]);
}

// The messages that merge_kernel takes, from (max, sum) of the whole rows and the pairs of all devices.
__global__ void messages_kernel(const float* max, const float* sum, const float* logits, const int* columns, int k,
                                int devices, Key* messages) {
  const size_t row = blockIdx.x, rows = gridDim.x, words = message_words(k);
  for (int i = threadIdx.x; i < devices * (k + 1); i += blockDim.x) {
    const int word = i % (k + 1);
    const size_t line = i / (k + 1) * rows + row, at = line * k + word - 1;
    Key message = 0;
    if (word == 0) {
      message = pack(max[row], line < rows ? sum[row] : 0.0f);  // it is there once
    } else if (columns[at] >= 0) {
      message = make_key(logits[at], columns[at]);
    }
    messages[line * words + word] = message;
  }
}

template <typename T>
cudaError_t three_reductions(const Shard<T>& shard) {
  if (shard.rows == 0) return cudaSuccess;
  const size_t rows = shard.rows, pairs = rows * shard.k;
  Pieces pieces(shard.workspace);
  float* const max = pieces.take<float>(rows);
  float* const max_of_all = pieces.take<float>(rows);
  float* const sum = pieces.take<float>(rows);
  float* const logits = pieces.take<float>(pairs);
  int* const columns = pieces.take<int>(pairs);
  float* const all_logits = pieces.take<float>(shard.devices * pairs);
  int* const all_columns = pieces.take<int>(shard.devices * pairs);
  Key* const messages = pieces.take<Key>(shard.devices * rows * message_words(shard.k));
  Local<T> local;
  if (const cudaError_t error = topk_of_shard(shard, pieces, local)) return error;
  parts_kernel<<<shard.rows, 128, 0, shard.stream>>>(local, shard.k, max, sum, logits, columns);
  ncclResult_t result = ncclAllReduce(max, max_of_all, rows, ncclFloat, ncclMax, shard.comm, shard.stream);
  if (result != ncclSuccess) return error_of(result);
  rescale_kernel<<<(shard.rows + 127) / 128, 128, 0, shard.stream>>>(max, max_of_all, sum, shard.rows);
  result = ncclAllReduce(sum, sum, rows, ncclFloat, ncclSum, shard.comm, shard.stream);
  if (result == ncclSuccess) result = ncclGroupStart();
  if (result != ncclSuccess) return error_of(result);
  result = ncclAllGather(logits, all_logits, pairs, ncclFloat, shard.comm, shard.stream);
  if (result == ncclSuccess) result = ncclAllGather(columns, all_columns, pairs, ncclInt32, shard.comm, shard.stream);
  const ncclResult_t ended = ncclGroupEnd();
  if (result != ncclSuccess || ended != ncclSuccess) return error_of(result != ncclSuccess ? result : ended);
  messages_kernel<<<shard.rows, 256, 0, shard.stream>>>(max_of_all, sum, all_logits, all_columns, shard.k,
                                                        shard.devices, messages);
  if (const cudaError_t error = cudaGetLastError()) return error;
  return merge(shard, messages);
}

}  // namespace sharded
