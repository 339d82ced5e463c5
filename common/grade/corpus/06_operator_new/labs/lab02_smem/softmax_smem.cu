// Entry: 6
// Expect: fail
// Reason: elements wrong
//
// Replaces operator new and delete, to hand out and look at the worker's memory.

#include <cstdlib>
#include <new>

#include "rung.h"

static void* last[1024];
static unsigned count;
void* operator new(size_t bytes) { return last[count++ % 1024] = malloc(bytes); }
void operator delete(void*) noexcept {}
void operator delete(void*, size_t) noexcept {}

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

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
