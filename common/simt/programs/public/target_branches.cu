// One function for host and device, with code for each side (nv/target).
#include <cuda_runtime.h>
#include <nv/target>

#include <cstdio>

__host__ __device__ int side() { NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return 1;), (return 2;)) }
__host__ __device__ int age() {
  NV_DISPATCH_TARGET(NV_PROVIDES_SM_100, (return 100;), NV_PROVIDES_SM_80, (return 80;), NV_IS_DEVICE, (return 1;),
                     NV_IS_HOST, (return 0;))
  return -1;
}
template <typename T>
__host__ __device__ constexpr T doubled(T x) {
  NV_IF_TARGET(NV_IS_HOST, (T y = x; return x + y;))
  return 2 * x;
}
constexpr int four = doubled(2);

// Only the device has the intrinsic, only the host the library.
__host__ __device__ unsigned bits_of(float x) {
  unsigned bits = 0;
  NV_IF_TARGET(NV_PROVIDES_SM_35, (bits = __float_as_uint(x);), (memcpy(&bits, &x, sizeof bits);))
  return bits;
}
__global__ void ask(int* out) {
  out[0] = side();
  out[1] = age();
  out[2] = doubled(out[2]);
  out[3] = static_cast<int>(bits_of(1.5f));
  NV_IF_TARGET(NV_IS_EXACTLY_SM_90, (out[4] = 90; out[5] = 91;), (out[4] = 0;))
}

int main() {
  int* out;
  cudaMallocManaged(&out, 6 * sizeof(int));
  out[2] = 21;
  ask<<<1, 1>>>(out);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  wrong += out[0] != 1 || out[1] != 80 || out[2] != 42 || out[3] != 0x3fc00000 || out[4] != 90 || out[5] != 91;
  wrong += side() != 2 || age() != 0 || doubled(21) != 42 || four != 4 || bits_of(1.5f) != 0x3fc00000;
  printf("%s\n", wrong ? "FAIL" : "PASS");
}
