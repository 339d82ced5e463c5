// mma.sync on eight rows by inline PTX: 8-bit integers, as since Turing, and doubles.
#include <cstdint>
#include <cstdio>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

// D = A B + C, C 8 x 8. A by rows; B by columns.
__global__ void on_integers(const uint32_t* a, const uint32_t* b, const int* c, int* d) {
  const int at = threadIdx.x / 4 * 8 + 2 * (threadIdx.x % 4);
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%4,%5};\n"
               : "=r"(d[at]), "=r"(d[at ^ 1])
               : "r"(a[threadIdx.x]), "r"(b[threadIdx.x]), "r"(c[at]), "r"(c[at + 1]));
}
__global__ void on_mixed(const uint32_t* a, const uint32_t* b, int* d) {
  const int at = threadIdx.x / 4 * 8 + 2 * (threadIdx.x % 4);
  int x = INT32_MAX - 100, y = 0;
  asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+r"(x), "+r"(y)
               : "r"(a[threadIdx.x]), "r"(b[threadIdx.x]));
  d[at] = x;
  d[at + 1] = y;
}
__global__ void on_doubles(const double* a, const double* b, double* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  double sums[2] = {0.5, -0.5};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sums[0]), "+d"(sums[1])
               : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]));
  for (int i = 0; i < 2; i++) d[g * 8 + 2 * t + i] = sums[i];
}

int main() {
  int8_t *a, *b;
  int *c, *d, *mixed;
  double *da, *db, *dd;
  cudaMallocManaged(&a, 128);
  cudaMallocManaged(&b, 128);
  cudaMallocManaged(&c, 64 * sizeof(int));
  cudaMallocManaged(&d, 64 * sizeof(int));
  cudaMallocManaged(&mixed, 64 * sizeof(int));
  cudaMallocManaged(&da, 32 * sizeof(double));
  cudaMallocManaged(&db, 32 * sizeof(double));
  cudaMallocManaged(&dd, 64 * sizeof(double));
  for (int i = 0; i < 128; i++) {
    a[i] = static_cast<int8_t>(i * 37 % 251 - 125);
    b[i] = static_cast<int8_t>(i * 11 % 201 - 100);
  }
  for (int i = 0; i < 64; i++) c[i] = 1000 * i;
  for (int i = 0; i < 32; i++) {
    da[i] = 0.25 * i - 3;
    db[i] = 1.0 / (i + 1);
  }
  on_integers<<<1, 32>>>(reinterpret_cast<uint32_t*>(a), reinterpret_cast<uint32_t*>(b), c, d);
  on_mixed<<<1, 32>>>(reinterpret_cast<uint32_t*>(a), reinterpret_cast<uint32_t*>(b), mixed);
  on_doubles<<<1, 32>>>(da, db, dd);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) {
      int sum = c[i * 8 + j];
      long long unsigned_sum = j % 2 ? 0 : INT32_MAX - 100;
      double of_doubles = j % 2 ? -0.5 : 0.5;
      for (int k = 0; k < 16; k++) {
        sum += a[i * 16 + k] * b[j * 16 + k];
        unsigned_sum += static_cast<uint8_t>(a[i * 16 + k]) * b[j * 16 + k];
      }
      for (int k = 0; k < 4; k++) of_doubles += da[i * 4 + k] * db[j * 4 + k];
      EXPECT(d[i * 8 + j] == sum);
      EXPECT(mixed[i * 8 + j] == (unsigned_sum > INT32_MAX ? INT32_MAX : unsigned_sum));
      EXPECT(dd[i * 8 + j] - of_doubles < 1e-12 && of_doubles - dd[i * 8 + j] < 1e-12);
    }
  }
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
