// Lab 08b: cross-entropy from logits, from a blank file.
//
//   loss[r] = -log(softmax(x[r])[target[r]]),   gradient[r][c] = (softmax(x[r])[c] - (c == target[r])) * scale
#include <cmath>

#include "rung.h"

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab08b compares it with the count.
RUNG_PREDICT(
    // f32, 4096 columns, loss and gradient: bytes per row that all stores move.
    {"loss_bytes", rung::unknown},
    // f32, 4096 columns, loss and gradient: barriers that a thread reaches.
    {"loss_barriers", rung::unknown},
    // f32, 512 rows of 128 columns, only the loss: load instructions that warps execute, per row.
    {"narrow_logit_loads", rung::unknown},
    // f32, 2048 x 50257, loss and gradient, on an H200: how many times longer than lab 06's softmax? A factor of 1.15
    // counts as right.
    {"loss_over_softmax", rung::unknown},
    // f32, 4096 x 4096, loss and gradient, on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or
    // latency.
    {"loss_limit", rung::unknown})
// END 0

// TODO 1: everything: the kernels, how many threads and blocks they get, and this function. README.md has the budget.
// x: row-major (rows, cols). target: (rows), a column or -100. loss: (rows). gradient: (rows, cols), or null.
template <typename T>
cudaError_t cross_entropy(const T* x, const int64_t* target, float* loss, T* gradient, int rows, int cols, float scale,
                          cudaStream_t stream) {
  (void)x, (void)target, (void)loss, (void)gradient, (void)rows, (void)cols, (void)scale, (void)stream;
  return cudaSuccess;
}
// END 1

RUNG_EXPORT(rung::cross_entropy("auto", cross_entropy<float>), rung::cross_entropy("auto", cross_entropy<__half>),
            rung::cross_entropy("auto", cross_entropy<__nv_bfloat16>))
