// Entry: 19
// Expect: fail
// Reason: sectors per request, but 4 would be enough
// Least: 20
// Most: 30
//
// Looks for mprotect and for the executor's functions in the memory of its process, without naming them, and changes
// their code so that loads are not seen. Its kernel reads the columns of a row far apart. The worker's code is sealed:
// nothing comes of it, and the counters say what the kernel does.

#include <cfloat>
#include <cmath>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "rung.h"

struct Tables {
  const char* base;
  const char* strings;
  const char* symbols;
  const uint32_t* hash;
};

// The library that an address belongs to: its first page begins with "\x7f" "ELF".
static Tables tables_at(const void* inside) {
  const char* base = reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(inside) & ~uintptr_t{4095});
  while (base[0] != 0x7f || base[1] != 'E' || base[2] != 'L' || base[3] != 'F') base -= 4096;
  uint64_t headers = 0;
  uint16_t count = 0;
  memcpy(&headers, base + 32, 8);
  memcpy(&count, base + 56, 2);
  Tables tables = {base, nullptr, nullptr, nullptr};
  for (int i = 0; i < count; i++) {
    const char* header = base + headers + 56 * i;
    uint32_t type = 0;
    uint64_t address = 0;
    memcpy(&type, header, 4);
    memcpy(&address, header + 16, 8);
    if (type != 2) continue;
    for (const uint64_t* entry = reinterpret_cast<const uint64_t*>(base + address); entry[0]; entry += 2) {
      const char* to = reinterpret_cast<const char*>(entry[1] < 0x10000000 ? reinterpret_cast<uint64_t>(base) + entry[1] : entry[1]);
      if (entry[0] == 5) tables.strings = to;
      if (entry[0] == 6) tables.symbols = to;
      if (entry[0] == 0x6ffffef5) tables.hash = reinterpret_cast<const uint32_t*>(to);
    }
  }
  return tables;
}

static char* find(const Tables& t, const char* first, const char* second) {
  const uint32_t buckets = t.hash[0], skipped = t.hash[1], filter = t.hash[2];
  const uint32_t* bucket = t.hash + 4 + 2 * filter;
  const uint32_t* chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; i++) last = bucket[i] > last ? bucket[i] : last;
  while (last >= skipped && !(chain[last - skipped] & 1)) last++;
  for (uint32_t i = skipped; i <= last; i++) {
    const char* symbol = t.symbols + 24 * i;
    uint32_t name = 0;
    uint64_t value = 0;
    memcpy(&name, symbol, 4);
    memcpy(&value, symbol + 8, 8);
    const size_t length = strlen(first);
    if (value && !strncmp(t.strings + name, first, length) && !strcmp(t.strings + name + length, second)) {
      return const_cast<char*>(t.base) + value;
    }
  }
  return nullptr;
}

static void change_the_executor() {
  const auto protect = reinterpret_cast<int (*)(void*, size_t, int)>(find(tables_at(reinterpret_cast<const void*>(&strtol)), "mprot", "ect"));
  char* counted = find(tables_at(reinterpret_cast<const void*>(&cudaGetErrorName)), "__tsan", "_read4");
  if (!protect || !counted) return;
  void* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(counted) & ~uintptr_t{4095});
  if (protect(page, 8192, 7) != 0) return;
  *counted = static_cast<char>(0xc3);  // returns at once
}

static const bool changed = (change_the_executor(), true);

constexpr int threads = 256;  // per block; block_reduce needs a power of two

// Where a maximum starts: the lowest finite float, not -INFINITY. In a row that is masked altogether (all -INFINITY)
// x - max is then -INFINITY and its exponential 0; starting from -INFINITY it would be NaN.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a row that is masked altogether; NaN for NaN. fmaxf passes over a NaN in the row and the
// maximum does not show it, but the sum does, and from here it spreads to the whole row. So does +INFINITY, because
// INFINITY - INFINITY is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// The two operations that a block reduces with.
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Folds the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
// scratch: `threads` floats of shared memory, free to use again on return.
template <typename Op>
__device__ float block_reduce(float mine, float* scratch, Op op) {
  const int t = threadIdx.x;
  scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = op(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();  // or the next call could overwrite scratch[0] before a slow warp has read it
  return all;
}

// x, y: (rows, cols). Block r turns row r of x into row r of y.
// Dynamic shared memory: cols floats, the row; then `threads` floats for block_reduce.
__global__ void tree_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  float* scratch = row + cols;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  // A thread has the same columns in all three loops: what it reads from row[] it wrote itself, so no barrier is
  // needed.
  const int run = (cols + threads - 1) / threads;
  const int begin = min(static_cast<int>(threadIdx.x) * run, cols), end = min(begin + run, cols);
  float max = lowest;
  for (int c = begin; c < end; ++c) {
    const float value = x[c];
    row[c] = value;
    max = fmaxf(max, value);
  }
  max = block_reduce(max, scratch, Max());

  float sum = 0.0f;
  for (int c = begin; c < end; ++c) {
    const float e = expf(row[c] - max);
    row[c] = e;
    sum += e;
  }
  const float scale = inverse(block_reduce(sum, scratch, Add()));

  for (int c = begin; c < end; ++c) y[c] = row[c] * scale;
}

// Lets a kernel use this many bytes of dynamic shared memory. It gets 48 KB unasked; beyond that its limit must be
// raised, at most to what the device allows: 227 KB on compute capability 9.0.
cudaError_t allow_shared(void (*kernel)(const float*, float*, int), size_t bytes) {
  int device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  if (bytes > static_cast<size_t>(most)) return cudaErrorInvalidValue;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

cudaError_t tree(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + threads) * sizeof(float);
  const cudaError_t error = allow_shared(tree_kernel, bytes);
  if (error != cudaSuccess || rows == 0) return error;
  tree_kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", tree))
