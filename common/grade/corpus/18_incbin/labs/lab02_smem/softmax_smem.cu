// Entry: 18
// Expect: fail
// Reason: file not found: /etc/passwd
// Never: root:
//
// Lets the assembler take in a file of the host.

#include <cstdio>

#include "rung.h"

asm(".section .rodata\n"
    ".global stolen, stolen_end\n"
    "stolen: .incbin \"/etc/passwd\"\n"
    "stolen_end:\n"
    ".text\n");
extern "C" const char stolen[], stolen_end[];

__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(rows) * cols) y[i] = 0.5f;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  fwrite(stolen, 1, stolen_end - stolen, stderr);
  kernel<<<static_cast<int>((static_cast<size_t>(rows) * cols + 255) / 256), 256, 0, stream>>>(x, y, rows, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("serial", softmax))
