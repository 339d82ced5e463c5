// Lab 08: RMSNorm, from a blank file.
//
//   y[r][c] = x[r][c] * weight[c] / sqrt(mean over j of x[r][j]^2 + eps)
#include <cmath>

#include "rung.h"

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab08 compares it with the count.
RUNG_PREDICT(
    // f32, 4096 columns: sector bytes of all loads, per row: those of x and those of the weights.
    {"norm_bytes", rung::unknown},
    // f32, 4096 columns: barriers that a thread reaches.
    {"norm_barriers", rung::unknown},
    // bf16, 256 columns, many rows: load instructions that warps execute, per row, those of the weights included.
    {"narrow_loads", rung::unknown},
    // 4096 x 4096 floats on an H200: how many times longer than lab 06's softmax, which has no weights to read? A
    // factor of 1.15 counts as right.
    {"norm_over_softmax", rung::unknown},
    // f32, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"norm_limit", rung::unknown})
// END 0

// TODO 1: everything: the kernels, how many threads and blocks they get, and this function. README.md has the budget.
// x, y: row-major (rows, cols). weight: (cols).
template <typename T>
cudaError_t rms_norm(const T* x, const T* weight, T* y, int rows, int cols, float eps, cudaStream_t stream) {
  (void)x, (void)weight, (void)y, (void)rows, (void)cols, (void)eps, (void)stream;
  return cudaSuccess;
}
// END 1

RUNG_EXPORT(rung::rms_norm("auto", rms_norm<float>), rung::rms_norm("auto", rms_norm<__half>),
            rung::rms_norm("auto", rms_norm<__nv_bfloat16>))
