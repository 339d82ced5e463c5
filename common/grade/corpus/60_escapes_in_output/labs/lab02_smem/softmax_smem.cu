// Entry: 60
// Expect: fail
// Reason: there is no variant "serial f32"
//
// The same in what the kernel prints and in the names of its variants.

#include <cstdio>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  printf("\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>\n=1+1\n");
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("=1+1", softmax), rung::softmax("<script>alert(1)</script>", softmax),
            rung::softmax("\x1b[2Jtree", softmax))
