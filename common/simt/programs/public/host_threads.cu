// Host threads that share one device: each has a stream and its own memory, launches kernels that use shared memory,
// and goes on in a thread that the stream's callback starts.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

constexpr int workers = 6, rounds = 4, threads = 128, blocks = 24, count = blocks * threads;

__global__ void reverse_blocks(const int* in, int* out, int add) {
  __shared__ int tile[threads];
  tile[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * threads + threadIdx.x] = tile[threads - 1 - threadIdx.x] + add;
}

struct Work {
  int number = 0;
  cudaStream_t stream = nullptr;
  int *in = nullptr, *out = nullptr, *host = nullptr;
  std::thread last;
  std::atomic<bool> given{false};
  bool right = false;
};

void CUDART_CB finished(cudaStream_t, cudaError_t status, void* data) {
  CHECK(status);
  Work* const work = static_cast<Work*>(data);
  work->last = std::thread([work] {
    bool right = true;
    for (int i = 0; i < count; i++) right = right && work->host[i] == i * workers + work->number + rounds;
    CHECK(cudaFree(work->in));
    CHECK(cudaFree(work->out));
    work->right = right;
  });
  work->given = true;
}

void give(Work* work) {
  CHECK(cudaStreamCreate(&work->stream));
  CHECK(cudaMalloc(&work->in, count * sizeof(int)));
  CHECK(cudaMalloc(&work->out, count * sizeof(int)));
  CHECK(cudaMallocHost(&work->host, count * sizeof(int)));
  for (int i = 0; i < count; i++) work->host[i] = i * workers + work->number;
  CHECK(cudaMemcpyAsync(work->in, work->host, count * sizeof(int), cudaMemcpyHostToDevice, work->stream));
  for (int round = 0; round < rounds; round++) {
    reverse_blocks<<<blocks, threads, 0, work->stream>>>(work->in, work->out, 1);
    CHECK(cudaGetLastError());
    std::swap(work->in, work->out);
  }
  CHECK(cudaMemcpyAsync(work->host, work->in, count * sizeof(int), cudaMemcpyDeviceToHost, work->stream));
  CHECK(cudaStreamAddCallback(work->stream, finished, work, 0));
}

int main() {
  std::vector<Work> works(workers);
  std::vector<std::thread> givers;
  for (int i = 0; i < workers; i++) {
    works[i].number = i;
    givers.emplace_back(give, &works[i]);
  }
  for (std::thread& giver : givers) giver.join();
  bool right = true;
  for (Work& work : works) {
    while (!work.given) std::this_thread::yield();
    work.last.join();
    right = right && work.right;
    CHECK(cudaStreamDestroy(work.stream));
    CHECK(cudaFreeHost(work.host));
  }
  std::puts(right ? "PASS" : "FAIL: another value");
  return !right;
}
