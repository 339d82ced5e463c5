// Big integers as libraries of cryptography write them: inline PTX's carry flag, from one asm statement to the next,
// with loads in between, in each thread its own.
#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr int words = 8, numbers = 96;

__device__ __forceinline__ uint32_t add_cc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t addc_cc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t addc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// r = a + b; returns what is carried out.
__device__ uint32_t add(uint32_t* r, const uint32_t* a, const uint32_t* b) {
  r[0] = add_cc(a[0], b[0]);
  for (int i = 1; i < words; i++) r[i] = addc_cc(a[i], b[i]);
  return addc(0, 0);
}
__device__ uint32_t subtract(uint32_t* r, const uint32_t* a, const uint32_t* b) {
  asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r[0]) : "r"(a[0]), "r"(b[0]));
  for (int i = 1; i < words; i++)
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r[i]) : "r"(a[i]), "r"(b[i]) : "memory");
  uint32_t borrow;
  asm volatile("subc.u32 %0, 0, 0;" : "=r"(borrow));
  return borrow;  // all ones or none
}
// One row of the schoolbook product: r += a * b.
__device__ void add_product(uint32_t* r, const uint32_t* a, uint32_t b) {
  asm volatile("mad.lo.cc.u32 %0, %1, %2, %0;" : "+r"(r[0]) : "r"(a[0]), "r"(b));
  for (int i = 1; i < words; i++) asm volatile("madc.lo.cc.u32 %0, %1, %2, %0;" : "+r"(r[i]) : "r"(a[i]), "r"(b));
  asm volatile("addc.u32 %0, %0, 0;" : "+r"(r[words]));
  asm volatile("mad.hi.cc.u32 %0, %1, %2, %0;" : "+r"(r[1]) : "r"(a[0]), "r"(b));
  for (int i = 1; i < words; i++) asm volatile("madc.hi.cc.u32 %0, %1, %2, %0;" : "+r"(r[i + 1]) : "r"(a[i]), "r"(b));
}
// 64-bit words, all in one statement.
__device__ void add128(uint64_t* r, const uint64_t* a, const uint64_t* b) {
  asm("{\n\t"
      "add.cc.u64   %0, %2, %4;\n\t"
      "addc.u64     %1, %3, %5;\n\t"
      "}"
      : "=l"(r[0]), "=l"(r[1])
      : "l"(a[0]), "l"(a[1]), "l"(b[0]), "l"(b[1]));
}

struct Result {
  uint32_t sum[words], difference[words], product[2 * words + 2], carry, borrow;
  uint64_t sum128[2];
};

__global__ void compute(Result* results, const uint32_t* a, const uint32_t* b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= numbers) return;
  Result& result = results[i];
  result.carry = add(result.sum, a + i * words, b + i * words);
  result.borrow = subtract(result.difference, a + i * words, b + i * words);
  uint32_t product[2 * words + 2] = {};
  for (int j = 0; j < words; j++) add_product(product + j, a + i * words, b[i * words + j]);
  memcpy(result.product, product, sizeof product);
  uint64_t x[2], y[2];
  memcpy(x, a + i * words, sizeof x);
  memcpy(y, b + i * words, sizeof y);
  add128(result.sum128, x, y);
}

int main() {
  uint32_t *a, *b;
  Result* results;
  cudaMallocManaged(&a, numbers * words * 4);
  cudaMallocManaged(&b, numbers * words * 4);
  cudaMallocManaged(&results, numbers * sizeof(Result));
  uint32_t seed = 1;
  for (int i = 0; i < numbers * words; i++) {
    const auto next = [&] {
      seed = seed * 1664525u + 1013904223u;
      return seed >> 8 & 3 ? seed ^ seed << 13 : seed & 4096 ? ~0u : 0u;  // carries that go far
    };
    a[i] = next(), b[i] = next();
  }
  compute<<<3, 32>>>(results, a, b);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < numbers; i++) {
    const uint32_t *x = a + i * words, *y = b + i * words;
    Result right = {};
    uint64_t carry = 0, borrow = 0;
    for (int w = 0; w < words; w++) {
      carry += uint64_t(x[w]) + y[w], right.sum[w] = uint32_t(carry), carry >>= 32;
      const uint64_t difference = uint64_t(x[w]) - y[w] - borrow;
      right.difference[w] = uint32_t(difference), borrow = difference >> 63;
      uint64_t row = 0;
      for (int v = 0; v < words; v++) {
        row += uint64_t(x[v]) * y[w] + right.product[v + w];
        right.product[v + w] = uint32_t(row), row >>= 32;
      }
      right.product[w + words] = uint32_t(row);
    }
    right.carry = uint32_t(carry), right.borrow = uint32_t(-borrow);
    unsigned __int128 p, q;
    memcpy(&p, x, 16), memcpy(&q, y, 16);
    p += q;
    memcpy(right.sum128, &p, 16);
    wrong += memcmp(&right, &results[i], sizeof right) != 0;
  }
  std::printf("%d of %d wrong\n%s\n", wrong, numbers, wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
