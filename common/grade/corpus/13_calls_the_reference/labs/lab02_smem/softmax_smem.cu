// Entry: 13
// Expect: fail
// Reason: calls _ZN9reference7softmax
//
// Declares the judge's reference and calls it. It is not linked into the worker.

#include <vector>

#include "rung.h"

namespace reference {
std::vector<double> softmax(const std::vector<double>& x, int rows, int cols);
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const std::vector<double> right =
      reference::softmax(std::vector<double>(x, x + static_cast<size_t>(rows) * cols), rows, cols);
  for (size_t i = 0; i < right.size(); i++) y[i] = static_cast<float>(right[i]);
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
