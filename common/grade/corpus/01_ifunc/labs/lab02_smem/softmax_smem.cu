// Entry: 1
// Expect: fail
// Reason: uses the attribute 'ifunc'
//
// The same in a resolver, which runs while symbols are being bound.

extern "C" void _exit(int);

#include "rung.h"

extern "C" {
static int nothing() { return 0; }
static int (*choose())() {
  _exit(0);
  return nothing;
}
int chosen() __attribute__((ifunc("choose")));
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (chosen()) return cudaErrorUnknown;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
