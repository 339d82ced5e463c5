// Tiles that are copied while the one before is worked on, in every form that CUDA has for it: __pipeline_memcpy_async,
// cooperative_groups::memcpy_async, cuda::pipeline of a thread and of a block, with roles and without, cuda::barrier.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

namespace cg = cooperative_groups;
constexpr int tile = 128, threads = 128;

// Every output is the reversed tile plus one: a thread needs what others copied.
__device__ float work(const float* stage, int i) { return stage[tile - 1 - i] + 1.f; }

__global__ void with_primitives(float* out, const float* in, int tiles) {
  __shared__ __align__(16) float stage[2][tile];
  const int i = threadIdx.x;
  auto fetch = [&](int t) {
    if (t < tiles && i < tile / 4) __pipeline_memcpy_async(&stage[t % 2][4 * i], &in[t * tile + 4 * i], sizeof(float4));
    __pipeline_commit();
  };
  fetch(0);
  for (int t = 0; t < tiles; t++) {
    fetch(t + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t * tile + i] = work(stage[t % 2], i);
    __syncthreads();
  }
}

__global__ void with_groups(float* out, const float* in, int tiles) {
  __shared__ __align__(16) float stage[tile];
  const auto block = cg::this_thread_block();
  for (int t = 0; t < tiles; t++) {
    if (t % 2) {
      cg::memcpy_async(block, stage, in + t * tile, cuda::aligned_size_t<16>(sizeof stage));
    } else {
      cg::memcpy_async(block, stage, in + t * tile, sizeof stage);
    }
    cg::wait(block);
    out[t * tile + threadIdx.x] = work(stage, threadIdx.x);
    block.sync();
  }
}

__global__ void with_own_pipeline(float* out, const float* in, int tiles) {
  __shared__ float stage[3][tile];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const int i = threadIdx.x;
  int fetched = 0;
  for (int t = 0; t < tiles; t++) {
    for (; fetched < tiles && fetched < t + 2; fetched++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[fetched % 3][i], &in[fetched * tile + i], cuda::aligned_size_t<4>(4), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    out[t * tile + i] = work(stage[t % 3], i);
    pipe.consumer_release();
    __syncthreads();
  }
}

__global__ void with_block_pipeline(float* out, const float* in, int tiles) {
  constexpr int stages = 2;
  __shared__ __align__(16) float stage[stages][tile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int fetched = 0;
  for (int t = 0; t < tiles; t++) {
    for (; fetched < tiles && fetched < t + stages; fetched++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[fetched % stages], in + fetched * tile, sizeof(float) * tile, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[t * tile + threadIdx.x] = work(stage[t % stages], threadIdx.x);
    pipe.consumer_release();
  }
}

// The first warp copies, the others work.
__global__ void with_roles(float* out, const float* in, int tiles) {
  constexpr int stages = 2;
  __shared__ float stage[stages][tile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  const bool produces = threadIdx.x < 32;
  auto pipe =
      cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int t = 0; t < tiles; t++) {
    if (produces) {
      pipe.producer_acquire();
      for (int i = threadIdx.x; i < tile; i += 32)
        cuda::memcpy_async(&stage[t % stages][i], &in[t * tile + i], sizeof(float), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      for (int i = threadIdx.x - 32; i < tile; i += threads - 32) out[t * tile + i] = work(stage[t % stages], i);
      pipe.consumer_release();
    }
  }
}

__global__ void with_barriers(float* out, const float* in, int tiles) {
  __shared__ float stage[2][tile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> full[2], empty[2];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    for (int s = 0; s < 2; s++) {
      init(&full[s], block.size());
      init(&empty[s], block.size());
    }
  }
  block.sync();
  if (threadIdx.x < 32) {
    for (int t = 0; t < tiles; t++) {
      if (t >= 2) {
        empty[t % 2].arrive_and_wait();
      }
      for (int i = threadIdx.x; i < tile; i += 32) stage[t % 2][i] = in[t * tile + i];
      (void)full[t % 2].arrive();
    }
  } else {
    for (int t = 0; t < tiles; t++) {
      full[t % 2].arrive_and_wait();
      for (int i = threadIdx.x - 32; i < tile; i += threads - 32) out[t * tile + i] = work(stage[t % 2], i);
      if (t + 2 < tiles) (void)empty[t % 2].arrive();
    }
  }
}

__global__ void with_copies_to_a_barrier(float* out, const float* in, int tiles) {
  __shared__ __align__(16) float stage[tile];
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&ready, blockDim.x);
  block.sync();
  for (int t = 0; t < tiles; t++) {
    cuda::memcpy_async(block, stage, in + t * tile, cuda::aligned_size_t<16>(sizeof stage), ready);
    auto token = ready.arrive();
    ready.wait(std::move(token));
    out[t * tile + threadIdx.x] = work(stage, threadIdx.x);
    ready.arrive_and_wait();
  }
}

int main() {
  const int tiles = 7, n = tiles * tile;
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; i++) in[i] = float(i * 31 % 257);
  float *device_in, *device_out;
  cudaMalloc(&device_in, n * sizeof(float));
  cudaMalloc(&device_out, n * sizeof(float));
  cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  void (*const kernels[])(float*, const float*, int) = {
      with_primitives, with_groups,   with_own_pipeline,        with_block_pipeline,
      with_roles,      with_barriers, with_copies_to_a_barrier,
  };
  int wrong = 0;
  for (const auto kernel : kernels) {
    cudaMemset(device_out, 0, n * sizeof(float));
    kernel<<<1, threads>>>(device_out, device_in, tiles);
    cudaMemcpy(out.data(), device_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    int here = 0;
    for (int i = 0; i < n; i++) here += out[i] != in[i / tile * tile + tile - 1 - i % tile] + 1.f;
    if (here) std::printf("kernel %d: %d wrong\n", int(&kernel - kernels), here);
    wrong += here;
  }
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
