// Expect: pass
//
// Honest: one kernel template with the operation, the number of threads and the width of an access as parameters.

#include <cfloat>
#include <type_traits>

#include "rung.h"

template <int width>
struct alignas(4 * width) Pack {
  float value[width];
};

struct Max {
  static constexpr float start = -FLT_MAX;
  __device__ static float of(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
  static constexpr float start = 0.0f;
  __device__ static float of(float a, float b) { return a + b; }
};

template <class Op, int threads>
__device__ float reduce(float mine, float* scratch) {
  scratch[threadIdx.x] = mine;
  __syncthreads();
#pragma unroll
  for (int half = threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half)
      scratch[threadIdx.x] = Op::of(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();
  return all;
}

template <int threads, int width>
__global__ __launch_bounds__(threads) void kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ __align__(16) float shared[];
  float* const scratch = shared;
  float* const row = shared + threads;
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  const int lead = static_cast<int>((width - start % width) % width);
  const int head = lead < cols ? lead : cols, packs = (cols - head) / width, tail = head + packs * width;
  // Element c of the row lies at row[c + width - head]: packs of the row are packs here, too.
  float* const at = row + width - head;
  const auto each = [&](auto&& single, auto&& pack) {
    for (int c = threadIdx.x; c < head; c += threads) single(c);
    for (int p = threadIdx.x; p < packs; p += threads) pack(head + p * width);
    for (int c = tail + threadIdx.x; c < cols; c += threads) single(c);
  };
  using P = std::conditional_t<width == 1, Pack<1>, Pack<width>>;
  float max = Max::start, sum = Sum::start;
  each([&](int c) { max = Max::of(max, at[c] = x[start + c]); },
       [&](int c) {
         const P p = *reinterpret_cast<const P*>(x + start + c);
         for (int i = 0; i < width; ++i) max = Max::of(max, at[c + i] = p.value[i]);
       });
  max = reduce<Max, threads>(max, scratch);
  each([&](int c) { sum += at[c] = expf(at[c] - max); },
       [&](int c) {
         for (int i = 0; i < width; ++i) sum += at[c + i] = expf(at[c + i] - max);
       });
  sum = reduce<Sum, threads>(sum, scratch);
  const float scale = sum > 0.0f ? 1.0f / sum : sum;
  each([&](int c) { y[start + c] = at[c] * scale; },
       [&](int c) {
         P p;
         for (int i = 0; i < width; ++i) p.value[i] = at[c + i] * scale;
         *reinterpret_cast<P*>(y + start + c) = p;
       });
}

template <int threads, int width>
cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (size_t{threads} + width + cols) * sizeof(float);
  if (bytes > 227 * 1024) return cudaErrorInvalidValue;
  const auto error = cudaFuncSetAttribute(kernel<threads, width>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(bytes));
  if (error != cudaSuccess || rows == 0) return error;
  kernel<threads, width><<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_PREDICT({"neighbours_sectors", 4}, {"smem_row_bytes", 4000}, {"float4_loads", 16}, {"tree_barriers", 20}, {"tree_us", 2 * 4096 * 4096 * 4 / 4257e3}, {"serial_limit", rung::limit::latency})

RUNG_EXPORT(rung::softmax("serial", softmax<32, 1>), rung::softmax("tree", softmax<256, 1>),
            rung::softmax("tree_f32x4", softmax<128, 4>))
