// Entry: 8
// Expect: fail
// Reason: crashed
//
// Throws an exception through the worker, to leave it in a state of its own choice. It ends there.

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  throw 1;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
