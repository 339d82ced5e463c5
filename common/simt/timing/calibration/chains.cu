// Where one thing waits for another: one thread that reads shared memory element by element, columns walked down, a
// row per thread, online sums of halves, atomics on few addresses.
#include <cuda_fp16.h>

#include "calibration.h"

namespace calibration {

namespace {

// One thread of each block reads a row that all of them brought to shared memory.
template <int work>
__global__ void serial(const float* in, float* out, int cols) {
  extern __shared__ float row[];
  in += static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) row[c] = in[c];
  __syncthreads();
  if (threadIdx.x != 0) return;
  float a = 0, b = 0;
  for (int c = 0; c < cols; c++) {
    if (work == 0) a = fmaxf(a, row[c]);
    if (work == 1) a += row[c];
    if (work == 2) {  // Kahan's sum
      const float y = row[c] - b, t = a + y;
      b = (t - a) - y;
      a = t;
    }
    if (work == 3) a = a * 0.5f + expf(row[c] - a);
  }
  out[blockIdx.x] = a;
}

// A thread per column, blockIdx.y parts of the rows.
__global__ void walk_columns(const float* in, float* out, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, part = rows / gridDim.y;
  float sum = 0;
  for (int r = blockIdx.y * part; r < (blockIdx.y + 1) * part; r++) sum += in[static_cast<size_t>(r) * cols + c];
  out[blockIdx.y * cols + c] = sum;
}

// A thread per row that reads and writes it, twice.
__global__ void normalize_thread(const float* in, float* out, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  in += static_cast<size_t>(r) * cols;
  out += static_cast<size_t>(r) * cols;
  float sum = 0;
  for (int c = 0; c < cols; c++) sum += in[c] * in[c];
  const float scale = rsqrtf(sum);
  for (int c = 0; c < cols; c++) out[c] = in[c] * scale;
}

__device__ void widen(const __half* from, float (&x)[1]) { x[0] = __half2float(*from); }
__device__ void widen(const __half* from, float (&x)[2]) {
  const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(from));
  x[0] = pair.x, x[1] = pair.y;
}
__device__ void widen(const __half* from, float (&x)[8]) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const __half2* pairs = reinterpret_cast<const __half2*>(&words);
#pragma unroll
  for (int p = 0; p < 4; p++) {
    const float2 pair = __half22float2(pairs[p]);
    x[2 * p] = pair.x, x[2 * p + 1] = pair.y;
  }
}

// A block per row: sum of exponentials with a running maximum, `width` halves at a time.
template <int width>
__global__ void online_half(const __half* in, float* out, int cols) {
  __shared__ float of_warp[32];
  in += static_cast<size_t>(blockIdx.x) * cols;
  float max = -1e30f, sum = 0;
  for (int c = threadIdx.x * width; c < cols; c += blockDim.x * width) {
    float x[width], most = max;
    widen(in + c, x);
#pragma unroll
    for (int i = 0; i < width; i++) most = fmaxf(most, x[i]);
    sum *= __expf(max - most);
#pragma unroll
    for (int i = 0; i < width; i++) sum += __expf(x[i] - most);
    max = most;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum * max, d);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; w++) sum += of_warp[w];
    out[blockIdx.x] = sum;
  }
}

__global__ void add_to_few(const float* in, float* out, int n, int mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[(i * 97) & mask], in[i]);
}

// One atomic a block, all on one address, and others that wait for its result.
__global__ void tickets(const float* in, float* out, int* counter) {
  __shared__ int ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(counter, 1);
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + static_cast<float>(ticket);
}

}  // namespace

std::vector<Case> chains() {
  std::vector<Case> list;
  for (const int cols : {512, 4096}) {
    const std::string size = " " + std::to_string(cols);
    const size_t bytes = size_t{4} * 2112 * cols;
    const auto push = [&](const char* name, void (*kernel)(const float*, float*, int)) {
      list.push_back({name + size, "serial", bytes, [=](const Buffers& b, cudaStream_t s) {
                        kernel<<<2112, 256, cols * 4, s>>>(b.in, b.out, cols);
                      }});
    };
    push("serial max", serial<0>);
    push("serial sum", serial<1>);
    push("serial Kahan", serial<2>);
    push("serial exp", serial<3>);
  }
  for (const int parts : {1, 8, 64})
    list.push_back({"walk_columns 4096x2048 by " + std::to_string(parts), "columns walked", size_t{4} * 4096 * 2048,
                    [=](const Buffers& b, cudaStream_t s) {
                      walk_columns<<<dim3(2048 / 128, parts), 128, 0, s>>>(b.in, b.out, 4096, 2048);
                    }});
  for (const int cols : {32, 256, 1024})
    for (const int threads : {32, 256})
      list.push_back({"normalize_thread " + std::to_string(cols) + " by " + std::to_string(threads), "row per thread",
                      size_t{8} * (1 << 22), [=](const Buffers& b, cudaStream_t s) {
                        const int rows = (1 << 22) / cols;
                        normalize_thread<<<ceil_div(rows, threads), threads, 0, s>>>(b.in, b.out, rows, cols);
                      }});
  const auto halves = [](float* p) { return reinterpret_cast<__half*>(p); };
  for (const int cols : {1024, 8192}) {
    const int rows = (1 << 24) / cols;
    const std::string size = " " + std::to_string(rows) + "x" + std::to_string(cols);
    list.push_back({"online_half1" + size, "online half", size_t{2} << 24, [=](const Buffers& b, cudaStream_t s) {
                      online_half<1><<<rows, 256, 0, s>>>(halves(b.in), b.out, cols);
                    }});
    list.push_back({"online_half2" + size, "online half", size_t{2} << 24, [=](const Buffers& b, cudaStream_t s) {
                      online_half<2><<<rows, 256, 0, s>>>(halves(b.in), b.out, cols);
                    }});
    list.push_back({"online_half8" + size, "online half", size_t{2} << 24, [=](const Buffers& b, cudaStream_t s) {
                      online_half<8><<<rows, 128, 0, s>>>(halves(b.in), b.out, cols);
                    }});
  }
  for (const int mask : {0, 31, 1023, 65535})
    list.push_back(
        {"add_to_few " + std::to_string(mask + 1), "atomics on few", size_t{4} << 20,
         [=](const Buffers& b, cudaStream_t s) { add_to_few<<<4096, 256, 0, s>>>(b.in, b.out, 1 << 20, mask); }});
  list.push_back({"tickets", "atomics on few", size_t{8} << 20,
                  [=](const Buffers& b, cudaStream_t s) { tickets<<<8192, 128, 0, s>>>(b.in, b.out, b.counters); }});
  return list;
}

}  // namespace calibration
