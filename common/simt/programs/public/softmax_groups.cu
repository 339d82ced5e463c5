// Softmax with a warp per row: __forceinline__ functions passed to cooperative_groups::reduce, as function pointers, as
// template arguments and through a table.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

typedef float (*Combine)(float, float);
__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }
__device__ __forceinline__ float sum_of(float a, float b) { return a + b; }
__device__ Combine table[2] = {larger, sum_of};

struct SumMax {
  float max, sum;
};
__device__ __forceinline__ SumMax combine(SumMax a, SumMax b) {
  const SumMax big = a.max > b.max ? a : b, small = a.max > b.max ? b : a;
  return {big.max, big.sum + small.sum * expf(small.max - big.max)};
}

template <Combine combine>
__device__ float fold(float value) {
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, step));
  return value;
}
__device__ __forceinline__ float fold_with(float value, Combine combine) {
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, step));
  return value;
}

__global__ void online(float* out, const float* in, int cols) {
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float* row = in + (blockIdx.x * warp.meta_group_size() + warp.meta_group_rank()) * size_t(cols);
  float* to = out + (row - in);
  SumMax own = {-INFINITY, 0.f};
  for (int i = warp.thread_rank(); i < cols; i += warp.size()) own = combine(own, {row[i], 1.f});
  const SumMax all = cg::reduce(warp, own, combine);
  for (int i = warp.thread_rank(); i < cols; i += warp.size()) to[i] = expf(row[i] - all.max) / all.sum;
}

__global__ void three_pass(float* out, const float* in, int cols, int which) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float* row = in + (blockIdx.x * warp.meta_group_size() + warp.meta_group_rank()) * size_t(cols);
  float* to = out + (row - in);
  float max = -INFINITY, sum = 0.f;
  for (int i = warp.thread_rank(); i < cols; i += warp.size()) max = larger(max, row[i]);
  max = which == 0 ? cg::reduce(warp, max, larger) : which == 1 ? fold<larger>(max) : fold_with(max, table[0]);
  for (int i = warp.thread_rank(); i < cols; i += warp.size()) sum += expf(row[i] - max);
  const Combine chosen = which == 2 ? sum_of : table[1];
  sum = which == 0 ? cg::reduce(warp, sum, sum_of) : which == 1 ? fold<sum_of>(sum) : fold_with(sum, chosen);
  for (int i = warp.thread_rank(); i < cols; i += warp.size()) to[i] = expf(row[i] - max) / sum;
}

int main() {
  const int rows = 8, cols = 75;
  std::vector<float> in(rows * cols), out(rows * cols);
  for (int i = 0; i < rows * cols; i++) in[i] = float(i * 37 % 101) / 20 - 2;
  float *device_in, *device_out;
  cudaMalloc(&device_in, in.size() * sizeof(float));
  cudaMalloc(&device_out, in.size() * sizeof(float));
  cudaMemcpy(device_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
  int wrong = 0;
  for (int which = 0; which < 4; which++) {
    cudaMemset(device_out, 0xff, in.size() * sizeof(float));
    if (which == 3) {
      online<<<rows / 2, 64>>>(device_out, device_in, cols);
    } else {
      three_pass<<<rows / 2, 64>>>(device_out, device_in, cols, which);
    }
    cudaMemcpy(out.data(), device_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; row++) {
      double sum = 0;
      for (int i = 0; i < cols; i++) sum += std::exp(double(in[row * cols + i]));
      for (int i = 0; i < cols; i++) {
        const double expected = std::exp(double(in[row * cols + i])) / sum;
        wrong += !(std::fabs(out[row * cols + i] - expected) <= 1e-5 * expected);
      }
    }
  }
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
