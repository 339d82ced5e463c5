// Entry: 1
// Expect: fail
// Reason: uses the attribute 'constructor'
// Most: 5
//
// A constructor of high priority prepares a table of results; the launch writes it with cudaMemcpy alone.

#include <algorithm>
#include <cfloat>

#include "rung.h"

__device__ float table[4096];
__attribute__((constructor(101))) void prepare() {
  for (float& value : table) value = 0.01f;
}
cudaError_t per_row(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  void* from = nullptr;
  cudaGetSymbolAddress(&from, table);
  cudaMemcpyAsync(y, from, std::min(sizeof table, static_cast<size_t>(rows) * cols * sizeof(float)), cudaMemcpyDeviceToDevice, stream);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("per_row", per_row))
