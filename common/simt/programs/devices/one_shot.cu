// A one-shot all-reduce: each device writes its data into all devices' memory, says so with a flag, and adds up what it
// has got itself. Kernels of all devices wait for each other.
//
// VOLATILE: flags by volatile accesses and a fence, else by cuda::atomic_ref. What can be left out: NO_FENCE (the
// fence), NO_WAIT (for the flags), ONE_BUFFER (two buffers in turn, with one
// block), FORGET (device 1's launches).
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <thread>
#include <vector>

#define OK(call)                                                            \
  do {                                                                      \
    const cudaError_t error = (call);                                       \
    if (error != cudaSuccess) {                                             \
      std::printf("FAIL line %d: %s\n", __LINE__, cudaGetErrorName(error)); \
      std::exit(1);                                                         \
    }                                                                       \
  } while (0)

constexpr int most = 8, length = 2048;
#ifdef ONE_BUFFER
constexpr int buffers = 1, blocks = 1;
#else
constexpr int buffers = 2, blocks = 4;
#endif

struct Peers {
  float* data[most];      // (buffers, most, length) on each device
  unsigned* flags[most];  // (most, blocks)
};

__global__ void all_reduce(Peers peers, const float* in, float* out, int self, int devices, unsigned round) {
  const int part = length / gridDim.x, first = blockIdx.x * part;
  const int buffer = static_cast<int>(round) % buffers * most;
  for (int i = first + threadIdx.x; i < first + part; i += blockDim.x) {
    for (int d = 0; d < devices; d++) peers.data[d][(buffer + self) * length + i] = in[i];
  }
#ifndef NO_FENCE
  __threadfence_system();
#endif
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < devices) {
    unsigned* const theirs = &peers.flags[threadIdx.x][self * blocks + blockIdx.x];
    unsigned* const own = &peers.flags[self][threadIdx.x * blocks + blockIdx.x];
#ifdef VOLATILE
    *static_cast<volatile unsigned*>(theirs) = round;
#ifndef NO_WAIT
    while (*static_cast<volatile unsigned*>(own) < round) {
    }
#endif
#else
    cuda::atomic_ref<unsigned, cuda::thread_scope_system>(*theirs).store(round, cuda::memory_order_release);
    while (cuda::atomic_ref<unsigned, cuda::thread_scope_system>(*own).load(cuda::memory_order_acquire) < round) {
    }
#endif
  }
  __syncthreads();
  for (int i = first + threadIdx.x; i < first + part; i += blockDim.x) {
    float sum = 0;
    for (int d = 0; d < devices; d++) sum += peers.data[self][(buffer + d) * length + i];
    out[i] = sum;
  }
}

int main(int, char** argv) {
  const bool threads = argv[1] != nullptr;  // a host thread for each device
  int devices = 0;
  OK(cudaGetDeviceCount(&devices));
  Peers peers = {};
  std::vector<float*> in(devices), out(devices);
  std::vector<cudaStream_t> streams(devices);
  for (int d = 0; d < devices; d++) {
    OK(cudaSetDevice(d));
    OK(cudaStreamCreate(&streams[d]));
    for (int p = 0; p < devices; p++) {
      if (p != d) OK(cudaDeviceEnablePeerAccess(p, 0));
    }
    OK(cudaMalloc(&peers.data[d], buffers * most * length * sizeof(float)));
    OK(cudaMemset(peers.data[d], 0, buffers * most * length * sizeof(float)));
    OK(cudaMalloc(&peers.flags[d], most * blocks * sizeof(unsigned)));
    OK(cudaMemset(peers.flags[d], 0, most * blocks * sizeof(unsigned)));
    OK(cudaMalloc(&in[d], length * sizeof(float)));
    OK(cudaMalloc(&out[d], length * sizeof(float)));
    std::vector<float> values(length);
    for (int i = 0; i < length; i++) values[i] = d * 100 + i % 7;
    OK(cudaMemcpy(in[d], values.data(), length * sizeof(float), cudaMemcpyHostToDevice));
  }
  const auto launch = [&](int d, unsigned round) {
#ifdef FORGET
    if (d == 1) return;
#endif
    OK(cudaSetDevice(d));
    all_reduce<<<blocks, 128, 0, streams[d]>>>(peers, in[d], out[d], d, devices, round);
    OK(cudaGetLastError());
  };
  constexpr unsigned rounds = 4;
  if (threads) {
    std::vector<std::thread> hosts;
    for (int d = 0; d < devices; d++) {
      hosts.emplace_back([&, d] {
        for (unsigned round = 1; round <= rounds; round++) launch(d, round);
        OK(cudaStreamSynchronize(streams[d]));
      });
    }
    for (std::thread& host : hosts) host.join();
  } else {
    for (unsigned round = 1; round <= rounds; round++) {
      for (int d = 0; d < devices; d++) launch(d, round);
    }
  }
  for (int d = 0; d < devices; d++) {
    OK(cudaSetDevice(d));
    OK(cudaStreamSynchronize(streams[d]));
    std::vector<float> values(length);
    OK(cudaMemcpy(values.data(), out[d], length * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < length; i++) {
      if (values[i] != devices * (devices - 1) / 2 * 100 + devices * (i % 7))
        return std::printf("FAIL: device %d, element %d: %g\n", d, i, values[i]), 1;
    }
  }
  std::puts("PASS");
}
