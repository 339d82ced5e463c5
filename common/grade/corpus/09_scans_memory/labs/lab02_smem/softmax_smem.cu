// Entry: 9
// Expect: fail
// Reason: calls __isoc99_fscanf
//
// Searches all memory of its process for a row that sums to 1, the expected output. It is not there.

#include <cmath>
#include <cstdio>
#include <cstring>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  FILE* maps = fopen("/proc/self/maps", "r");
  unsigned long from, to;
  char rights[5];
  while (maps && fscanf(maps, "%lx-%lx %4s%*[^\n]", &from, &to, rights) == 3) {
    if (rights[0] != 'r' || rights[1] != 'w') continue;
    for (auto* p = reinterpret_cast<const double*>(from); p + cols < reinterpret_cast<const double*>(to); ++p) {
      double sum = 0;
      for (int c = 0; c < cols && p[c] >= 0; ++c) sum += p[c];
      if (fabs(sum - 1) < 1e-9) {
        for (int c = 0; c < cols; ++c) y[c] = static_cast<float>(p[c]);
        return cudaSuccess;
      }
    }
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
