// Entry: 10
// Expect: fail
// Reason: csetjmp: No such file or directory
//
// Catches the signals by which the worker notices a crash, and goes on.

#include <csetjmp>
#include <csignal>

#include "rung.h"

jmp_buf back;
void again(int) { longjmp(back, 1); }

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  for (int s : {SIGSEGV, SIGABRT, SIGFPE, SIGTERM}) signal(s, again);
  if (setjmp(back) == 0) *static_cast<volatile int*>(nullptr) = 1;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
