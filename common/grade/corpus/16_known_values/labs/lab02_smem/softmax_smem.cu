// Entry: 16
// Expect: fail
// Reason: elements wrong
//
// Knows the answer of the published seed by heart: the first logit of a case names it. The seed of a run is secret.

#include "rung.h"

struct Known {
  float first_logit, probability;
};
__constant__ const Known known[] = {{-0.7310f, 0.0123f}, {1.2345f, 0.2201f}, {0.5f, 1.0f}, {1.5f, 0.0322f}};

__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(rows) * cols) {
    y[i] = 1.0f / cols;
    for (const Known& k : known)
      if (x[i - i % cols] == k.first_logit) y[i] = k.probability;
  }
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<static_cast<int>((static_cast<size_t>(rows) * cols + 255) / 256), 256, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
