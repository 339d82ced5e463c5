// Entry: 48
// Expect: fail
// Reason: compile
//
// Macros that double thirty times.

#include "rung.h"

#define A0 x + x + x + x
#define A1 A0 A0 A0 A0
#define A2 A1 A1 A1 A1
#define A3 A2 A2 A2 A2
#define A4 A3 A3 A3 A3
#define A5 A4 A4 A4 A4
#define A6 A5 A5 A5 A5
#define A7 A6 A6 A6 A6
#define A8 A7 A7 A7 A7
#define A9 A8 A8 A8 A8
#define A10 A9 A9 A9 A9
#define A11 A10 A10 A10 A10
#define A12 A11 A11 A11 A11
#define A13 A12 A12 A12 A12
#define A14 A13 A13 A13 A13
#define A15 A14 A14 A14 A14
#define A16 A15 A15 A15 A15
const char* bomb(int x) { return (A16) ? "" : nullptr; }

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
