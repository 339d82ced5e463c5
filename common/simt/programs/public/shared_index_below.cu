// An index that is below the array where a condition that keeps it from being used is false: s[lane - 1] for lane 0,
// whose unsigned index is 4294967295 elements on.
#include <cstdio>

template <typename T>
__global__ void before(T* out, const T* in) {
  __shared__ T s[32];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const unsigned lane = threadIdx.x;
  T value = 0;
  if (lane == 0 && in[0] > 100) value = s[lane - 1];
  if (lane != 0) value = s[lane - 1];
  out[threadIdx.x] = value;
}

template <typename T>
int wrong() {
  T *in, *out;
  cudaMallocManaged(&in, 32 * sizeof(T));
  cudaMallocManaged(&out, 32 * sizeof(T));
  for (int i = 0; i < 32; i++) in[i] = static_cast<T>(i + 1);
  before<<<1, 32>>>(out, in);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 32; i++) wrong += out[i] != static_cast<T>(i);
  return wrong;
}

int main() {
  const int all = wrong<double>() + wrong<int>() + wrong<char>();
  std::printf(all ? "FAIL\n" : "PASS\n");
  return all;
}
