// Tables, sparse formats and graphs, sorts and scans.

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// A pass of a radix sort over four bits: counts by block, then places by ranks within warps.
__global__ void digits_of_blocks(const unsigned* keys, int* counts, int shift, int each) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < each; i++)
    atomicAdd(&bins[keys[(blockIdx.x * each + i) * blockDim.x + threadIdx.x] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
__global__ void scatter_by_digit(const unsigned* keys, const int* starts, unsigned* sorted, int shift) {
  __shared__ int counts[16][8], first[16];
  const int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned key = keys[i], digit = key >> shift & 15;
  unsigned peers = ~0u;
#pragma unroll
  for (int bit = 0; bit < 4; bit++) {
    const unsigned with = __ballot_sync(~0u, digit >> bit & 1);
    peers &= digit >> bit & 1 ? with : ~with;
  }
  if (threadIdx.x < 128) counts[threadIdx.x / 8][threadIdx.x % 8] = 0;
  __syncthreads();
  const int rank = __popc(peers & ((1u << lane) - 1));
  if (rank == 0) counts[digit][warp] = __popc(peers);
  __syncthreads();
  if (threadIdx.x < 16) {
    int sum = 0;
    for (int w = 0; w < 8; w++) {
      const int count = counts[threadIdx.x][w];
      counts[threadIdx.x][w] = sum;
      sum += count;
    }
    first[threadIdx.x] = starts[threadIdx.x * gridDim.x + blockIdx.x];
  }
  __syncthreads();
  sorted[first[digit] + counts[digit][warp] + rank] = key;
}

// Sums from the left within each block, four a thread: by shuffles, and by steps in shared memory.
template <int threads>
__global__ void scan_by_warps(const int4* in, int4* out, int* totals) {
  __shared__ int sums[threads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * threads + threadIdx.x;
  int4 v = in[i];
  v.y += v.x, v.z += v.y, v.w += v.z;
  int sum = v.w;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(~0u, sum, offset);
    if (lane >= offset) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int total = lane < threads / 32 ? sums[lane] : 0;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const int other = __shfl_up_sync(~0u, total, offset);
      if (lane >= offset) total += other;
    }
    if (lane < threads / 32) sums[lane] = total;
  }
  __syncthreads();
  const int before = sum - v.w + (warp > 0 ? sums[warp - 1] : 0);
  out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
  if (threadIdx.x == threads - 1) totals[blockIdx.x] = v.w + before;
}
__global__ void add_totals(int4* values, const int* totals) {
  const int before = totals[blockIdx.x], i = blockIdx.x * blockDim.x + threadIdx.x;
  int4 v = values[i];
  v.x += before, v.y += before, v.z += before, v.w += before;
  values[i] = v;
}
// The same in one launch: a block waits for the sum of the one before.
__global__ void scan_chained(const int* in, int* out, int* totals, int* flags) {
  __shared__ int sums[8], before;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 256 + threadIdx.x;
  int sum = in[i];
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(~0u, sum, offset);
    if (lane >= offset) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; w++) sum += sums[w];
  if (threadIdx.x == 255) {
    before = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) {
      }
      before = atomicAdd(&totals[blockIdx.x - 1], 0);
    }
    atomicExch(&totals[blockIdx.x], before + sum);
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1);
  }
  __syncthreads();
  out[i] = sum + before;
}

// Sparse matrices by vectors: slices of 32 rows, blocks of 4 x 4, and columns with atomics.
__global__ void spmv_slices(const float* values, const int* columns, const float* x, float* y, int longest, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int slice = row / 32, lane = row % 32, length = 4 + (slice * 7 & (longest - 1));
  float sum = 0.0f;
  for (int k = 0; k < length; k++) {
    const int at = (slice * (longest + 4) + k) * 32 + lane;
    sum += values[at] * x[columns[at]];
  }
  y[row] = sum;
}
__global__ void spmv_blocks4(const float* values, const int* columns, const float* x, float* y, int each, int rows) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 16, part = threadIdx.x % 16;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < each; k++) {
    const int block = row * each + k;
    sum += values[block * 16 + part] * x[columns[block] * 4 + part % 4];
  }
  sum += __shfl_xor_sync(~0u, sum, 1);
  sum += __shfl_xor_sync(~0u, sum, 2);
  if (part % 4 == 0) y[row * 4 + part / 4] = sum;
}
__global__ void spmv_columns(const float* values, const int* rows, const float* x, float* y, int each) {
  const int column = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const float own = x[column];
  for (int k = lane; k < each; k += 32) atomicAdd(&y[rows[column * each + k]], values[column * each + k] * own);
}

__device__ unsigned mixed(unsigned k) {
  k ^= k >> 16, k *= 0x85ebca6bu, k ^= k >> 13, k *= 0xc2b2ae35u;
  return k ^ (k >> 16);
}
// A table of keys with open addresses: what is below 1 << 31 is free.
__global__ void hash_insert(const unsigned* keys, unsigned* table, unsigned* values, int count, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned key = keys[i] | 0x80000000u;
  unsigned slot = mixed(key) & mask;
  for (int tries = 0; tries < 64; tries++, slot = (slot + 1) & mask) {
    const unsigned seen = table[slot];
    if (seen == key || (seen < 0x80000000u && atomicCAS(&table[slot], seen, key) == seen)) {
      values[slot] = i;
      return;
    }
  }
}
__global__ void hash_find(const unsigned* keys, const unsigned* table, unsigned* found, int count, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned key = keys[i];
  unsigned slot = mixed(key) & mask, tries = 0;
  while (tries < 16 && (table[slot] & 7) != (key & 7)) slot = (slot + 1) & mask, tries++;
  found[i] = tries < 16 ? slot : ~0u;
}

// Edges that tie labels of a graph together, and a step that follows labels to their labels.
__global__ void hook_labels(const int2* edges, int* labels, int* changed, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int2 e = edges[i];
  const int a = labels[e.x & 0xfffff], b = labels[e.y & 0xfffff];
  if (a == b) return;
  atomicMin(&labels[max(a, b)], min(a, b));
  *changed = 1;
}
__global__ void follow_labels(const int* labels, int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int label = labels[i];
  for (int hop = 0; hop < 4; hop++) label = labels[label];
  out[i] = label;
}

// The nearest of k centres that all threads read from shared memory, points in planes; and sums of each cluster.
__global__ void assign_shared(const float* points, const float* centres, int* assigned, int n, int k) {
  __shared__ float c[64 * 4];
  for (int i = threadIdx.x; i < k * 4; i += blockDim.x) c[i] = centres[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = points[i], y = points[i + n], z = points[i + 2 * n], w = points[i + 3 * n];
  float best = 1e30f;
  int nearest = 0;
  for (int j = 0; j < k; j++) {
    const float a = x - c[j * 4], b = y - c[j * 4 + 1], d = z - c[j * 4 + 2], e = w - c[j * 4 + 3];
    const float distance = a * a + b * b + d * d + e * e;
    if (distance < best) best = distance, nearest = j;
  }
  assigned[i] = nearest;
}
__global__ void cluster_sums(const float* points, const int* assigned, float* sums, int* counts, int n) {
  __shared__ float s[16];
  __shared__ int c[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0.0f, c[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&s[assigned[i] & 15], points[i]);
    atomicAdd(&c[assigned[i] & 15], 1);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&sums[threadIdx.x], s[threadIdx.x]), atomicAdd(&counts[threadIdx.x], c[threadIdx.x]);
}

// For scatter_by_digit: keys, and where each block's keys of a digit go.
void digits_and_starts(const Buffers& b) {
  std::vector<unsigned> keys(1 << 20);
  std::vector<int> starts(16 * 4096);
  unsigned state = 5;
  for (size_t i = 0; i < keys.size(); i++) {
    keys[i] = (state = state * 1664525u + 1013904223u) >> 4;
    starts[(keys[i] >> 4 & 15) * 4096 + i / 256]++;
  }
  int sum = 0;
  for (int& start : starts) {
    const int count = start;
    start = sum;
    sum += count;
  }
  cudaMemcpy(b.in, keys.data(), keys.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b.in2, starts.data(), starts.size() * 4, cudaMemcpyHostToDevice);
}

}  // namespace

std::vector<Case> tenth_data() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  const auto fours = [](float* p) { return reinterpret_cast<int4*>(p); };
  add("digits_of_blocks", "passes of a sort", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { digits_of_blocks<<<512, 256, 0, s>>>(words(b.in), ints(b.out), 4, 16); });
  add(
      "scatter_by_digit", "passes of a sort", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        scatter_by_digit<<<4096, 256, 0, s>>>(words(b.in), ints(b.in2), words(b.out), 4);
      },
      digits_and_starts);
  add("scan_by_warps 128", "scans of blocks", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    scan_by_warps<128><<<4096, 128, 0, s>>>(fours(b.in), fours(b.out), b.counters);
  });
  add("scan_by_warps 1024", "scans of blocks", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    scan_by_warps<1024><<<512, 1024, 0, s>>>(fours(b.in), fours(b.out), b.counters);
  });
  add("add_totals", "scans of blocks", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { add_totals<<<2048, 256, 0, s>>>(fours(b.in), b.counters); });
  add("scan_chained", "scans of blocks", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    scan_chained<<<1024, 256, 0, s>>>(ints(b.in), ints(b.out), b.counters, b.counters + 4096);
  });
  for (const int longest : {16, 64})
    add(
        "spmv_slices " + std::to_string(longest), "sparse, other formats", size_t{16} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          spmv_slices<<<(1 << 20) / longest / 128, 128, 0, s>>>(b.in, ints(b.in2), b.in + (2 << 20), b.out, longest,
                                                                (1 << 20) / longest);
        },
        indices(1 << 21, 1 << 17));
  for (const int each : {4, 32})
    add(
        "spmv_blocks4 " + std::to_string(each), "sparse, other formats", size_t{10} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          spmv_blocks4<<<(1 << 17) / each / 16, 256, 0, s>>>(b.in, ints(b.in2), b.in + (2 << 20), b.out, each,
                                                             (1 << 17) / each);
        },
        indices(1 << 17, 1 << 15));
  add(
      "spmv_columns", "sparse, other formats", size_t{10} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        spmv_columns<<<1024, 256, 0, s>>>(b.in, ints(b.in2), b.in + (1 << 20), b.out, 64);
      },
      indices(1 << 19, 1 << 16));
  for (const int bits : {17, 20})
    add("hash_insert " + std::to_string(bits), "open addresses", size_t{12} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          hash_insert<<<256, 256, 0, s>>>(words(b.in), words(b.in2), words(b.out), 1 << 16, (1u << bits) - 1);
        });
  for (const int bits : {14, 20})
    add("hash_find " + std::to_string(bits), "open addresses", size_t{12} << 20, [=](const Buffers& b, cudaStream_t s) {
      hash_find<<<2048, 256, 0, s>>>(words(b.in), words(b.in2), words(b.out), 1 << 19, (1u << bits) - 1);
    });
  add(
      "hook_labels", "labels of graphs", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        hook_labels<<<1024, 256, 0, s>>>(reinterpret_cast<int2*>(b.in), ints(b.in2), b.counters, 1 << 18);
      },
      indices(1 << 20, 1 << 20));
  for (const int count : {1 << 17, 1 << 20})
    add(
        count == 1 << 20 ? "follow_labels 1M" : "follow_labels 128K", "labels of graphs", size_t{8} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          follow_labels<<<count / 256, 256, 0, s>>>(ints(b.in2), ints(b.out), count);
        },
        indices(count, count));
  for (const int k : {16, 64})
    add("assign_shared " + std::to_string(k), "assign_shared", size_t{5} << 20, [=](const Buffers& b, cudaStream_t s) {
      assign_shared<<<1024, 256, 0, s>>>(b.in, b.in2, ints(b.out), 1 << 18, k);
    });
  add("cluster_sums", "sums of clusters", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    cluster_sums<<<264, 256, 0, s>>>(b.in, ints(b.in2), b.out, b.counters, 1 << 20);
  });
  return list;
}

}  // namespace calibration
