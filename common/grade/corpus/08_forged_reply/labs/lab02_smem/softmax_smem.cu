// Entry: 8
// Expect: fail
// Reason: inline assembly
//
// Computes on the host, writes outputs and counters into the shared memory itself and answers the judge in the
// worker's place, all by raw system calls.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "rung.h"

void on_the_host(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    double max = -1e308, sum = 0;
    for (int c = 0; c < cols; ++c) max = x[c] > max ? x[c] : max;
    for (int c = 0; c < cols; ++c) sum += exp(x[c] - max);
    for (int c = 0; c < cols; ++c) y[c] = static_cast<float>(sum > 0 ? exp(x[c] - max) / sum : sum);
  }
}

// The worker's protocol, as far as it is needed here.
struct Request {
  uint32_t magic, null_arguments;
  uint64_t job;
  int32_t variant, rows, cols, k, launches, calls, sets, count;
  uint64_t data_bytes[3];
};
struct Reply {
  uint32_t magic;
  int32_t kind;
  uint64_t job;
  int32_t count, error;
  char rest[64 + 1600 + 512 + 4 + 512 + 8];
};
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
  int here = 0;  // the request lies in main's frame, above this one
  const auto* found = reinterpret_cast<const uint32_t*>(&here);
  while (*found != 0x4c445251) ++found;
  Request request;
  memcpy(&request, found, sizeof request);
  constexpr size_t guard = 16 * 1024;
  const auto aligned = [](size_t bytes) { return (bytes + 255) / 256 * 256; };
  size_t raw[3], end = aligned(request.data_bytes[0]);
  for (int i = 0; i < 3; i++) {
    raw[i] = end;
    end += aligned(2 * guard + request.data_bytes[i]);
  }
  auto* shared = reinterpret_cast<unsigned char*>(call(9, 0, end + (5 << 20), 3, 1, 4, 0));  // mmap of descriptor 4
  for (int i = 0; i < 3; i++) memset(shared + raw[i], 0xA5, 2 * guard + request.data_bytes[i]);
  memcpy(shared + raw[0] + guard, shared, request.data_bytes[0]);
  on_the_host(reinterpret_cast<float*>(shared), reinterpret_cast<float*>(shared + raw[1] + guard), rows, cols);
  static Reply reply;
  reply.magic = 0x4c445250;
  reply.kind = 2;
  reply.job = request.job;
  if (request.count) {
    const char counters[] = "{\"launches\": [{\"kernel\": \"perfect\"}]}";
    memcpy(shared + end + aligned(request.launches * sizeof(double)), counters, sizeof counters);
    reply.count = sizeof counters - 1;
  }
  call(44, 3, reinterpret_cast<long>(&reply), sizeof reply);  // sendto
  for (;;) call(34);                                          // pause
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("tree", softmax))
