// Entry: 1
// Expect: fail
// Reason: calls _exit
//
// Leaves with status 0 in a destructor of thread-local storage.

extern "C" void _exit(int);

#include "rung.h"

struct Leave {
  int used = 0;
  ~Leave() { _exit(0); }
};
thread_local Leave leave;

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  leave.used++;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
