// Lab 01: softmax, right first.
//
// y[c] = exp(x[c] - max) / sum over k of exp(x[k] - max), for each row of a matrix. Three passes over the row: its
// maximum, the sum, the division. Everything is read from global memory, each time that it is needed.
//
//   per_element   one thread per element: every thread computes its row's maximum and sum again
//   per_row       one thread per row: no work is done twice, but neighbouring threads read addresses a row apart
//   no_max        one thread per row, without the maximum: deliberately wrong; some inputs break it
#include <cfloat>
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // per_row: 32 threads of a warp load x[c], each from a row of its own: 32-byte sectors that this load requests.
    {"apart_sectors", 32},
    // per_element: all 32 threads of a warp load the same x[c]: sectors that this load requests.
    {"same_address_sectors", 1},
    // per_element, V = 1000: how often each element of a row is loaded. Every thread counts for itself.
    {"per_element_reads", 2 * 1000 + 1},
    // per_row, V = 1000: sector bytes (32 per sector requested) of all loads of one row.
    {"per_row_bytes", 3 * 1000 * 32},
    // 4096 x 4096 on an H200: how many times longer does per_element take than per_row? A factor of 2.5 counts as
    // right.
    {"per_element_slower", 8200.0 / 128},
    // per_row, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"per_row_limit", rung::limit::lsu})
// END 0

// Where a maximum starts: the lowest finite float, not -INFINITY. In a fully masked row (all -INFINITY), x - max is
// then -INFINITY and its exponential 0. Starting from -INFINITY, it would be NaN.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. fmaxf ignores a NaN in the row, so the maximum does not
// show it. But the sum does, and from here it spreads to the whole row. So does +INFINITY, because INFINITY - INFINITY
// is NaN.
__device__ float inverse(float sum) {
  // STEP 1: a sum of 0 stays 0, and NaN, which is not above 0, stays NaN.
  return sum > 0.0f ? 1.0f / sum : sum;
  // END 1
}

// A sum that carries its rounding error along (Kahan). One thread that adds many numbers of the same size rounds in the
// same direction for thousands of additions: with one logit 5 above 50,256 equal ones, plain fp32 is wrong by 5.5e-4 of
// the sum; with one above 199,999, by 2e-3.
struct CompensatedSum {
  float value, lost;

  __device__ void add(float term) {
    // STEP 2: what the sum has grown by, less what it should have grown by, is the error of this addition: the next term is
    // corrected by it.
    const float corrected = term - lost;
    const float next = value + corrected;
    lost = (next - value) - corrected;
    value = next;
    // END 2
  }
};

// Softmax as the formula says, exp(x) / sum exp(x), with nothing subtracted: deliberately wrong. Above a logit
// of 88.7 expf overflows and inf / inf is NaN; where all are below -104, every expf is 0 and so is the sum. There is
// nothing to write here: read it, then see in the tests which input breaks it.
//
// x, y: (rows, cols). Thread r turns row r of x into row r of y.
__global__ void no_max_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;

  CompensatedSum sum = {0.0f, 0.0f};
  for (int c = 0; c < cols; ++c) sum.add(expf(x[c]));
  for (int c = 0; c < cols; ++c) y[c] = expf(x[c]) / sum.value;
}

// The largest of x[0 .. cols-1]; `lowest` if all are -INFINITY or NaN. For one thread.
__device__ float row_max(const float* x, int cols) {
  float max = lowest;
  // STEP 3: go over the row and keep the larger value.
  for (int c = 0; c < cols; ++c) max = fmaxf(max, x[c]);
  // END 3
  return max;
}

// The sum of exp(x[c] - max) over x[0 .. cols-1]. For one thread.
__device__ float row_sum(const float* x, int cols, float max) {
  CompensatedSum sum = {0.0f, 0.0f};
  // STEP 4: go over the row and add the exponentials of the distances to the maximum; none is above 1.
  for (int c = 0; c < cols; ++c) sum.add(expf(x[c] - max));
  // END 4
  return sum.value;
}

// x, y: (rows, cols). Block (r, b) turns columns b * blockDim.x up to (b + 1) * blockDim.x - 1 of row r of x into those
// of y, one element per thread.
__global__ void per_element_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  // STEP 5: each thread finds the row's maximum and sum for itself and writes its one element, if the row has it.
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const float max = row_max(x, cols);
  y[c] = expf(x[c] - max) * inverse(row_sum(x, cols, max));
  // END 5
}

// x, y: (rows, cols). Thread r, counted through the grid, turns row r of x into row r of y.
__global__ void per_row_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  // STEP 6: each thread finds its row's maximum and sum once and writes the whole row, if the matrix has it.
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;

  const float max = row_max(x, cols);
  const float scale = inverse(row_sum(x, cols, max));
  for (int c = 0; c < cols; ++c) y[c] = expf(x[c] - max) * scale;
  // END 6
}

// The number of blocks of per_block threads that gives every item a thread.
int blocks_for(int items, int per_block) { return (items - 1) / per_block + 1; }

// A matrix of no rows needs no launch; a grid of no blocks would be an error.
cudaError_t no_max(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  constexpr int threads = 128;
  no_max_kernel<<<blocks_for(rows, threads), threads, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

cudaError_t per_element(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  // STEP 7: a thread per element. The rows are the grid's x, which goes up to 2^31 - 1 blocks; y ends at 65,535, enough
  // for 16 million columns.
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  constexpr int threads = 256;
  const dim3 grid(rows, blocks_for(cols, threads));
  per_element_kernel<<<grid, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
  // END 7
}

cudaError_t per_row(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  // STEP 8: a thread per row, in small blocks, so that few rows still make enough blocks to occupy many SMs.
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  constexpr int threads = 128;
  per_row_kernel<<<blocks_for(rows, threads), threads, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
  // END 8
}

RUNG_EXPORT(rung::softmax("per_element", per_element), rung::softmax("per_row", per_row),
            rung::softmax("no_max", no_max))
