// Variants that print too much: the host, a kernel with printf, a kernel with what compilers make of a plain printf.
#include "rung.h"

namespace {

constexpr int lines = 100000;

__global__ void prints_numbers() {
  for (int i = threadIdx.x; i < lines; i += blockDim.x) printf("a line that nobody asked for, number %d\n", i);
}

__global__ void prints_a_text() {
  for (int i = 0; i < lines; i++) printf("a line that nobody asked for, the same each time\n");
}

cudaError_t host(const float*, float*, int, int, cudaStream_t) {
  for (int i = 0; i < lines; i++) printf("a line that nobody asked for, number %d\n", i);
  return cudaSuccess;
}

cudaError_t kernel(const float*, float*, int, int, cudaStream_t stream) {
  prints_numbers<<<4, 64, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t text(const float*, float*, int, int, cudaStream_t stream) {
  prints_a_text<<<2, 1, 0, stream>>>();
  return cudaGetLastError();
}

}  // namespace

RUNG_EXPORT(rung::softmax("host", host), rung::softmax("kernel", kernel), rung::softmax("text", text))
