// A host thread for each device, which begin to use it at different times: the last one sleeps first, and then works on
// the host for longer than a standstill is waited for. The others' collectives wait for it.
#include <cuda_runtime.h>
#include <nccl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define OK(call)                                                              \
  do {                                                                        \
    const int result = static_cast<int>(call);                                \
    if (result) std::printf("FAIL line %d: %d\n", __LINE__, result), exit(1); \
  } while (0)

__global__ void fill(int* data, int value) { *data = value; }

int main() {
  using Time = std::chrono::steady_clock;
  int devices = 0;
  OK(cudaGetDeviceCount(&devices));
  std::vector<ncclComm_t> comms(devices);
  OK(ncclCommInitAll(comms.data(), devices, nullptr));
  std::vector<std::thread> hosts;
  for (int d = 0; d < devices; d++) {
    hosts.emplace_back([&, d] {
      if (d > 0 && d == devices - 1) {
        usleep(700 * 1000);
        for (const Time::time_point begin = Time::now(); Time::now() - begin < std::chrono::seconds(3);) {
        }
      }
      int *data, sum = 0;
      OK(cudaSetDevice(d));
      OK(cudaMalloc(&data, sizeof(int)));
      fill<<<1, 1>>>(data, d + 1);
      OK(ncclAllReduce(data, data, 1, ncclInt32, ncclSum, comms[d], nullptr));
      OK(cudaMemcpy(&sum, data, sizeof(int), cudaMemcpyDeviceToHost));
      if (sum != devices * (devices + 1) / 2) std::printf("FAIL: device %d has the sum %d\n", d, sum), exit(1);
    });
  }
  for (std::thread& host : hosts) host.join();
  std::puts("PASS");
}
