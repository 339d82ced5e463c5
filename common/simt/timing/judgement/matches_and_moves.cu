// What a match of a warp's values takes, by how many different ones there are, beside a shuffle; and what moves of 16
// MiB take in place and out of place, by direction. Not part of a set. nvcc -O3 -arch=native matches_and_moves.cu
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "matches_and_moves: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int rounds = 64;

template <bool match>
__device__ unsigned exchanged(unsigned x) {
  return match ? __match_any_sync(~0u, x) : __shfl_xor_sync(~0u, x, 1);
}

// chained: each waits for the one before. Else nvcc makes one of the four of a round, and warps have several in flight.
template <bool match, bool chained>
__global__ void exchange(long long* cycles, unsigned* sink, int distinct) {
  constexpr int count = chained ? 1 : 4;
  unsigned x[count], sum = 0;
  for (int c = 0; c < count; c++) x[c] = threadIdx.x % distinct;
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < rounds; i++) {
#pragma unroll
    for (int c = 0; c < count; c++) {
      const unsigned r = exchanged<match>(x[c]);
      sum += r;
      if (chained) x[c] += r == 0xdeadbeefu;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  sink[threadIdx.x] = sum + x[0];
}

template <bool match>
void time_exchanges(const char* name, long long* cycles, unsigned* sink) {
  for (const int distinct : {1, 2, 4, 8, 16, 32}) {
    long long chain, unit;
    for (int again = 0; again < 2; again++) {
      exchange<match, true><<<1, 32>>>(cycles, sink, distinct);
      check(cudaMemcpy(&chain, cycles, sizeof chain, cudaMemcpyDeviceToHost));
      exchange<match, false><<<132, 1024>>>(cycles, sink, distinct);
      check(cudaMemcpy(&unit, cycles, sizeof unit, cudaMemcpyDeviceToHost));
    }
    std::printf("%s of %d values: %.1f cycles in a chain, %.2f of a multiprocessor's unit\n", name, distinct,
                static_cast<double>(chain) / rounds, static_cast<double>(unit) / (rounds * 32.0));
  }
}

enum class Move { copy, swap_halves, reverse_out, reverse };
constexpr const char* names[] = {"copy", "halves exchanged in place", "reversed into another array",
                                 "reversed in place"};

__global__ void move(float* a, float* b, int n, Move what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  const bool reverses = what == Move::reverse || what == Move::reverse_out, copies = what == Move::copy;
  float* const to = copies || what == Move::reverse_out ? b : a;
  const int other = reverses ? n - 1 - i : i + n / 2;
  const float x = a[i], y = a[other];
  to[i] = copies ? x : y;
  to[other] = copies ? y : x;
}

void time_moves(int arrays) {
  constexpr int n = 1 << 22, launches = 17;
  std::vector<float*> a(arrays), b(arrays);
  for (int i = 0; i < arrays; i++) {
    check(cudaMalloc(&a[i], n * 4));
    check(cudaMalloc(&b[i], n * 4));
    check(cudaMemset(a[i], 0, n * 4));
    check(cudaMemset(b[i], 0, n * 4));
  }
  cudaStream_t stream;
  cudaEvent_t begin, end;
  check(cudaStreamCreate(&stream));
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (const Move what : {Move::copy, Move::swap_halves, Move::reverse_out, Move::reverse}) {
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < launches; i++) move<<<n / 512, 256, 0, stream>>>(a[i % arrays], b[i % arrays], n, what);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&replay, graph, 0));
    std::vector<float> ms;
    for (int again = 0; again < 9; again++) {
      check(cudaEventRecord(begin, stream));
      check(cudaGraphLaunch(replay, stream));
      check(cudaEventRecord(end, stream));
      check(cudaEventSynchronize(end));
      ms.emplace_back();
      check(cudaEventElapsedTime(&ms.back(), begin, end));
    }
    std::sort(ms.begin() + 2, ms.end());
    std::printf("%d arrays of 16 MiB, %s: %.2f us\n", arrays, names[static_cast<int>(what)], ms[5] * 1e3 / launches);
  }
}

}  // namespace

int main() {
  long long* cycles;
  unsigned* sink;
  check(cudaMalloc(&cycles, 1024 * sizeof *cycles));
  check(cudaMalloc(&sink, 1024 * sizeof *sink));
  time_exchanges<true>("a match", cycles, sink);
  time_exchanges<false>("a shuffle", cycles, sink);
  time_moves(17);
  time_moves(1);
  return 0;
}
