// mma.sync by inline PTX with the fragments' documented layout, every form that public kernels use: half with float and
// half sums, bfloat16, tf32, 8-bit integers. Small integers: every sum is exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

struct Half {
  using Sum = float;
  static constexpr int elements = 2;
  static __host__ __device__ uint16_t bits(int value) { return __half_as_ushort(__float2half(float(value))); }
};
struct HalfSums : Half {};
struct Bf16 {
  static constexpr int elements = 2;
  static __host__ __device__ uint16_t bits(int value) { return __bfloat16_as_ushort(__float2bfloat16(float(value))); }
};
struct Tf32 {
  static constexpr int elements = 1;
  static __host__ __device__ uint32_t bits(int value) {
    const float x = float(value);
    uint32_t word;
    memcpy(&word, &x, 4);
    return word;
  }
};
struct S8 {
  static constexpr int elements = 4;
  static __host__ __device__ uint8_t bits(int value) { return uint8_t(value); }
};
struct U8 : S8 {};

__device__ void mma(Half, const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,  %1,  %2,  %3},  "
      "{%4,  %5,  %6,  %7},  "
      "{%8,  %9},  "
      "{%10, %11, %12, %13};\n"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]));
}
__device__ void mma(Half, const uint32_t (&a)[2], const uint32_t (&b)[1], float (&d)[4]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
__device__ void mma(HalfSums, const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4]) {
  uint32_t* const c = reinterpret_cast<uint32_t*>(d);  // two halves a register
  asm volatile(
      "{\n\t"
      "  mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};\n\t"
      "}"
      : "=r"(c[0]), "=r"(c[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}
__device__ void mma(Bf16, const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void mma(Tf32, const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void mma(Tf32, const uint32_t (&a)[2], const uint32_t (&b)[1], float (&d)[4]) {
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
__device__ void mma(S8, const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4]) {
  int* const c = reinterpret_cast<int*>(d);
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void mma(U8, const uint32_t (&a)[2], const uint32_t (&b)[1], float (&d)[4]) {
  int* const c = reinterpret_cast<int*>(d);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

// A: 16 x K by rows; B: K x 8 by columns; D: 16 x 8, as the accumulator's registers hold it.
template <typename Type, int groups>
__global__ void product(const int* a, const int* b, float* d) {
  constexpr int elements = Type::elements, depth = groups * 4 * elements;
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  uint32_t of_a[2 * groups] = {}, of_b[groups] = {};
  for (int group = 0; group < groups; group++) {
    for (int e = 0; e < elements; e++) {
      const int k = (group * 4 + t) * elements + e, shift = e * 32 / elements;
      of_a[2 * group] |= uint32_t(Type::bits(a[g * depth + k])) << shift;
      of_a[2 * group + 1] |= uint32_t(Type::bits(a[(g + 8) * depth + k])) << shift;
      of_b[group] |= uint32_t(Type::bits(b[g * depth + k])) << shift;
    }
  }
  float sums[4] = {};
  mma(Type{}, of_a, of_b, sums);
  mma(Type{}, of_a, of_b, sums);  // and added to the first
  for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i];
  if (std::is_same<Type, HalfSums>::value) {
    const half* const halves = reinterpret_cast<const half*>(sums);
    for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = __half2float(halves[i]);
  }
}

int wrong = 0;

template <typename Type, int groups>
void run(const char* name, bool integers, int lowest) {
  const int depth = groups * 4 * Type::elements;
  std::vector<int> a(16 * depth), b(8 * depth);
  for (size_t i = 0; i < a.size(); i++) a[i] = lowest + int(i * 7 % 9);
  for (size_t i = 0; i < b.size(); i++) b[i] = lowest + int(i * 5 % 7);
  int *da, *db;
  float* dd;
  cudaMalloc(&da, a.size() * sizeof(int));
  cudaMalloc(&db, b.size() * sizeof(int));
  cudaMalloc(&dd, 128 * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(int), cudaMemcpyHostToDevice);
  product<Type, groups><<<1, 32>>>(da, db, dd);
  float d[128];
  cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost);
  int here = 0;
  for (int i = 0; i < 128; i++) {
    int sum = 0, found;
    for (int k = 0; k < depth; k++) sum += 2 * a[i / 8 * depth + k] * b[i % 8 * depth + k];
    std::memcpy(&found, &d[i], sizeof found);
    here += integers ? found != sum : d[i] != float(sum);
  }
  if (here) std::printf("%s: %d wrong\n", name, here);
  wrong += here;
  cudaFree(da);
  cudaFree(db);
  cudaFree(dd);
}

int main() {
  run<Half, 2>("f16 k16", false, -4);
  run<Half, 1>("f16 k8", false, -4);
  run<HalfSums, 2>("f16 k16, sums in f16", false, -4);
  run<Bf16, 2>("bf16 k16", false, -4);
  run<Tf32, 2>("tf32 k8", false, -4);
  run<Tf32, 1>("tf32 k4", false, -4);
  run<S8, 2>("s8 k32", true, -100);
  run<U8, 1>("u8 k16", true, 200);
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
