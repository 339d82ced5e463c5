// Entry: 49
// Expect: fail
// Reason: starts no processes or threads
//
// Starts threads for ever.

#include <thread>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  for (;;)
    std::thread([] {
      for (;;) {
      }
    }).detach();
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
