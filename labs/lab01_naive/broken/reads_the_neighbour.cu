// Broken: the maximum takes in the next row's first column; for the last row that lies past the matrix.
// Verdict: memcheck: out of bounds in global memory
// Line: the one that holds `<- here`
// Variant: per_row
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
  for (int c = 0; c <= cols; ++c) max = fmaxf(max, x[c]);  // <- here
  return max;
}

// The sum of exp(x[c] - max) over x[0 .. cols-1]. For one thread.
__device__ float row_sum(const float* x, int cols, float max) {
  CompensatedSum sum = {0.0f, 0.0f};
  for (int c = 0; c < cols; ++c) sum.add(expf(x[c] - max));
  return sum.value;
}

// x, y: (rows, cols). Thread r, counted through the grid, turns row r of x into row r of y.
__global__ void per_row_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;

  const float max = row_max(x, cols);
  const float scale = inverse(row_sum(x, cols, max));
  for (int c = 0; c < cols; ++c) y[c] = expf(x[c] - max) * scale;
}

constexpr int threads_per_row = 128;  // per block, one thread per row: smaller, so that fewer rows make more blocks

int blocks_for(int items, int per_block) { return (items - 1) / per_block + 1; }

cudaError_t per_row(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  per_row_kernel<<<blocks_for(rows, threads_per_row), threads_per_row, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_row", per_row))
