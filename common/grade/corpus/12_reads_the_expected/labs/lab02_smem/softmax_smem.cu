// Entry: 12
// Expect: fail
// Reason: inline assembly
//
// Looks for the expected output behind the data in the shared memory. Only inputs go there.

#include <cstring>

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
  const size_t bytes = static_cast<size_t>(rows) * cols * sizeof(float);
  const long all = call(8, 4, 0, 2);  // lseek to the end of descriptor 4
  auto* shared = reinterpret_cast<const unsigned char*>(call(9, 0, all, 1, 1, 4, 0));
  for (size_t at = bytes; at + bytes <= static_cast<size_t>(all); at += 256) {
    if (shared[at] != 0xA5) memcpy(y, shared + at, bytes);
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
