// Prints what tensor cores and approximate instructions give for fixed pseudo-random data, a value per line: name,
// number, bits. hold_tensor_cores.py builds it by nvcc for a GPU and by simtcc for the executor and compares the two.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void f16_k16(const uint32_t* a, const uint32_t* b, const float* c, float* d) {
  a += 4 * threadIdx.x, b += 2 * threadIdx.x, c += 4 * threadIdx.x, d += 4 * threadIdx.x;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__global__ void f16_k8(const uint32_t* a, const uint32_t* b, const float* c, float* d) {
  a += 4 * threadIdx.x, b += 2 * threadIdx.x, c += 4 * threadIdx.x, d += 4 * threadIdx.x;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__global__ void f16_sums(const uint32_t* a, const uint32_t* b, const float* c, float* d) {
  a += 4 * threadIdx.x, b += 2 * threadIdx.x, c += 4 * threadIdx.x, d += 4 * threadIdx.x;
  uint32_t sums[2];
  for (int i = 0; i < 2; i++) {
    const half2 pair = __floats2half2_rn(c[2 * i], c[2 * i + 1]);
    memcpy(&sums[i], &pair, 4);
  }
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
               : "=r"(sums[0]), "=r"(sums[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(sums[0]), "r"(sums[1]));
  for (int i = 0; i < 4; i++)
    d[i] = __half2float(__ushort_as_half(static_cast<unsigned short>(sums[i / 2] >> i % 2 * 16)));
}
__global__ void bf16_k16(const uint32_t* a, const uint32_t* b, const float* c, float* d) {
  a += 4 * threadIdx.x, b += 2 * threadIdx.x, c += 4 * threadIdx.x, d += 4 * threadIdx.x;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__global__ void tf32_k8(const uint32_t* a, const uint32_t* b, const float* c, float* d) {
  a += 4 * threadIdx.x, b += 2 * threadIdx.x, c += 4 * threadIdx.x, d += 4 * threadIdx.x;
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__global__ void s8_k32(const uint32_t* a, const uint32_t* b, const float* c, float* d) {
  a += 4 * threadIdx.x, b += 2 * threadIdx.x, c += 4 * threadIdx.x, d += 4 * threadIdx.x;
  int s[4];
  for (int i = 0; i < 4; i++) s[i] = static_cast<int>(c[i] * 1000);
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; i++) d[i] = __int_as_float(s[i]);
}
__global__ void approximations(const uint32_t*, const uint32_t*, const float* c, float* d) {
  c += 4 * threadIdx.x, d += 4 * threadIdx.x;
  const float positive = fabsf(c[0]) + 0.01f;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d[0]) : "f"(c[0]));
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(d[1]) : "f"(positive));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d[2]) : "f"(positive));
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(d[3]) : "f"(positive));
}

unsigned state = 1;
float uniform() { return float((state = state * 1664525u + 1013904223u) >> 8) / 8388608.f - 1.f; }

// Factors of one format, as many as fill `words` registers.
void fill(std::vector<uint32_t>* words, char format) {
  for (uint32_t& word : *words) {
    const float x = uniform(), y = uniform();
    if (format == 'h') word = __half_as_ushort(__float2half(x)) | uint32_t(__half_as_ushort(__float2half(y))) << 16;
    if (format == 'b')
      word = __bfloat16_as_ushort(__float2bfloat16(x)) | uint32_t(__bfloat16_as_ushort(__float2bfloat16(y))) << 16;
    if (format == 't') std::memcpy(&word, &x, 4);  // all 23 bits: which the hardware takes is part of the question
    if (format == 'i') word = state;
  }
}

int main() {
  const struct {
    const char* name;
    void (*kernel)(const uint32_t*, const uint32_t*, const float*, float*);
    char format;
  } cases[] = {{"f16_k16", f16_k16, 'h'},
               {"f16_k8", f16_k8, 'h'},
               {"f16_sums", f16_sums, 'h'},
               {"bf16_k16", bf16_k16, 'b'},
               {"tf32_k8", tf32_k8, 't'},
               {"s8_k32", s8_k32, 'i'},
               {"approximations", approximations, 'h'}};
  uint32_t *da, *db;
  float *dc, *dd;
  cudaMalloc(&da, 128 * 4);
  cudaMalloc(&db, 64 * 4);
  cudaMalloc(&dc, 128 * 4);
  cudaMalloc(&dd, 128 * 4);
  for (const auto& one : cases) {
    // From sums without an accumulator to some in which it is a thousand times as large.
    for (int round = 0; round < 8; round++) {
      std::vector<uint32_t> a(128), b(64), bits(128);
      std::vector<float> c(128);
      fill(&a, one.format);
      fill(&b, one.format);
      for (float& x : c) x = round == 0 ? 0.f : uniform() * std::pow(4.f, float(round - 2));
      cudaMemcpy(da, a.data(), 512, cudaMemcpyHostToDevice);
      cudaMemcpy(db, b.data(), 256, cudaMemcpyHostToDevice);
      cudaMemcpy(dc, c.data(), 512, cudaMemcpyHostToDevice);
      one.kernel<<<1, 32>>>(da, db, dc, dd);
      cudaMemcpy(bits.data(), dd, 512, cudaMemcpyDeviceToHost);
      for (int i = 0; i < 128; i++) std::printf("%s %d %08x\n", one.name, round * 128 + i, bits[i]);
    }
  }
  return cudaGetLastError();
}
