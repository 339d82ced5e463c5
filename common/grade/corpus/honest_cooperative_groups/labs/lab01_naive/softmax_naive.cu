// Expect: pass
//
// Honest: reduces with cooperative groups in place of raw shuffles, and asks the device for its properties.

#include <cfloat>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "rung.h"

namespace cg = cooperative_groups;

// A warp a row.
__global__ void kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols, bool subtract) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = warp.thread_rank(); c < cols; c += 32) max = fmaxf(max, x[c]);
  max = subtract ? cg::reduce(warp, max, cg::greater<float>()) : 0.0f;
  for (int c = warp.thread_rank(); c < cols; c += 32) sum += expf(x[c] - max);
  sum = cg::reduce(warp, sum, cg::plus<float>());
  const float scale = sum > 0.0f ? 1.0f / sum : sum;
  for (int c = warp.thread_rank(); c < cols; c += 32) y[c] = expf(x[c] - max) * scale;
}

template <bool subtract>
cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  int device = 0;
  cudaDeviceProp properties;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return error;
  const int warps = properties.maxThreadsPerBlock >= 256 ? 8 : 1;
  kernel<<<(rows + warps - 1) / warps, 32 * warps, 0, stream>>>(x, y, rows, cols, subtract);
  return cudaGetLastError();
}

RUNG_PREDICT({"apart_sectors", 32}, {"same_address_sectors", 1}, {"per_element_reads", 2001}, {"per_row_bytes", 96000}, {"per_element_slower", 8200.0 / 128}, {"per_row_limit", rung::limit::lsu})

RUNG_EXPORT(rung::softmax("per_element", softmax<true>), rung::softmax("per_row", softmax<true>),
            rung::softmax("no_max", softmax<false>))
