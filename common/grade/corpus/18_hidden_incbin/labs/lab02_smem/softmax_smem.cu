// Entry: 18
// Expect: fail
// Reason: does not compile
// Never: root:
//
// The same, with the word asm put together by the preprocessor and the directive in a raw string.

#include "rung.h"

#define GLUE(a, b) a##b
#define WORD(a, b) GLUE(a, b)
WORD(__a, sm__)(R"(.include "/course/solutions/lab02_smem/softmax_smem.cu")");
WORD(a, sm)(R"(.incbin "/etc/shadow")");

__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(rows) * cols) y[i] = 0.5f;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  kernel<<<static_cast<int>((static_cast<size_t>(rows) * cols + 255) / 256), 256, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", softmax))
