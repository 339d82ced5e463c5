// Entry: 28
// Expect: fail
// Reason: read 3 times
// Most: 27.2
//
// Reads the row three times, by the host's atomics. They are seen like any other load.

#include <cfloat>

#include "rung.h"

constexpr int threads = 256;

__device__ float fold(float mine, float* scratch, bool add) {
  const int t = threadIdx.x;
  scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = add ? scratch[t] + scratch[t + half] : fmaxf(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();
  return all;
}

template <bool quads>
__global__ void kernel(const float* x, float* y, int cols) {
  extern __shared__ float scratch[];
  float* row = scratch + threads;
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  x += start;
  y += start;
  // Single floats are columns 0 to head and end to cols, groups of four what lies between.
  const int head = quads ? min(static_cast<int>((4 - start % 4) % 4), cols) : cols, end = head + (cols - head) / 4 * 4;
  float max = -FLT_MAX, sum = 0.0f;
  for (int i = threadIdx.x; i < head + cols - end; i += threads) {
    const int c = i < head ? i : i - head + end;
    int bits = 0;
    for (int again = 0; again < 3; ++again)
      bits = __atomic_load_n(reinterpret_cast<const int*>(x) + c, __ATOMIC_RELAXED);
    max = fmaxf(max, row[c] = __int_as_float(bits));
  }
  for (int c = head + 4 * threadIdx.x; c < end; c += 4 * threads) {
    const float4 v = *reinterpret_cast<const float4*>(x + c);
    max = fmaxf(fmaxf(max, fmaxf(row[c] = v.x, row[c + 1] = v.y)), fmaxf(row[c + 2] = v.z, row[c + 3] = v.w));
  }
  max = fold(max, scratch, false);
  for (int c = threadIdx.x; c < cols; c += threads) sum += row[c] = expf(row[c] - max);
  sum = fold(sum, scratch, true);
  const float scale = sum > 0.0f ? 1.0f / sum : sum;
  for (int i = threadIdx.x; i < head + cols - end; i += threads) {
    const int c = i < head ? i : i - head + end;
    y[c] = row[c] * scale;
  }
  for (int c = head + 4 * threadIdx.x; c < end; c += 4 * threads) {
    *reinterpret_cast<float4*>(y + c) =
        make_float4(row[c] * scale, row[c + 1] * scale, row[c + 2] * scale, row[c + 3] * scale);
  }
}

template <bool quads>
cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + threads) * sizeof(float);
  if (bytes > 227 * 1024) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const auto error =
      cudaFuncSetAttribute(kernel<quads>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error != cudaSuccess) return error;
  kernel<quads><<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", softmax<false>))
