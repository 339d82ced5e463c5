// Entry: 18
// Expect: fail
// Reason: inline assembly
//
// Calls the system without a symbol: an instruction in inline assembly.

#include "rung.h"

static long call(long number, long a, long b, long c) {
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  call(62, -1, 9, 0);  // kill(-1, SIGKILL)
  call(231, 0, 0, 0);  // exit_group(0)
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
