// Blocks and threads that wait for each other by flags in memory, as they may on a GPU where all are resident: a
// barrier of the grid that the program makes itself, with volatile loads, atomics or exchanges; a flag in shared
// memory.
#include <cstdio>
#include <vector>

enum class Wait { volatile_load, atomic, exchange, sleep };

struct Barrier {
  unsigned arrived, generation;
};

template <Wait HOW>
__device__ void grid_barrier(Barrier* barrier) {
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile unsigned* const generation = &barrier->generation;
    const unsigned before = *generation;
    __threadfence();
    if (atomicAdd(&barrier->arrived, 1) == gridDim.x - 1) {
      barrier->arrived = 0;
      __threadfence();
      atomicAdd(&barrier->generation, 1);
    } else if (HOW == Wait::volatile_load) {
      while (*generation == before)
        ;
    } else if (HOW == Wait::atomic) {
      while (atomicAdd(&barrier->generation, 0) == before) {
      }
    } else if (HOW == Wait::exchange) {
      while (atomicCAS(&barrier->generation, ~0u, 0) == before)
        ;
    } else {
      while (*generation == before) __nanosleep(100);
    }
    __threadfence();
  }
  __syncthreads();
}

// Each round reads what other blocks wrote in the one before.
template <Wait HOW>
__global__ void diffuse(float* from, float* to, int count, int rounds, Barrier* barrier) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    if (i > 0 && i < count - 1) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    grid_barrier<HOW>(barrier);
    float* const other = from;
    from = to;
    to = other;
  }
}

template <Wait HOW>
bool diffuses(const char* name, int blocks, int threads) {
  const int count = blocks * threads, rounds = 6;
  std::vector<float> host(count, 0), next(count, 0);
  for (int i = 0; i < count; i += threads) host[i] = next[i] = static_cast<float>(i + 1);
  float *a, *b;
  Barrier* barrier;
  cudaMalloc(&a, count * sizeof(float));
  cudaMalloc(&b, count * sizeof(float));
  cudaMalloc(&barrier, sizeof(Barrier));
  cudaMemset(barrier, 0, sizeof(Barrier));
  cudaMemcpy(a, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  diffuse<HOW><<<blocks, threads>>>(a, b, count, rounds, barrier);
  for (int round = 0; round < rounds; round++) {
    for (int i = 1; i < count - 1; i++) next[i] = 0.5f * (host[i - 1] + host[i + 1]);
    host.swap(next);
  }
  std::vector<float> result(count);
  cudaMemcpy(result.data(), a, count * sizeof(float), cudaMemcpyDeviceToHost);
  const bool right = cudaGetLastError() == cudaSuccess && result == host;
  std::printf("%s: %s\n", name, right ? "right" : "wrong");
  cudaFree(a);
  cudaFree(b);
  cudaFree(barrier);
  return right;
}

// The first warp waits for what the last one finds.
__global__ void hand_over(int* out) {
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    int found;
    while ((found = atomicAdd(&ready, 0)) == 0) {
    }
    out[blockIdx.x] = found;
  }
  if (threadIdx.x == blockDim.x - 1) atomicExch(&ready, static_cast<int>(blockIdx.x) + 5);
}

int main() {
  bool right = diffuses<Wait::volatile_load>("volatile loads", 40, 64);
  right &= diffuses<Wait::atomic>("atomics", 20, 32);
  right &= diffuses<Wait::exchange>("exchanges", 20, 32);
  right &= diffuses<Wait::sleep>("sleeping", 20, 32);
  int *out, host[3] = {};
  cudaMalloc(&out, sizeof host);
  hand_over<<<3, 64>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  right &= host[0] == 5 && host[1] == 6 && host[2] == 7;
  std::printf("shared flag: %d %d %d\n", host[0], host[1], host[2]);
  std::puts(right ? "PASS" : "FAIL");
  return !right;
}
