// Elementwise kernels bound by macros that paste the kernels' names, as extensions of PyTorch do.
#include <cstdio>
#include <vector>

__global__ void add_f32_kernel(float* c, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void add_f32x4_kernel(float* c, const float* a, const float* b, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float4 x = reinterpret_cast<const float4*>(a)[i / 4], y = reinterpret_cast<const float4*>(b)[i / 4];
  reinterpret_cast<float4*>(c)[i / 4] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
template <typename T, int factor>
__global__ void scale_i32_kernel(T* c, const T* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = factor * a[i];
}
namespace ops {
template <typename T>
__global__ void negate_kernel(T* c, const T* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = -a[i];
}
}  // namespace ops

#define BIND_ADD(packed, element, per_thread)                                         \
  void add_##packed(std::vector<element>& c, const element* a, const element* b) {    \
    const int n = static_cast<int>(c.size());                                         \
    element* out;                                                                     \
    cudaMalloc(&out, n * sizeof(element));                                            \
    dim3 block(64 / (per_thread));                                                    \
    dim3 grid((n + 63) / 64);                                                         \
    add_##packed##_kernel<<<grid, block>>>(reinterpret_cast<element*>(out), a, b, n); \
    cudaMemcpy(c.data(), out, n * sizeof(element), cudaMemcpyDeviceToHost);           \
    cudaFree(out);                                                                    \
  }
BIND_ADD(f32, float, 1)
BIND_ADD(f32x4, float, 4)

// The name pasted in a class, with template arguments, and over several lines of the macro.
// clang-format off
#define RUN_SCALE(tag, type, factor, ...)  \
  scale_##tag##_kernel<type, factor>       \
      <<<dim3(2),                          \
         dim3(32)>>>                       \
      (__VA_ARGS__)
#define RUN_IN(space, type, what, ...) space::what##_kernel<type><<<2, 32, 0, nullptr>>>(__VA_ARGS__)
#define RUN_ANY(kernel, ...)       \
  do {                             \
    kernel                         \
      <<<2, 32>>>(__VA_ARGS__);    \
    (void)cudaGetLastError();      \
  } while (0)
// clang-format on

int main() {
  const int n = 50;
  float *a, *b;
  int *x, *y;
  cudaMallocManaged(&a, 64 * sizeof(float));
  cudaMallocManaged(&b, 64 * sizeof(float));
  cudaMallocManaged(&x, 64 * sizeof(int));
  cudaMallocManaged(&y, 64 * sizeof(int));
  for (int i = 0; i < 64; i++) a[i] = i, b[i] = 100 * i, x[i] = i;
  std::vector<float> one(n), four(48);
  add_f32(one, a, b);
  add_f32x4(four, a, b);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += one[i] != 101.f * i;
  for (int i = 0; i < 48; i++) wrong += four[i] != 101.f * i;
  RUN_SCALE(i32, int, 3, y, x, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) wrong += y[i] != 3 * i;
  RUN_IN(ops, int, negate, y, x, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) wrong += y[i] != -i;
  RUN_ANY((scale_i32_kernel<int, 7>), y, x, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) wrong += y[i] != 7 * i;
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
