// racecheck: what barriers, warps and blocks order, and what nothing orders. Each mistake has a kernel that makes it
// and one that is near to it and right.
#include "checks/test_checks.h"

namespace {

template <bool barrier>
__global__ void reverse(const float* x, float* y) {
  __shared__ float row[n];
  row[threadIdx.x] = x[threadIdx.x];
  if (barrier) __syncthreads();
  y[threadIdx.x] = row[n - 1 - threadIdx.x];  // reads what another thread wrote
}

template <bool barrier>
__global__ void tree(const float* x, float* y) {
  extern __shared__ float row[];
  const int t = threadIdx.x;
  row[t] = x[t];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) row[t] += row[t + half];
    if (barrier) __syncthreads();
  }
  __syncthreads();
  if (t == 0) y[0] = row[0];
}

template <bool sync>
__global__ void within_a_warp(float* y) {
  __shared__ float row[32];
  row[threadIdx.x] = threadIdx.x;
  if (sync) __syncwarp();
  y[threadIdx.x] = row[threadIdx.x ^ 1];
}

// A row of `cols` floats and behind it one for each warp.
template <bool inside>
__global__ void row_and_scratch(const float* x, float* y, int cols) {
  extern __shared__ float row[];
  float* const scratch = row + cols;
  for (int c = threadIdx.x; inside ? c < cols : c <= cols; c += blockDim.x) row[c] = x[c];  // into the row
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = 1;
  __syncthreads();
  y[threadIdx.x] = row[threadIdx.x] + scratch[0];
}

template <bool inside>
__global__ void row_of_each_block(float* y, int cols) {
  for (int c = threadIdx.x; inside ? c < cols : c <= cols; c += blockDim.x)
    y[blockIdx.x * cols + c] = 1;  // into the result
}

template <int too_many>
__global__ void one_for_each_warp(float* y) {
  extern __shared__ float scratch[];
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) scratch[warp + too_many] = 1;  // into the scratch
  __syncthreads();
  y[threadIdx.x] = scratch[warp + too_many];
}

// All threads add into one element, which one of them has set to 0.
template <bool atomically>
__global__ void all_add(float* y) {
  __shared__ float sum[1];
  if (threadIdx.x == 0) sum[0] = 0;
  __syncthreads();
  if (atomically)
    atomicAdd(sum, 1.0f);
  else
    sum[0] += 1.0f;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = sum[0];
}

// Each thread adds what is on its left, in place and with no barrier between: no thread writes what it has read of
// others.
__global__ void scan_without_barriers(float* y) {
  __shared__ float row[n];
  row[threadIdx.x] = 1;
  __syncthreads();
  for (unsigned left = 1; left < n; left *= 2)
    if (threadIdx.x >= left) row[threadIdx.x] += row[threadIdx.x - left];
  y[threadIdx.x] = row[threadIdx.x];
}

__global__ void of_two_dimensions(float* y) {
  __shared__ double tile[2][3][n];
  tile[threadIdx.x % 2][1][threadIdx.x / 2] = threadIdx.x;
  y[threadIdx.x] = tile[1][1][5];  // of thread 11
}

template <bool one>
__global__ void all_write(float* y) {
  __shared__ float scale[1];
  if (!one || threadIdx.x == 0) scale[0] = 1.0f + threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = scale[0];
}

__global__ void all_blocks_write_one(float* y) { y[threadIdx.x] = blockIdx.x; }

__device__ float passed_on;
template <bool between_blocks>
__global__ void through_a_variable(float* y) {
  if (threadIdx.x == 0 && (between_blocks || blockIdx.x == 0)) passed_on = blockIdx.x;
  __syncthreads();
  if (between_blocks || blockIdx.x == 0) y[blockIdx.x * blockDim.x + threadIdx.x] = passed_on;
}

// Neighbours' halves of one word; with `overlap` thread 1 reads thread 0's.
template <bool overlap>
__global__ void halves_of_a_word(unsigned short* y) {
  __shared__ unsigned short row[64];
  row[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = row[overlap ? threadIdx.x ^ 1 : threadIdx.x];
}

// A block reads a word that a later block writes, after all warps of that block have read it too.
__global__ void read_by_two_blocks(float* x, float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 0) x[0] = 1.0f;
}

}  // namespace

TEST_CASE("racecheck: a missing barrier is found in every run, with both lines") {
  for (int i = 0; i < 10; i++) {
    const std::string text = finding([] { reverse<false><<<1, n>>>(floats(), floats()); });
    HAS(text, "racecheck: race in shared memory");
    HAS(text, AT("row[threadIdx.x] = x[threadIdx.x];"));
    HAS(text, AT("reads what another thread wrote"));
    HAS(text, " of row[64] at ");
  }
  CHECK(finding([] { reverse<true><<<1, n>>>(floats(), floats()); }).empty());
  HAS(finding([] { tree<false><<<1, n, n * sizeof(float)>>>(floats(), floats()); }),
      "racecheck: race in shared memory");
  CHECK(finding([] { tree<true><<<1, n, n * sizeof(float)>>>(floats(), floats()); }).empty());
}

TEST_CASE("an element of an array of several dimensions has an index in each") {
  HAS(finding([] { of_two_dimensions<<<1, n>>>(floats()); }), "element [1][1][5] of tile[2][3][64] at ");
}

TEST_CASE("racecheck: within a warp") {
  HAS(finding([] { within_a_warp<false><<<1, 32>>>(floats()); }), "__syncwarp()");
  CHECK(finding([] { within_a_warp<true><<<1, 32>>>(floats()); }).empty());
}

TEST_CASE("racecheck: between blocks") {
  const std::string text = finding([] { all_blocks_write_one<<<3, 32>>>(floats()); });
  HAS(text, "racecheck: race in global memory in block (1,0,0), thread (0,0,0) at ");
  HAS(text, "thread (0,0,0) of block (0,0,0) wrote the same bytes at ");
  CHECK(finding([] { all_blocks_write_one<<<1, 32>>>(floats()); }).empty());
}

TEST_CASE("racecheck: __device__ variables are global memory") {
  const std::string text = finding([] { through_a_variable<true><<<2, 32>>>(floats()); });
  HAS(text, "racecheck: race in global memory in block (1,0,0), thread (0,0,0) at ");
  HAS(text, AT("passed_on = blockIdx.x;"));
  CHECK(finding([] { through_a_variable<false><<<2, 32>>>(floats()); }).empty());
}

TEST_CASE("racecheck: parts of a word") {
  const auto shorts = [] { return device(std::vector<unsigned short>(64)); };
  CHECK(finding([&] { halves_of_a_word<false><<<1, 64>>>(shorts()); }).empty());
  HAS(finding([&] { halves_of_a_word<true><<<1, 64>>>(shorts()); }), "racecheck: race in shared memory");
}

TEST_CASE("racecheck: a read is not forgotten when others read later") {
  HAS(finding([] { read_by_two_blocks<<<2, 128>>>(floats(), floats(256)); }), "of block (0,0,0) read the same bytes");
  CHECK(finding([] { read_by_two_blocks<<<1, 128>>>(floats(), floats(256)); }).empty());
}

TEST_CASE("the cure fits those who were seen to race") {
  const char* const barrier = "Usually fixed by a __syncthreads() between the two lines";
  // The first that is found is of one warp; others of the block are not.
  HAS(finding([] { tree<false><<<1, 256, 256 * sizeof(float)>>>(floats(256), floats()); }), barrier);
  HAS(finding([] { reverse<false><<<1, n>>>(floats(), floats()); }), barrier);
  HAS(finding([] { within_a_warp<false><<<1, 32>>>(floats()); }),
      "Usually fixed by a __syncwarp() between the two lines");
  HAS(finding([] { scan_without_barriers<<<1, n>>>(floats()); }), barrier);
  for (const unsigned threads : {2u, 32u, 256u}) {
    CAPTURE(threads);
    HAS(finding([&] { all_add<false><<<1, threads>>>(floats()); }), "as in x += 1, no barrier helps");
    CHECK(finding([&] { all_add<true><<<1, threads>>>(floats()); }).empty());
    HAS(finding([&] { all_write<false><<<1, threads>>>(floats(256)); }), "let one thread write");
    CHECK(finding([&] { all_write<true><<<1, threads>>>(floats(256)); }).empty());
  }
}

TEST_CASE("an index that runs past the row is asked about before a barrier is") {
  constexpr int cols = 70;
  const auto named = [](const char* name, int rows) {
    float* const data = floats(rows * cols);
    simt::checks::name_buffer(data, name, rows, cols, sizeof(float));
    return data;
  };
  const auto bytes = (cols + 2) * sizeof(float);
  std::string text = finding([&] { row_and_scratch<false><<<1, n, bytes>>>(named("x", 2), named("y", 2), cols); });
  HAS(text, "racecheck: race in shared memory");
  HAS(text,
      "one past the end of a row of 70 columns, and the same line has touched the element before it: does its index");
  CHECK(text.find("c <= cols") < text.find("__syncthreads()"));
  CHECK(finding([&] { row_and_scratch<true><<<1, n, bytes>>>(named("x", 2), named("y", 2), cols); }).empty());

  text = finding([&] { row_of_each_block<false><<<2, n>>>(named("y", 3), cols); });
  HAS(text, "racecheck: race in global memory");
  HAS(text, "one past the end of row 0 of y");
  CHECK(text.find("c <= cols") < text.find("give each its own memory"));
  CHECK(finding([&] { row_of_each_block<true><<<2, n>>>(named("y", 3), cols); }).empty());
}

TEST_CASE("scratch that is too small, and an index that is too large") {
  const char *const index = "usually fixed by an index that ends one earlier", *const more =
                                                                                   "more dynamic shared memory";
  std::string text = finding([] { one_for_each_warp<1><<<1, n, 2 * sizeof(float)>>>(floats()); });
  HAS(text, "memcheck: out of bounds in shared memory");
  CHECK(text.find(index) < text.find(more));
  text = finding([] { one_for_each_warp<40><<<1, n, 2 * sizeof(float)>>>(floats()); });
  HAS(text, "Usually fixed by giving the launch more dynamic shared memory");
  text = finding([] { one_for_each_warp<0><<<1, n>>>(floats()); });
  HAS(text, "The launch has given it none: mended by more dynamic shared memory");
}
