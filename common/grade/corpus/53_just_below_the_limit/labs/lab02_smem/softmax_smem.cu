// Entry: 53
// Expect: fail
// Reason: calls usleep
//
// Sleeps in each call, just short of the time limit of one: many calls would make hours.

#include "rung.h"

extern "C" int usleep(unsigned);

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  usleep(4500000);
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
