// Entry: 15
// Expect: fail
// Reason: invalid address
//
// Top-K by sorting on the host: kernels copy to where the host computes, and back.

#include <algorithm>
#include <cfloat>
#include <vector>

#include "rung.h"

template <typename T>
__global__ void copy(const T* from, T* to, size_t count) {
  for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) to[i] = from[i];
}

void on_the_host(const float* x, int* index, float* prob, int rows, int cols, int k) {
  std::vector<int> order(static_cast<size_t>(cols));
  for (int r = 0; r < rows; r++, x += cols, index += k, prob += k) {
    for (int c = 0; c < cols; c++) order[static_cast<size_t>(c)] = c;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] > x[b]; });
    float sum = 0.0f;
    for (int c = 0; c < cols; c++) sum += expf(x[c] - x[order[0]]);
    for (int i = 0; i < k; i++) {
      index[i] = order[static_cast<size_t>(i)];
      prob[i] = expf(x[index[i]] - x[order[0]]) / sum;
    }
  }
}

cudaError_t online(const float* x, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(x, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const size_t in = static_cast<size_t>(rows) * cols, out = static_cast<size_t>(rows) * k;
  std::vector<float> memory(in + 2 * out);
  float* const own = memory.data();
  int* const found = reinterpret_cast<int*>(own + in + out);
  copy<<<8, 256, 0, stream>>>(x, own, in);
  cudaStreamSynchronize(stream);
  on_the_host(own, found, own + in, rows, cols, k);
  copy<<<8, 256, 0, stream>>>(found, index, out);
  copy<<<8, 256, 0, stream>>>(own + in, prob, out);
  cudaStreamSynchronize(stream);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax_topk("online", online))
