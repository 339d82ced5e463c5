// libcu++'s pointers with a cache's hint, iterators of arrays, flags of one byte that blocks wait for, and streams.
#include <cuda/annotated_ptr>
#include <cuda/atomic>
#include <cuda/std/iterator>
#include <cuda/stream_ref>

#include <cstdio>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

constexpr int threads = 64;

// Each block adds what the one before it has, once that block's flag says so.
__global__ void running_sums(int* items, int* sums, int* next, cuda::std::atomic<char>* done, int count) {
  __shared__ int block, before;
  if (threadIdx.x == 0) {
    block = atomicAdd(next, 1);
    before = 0;
    if (block > 0) {
      done[block - 1].wait(0);
      before = sums[block - 1];
    }
  }
  __syncthreads();
  const cuda::annotated_ptr<const int, cuda::access_property::streaming> from(items);
  const cuda::annotated_ptr<int, cuda::access_property::persisting> to(items);
  const int i = block * threads + threadIdx.x;
  const int own = i < count ? from[i] : 0;
  __shared__ int shared[threads];
  shared[threadIdx.x] = own;
  __syncthreads();
  int sum = before;
  for (unsigned k = 0; k <= threadIdx.x; k++) sum += shared[k];
  if (i < count) to[i] = sum;
  if (threadIdx.x == threads - 1) {
    sums[block] = sum;
    done[block].store('d');
    done[block].notify_all();
  }
}

__global__ void small(bool* any, int* out) {
  cuda::atomic_ref<bool, cuda::thread_scope_block> flag(*any);
  if (threadIdx.x == 40) flag.store(true);
  __syncthreads();
  const int items[] = {3, 1, 2};
  if (threadIdx.x == 0) {
    out[0] = flag.load() + 10 * static_cast<int>(cuda::std::distance(cuda::std::begin(items), cuda::std::end(items)));
    out[1] = *cuda::std::next(items) + 10 * *cuda::std::prev(cuda::std::end(items));
    int* const hinted = cuda::associate_access_property(out, cuda::access_property::persisting{});
    hinted[2] = cuda::std::size(items);
  }
}

int main() {
  const int count = 1000, blocks = (count + threads - 1) / threads;
  int items[count], *on_device, *sums, *next;
  cuda::std::atomic<char>* done;
  for (int i = 0; i < count; i++) items[i] = i % 7;
  cudaMalloc(&on_device, sizeof items);
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMalloc(&next, sizeof(int));
  cudaMalloc(&done, blocks);
  cudaMemset(next, 0, sizeof(int));
  cudaMemset(done, 0, blocks);
  cudaMemcpy(on_device, items, sizeof items, cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  running_sums<<<blocks, threads, 0, stream>>>(on_device, sums, next, done, count);
  const cuda::stream_ref waits(stream);
  waits.wait();
  EXPECT(waits.get() == stream && waits.ready());
  int found[count], sum = 0, out[3];
  cudaMemcpy(found, on_device, sizeof found, cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; i++) EXPECT(found[i] == (sum += items[i]));
  bool* any;
  cudaMalloc(&any, sizeof(bool));
  cudaMemset(any, 0, sizeof(bool));
  small<<<1, threads>>>(any, sums);
  cudaMemcpy(out, sums, sizeof out, cudaMemcpyDeviceToHost);
  EXPECT(out[0] == 31 && out[1] == 21 && out[2] == 3);
  EXPECT(cudaGetLastError() == cudaSuccess);
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
