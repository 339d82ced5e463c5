// Entry: 57
// Expect: fail
// Reason: inline assembly
//
// Leaves a process behind that outlives the run, by raw system calls.

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
  if (call(57) == 0) {
    call(112);  // setsid
    if (call(57) == 0) {
      for (int i = 0; i < 256; i++) call(3, i);
      for (;;) call(34);
    }
    call(231);
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
