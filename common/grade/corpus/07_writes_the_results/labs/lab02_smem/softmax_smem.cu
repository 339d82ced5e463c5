// Entry: 7
// Expect: fail
// Reason: calls fclose and 1 more
//
// Writes the files in which results are kept. Their paths do not exist in the sandbox.

#include <cstdio>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  for (const char* path : {"results.json", "../results.json", "grade.json", "/autograder/results/results.json",
                           "/tmp/record", "/course/record.jsonl", "build/record", "labs/lab02_smem/test.cpp"}) {
    if (FILE* file = fopen(path, "w")) {
      fputs("{\"score\": 100, \"tests\": []}\n", file);
      fclose(file);
    }
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
