// Entry: 1
// Expect: fail
// Reason: uses the attribute 'section'
//
// The same without a constructor's name: a pointer in the section that the loader runs.

extern "C" void _exit(int);

#include "rung.h"

static void leave() { _exit(0); }
__attribute__((section(".init_array"), used)) static void (*first)() = leave;

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
