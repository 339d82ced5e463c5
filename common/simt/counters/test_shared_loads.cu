// Loads of shared memory that nvcc leaves out or joins, and loads that it does not. Every kernel has its data in shared
// memory already, as far as counts go; beside it stand the LDS instructions that a warp executes in nvcc 13.0's SASS
// for sm_90, -O3. The wavefronts follow from these (rules.h).
#include "counters/test_kernels.h"

namespace {

constexpr int n = 64;

// Fills an array with what no compiler knows.
__device__ void fill(float* array, int count, const float* x) {
  for (int i = threadIdx.x; i < count; i += 32) array[i] = x[i];
  __syncthreads();
}

// ---- Joined
// ----------------------------------------------------------------------------------------------------------

// Both loops are unrolled: a[row][k] serves 4 columns, b[k][column] 4 rows, each four at a time. 8 + 8 LDS.128.
__global__ void register_tile(const float* x, float* y, int) {
  __shared__ float a[32][8], b[8][32];
  fill(&a[0][0], 256, x);
  fill(&b[0][0], 256, x);
  const int row = threadIdx.x / 8 * 4, column = threadIdx.x % 8 * 4;
  float sum[4][4] = {};
#pragma unroll
  for (int k = 0; k < 8; k++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
      for (int j = 0; j < 4; j++) sum[i][j] += a[row + i][k] * b[k][column + j];
    }
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) y[(threadIdx.x * 4 + i) * 4 + j] = sum[i][j];
  }
}

// Without a pragma; the first operand is the row of all lanes. 4 LDS.128 of one address, 16 LDS.
__global__ void row_and_column(const float* x, float* y, int) {
  __shared__ float a[16], b[16][32];
  fill(a, 16, x);
  fill(&b[0][0], 512, x);
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += a[k] * b[k][threadIdx.x];
  y[threadIdx.x] = sum;
}

// As CUDA's samples multiply: a tile at a time, stored and loaded again. For each of two tiles 4 LDS.128 and 16 LDS.
__global__ void tiles(const float* x, float* y, int) {
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum = 0;
  for (int tile = 0; tile < 32; tile += 16) {
    __shared__ float a[2][16];
    __shared__ float b[16][16];
    a[row][column] = x[row * 32 + tile + column];
    for (int k = row; k < 16; k += 2) b[k][column] = x[(tile + k) * 16 + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) sum += a[row][k] * b[k][column];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}

// As many rounds as only the launch knows: four at a time with one LDS.128, two that are left over with an LDS each.
__global__ void runtime_rounds(const float* x, float* y, int count) {
  __shared__ float a[n];
  fill(a, n, x);
  float sum = 0;
  for (int k = 0; k < count; k++) sum += a[k];
  y[threadIdx.x] = sum;
}

// The first element stands before the loop. 2 LDS.128.
__global__ void first_and_others(const float* x, float* y, int) {
  __shared__ float a[8];
  fill(a, 8, x);
  float most = a[0];
  for (int k = 1; k < 8; k++) most = fmaxf(most, a[k]);
  y[threadIdx.x] = most;
}

// A structure of two floats by value. LDS.64.
struct Two {
  float first, second;
};
__global__ void structure(const float* x, float* y, int) {
  __shared__ Two a[32];
  fill(&a[0].first, 64, x);
  const Two two = a[31 - threadIdx.x];
  y[threadIdx.x] = two.first + two.second;
}

// Four elements by name. LDS.128.
__global__ void by_name(const float* x, float* y, int) {
  __shared__ float a[128];
  fill(a, 128, x);
  const float* own = a + threadIdx.x * 4;
  y[threadIdx.x] = (own[0] + own[3]) * (own[2] - own[1]);
}

// ---- Not joined
// ------------------------------------------------------------------------------------------------------

// What the stride is a multiple of only the launch knows. 8 LDS, though the stride is 8.
__global__ void runtime_stride(const float* x, float* y, int stride) {
  __shared__ float a[n * 4];
  fill(a, n * 4, x);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) sum += a[threadIdx.x * stride + k];
  y[threadIdx.x] = sum;
}

// A row of 9 begins anywhere. 8 LDS.
__global__ void padded_rows(const float* x, float* y, int) {
  __shared__ float a[32][9];
  fill(&a[0][0], 288, x);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) sum += a[threadIdx.x][k];
  y[threadIdx.x] = sum;
}

// A store to the same array may have changed the element. 8 LDS.
__global__ void stores_between(const float* x, float* y, int) {
  __shared__ float a[n];
  fill(a, n, x);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    sum += a[k];
    a[threadIdx.x + 32] = sum;
  }
  y[threadIdx.x] = sum;
}

// So may another thread, after a barrier. 4 LDS.
__global__ void barriers_between(const float* x, float* y, int) {
  __shared__ float a[n];
  fill(a, n, x);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    sum += a[5];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}

// The indices are all the same here, which nvcc cannot know. 8 LDS of the indices' 2 LDS.128 and 8 of the table.
__global__ void by_data(const float* x, float* y, int) {
  __shared__ int at[8];
  __shared__ float table[32];
  if (threadIdx.x < 8) at[threadIdx.x] = static_cast<int>(x[threadIdx.x]);
  fill(table, 32, x);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) sum += table[at[k]];
  y[threadIdx.x] = sum;
}

// Each round of a loop that is not unrolled loads anew. 8 LDS.
__global__ void not_unrolled(const float* x, float* y, int) {
  __shared__ float a[n];
  fill(a, n, x);
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; k++) sum += a[k];
  y[threadIdx.x] = sum;
}

// Volatile loads are made as they stand. 4 LDS.
__global__ void not_to_be_joined(const float* x, float* y, int) {
  __shared__ float a[n];
  fill(a, n, x);
  const volatile float* own = a + threadIdx.x % 2 * 4;
  y[threadIdx.x] = own[0] + own[1] + own[2] + own[3];
}

// 63 - 2 * lane and 62 - 2 * lane are 63 ^ x and 62 ^ x to nvcc, since x has no other bits. 2 LDS.
__global__ void against_the_lanes(const float* x, float* y, int) {
  __shared__ float a[n];
  fill(a, n, x);
  const int lane = threadIdx.x % 32;
  y[threadIdx.x] = a[63 - 2 * lane] + a[62 - 2 * lane];
}

struct Case {
  const char* name;
  void (*kernel)(const float*, float*, int);
  int argument;
  unsigned requests;
};
const Case cases[] = {
    {"register_tile", register_tile, 0, 16},
    {"row_and_column", row_and_column, 0, 4 + 16},
    {"tiles", tiles, 0, 2 * (4 + 16)},
    {"runtime_rounds", runtime_rounds, 18, 4 + 2},
    {"first_and_others", first_and_others, 0, 2},
    {"structure", structure, 0, 1},
    {"by_name", by_name, 0, 1},
    {"runtime_stride", runtime_stride, 8, 8},
    {"padded_rows", padded_rows, 0, 8},
    {"stores_between", stores_between, 0, 8},
    {"barriers_between", barriers_between, 0, 4},
    {"by_data", by_data, 0, 2 + 8},
    {"not_unrolled", not_unrolled, 0, 8},
    {"not_to_be_joined", not_to_be_joined, 0, 4},
    {"against_the_lanes", against_the_lanes, 0, 2},
};

}  // namespace

TEST_CASE("loads of shared memory are joined where nvcc joins them", "[shared]") {
  DeviceArray<float> x(4096), y(4096);
  cudaMemset(x.data(), 0, 4096 * sizeof(float));
  for (const Case& one : cases) {
    INFO(one.name);
    const auto kernel = one.kernel;
    const auto launch = count_launch([&] { kernel<<<1, 32>>>(x.data(), y.data(), one.argument); });
    CHECK(launch.total.shared[simt::counters::load].requests == one.requests);
  }
}
