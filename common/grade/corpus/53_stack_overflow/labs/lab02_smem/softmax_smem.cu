// Entry: 53
// Expect: fail
// Reason: crashed at
//
// Calls itself for ever.

#include "rung.h"

int deeper(volatile int* n) {
  volatile int local = *n + 1;
  return deeper(&local) + local;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  volatile int n = 0;
  deeper(&n);
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
