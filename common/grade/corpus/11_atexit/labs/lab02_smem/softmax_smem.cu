// Entry: 11
// Expect: fail
// Reason: calls atexit
//
// Fills in the output when the process ends. The judge has its copy by then.

#include <cmath>
#include <cstdlib>

#include "rung.h"

void on_the_host(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    double max = -1e308, sum = 0;
    for (int c = 0; c < cols; ++c) max = x[c] > max ? x[c] : max;
    for (int c = 0; c < cols; ++c) sum += exp(x[c] - max);
    for (int c = 0; c < cols; ++c) y[c] = static_cast<float>(sum > 0 ? exp(x[c] - max) / sum : sum);
  }
}
const float* late_x;
float* late_y;
int late_rows, late_cols;
void late() { on_the_host(late_x, late_y, late_rows, late_cols); }

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  late_x = x, late_y = y, late_rows = rows, late_cols = cols;
  atexit(late);
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
