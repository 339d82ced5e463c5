// Entry: 48
// Expect: fail
// Reason: does not compile
//
// An initialised array of 64 GiB in the object file.

#include "rung.h"

char huge[1ull << 36] = {1};

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  huge[cols] = 1;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
