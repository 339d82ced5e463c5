// Entry: 52
// Expect: fail
// Reason: timed out
//
// Prints for ever.

#include <cstdio>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  for (;;) puts("flood flood flood flood flood flood flood flood flood flood flood flood flood flood");
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
