// Entry: 50
// Expect: fail
// Reason: inline assembly
//
// Fills memory that belongs to no process: the descriptor that it shares with the judge.

#include "rung.h"

static long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  static char block[1 << 20];
  for (long i = 0; i < 1 << 16; i++) {
    if (call(18, 4, reinterpret_cast<long>(block), sizeof block, i << 20) < 0) break;  // pwrite64
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
