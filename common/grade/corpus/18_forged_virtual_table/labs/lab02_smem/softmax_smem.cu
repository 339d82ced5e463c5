// Entry: 18
// Expect: fail
// Reason: it calls through a pointer to what is no function
//
// The table of an object's virtual functions is the kernel's own, and its entry leads behind the announcement of a
// load.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include "rung.h"
struct Reader {
  virtual __device__ float at(const float* p) const { return *p; }
};
struct Fake {
  const void* table;
};

__global__ void kernel(const float* x, float* y, int cols) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  const int t = threadIdx.x;
  extern __shared__ float row[];
  Reader real;
  const void* slots[2];
  {
    auto code = *reinterpret_cast<const unsigned char* const*>(*reinterpret_cast<const void* const*>(&real));
    int by = 0;
    for (int i = 0; i < 48; i++)
      if (code[i] == 0xff && code[i + 1] == 0x15) by = i + 6;
    slots[0] = code + by;
  }
  Fake fake{slots};
  const Reader* volatile reader = reinterpret_cast<const Reader*>(&fake);
  for (int c = t; c < cols; c += blockDim.x) {
    row[c] = x[c];
  }
  __syncthreads();
  if (t == 0) {
    float max = -FLT_MAX;
    double sum = 0;
    for (int c = 0; c < cols; c++) max = fmaxf(max, reader->at(row + c));
    for (int c = 0; c < cols; c++) {
      const float e = expf(reader->at(row + c) - max);
      sum += e;
    }
    for (int c = 0; c < cols; c++) {
      const float v = sum > 0 ? expf(reader->at(row + c) - max) / static_cast<float>(sum) : static_cast<float>(sum);
      row[c] = v;
    }
  }
  __syncthreads();
  for (int c = t; c < cols; c += blockDim.x) {
    y[c] = row[c];
  }
}

cudaError_t f32(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (cols > 58000) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);
  kernel<<<rows, 256, cols * 4, stream>>>(x, y, cols);
  return cudaGetLastError();
}
RUNG_EXPORT(rung::softmax("tree", f32))
