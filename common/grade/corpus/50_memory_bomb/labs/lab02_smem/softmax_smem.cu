// Entry: 50
// Expect: fail
// Reason: cases wrong
//
// Takes and touches memory for ever.

#include <cstdlib>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  for (;;) {
    auto* p = static_cast<volatile char*>(malloc(1 << 26));
    for (size_t i = 0; p && i < 1 << 26; i += 4096) p[i] = 1;
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
