// Shared arrays read at `lane - 1` where the compiler knows that lane is 0: the access is never made, and its address
// is a number that no instruction holds. A neighbour's value in a scan, as decision trees' split finders have it.

#include <cstdio>

template <typename T>
__device__ __forceinline__ T before(const T* values, unsigned lane) {
  return lane > 0 ? values[lane - 1] : T();
}

template <typename T>
__global__ void differences(const T* in, T* out, T* first) {
  __shared__ T tile[64];
  const unsigned lane = threadIdx.x;
  tile[lane] = in[lane];
  __syncthreads();
  out[lane] = tile[lane] - before(tile, lane);
  if (lane == 0) {
    const bool inside = in[0] < 0;  // never
    first[0] = inside ? tile[lane - 1] : tile[lane];
    if (inside) tile[lane - 2] = tile[lane - 1];
  }
}

__global__ void four_wide(const float4* in, float4* out) {
  __shared__ float4 tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    switch (static_cast<int>(tile[0].x)) {
      case -1: out[2] = tile[threadIdx.x - 1]; break;
      case -2: tile[threadIdx.x - 2] = in[0]; break;
      default: out[0] = tile[1];
    }
  }
}

template <typename T>
bool holds() {
  T *in, *out;
  cudaMallocManaged(&in, 64 * sizeof(T));
  cudaMallocManaged(&out, 65 * sizeof(T));
  for (int i = 0; i < 64; i++) in[i] = static_cast<T>(i * i + 3);
  differences<<<1, 64>>>(in, out, out + 64);
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  bool right = out[0] == 3 && out[64] == 3;
  for (int i = 1; i < 64; i++) right = right && out[i] == static_cast<T>(2 * i - 1);
  cudaFree(in);
  cudaFree(out);
  return right;
}

bool holds_four_wide() {
  float4 *in, *out;
  cudaMallocManaged(&in, 64 * sizeof(float4));
  cudaMallocManaged(&out, 3 * sizeof(float4));
  for (int i = 0; i < 64; i++) in[i] = make_float4(i, i, i, i);
  four_wide<<<1, 64>>>(in, out);
  const bool right = cudaDeviceSynchronize() == cudaSuccess && out[0].x == 1 && out[0].w == 1;
  cudaFree(in);
  cudaFree(out);
  return right;
}

int main() {
  const bool right = holds<int>() && holds<double>() && holds<unsigned char>() && holds_four_wide();
  std::printf(right ? "PASS\n" : "FAIL\n");
  return !right;
}
