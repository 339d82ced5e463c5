// cuda::atomic_ref and cuda::atomic: a histogram, a maximum of floats by compare and exchange, a lock, the last block.
#include <cstdio>
#include <cuda/atomic>
#include <vector>

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> arrived{0};

__global__ void histogram(const int* in, int n, unsigned* bins, float* largest, int* locked, int* total,
                          int* last_total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ unsigned counts[16];
  __shared__ cuda::atomic<int, cuda::thread_scope_block> below;  // a store begins its life: nothing is read
  if (threadIdx.x == 0) below.store(0, cuda::memory_order_relaxed);
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  if (i < n) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> bin(counts[in[i] % 16]);
    bin.fetch_add(1, cuda::memory_order_relaxed);
    if (in[i] < 500) below.fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<float, cuda::thread_scope_device> most(*largest);
    float seen = most.load(cuda::std::memory_order_relaxed);
    while (seen < float(in[i]) && !most.compare_exchange_weak(seen, float(in[i]))) {
    }
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(bins[threadIdx.x]) += counts[threadIdx.x];
  }
  if (threadIdx.x == 0) {
    atomicAdd(locked + 3, below.load());
    cuda::atomic_ref<int, cuda::thread_scope_device> lock(*locked);
    int free = 0;
    while (!lock.compare_exchange_strong(free, 1, cuda::memory_order_acquire)) free = 0;
    atomicAdd(total, int(blockIdx.x));
    lock.store(0, cuda::memory_order_release);
    __threadfence();
    if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) *last_total = atomicAdd(total, 0);
  }
}

using Counter = cuda::atomic<int, cuda::thread_scope_system>;

__global__ void answer(Counter* told, Counter* answered) {
  while (told->load(cuda::memory_order_acquire) == 0) {
  }
  answered->fetch_add(told->load() + 1);
}

// The host's side of what a kernel and it say to each other: it stores, loads, exchanges and waits, too.
int asked() {
  Counter* both;
  cudaMallocManaged(&both, 2 * sizeof(Counter));
  new (&both[0]) Counter(0);
  new (&both[1]) Counter(5);
  both[0].store(36, cuda::memory_order_release);
  answer<<<1, 1>>>(&both[0], &both[1]);
  cudaDeviceSynchronize();
  both[1].wait(5);
  int expected = 0;
  const bool changed = both[1].compare_exchange_strong(expected, 1);
  const int found = changed ? 0 : both[1].load();
  cudaFree(both);
  return found == expected ? found : 0;
}

int main() {
  const int n = 1000, blocks = 8;
  std::vector<int> in(n);
  int expected[16] = {}, most = 0, below = 0;
  for (int i = 0; i < n; i++) {
    in[i] = i * 7919 % 1009;
    expected[in[i] % 16]++;
    most = in[i] > most ? in[i] : most;
    below += in[i] < 500;
  }
  int *device_in, *ints;
  unsigned* bins;
  float* largest;
  cudaMalloc(&device_in, n * sizeof(int));
  cudaMalloc(&ints, 4 * sizeof(int));
  cudaMalloc(&bins, 16 * sizeof(unsigned));
  cudaMalloc(&largest, sizeof(float));
  cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(ints, 0, 4 * sizeof(int));
  cudaMemset(bins, 0, 16 * sizeof(unsigned));
  cudaMemset(largest, 0, sizeof(float));
  histogram<<<blocks, 128>>>(device_in, n, bins, largest, ints, ints + 1, ints + 2);
  unsigned found[16];
  float found_most;
  int found_ints[4];
  cudaMemcpy(found, bins, sizeof found, cudaMemcpyDeviceToHost);
  cudaMemcpy(&found_most, largest, sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(found_ints, ints, sizeof found_ints, cudaMemcpyDeviceToHost);
  int wrong = found_most != float(most);
  for (int i = 0; i < 16; i++) wrong += found[i] != unsigned(expected[i]);
  wrong += found_ints[0] != 0 || found_ints[3] != below || found_ints[1] != blocks * (blocks - 1) / 2 ||
           found_ints[2] != found_ints[1];
  wrong += asked() != 42;
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
