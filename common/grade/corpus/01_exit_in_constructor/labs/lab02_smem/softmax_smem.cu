// Entry: 1
// Expect: fail
// Reason: uses the attribute 'constructor'
//
// Leaves the process with status 0 before a test can fail. No output byte comes back.

extern "C" void _exit(int);

#include "rung.h"

__attribute__((constructor)) static void leave() { _exit(0); }

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
