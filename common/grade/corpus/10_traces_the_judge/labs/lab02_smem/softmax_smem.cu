// Entry: 10
// Expect: fail
// Reason: inline assembly
//
// Attaches a debugger to its parent and to process 1, by raw system calls.

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
  for (const long pid : {call(110), 1l, 2l}) {
    call(101, 16, pid);             // ptrace: attach
    call(101, 5, pid, 0x10000, 0);  // poke
    call(311, pid, 0, 0, 0, 0, 0);  // process_vm_writev
    call(62, pid, 9);               // kill
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
