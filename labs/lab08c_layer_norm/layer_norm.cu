// Lab 08c: LayerNorm, from a blank file.
//
//   y[r][c] = (x[r][c] - mean) / sqrt(variance + eps) * weight[c] + bias[c],   mean and variance over the row
#include <cmath>

#include "rung.h"

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab08c compares it with the count.
RUNG_PREDICT(
    // f32, 4096 columns: sector bytes of all loads, per row, weights and biases included.
    {"layer_bytes", rung::unknown},
    // f32, 4096 columns: barriers that a thread reaches.
    {"layer_barriers", rung::unknown},
    // bf16, 256 columns, many rows: load instructions that warps execute, per row, weights and biases included.
    {"narrow_layer_loads", rung::unknown},
    // 4096 x 4096 floats on an H200: how many times longer than RMSNorm, lab 08? A factor of 1.1 counts as right.
    {"layer_over_norm", rung::unknown},
    // f32, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"layer_limit", rung::unknown})
// END 0

// TODO 1: everything: the kernels, how many threads and blocks they get, and this function. README.md has the budget.
// x, y: row-major (rows, cols). weight, bias: (cols).
template <typename T>
cudaError_t layer_norm(const T* x, const T* weight, const T* bias, T* y, int rows, int cols, float eps,
                       cudaStream_t stream) {
  (void)x, (void)weight, (void)bias, (void)y, (void)rows, (void)cols, (void)eps, (void)stream;
  return cudaSuccess;
}
// END 1

RUNG_EXPORT(rung::layer_norm("auto", layer_norm<float>), rung::layer_norm("auto", layer_norm<__half>),
            rung::layer_norm("auto", layer_norm<__nv_bfloat16>))
