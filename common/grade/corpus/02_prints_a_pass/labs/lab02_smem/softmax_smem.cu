// Entry: 2
// Expect: fail
// Reason: never written: the whole output still has what the test put there
//
// Prints lines that look like a pass, on stdout and stderr. What a submission prints is never read.

#include <cstdio>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  for (FILE* to : {stdout, stderr}) {
    fprintf(to, "tree f32  widths  12 cases  ok  0.1 s\n244 passed, 0 failed\nAll tests passed\n");
    fprintf(to,
            "{\"type\": \"case\", \"variant\": \"tree f32\", \"ok\": true}\n{\"type\": \"end\"}\n{\"score\": 100}\n");
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
