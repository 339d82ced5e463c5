// Launches that are handed to macros, which choose the kernel: as k-means libraries switch between metrics and types.
// And tiles of two dimensions in dynamic shared memory.
#include <cstdio>
#include <vector>

enum Metric { euclidean, manhattan };

template <Metric metric, typename T>
__global__ void distances(const T* a, const T* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float d = float(a[i]) - float(b[i]);
  out[i] = metric == euclidean ? d * d : fabsf(d);
}

template <typename T>
__global__ void transpose(const T* in, T* out) {
  extern __shared__ unsigned char memory[];
  T(*tile)[33] = reinterpret_cast<T(*)[33]>(memory);
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void transpose_floats(const float* in, float* out) {
  extern __shared__ float tile[][33];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// clang-format off
#define METRIC_SWITCH(metric, kernel, T, ...)               \
  do {                                                      \
    switch (metric) {                                       \
      case euclidean: kernel<euclidean, T>__VA_ARGS__; break; \
      case manhattan: kernel<manhattan, T>__VA_ARGS__; break; \
    }                                                       \
  } while (false)
// As programs from Visual Studio have it, whose editor does not know <<<>>>.
#ifdef __INTELLISENSE__
#define KERNEL_ARGS2(grid, block)
#define KERNEL_ARGS3(grid, block, bytes)
#else
#define KERNEL_ARGS2(grid, block) <<< grid, block >>>
#define KERNEL_ARGS3(grid, block, bytes) \
  <<< grid, block, bytes >>>
#endif
#define ONE_BLOCK <<<1, 32>>>
// clang-format on

static int wrong = 0;

template <typename T>
void run(Metric metric) {
  const int n = 100;
  T *a, *b;
  float* out;
  cudaMallocManaged(&a, n * sizeof(T));
  cudaMallocManaged(&b, n * sizeof(T));
  cudaMallocManaged(&out, n * sizeof(float));
  for (int i = 0; i < n; i++) a[i] = T(i), b[i] = T(3 * i + 1);
  dim3 block(32), grid((n + 31) / 32);
  METRIC_SWITCH(metric, distances, T, <<<grid, block>>>(reinterpret_cast<const T*>(a), b, out, n));
  cudaDeviceSynchronize();
  if (cudaGetLastError() != cudaSuccess) wrong++;
  for (int i = 0; i < n; i++) {
    const float d = 2.0f * i + 1;
    if (out[i] != (metric == euclidean ? d * d : d)) wrong++;
  }
  METRIC_SWITCH(metric, distances, T, <<<grid, 4096>>>(a, b, out, n));  // more threads than a block may have
  if (cudaGetLastError() == cudaSuccess) wrong++;
  cudaFree(a);
  cudaFree(b);
  cudaFree(out);
}

int main() {
  run<float>(euclidean);
  run<double>(manhattan);
  run<int>(manhattan);
  float *in, *out;
  cudaMallocManaged(&in, 1024 * sizeof(float));
  cudaMallocManaged(&out, 1024 * sizeof(float));
  for (int i = 0; i < 1024; i++) in[i] = i;
  for (int way = 0; way < 2; way++) {
    for (int i = 0; i < 1024; i++) out[i] = -1;
    if (way)
      transpose<<<1, dim3(32, 32), 32 * 33 * sizeof(float)>>>(in, out);
    else
      transpose_floats<<<1, dim3(32, 32), 32 * 33 * sizeof(float)>>>(in, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 1024; i++) wrong += out[i] != in[i % 32 * 32 + i / 32];
  }
  // clang-format off
  distances<manhattan, float> KERNEL_ARGS2(dim3(32), dim3(32))(in, out, out, 1024);
  cudaDeviceSynchronize();
  for (int i = 0; i < 1024; i++) wrong += out[i] != fabsf(in[i] - in[i % 32 * 32 + i / 32]);
  transpose<float> KERNEL_ARGS3(1, dim3(32, 32), 32 * 33 * sizeof(float))(in, out);
  distances<euclidean, float> ONE_BLOCK (in, in, out, 32);
  // clang-format on
  cudaDeviceSynchronize();
  for (int i = 0; i < 1024; i++) wrong += out[i] != (i < 32 ? 0 : in[i % 32 * 32 + i / 32]);
  std::printf(wrong ? "FAIL: %d wrong\n" : "PASS\n", wrong);
  cudaFree(in);
  cudaFree(out);
  return wrong ? 1 : 0;
}
