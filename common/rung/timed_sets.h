// The worker's side of launches for the client's clock (timed.h). Included by worker.cpp alone.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

#include "device_buffers.h"
#include "timed.h"
#include "timed_inputs.h"
#include "worker_reply.h"

// Not in an unnamed namespace, of which nvcc takes no two for a kernel.
namespace timed {

__host__ __device__ inline void store(float value, float* to) { *to = value; }
__host__ __device__ inline void store(float value, __half* to) { *to = __float2half_rn(value); }
__host__ __device__ inline void store(float value, __nv_bfloat16* to) { *to = __float2bfloat16_rn(value); }

template <typename T>
__host__ __device__ void fill_row(T* row, int cols, RowKey key, int first, int step) {
  for (int col = first; col < cols; col += step) store(logit(key, col), row + col);
}

#ifndef __SIMT__
// One block per row.
template <typename T>
__global__ void fill_kernel(T* x, int cols, uint64_t seed, int set) {
  const int row = static_cast<int>(blockIdx.x);
  fill_row(x + static_cast<size_t>(row) * cols, cols, row_key(seed, set, row), static_cast<int>(threadIdx.x),
           static_cast<int>(blockDim.x));
}
#endif

}  // namespace timed

namespace rung {

namespace {

template <typename T>
void fill_input(void* to, const Sizes& sizes, uint64_t seed, int set, cudaStream_t stream) {
  T* x = static_cast<T*>(to);
  int cols = sizes.cols;
#ifdef __SIMT__
  (void)stream;
  for (int row = 0; row < sizes.rows; row++)
    timed::fill_row(x + static_cast<size_t>(row) * static_cast<size_t>(cols), cols, timed::row_key(seed, set, row), 0,
                    1);
#else
  void* arguments[] = {&x, &cols, &seed, &set};
  check(
      cudaLaunchKernel(timed::fill_kernel<T>, dim3(static_cast<unsigned>(sizes.rows)), dim3(256), arguments, 0, stream),
      "filling the inputs");
#endif
}

// The sets, in device memory that is taken once: so that nobody who comes later can take it away.
class DeviceSets {
 public:
  size_t count() const { return sets_.size(); }
  const BufferSet& operator[](int set) const { return sets_[static_cast<size_t>(set)]; }

  void prepare(Op op, Dtype dtype, const Plan& plan, const Request& request, cudaStream_t stream) {
    const size_t flushed = flushed_bytes(request.memory), count = static_cast<size_t>(request.sets);
    if (flushed + count * bytes_of_set(plan) > request.memory)
      fail("the client asks for more sets than the memory holds");
    take(request.memory);
    unsigned char* next = memory_.allocation;
    sets_.assign(count, {});
    for (int set = 0; set < request.sets; set++) {
      BufferSet& buffers = sets_[static_cast<size_t>(set)];
      for (int i = 0; i < buffer_count; i++) {
        buffers.buffers[i].allocation = next;
        buffers.buffers[i].data_bytes = plan.bytes[i];
        next += aligned(guard_bytes + plan.bytes[i] + guard_bytes);
        buffers.argument[i] = arguments_of(op).buffers[i] ? buffers.buffers[i].data() : nullptr;
      }
      switch (dtype) {
        case Dtype::f32: fill_input<float>(buffers.argument[0], request.sizes, request.seed, set, stream); break;
        case Dtype::f16: fill_input<__half>(buffers.argument[0], request.sizes, request.seed, set, stream); break;
        case Dtype::bf16:
          fill_input<__nv_bfloat16>(buffers.argument[0], request.sizes, request.seed, set, stream);
          break;
      }
      buffers.poison_outputs();
    }
    check(cudaMemset(memory_.allocation + request.memory - flushed, 0, flushed), "cudaMemset");
    check(cudaDeviceSynchronize(), "getting the inputs ready");
  }

  // shared: the picks, and room for the rows behind them.
  void fetch(const Plan& plan, const Request& request, unsigned char* shared) const {
    const Pick* picks = reinterpret_cast<const Pick*>(shared);
    unsigned char* to = shared + picked_rows(static_cast<size_t>(request.picks));
    for (int i = 0; i < request.picks; i++) {
      const Pick pick = picks[i];
      if (pick.set < 0 || static_cast<size_t>(pick.set) >= count() || pick.row < 0 || pick.row >= request.sizes.rows)
        fail("a wrong pick");
      for (int output = 0; output < 2; output++) {
        const size_t bytes = row_bytes(plan, output);
        if (!bytes) continue;
        const unsigned char* rows = (*this)[pick.set].buffers[1 + output].data() + plan.first_of(1 + output)->offset;
        check(cudaMemcpy(to, rows + static_cast<size_t>(pick.row) * bytes, bytes, cudaMemcpyDeviceToHost),
              "cudaMemcpy of the results");
        to += bytes;
      }
    }
  }

 private:
  void take(size_t bytes) {
    if (bytes <= taken_) return;
    memory_.release();
    void* p = nullptr;
    check(cudaMalloc(&p, bytes), "cudaMalloc of the memory of all sets");
    memory_.allocation = static_cast<unsigned char*>(p);
    taken_ = bytes;
  }

  Buffer memory_;
  size_t taken_ = 0;
  std::vector<BufferSet> sets_;
};

}  // namespace

}  // namespace rung
