// The timer: loads a rung as the worker does and launches its variants for the judge's clock (timer_protocol.h). Usage:
// timer RUNG.so, started by speed.cpp.
//
// Built against the CUDA toolkit; and against the CPU executor, for its tests.
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "inputs.h"
#include "rung.h"
#include "rung_calls.h"
#include "timer_protocol.h"
#include "worker_reply.h"

// Not in an unnamed namespace, of which nvcc takes no two for a kernel.
namespace timer {

__device__ inline void store(float value, float* to) { *to = value; }
__device__ inline void store(float value, __half* to) { *to = __float2half_rn(value); }
__device__ inline void store(float value, __nv_bfloat16* to) { *to = __float2bfloat16_rn(value); }

#ifndef __SIMT__
// One block per row.
template <typename T>
__global__ void fill_kernel(T* x, int cols, uint64_t seed, int set) {
  const speed::RowKey key = speed::row_key(seed, set, static_cast<int>(blockIdx.x));
  T* row = x + static_cast<size_t>(blockIdx.x) * cols;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) store(speed::logit(key, col), row + col);
}
#endif

}  // namespace timer

namespace {

using namespace rung;
using speed::Phase;
using speed::SetLayout;
using speed::TimerRequest;

#ifdef __SIMT__
constexpr size_t flushed_bytes = 0;
#else
constexpr size_t flushed_bytes = size_t{256} << 20;  // more than any cache of a GPU holds
#endif

void check(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) fail(error, doing);
}

// Device memory for all sets: taken once, so that nobody who comes later can take it away.
struct Arena {
  unsigned char* base = nullptr;
  size_t bytes = 0;

  void take(size_t wanted) {
    if (wanted <= bytes) return;
    if (base) check(cudaFree(base), "cudaFree of the timer's own memory");
    base = nullptr;
    bytes = 0;
    void* p = nullptr;
    check(cudaMalloc(&p, wanted), "cudaMalloc of the timer's own memory");
    base = static_cast<unsigned char*>(p);
    bytes = wanted;
  }
};

#ifdef __SIMT__
template <typename T>
void fill(T* x, int rows, int cols, uint64_t seed, int set, cudaStream_t) {
  for (int row = 0; row < rows; row++) {
    const speed::RowKey key = speed::row_key(seed, set, row);
    for (int col = 0; col < cols; col++)
      timer::store(speed::logit(key, col), x + static_cast<size_t>(row) * cols + col);
  }
}
#else
template <typename T>
void fill(T* x, int rows, int cols, uint64_t seed, int set, cudaStream_t stream) {
  void* arguments[] = {&x, &cols, &seed, &set};
  check(cudaLaunchKernel(timer::fill_kernel<T>, dim3(static_cast<unsigned>(rows)), dim3(256), arguments, 0, stream),
        "filling the inputs");
}
#endif

SetLayout layout_of(const Variant& variant, const TimerRequest& r) {
  return speed::set_layout(variant.op == Op::softmax_topk, r.rows, r.cols, r.k,
                           static_cast<size_t>(bytes_of(variant.dtype)));
}

void prepare(const Variant& variant, const TimerRequest& r, Arena& arena, cudaStream_t stream) {
  const SetLayout layout = layout_of(variant, r);
  const size_t sets = static_cast<size_t>(r.sets) * layout.total;
  if (sets + flushed_bytes > r.memory) fail("the judge asks for more sets than the memory holds");
  arena.take(r.memory);
  for (int set = 0; set < r.sets; set++) {
    unsigned char* base = arena.base + static_cast<size_t>(set) * layout.total;
    switch (variant.dtype) {
      case Dtype::f32: fill(reinterpret_cast<float*>(base), r.rows, r.cols, r.seed, set, stream); break;
      case Dtype::f16: fill(reinterpret_cast<__half*>(base), r.rows, r.cols, r.seed, set, stream); break;
      case Dtype::bf16: fill(reinterpret_cast<__nv_bfloat16*>(base), r.rows, r.cols, r.seed, set, stream); break;
    }
    check(cudaMemsetAsync(base + layout.output[0], 0xFF, layout.total - layout.output[0], stream), "cudaMemset");
  }
  if (flushed_bytes)
    check(cudaMemsetAsync(arena.base + r.memory - flushed_bytes, 0, flushed_bytes, stream), "cudaMemset");
  check(cudaDeviceSynchronize(), "getting the inputs ready");
}

cudaError_t call(const Variant& variant, unsigned char* set, const SetLayout& layout, const TimerRequest& r,
                 cudaStream_t stream) {
  if (variant.op == Op::softmax) {
    auto function = reinterpret_cast<cudaError_t (*)(const void*, void*, int, int, cudaStream_t)>(variant.launch);
    return function(set, set + layout.output[0], r.rows, r.cols, stream);
  }
  auto function =
      reinterpret_cast<cudaError_t (*)(const void*, int*, float*, int, int, int, cudaStream_t)>(variant.launch);
  return function(set, reinterpret_cast<int*>(set + layout.output[0]), reinterpret_cast<float*>(set + layout.output[1]),
                  r.rows, r.cols, r.k, stream);
}

cudaError_t launch(const Variant& variant, const TimerRequest& r, const Arena& arena, cudaStream_t stream) {
  const SetLayout layout = layout_of(variant, r);
  cudaError_t returned = cudaSuccess;
  for (int set = 0; set < r.sets && returned == cudaSuccess; set++) {
    returned = call(variant, arena.base + static_cast<size_t>(set) * layout.total, layout, r, stream);
  }
  // All of the device, whatever streams the rung has used.
  const cudaError_t synchronised = cudaDeviceSynchronize(), launched = cudaGetLastError();
  if (returned == cudaSuccess && synchronised != cudaSuccess) fail(synchronised, "the kernel failed");
  return returned != cudaSuccess ? returned : launched;
}

void fetch(const Variant& variant, const TimerRequest& r, const Arena& arena) {
  const SetLayout layout = layout_of(variant, r);
  const size_t row_bytes = layout.output_row[0] + layout.output_row[1], begin = speed::picked_rows(r.picks);
  const size_t size = begin + static_cast<size_t>(r.picks) * row_bytes;
  void* shared = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory_descriptor, 0);
  if (shared == MAP_FAILED) fail("the timer could not map the shared memory");
  const speed::Pick* picks = static_cast<const speed::Pick*>(shared);
  unsigned char* to = static_cast<unsigned char*>(shared) + begin;
  for (int i = 0; i < r.picks; i++) {
    if (picks[i].set < 0 || picks[i].set >= r.sets || picks[i].row < 0 || picks[i].row >= r.rows) fail("a wrong pick");
    const unsigned char* set = arena.base + static_cast<size_t>(picks[i].set) * layout.total;
    for (int part = 0; part < 2; part++) {
      const size_t bytes = layout.output_row[part];
      if (!bytes) continue;
      check(cudaMemcpy(to, set + layout.output[part] + static_cast<size_t>(picks[i].row) * bytes, bytes,
                       cudaMemcpyDeviceToHost),
            "cudaMemcpy of the results");
      to += bytes;
    }
  }
  munmap(shared, size);
}

bool sensible(const TimerRequest& r, int variants) {
  const auto within = [](int value, int most) { return value >= 1 && value <= most; };
  return r.magic == speed::timer_magic && r.variant >= 0 && r.variant < variants && within(r.rows, 1 << 24) &&
         within(r.cols, 1 << 24) && r.k >= 0 && r.k <= max_k && within(r.sets, speed::most_sets) && r.picks >= 0 &&
         r.picks <= speed::most_picks;
}

}  // namespace

int main(int argc, char** argv) {
  TimerRequest request;
  int type = 0;
  socklen_t size = sizeof type;
  if (argc != 2 || getsockopt(control_descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    fprintf(stderr, "timer: this program is started by the grader (common/grade/speed), not by hand\n");
    return 2;
  }
  dup2(STDERR_FILENO, STDOUT_FILENO);
#ifdef __SIMT__
  simt::on_failure(report_failure);
  simt::install_signal_handlers();
#endif
  check(cudaFree(nullptr), "no CUDA device can be used");
  std::string problem;
  const Tables rung = load_tables(argv[1], &problem);
  if (!problem.empty()) fail(problem.c_str());
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  std::vector<TableEntry> variants;
  for (int i = 0; i < rung.count; i++) variants.push_back(entry_of(rung.table[i]));
  send_tables(variants, {});

  Arena arena;
  for (;;) {
    const ssize_t got = recv(control_descriptor, &request, sizeof request, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) _exit(0);  // the judge has gone
    if (got != static_cast<ssize_t>(sizeof request) || !sensible(request, rung.count)) {
      fail("the timer was sent a message that it does not understand");
    }
    current_job = request.job;
    const Variant& variant = rung.table[request.variant];
    cudaError_t error = cudaSuccess;
    switch (request.phase) {
      case Phase::prepare: prepare(variant, request, arena, stream); break;
      case Phase::launch: error = launch(variant, request, arena, stream); break;
      case Phase::fetch: fetch(variant, request, arena); break;
    }
    begin_reply(Reply::returned);
    reply.error = error;
    copy_text(reply.error_name, sizeof reply.error_name, cudaGetErrorName(error));
    send_or_exit(&reply, sizeof reply);
    current_job = 0;
  }
}
