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

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab01 compares it with the
// count; README.md, "Predict first", has the questions in full.
RUNG_PREDICT(
    // per_row: 32 threads of a warp load x[c], each from a row of its own: 32-byte sectors that this load requests.
    {"apart_sectors", rung::unknown},
    // per_element: all 32 threads of a warp load the same x[c]: sectors that this load requests.
    {"same_address_sectors", rung::unknown},
    // per_element, V = 1000: how often each element of a row is loaded. Every thread counts for itself.
    {"per_element_reads", rung::unknown},
    // per_row, V = 1000: sector bytes (32 per sector requested) of all loads of one row.
    {"per_row_bytes", rung::unknown},
    // 4096 x 4096 on an H200: how many times longer does per_element take than per_row? A factor of 2.5 counts as
    // right.
    {"per_element_slower", rung::unknown},
    // per_row, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"per_row_limit", rung::unknown})
// END 0

// Where a maximum starts: the lowest finite float, not -INFINITY. In a fully masked row (all -INFINITY), x - max is
// then -INFINITY and its exponential 0. Starting from -INFINITY, it would be NaN.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. fmaxf ignores a NaN in the row, so the maximum does not
// show it. But the sum does, and from here it spreads to the whole row. So does +INFINITY, because INFINITY - INFINITY
// is NaN.
__device__ float inverse(float sum) {
  // TODO 1: this is right for every sum but one. Which?
  return 1.0f / sum;
  // END 1
}

// A sum that carries its rounding error along (Kahan). One thread that adds many numbers of the same size rounds in the
// same direction for thousands of additions: with one logit 5 above 50,256 equal ones, plain fp32 is wrong by 5.5e-4 of
// the sum; with one above 199,999, by 2e-3.
struct CompensatedSum {
  float value, lost;

  __device__ void add(float term) {
    // TODO 2: a plain sum, which is too coarse for wide rows. Before a term is added, take from it what `lost` holds; after it,
    // put into `lost` by how much the sum has grown more than it should have.
    value += term;
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
  // TODO 3: raise max to the largest of x[0 .. cols-1]. What should a NaN do here? (fmaxf(a, NaN) is a.)
  (void)x;
  (void)cols;
  // END 3
  return max;
}

// The sum of exp(x[c] - max) over x[0 .. cols-1]. For one thread.
__device__ float row_sum(const float* x, int cols, float max) {
  CompensatedSum sum = {0.0f, 0.0f};
  // TODO 4: add exp(x[c] - max) for every column c to the sum (sum.add).
  (void)x;
  (void)cols;
  (void)max;
  // END 4
  return sum.value;
}

// x, y: (rows, cols). Block (r, b) turns columns b * blockDim.x up to (b + 1) * blockDim.x - 1 of row r of x into those
// of y, one element per thread.
__global__ void per_element_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  // TODO 5: where does this block's row begin, and which column is this thread's? The offset of a row can be above 2^31.
  // Return if the row has no such column; else write its element with the help of row_max, row_sum and inverse.
  (void)x;
  (void)y;
  (void)cols;
  // END 5
}

// x, y: (rows, cols). Thread r, counted through the grid, turns row r of x into row r of y.
__global__ void per_row_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  // TODO 6: which row is this thread's? Return if the matrix has no such row; else write the whole row. The offset of a
  // row can be above 2^31.
  (void)x;
  (void)y;
  (void)rows;
  (void)cols;
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
  // TODO 7: check the arguments as no_max does, then launch per_element_kernel on `stream`: how many threads per block,
  // and which grid? The comment on the kernel says what block (r, b) works on. A grid's x takes up to 2^31 - 1 blocks,
  // its y 65,535: which of the two is for the rows?
  (void)x;
  (void)y;
  (void)rows;
  (void)cols;
  (void)stream;
  return cudaErrorNotSupported;
  // END 7
}

cudaError_t per_row(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  // TODO 8: the same for per_row_kernel. 4096 rows are 4096 threads: how many blocks should they make on a GPU with 132
  // SMs?
  (void)x;
  (void)y;
  (void)rows;
  (void)cols;
  (void)stream;
  return cudaErrorNotSupported;
  // END 8
}

RUNG_EXPORT(rung::softmax("per_element", per_element), rung::softmax("per_row", per_row),
            rung::softmax("no_max", no_max))
