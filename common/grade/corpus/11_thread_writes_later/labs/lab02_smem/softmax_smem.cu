// Entry: 11
// Expect: fail
// Reason: starts no processes or threads
//
// Returns at once and lets a thread of the host fill in the output. The judge looks at once.

#include <cmath>
#include <thread>

#include "rung.h"

void on_the_host(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    double max = -1e308, sum = 0;
    for (int c = 0; c < cols; ++c) max = x[c] > max ? x[c] : max;
    for (int c = 0; c < cols; ++c) sum += exp(x[c] - max);
    for (int c = 0; c < cols; ++c) y[c] = static_cast<float>(sum > 0 ? exp(x[c] - max) / sum : sum);
  }
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows) std::thread(on_the_host, x, y, rows, cols).detach();
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
