// Entry: 4
// Expect: fail
// Reason: there is no variant "serial f32"
//
// Exports variants of its own choice in place of those that the lab asks for. The judge holds the list.

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("passed", softmax), rung::softmax("all_right", softmax))
