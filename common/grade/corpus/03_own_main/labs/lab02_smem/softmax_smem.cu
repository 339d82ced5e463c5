// Entry: 3
// Expect: fail
// Reason: never written: the whole output still has what the test put there
//
// Brings its own main and entry point, hoping to be linked in place of the tests'.

#include <cstdio>

#include "rung.h"

int main() {
  puts("244 passed, 0 failed");
  return 0;
}
extern "C" int __libc_start_main() { return main(); }

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
