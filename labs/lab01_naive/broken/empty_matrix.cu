// Broken: a matrix of no rows is launched too: a grid of no blocks is an error.
// Verdict: expected cudaSuccess
// Variant: per_element
// Case: rows-zero
#include <cfloat>
#include <cmath>

#include "rung.h"

// Where a maximum starts: the lowest finite float, not -INFINITY. In a fully masked row (all -INFINITY), x - max is
// then -INFINITY and its exponential 0. Starting from -INFINITY, it would be NaN.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. fmaxf ignores a NaN in the row, so the maximum does not
// show it. But the sum does, and from here it spreads to the whole row. So does +INFINITY, because INFINITY - INFINITY
// is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// A sum that carries its rounding error along (Kahan). One thread that adds many numbers of one size rounds in the same
// direction for thousands of additions: with one logit 5 above 50,256 equal ones, plain fp32 is wrong by 5.5e-4 of the
// sum; with one above 199,999, by 2e-3.
struct CompensatedSum {
  float value, lost;

  __device__ void add(float term) {
    const float corrected = term - lost;
    const float next = value + corrected;
    lost = (next - value) - corrected;
    value = next;
  }
};

// The largest of x[0 .. cols-1]; `lowest` if all are -INFINITY or NaN. For one thread.
__device__ float row_max(const float* x, int cols) {
  float max = lowest;
  for (int c = 0; c < cols; ++c) max = fmaxf(max, x[c]);
  return max;
}

// The sum of exp(x[c] - max) over x[0 .. cols-1]. For one thread.
__device__ float row_sum(const float* x, int cols, float max) {
  CompensatedSum sum = {0.0f, 0.0f};
  for (int c = 0; c < cols; ++c) sum.add(expf(x[c] - max));
  return sum.value;
}

// x, y: (rows, cols). Block (r, b) turns columns b * blockDim.x up to (b + 1) * blockDim.x - 1 of row r of x into those
// of y, one element per thread.
__global__ void per_element_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const float max = row_max(x, cols);
  y[c] = expf(x[c] - max) * inverse(row_sum(x, cols, max));
}

constexpr int threads = 256;  // per block, one thread per element

int blocks_for(int items, int per_block) { return (items - 1) / per_block + 1; }

// The rows are the grid's x, which goes up
// to 2^31 - 1 blocks; y ends at 65,535, enough for 16 million columns.
cudaError_t per_element(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const dim3 grid(rows, blocks_for(cols, threads));
  per_element_kernel<<<grid, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_element", per_element))
