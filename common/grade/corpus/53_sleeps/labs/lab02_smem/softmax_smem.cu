// Entry: 53
// Expect: fail
// Reason: calls sleep
//
// Sleeps for an hour on the host.

#include "rung.h"

extern "C" unsigned sleep(unsigned);

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  sleep(3600);
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
