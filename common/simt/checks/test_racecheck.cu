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
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = 2;
  __syncthreads();
  y[threadIdx.x] = row[threadIdx.x] + scratch[0];
}

template <bool inside>
__global__ void row_of_each_block(float* y, int cols) {
  for (int c = threadIdx.x; inside ? c < cols : c <= cols; c += blockDim.x)
    y[blockIdx.x * cols + c] = 2.0f + blockIdx.x;  // into the result
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

// Several threads store to one flag and to one level, as searches of a graph do; `values` is how many different ones.
template <int values>
__global__ void all_set_a_flag(int* flag, float* level) {
  if (threadIdx.x % 3 == 0) *flag = 1 + threadIdx.x % values;
  level[threadIdx.x % 8] = 5.0f + blockIdx.x % values;
}

// A step of a search in breadth, which sets what it has tested. different: not all store the same value.
template <bool different, bool elsewhere>
__global__ void visit(int* levels, int* seen, int level) {
  const int to = (threadIdx.x * 5 + blockIdx.x * 3) % 16;
  if (levels[to] == -1) levels[to] = different ? level + to % 3 + threadIdx.x % 2 : level;
  if (elsewhere) seen[threadIdx.x] = levels[to];  // not what decides whether to store
}
// All store one value, but each has read another's element. own: its own, too.
template <bool own>
__global__ void look_at_another(int* x) {
  const int seen = x[63 - threadIdx.x];  // another thread's
  x[threadIdx.x] = (own ? x[threadIdx.x] / 8 : 0) + (seen >= 0);
}
__global__ void add_without_atomics(const int* bins, int* sums) {
  const int bin = bins[threadIdx.x];
  sums[bin] = sums[bin] + 1;  // of several threads
}

// One thread stores what all then add to.
template <bool barrier>
__global__ void set_then_add(int* y) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  if (barrier) __syncthreads();
  atomicAdd(&sum, 1);  // maybe before it is set
  __syncthreads();
  if (threadIdx.x == 0) y[0] = sum;
}
template <bool alone>
__global__ void set_then_add_globally(int* sum) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *sum = 0;
  if (!alone || (threadIdx.x == 0 && blockIdx.x == 0)) atomicAdd(sum, 1);
}

// Thread 0 of each block stores; thread 1 reads, at a line before it or after it.
template <bool before>
__global__ void read_beside_a_store(int* flag, int* y) {
  if (before && threadIdx.x == 1) y[blockIdx.x] = *flag;  // beside the store
  if (threadIdx.x == 0) *flag = 1;
  if (!before && threadIdx.x == 1) y[blockIdx.x] = *flag;  // after the store
}

// Its own store's value is the one that a thread reads, whoever else stores it.
__global__ void each_reads_what_all_store(int* flag, int* y) {
  *flag = 1;
  y[blockIdx.x * blockDim.x + threadIdx.x] = *flag;
}

// A thread stores the value again, and another one a different value after it.
__global__ void stored_again_then_changed(int* flag) {
  if (threadIdx.x == 0) *flag = 1;
  if (threadIdx.x == 1) *flag = 1;
  if (threadIdx.x == 0) *flag = 2;  // thread 1's store may come after this
}

template <bool barrier>
__global__ void all_store_in_shared(float* y) {
  __shared__ float scale[2];
  scale[0] = 1.0f;
  scale[1] = 0.0f;
  if (barrier) __syncthreads();
  if (threadIdx.x == 0) scale[1] = 0.0f;  // again
  if (!barrier) y[threadIdx.x] = scale[(threadIdx.x + 1) % 2];
  __syncthreads();
  y[threadIdx.x] = scale[0];
}

__global__ void store_again_beside_a_read(float* y) {
  __shared__ float scale[1];
  if (threadIdx.x == 0) scale[0] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = scale[0];
  if (threadIdx.x == 0) scale[0] = 1.0f;  // in shared memory it is a missing barrier
}

// A block reads a word that a later block writes, after all warps of that block have read it too.
__global__ void read_by_two_blocks(float* x, float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 0) x[0] = 2.0f;
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

TEST_CASE("racecheck: stores of the same value do not race with each other") {
  const auto flag = [](int value) { return device(std::vector<int>(1, value)); };
  CHECK(finding([&] { all_set_a_flag<1><<<2, 64>>>(flag(0), floats()); }).empty());
  CHECK(finding([&] { all_set_a_flag<1><<<2, 64>>>(flag(1), floats()); }).empty());
  std::string text = finding([&] { all_set_a_flag<2><<<1, 64>>>(flag(0), floats()); });
  HAS(text, "racecheck: race in global memory");
  HAS(text, AT("*flag = 1 + threadIdx.x % values;"));
  text = finding([&] { all_set_a_flag<2><<<2, 1>>>(flag(0), floats()); });
  HAS(text, AT("level[threadIdx.x % 8] ="));
  CHECK(finding([&] { each_reads_what_all_store<<<2, 64>>>(flag(0), device(std::vector<int>(128))); }).empty());
  text = finding([&] { stored_again_then_changed<<<1, 32>>>(flag(0)); });
  HAS(text, AT("thread 1's store may come after this"));
}

TEST_CASE("racecheck: a read beside a store races with it if the store changes the value") {
  const auto ints = [](int value) { return device(std::vector<int>(4, value)); };
  HAS(finding([&] { read_beside_a_store<false><<<1, 32>>>(ints(0), ints(0)); }), AT("// after the store"));
  HAS(finding([&] { read_beside_a_store<true><<<1, 32>>>(ints(0), ints(0)); }), "racecheck: race in global memory");
  CHECK(finding([&] { read_beside_a_store<false><<<2, 32>>>(ints(1), ints(0)); }).empty());
  CHECK(finding([&] { read_beside_a_store<true><<<2, 32>>>(ints(1), ints(0)); }).empty());
}

TEST_CASE("racecheck: threads that set what they have tested, all to one value, do not race") {
  const auto ints = [](int value) { return device(std::vector<int>(64, value)); };
  CHECK(finding([&] { visit<false, false><<<1, 64>>>(ints(-1), ints(0), 7); }).empty());
  CHECK(finding([&] { visit<false, false><<<3, 64>>>(ints(-1), ints(0), 7); }).empty());
  HAS(finding([&] { visit<true, false><<<1, 64>>>(ints(-1), ints(0), 7); }), "racecheck: race in global memory");
  HAS(finding([&] { visit<false, true><<<1, 64>>>(ints(-1), ints(0), 7); }), AT("not what decides whether to store"));
  HAS(finding([&] { look_at_another<false><<<1, 64>>>(ints(0)); }), AT("// another thread's"));
  HAS(finding([&] { look_at_another<true><<<1, 64>>>(ints(0)); }), AT("// another thread's"));
  HAS(finding([&] { add_without_atomics<<<1, 64>>>(ints(0), ints(0)); }), AT("// of several threads"));
  HAS(finding([&] { add_without_atomics<<<1, 64>>>(ints(0), ints(0)); }), "change it and write it back");
}

TEST_CASE("racecheck: an atomic does not hide its own thread's store from others") {
  const auto sum = [] { return device(std::vector<int>(1)); };
  for (const unsigned threads : {32u, 64u}) {
    HAS(finding([&] { set_then_add<false><<<1, threads>>>(sum()); }), AT("// maybe before it is set"));
    CHECK(finding([&] { set_then_add<true><<<1, threads>>>(sum()); }).empty());
    HAS(finding([&] { set_then_add_globally<false><<<1, threads>>>(sum()); }), "racecheck: race in global memory");
  }
  HAS(finding([&] { set_then_add_globally<false><<<2, 1>>>(sum()); }), "racecheck: race in global memory");
  CHECK(finding([&] { set_then_add_globally<true><<<2, 64>>>(sum()); }).empty());
}

TEST_CASE("racecheck: the same value in shared memory is no race between stores, but it is with a read") {
  CHECK(finding([] { all_store_in_shared<true><<<1, 64>>>(floats()); }).empty());
  HAS(finding([] { all_store_in_shared<false><<<1, 64>>>(floats()); }), "racecheck: race in shared memory");
  HAS(finding([] { store_again_beside_a_read<<<1, 64>>>(floats()); }), AT("in shared memory it is a missing barrier"));
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
