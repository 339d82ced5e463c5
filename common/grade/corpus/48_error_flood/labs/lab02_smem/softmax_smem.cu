// Entry: 48
// Expect: fail
// Reason: does not compile
//
// An error message of many megabytes.

#include "rung.h"

#define E1 sizeof(struct no_such_thing_with_a_rather_long_name_that_is_printed_again_and_again);
#define E10 E1 E1 E1 E1 E1 E1 E1 E1 E1 E1
#define E100 E10 E10 E10 E10 E10 E10 E10 E10 E10 E10
#define E1000 E100 E100 E100 E100 E100 E100 E100 E100 E100 E100
#define E10000 E1000 E1000 E1000 E1000 E1000 E1000 E1000 E1000 E1000 E1000
void flood(){E10000}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
