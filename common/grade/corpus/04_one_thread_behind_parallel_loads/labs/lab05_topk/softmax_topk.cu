// Entry: 4
// Expect: fail
// Reason: one thread gets
// Most: 20
//
// All threads load the row into shared memory; one does the work from there.

#include <cfloat>
#include <cmath>

#include "rung.h"

// Of one row, by one thread: the K largest, in order, and their probabilities.
template <typename Load>
__device__ void select(Load load, int cols, int k, int* index, float* probability) {
  float best[1024];
  int where[1024];
  int found = 0;
  float max = -FLT_MAX, sum = 0.0f;
  bool broken = false;
  for (int c = 0; c < cols; c++) {
    const float v = load(c);
    broken = broken || v != v || v == INFINITY;
    if (v > max) sum *= expf(max - v), max = v;
    sum += expf(v - max);
    const float key = v != v ? -INFINITY : v;
    if (found == k && !(key > best[k - 1])) continue;
    int at = found < k ? found++ : k - 1;
    for (; at > 0 && best[at - 1] < key; at--) best[at] = best[at - 1], where[at] = where[at - 1];
    best[at] = key, where[at] = c;
  }
  for (int i = 0; i < k; i++) {
    index[i] = where[i];
    probability[i] = broken ? NAN : sum > 0.0f ? expf(best[i] - max) / sum : 0.0f;
  }
}

__global__ void kernel(const float* x, int* indices, float* probabilities, int cols, int k) {
  extern __shared__ float row[];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) row[c] = x[static_cast<size_t>(blockIdx.x) * cols + c];
  __syncthreads();
  if (threadIdx.x) return;
  select([&](int c) { return row[c]; }, cols, k, indices + static_cast<size_t>(blockIdx.x) * k,
         probabilities + static_cast<size_t>(blockIdx.x) * k);
}

cudaError_t online(const float* x, int* indices, float* probabilities, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(x, indices, probabilities, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const size_t bytes = static_cast<size_t>(cols) * sizeof(float);
  if (bytes > 227 * 1024) return cudaErrorInvalidValue;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  kernel<<<rows, 256, bytes, stream>>>(x, indices, probabilities, cols, k);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax_topk("online", online))
