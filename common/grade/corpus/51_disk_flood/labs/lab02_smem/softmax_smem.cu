// Entry: 51
// Expect: fail
// Reason: inline assembly
//
// Fills every folder that it can write to.

#include <string>

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
  for (const char* folder : {"/tmp/", "/dev/shm/", "/var/tmp/", "./", "/run/", "/rung/", "/"}) {
    for (int i = 0; i < 1000; i++) {
      const std::string path = std::string(folder) + "flood" + std::to_string(i);
      const long file = call(2, reinterpret_cast<long>(path.c_str()), 0101, 0600);  // open
      if (file < 0) break;
      for (int j = 0; j < 1000 && call(1, file, reinterpret_cast<long>(block), sizeof block) > 0; j++) {
      }
      call(3, file);
    }
  }
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax))
