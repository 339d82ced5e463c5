// A rung for test_worker.cpp: each variant does one thing that a rung must not do, and the worker and its client must
// survive it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "protocol.h"
#include "rung.h"

namespace {

// y[i] = 2 x[i], one thread per element.
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

cudaError_t good(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  twice<<<(rows * cols + 127) / 128, 128, 0, stream>>>(x, y, rows * cols);
  return cudaGetLastError();
}

__global__ void store_to_null(float* y) {
  float* nowhere = y - reinterpret_cast<size_t>(y) / sizeof(float);
  if (threadIdx.x == 5) *nowhere = 1;  // line of the crash
}

cudaError_t crashes(const float*, float* y, int, int, cudaStream_t stream) {
  store_to_null<<<1, 32, 0, stream>>>(y);
  return cudaGetLastError();
}

cudaError_t crashes_on_host(const float*, float*, int, int, cudaStream_t) {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
  return cudaSuccess;
}

__global__ void spin(const float* x, float* y) {
  volatile const float* look = x;
  while (*look < 1e30f) {  // line of the hang
  }
  *y = 1;
}

cudaError_t hangs(const float* x, float* y, int, int, cudaStream_t stream) {
  spin<<<1, 32, 0, stream>>>(x, y);
  return cudaGetLastError();
}

// The same in functions that the kernel calls: one that is inlined, and one that is not and calls another.
__device__ void wait_inlined(const float* x) {
  volatile const float* look = x;
  while (*look < 1e30f) {  // line of the inlined hang
  }
}

// __noinline__ means nothing to the executor.
__device__ __attribute__((noinline)) void wait_outer(const float* x, float* y) {
  *y = 2;
  wait_inlined(x);  // line of the call in it
  *y = 3;
}

__global__ void waits(const float* x, float* y, int nested) {
  *y = 1;
  if (nested)
    wait_outer(x, y);  // line of the nested call
  else
    wait_inlined(x);  // line of the inlined call
  *y = 4;
}

cudaError_t hangs_in_a_call(const float* x, float* y, int, int, cudaStream_t stream) {
  waits<<<1, 32, 0, stream>>>(x, y, 0);
  return cudaGetLastError();
}

cudaError_t hangs_in_a_nested_call(const float* x, float* y, int, int, cudaStream_t stream) {
  waits<<<1, 32, 0, stream>>>(x, y, 1);
  return cudaGetLastError();
}

cudaError_t hangs_on_host(const float*, float*, int, int, cudaStream_t) {
  for (;;) pause();
}

cudaError_t exits(const float*, float*, int, int, cudaStream_t) { exit(0); }

cudaError_t exits_at_once(const float*, float*, int, int, cudaStream_t) { _exit(7); }

cudaError_t aborts(const float*, float*, int, int, cudaStream_t) { abort(); }

// The worker's socket is descriptor 3, its shared memory descriptor 4 (protocol.h).
cudaError_t writes_garbage(const float*, float*, int, int, cudaStream_t) {
  const char garbage[] = "good morning";
  return write(3, garbage, sizeof garbage) > 0 ? cudaSuccess : cudaErrorUnknown;
}

// A reply that is right in all but the job's number, which only the client knows.
cudaError_t forges_a_reply(const float*, float*, int, int, cudaStream_t) {
  static rung::Reply reply;
  reply.magic = rung::reply_magic;
  reply.kind = rung::Reply::returned;
  reply.job = 1;
  return write(3, &reply, sizeof reply) > 0 ? cudaSuccess : cudaErrorUnknown;
}

cudaError_t closes_the_socket(const float*, float*, int, int, cudaStream_t) {
  close(3);
  for (;;) pause();
}

cudaError_t cuts_the_memory(const float*, float*, int, int, cudaStream_t) {
  return ftruncate(4, 0) == 0 ? cudaSuccess : cudaErrorUnknown;
}

__global__ void store_at(float* p, long offset) { p[offset] = 1; }

cudaError_t writes_before(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  store_at<<<1, 1, 0, stream>>>(y, -1);
  return good(x, y, rows, cols, stream);
}

cudaError_t writes_after(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  store_at<<<1, 1, 0, stream>>>(y, static_cast<long>(rows) * cols);
  return good(x, y, rows, cols, stream);
}

cudaError_t changes_input(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  cudaError_t error = good(x, y, rows, cols, stream);
  store_at<<<1, 1, 0, stream>>>(const_cast<float*>(x), 3);
  return error;
}

cudaError_t writes_nothing(const float*, float*, int, int, cudaStream_t) { return cudaSuccess; }

cudaError_t returns_an_error(const float*, float*, int, int, cudaStream_t) { return cudaErrorNotSupported; }

// The error of a launch that the rung does not look at.
cudaError_t launches_badly(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  twice<<<1, 5000, 0, stream>>>(x, y, rows * cols);  // line of the refused launch
  return cudaSuccess;
}

cudaError_t copies_badly(const float* x, float* y, int, int, cudaStream_t) {
  const cudaError_t error = cudaMemcpy(y, x, size_t{1} << 40, cudaMemcpyDeviceToDevice);  // line of the refused copy
  return error == cudaSuccess ? cudaGetLastError() : error;
}

}  // namespace

RUNG_EXPORT(rung::softmax("good", good), rung::softmax("crashes", crashes),
            rung::softmax("crashes_on_host", crashes_on_host), rung::softmax("hangs", hangs),
            rung::softmax("hangs_on_host", hangs_on_host), rung::softmax("exits", exits),
            rung::softmax("exits_at_once", exits_at_once), rung::softmax("aborts", aborts),
            rung::softmax("writes_garbage", writes_garbage), rung::softmax("forges_a_reply", forges_a_reply),
            rung::softmax("closes_the_socket", closes_the_socket), rung::softmax("cuts_the_memory", cuts_the_memory),
            rung::softmax("writes_before", writes_before), rung::softmax("writes_after", writes_after),
            rung::softmax("changes_input", changes_input), rung::softmax("writes_nothing", writes_nothing),
            rung::softmax("returns_an_error", returns_an_error), rung::softmax("launches_badly", launches_badly),
            rung::softmax("copies_badly", copies_badly), rung::softmax("hangs_in_a_call", hangs_in_a_call),
            rung::softmax("hangs_in_a_nested_call", hangs_in_a_nested_call))
