// What it costs to run code for the first time: multiply-adds that stand one after the other, passed through twice. On
// a GPU only: nvcc -O3 -arch=sm_90 fetch.cu; plots/results/fetch-nvidia-h200.json has what an H200 said.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

template <int N, int L>
__global__ void passes(long long* t, float* o, float a) {
  float x = a, y = a + 1, z = a + 2, w = a + 3;
#pragma unroll 1
  for (int r = 0; r < 2; r++) {
    __syncthreads();
    long long b = clock64();
#pragma unroll 1
    for (int l = 0; l < L; l++) {
#pragma unroll
      for (int i = 0; i < N; i++) {
        x = x * a + 1;
        y = y * a + 2;
        z = z * a + 3;
        w = w * a + 4;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) t[r] = clock64() - b;
  }
  o[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}

constexpr size_t more_than_l2 = size_t{256} << 20;
long long* ticks;
float* sums;
char* other;

template <int N, int L>
void measure(int threads, bool overwrite_l2) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 20; i++) {
    if (overwrite_l2) cudaMemsetAsync(other, i, more_than_l2, stream);
    passes<N, L><<<132, threads, 0, stream>>>(ticks, sums, .5f);
  }
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&replay, graph, 0);
  float milliseconds, best = 1e9;
  for (int r = 0; r < 4; r++) {
    cudaEventRecord(begin, stream);
    cudaGraphLaunch(replay, stream);
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    best = std::min(best, milliseconds);
  }
  long long cycles[2];
  cudaMemcpy(cycles, ticks, sizeof cycles, cudaMemcpyDeviceToHost);
  std::printf("fetch ins %d x %d threads %d thrash %d: first %lld second %lld us %.3f %s\n", 4 * N, L, threads,
              overwrite_l2, cycles[0], cycles[1], best * 50, cudaGetErrorString(cudaGetLastError()));
}

template <int N, int L>
void all() {
  for (int threads : {32, 128, 256, 1024}) measure<N, L>(threads, false);
  measure<N, L>(32, true);
  measure<N, L>(256, true);
}

int main() {
  cudaMalloc(&ticks, 16);
  cudaMalloc(&sums, 1 << 20);
  cudaMalloc(&other, more_than_l2);
  all<32, 1>();
  all<128, 1>();
  all<512, 1>();
  all<1024, 1>();
  all<2048, 1>();
  all<4096, 1>();
  all<128, 8>();
}
