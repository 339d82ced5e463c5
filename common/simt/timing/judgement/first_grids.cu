// Images, grids, graphs, sparse matrices, sorting, scans, transforms.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__constant__ float taps[17] = {0.01f, 0.02f, 0.03f, 0.05f, 0.07f, 0.08f, 0.09f, 0.1f, 0.1f,
                               0.1f,  0.09f, 0.08f, 0.07f, 0.05f, 0.03f, 0.02f, 0.01f};

__global__ void floyd_warshall(float* dist, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  float through = dist[i * n + k] + dist[k * n + j];
  if (through < dist[i * n + j]) dist[i * n + j] = through;
}

// One level of a breadth-first search.
__global__ void bfs_level(const int* edges, const int* row, const int* levels, int* next, int* changed, int level,
                          int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || levels[v] % 4 != level) return;
  for (int e = row[v]; e < row[v + 1]; e++) {
    int u = edges[e];
    if (levels[u] % 4 == 3) {
      next[u] = level + 1;
      *changed = 1;
    }
  }
}

__global__ void csr_scalar(const int* row, const int* col, const float* val, const float* x, float* y, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float dot = 0;
  for (int j = row[r]; j < row[r + 1]; j++) dot += val[j] * x[col[j]];
  y[r] = dot;
}

__global__ void csr_vector(const int* row, const int* col, const float* val, const float* x, float* y, int n) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (warp >= n) return;
  float dot = 0;
  for (int j = row[warp] + lane; j < row[warp + 1]; j += 32) dot += val[j] * x[col[j]];
  for (int offset = 16; offset > 0; offset >>= 1) dot += __shfl_down_sync(0xffffffffu, dot, offset);
  if (lane == 0) y[warp] = dot;
}

__global__ void life(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) alive += in[(y + dy + h) % h * w + (x + dx + w) % w] & 1;
  out[y * w + x] = alive == 3 || (alive == 2 && (in[y * w + x] & 1));
}

__global__ void sobel(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  float gx = -in[(y - 1) * w + x - 1] + in[(y - 1) * w + x + 1] - 2 * in[y * w + x - 1] + 2 * in[y * w + x + 1] -
             in[(y + 1) * w + x - 1] + in[(y + 1) * w + x + 1];
  float gy = -in[(y - 1) * w + x - 1] - 2 * in[(y - 1) * w + x] - in[(y - 1) * w + x + 1] + in[(y + 1) * w + x - 1] +
             2 * in[(y + 1) * w + x] + in[(y + 1) * w + x + 1];
  out[y * w + x] = sqrtf(gx * gx + gy * gy);
}

__global__ void box_filter(const float* in, float* out, int w, int h, int radius) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  int count = 0;
  for (int dy = -radius; dy <= radius; dy++) {
    for (int dx = -radius; dx <= radius; dx++) {
      int cx = x + dx, cy = y + dy;
      if (cx >= 0 && cx < w && cy >= 0 && cy < h) {
        sum += in[cy * w + cx];
        count++;
      }
    }
  }
  out[y * w + x] = sum / count;
}

// Bubble sort of nine in an array of the thread's own; all indices are known once the loops are unrolled.
__global__ void median3(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  float v[9];
  for (int dy = 0; dy < 3; dy++)
    for (int dx = 0; dx < 3; dx++) v[dy * 3 + dx] = in[(y + dy - 1) * w + x + dx - 1];
  for (int i = 0; i < 5; i++) {
    for (int j = i + 1; j < 9; j++) {
      if (v[j] < v[i]) {
        float t = v[i];
        v[i] = v[j];
        v[j] = t;
      }
    }
  }
  out[y * w + x] = v[4];
}

// Insertion sort in an array of the thread's own: indices by data.
__global__ void insertion_median(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[16];
  for (int k = 0; k < 16; k++) {
    float x = in[k * n + i];
    int j = k - 1;
    while (j >= 0 && v[j] > x) {
      v[j + 1] = v[j];
      j--;
    }
    v[j + 1] = x;
  }
  out[i] = (v[7] + v[8]) * 0.5f;
}

__global__ void convolve_rows(const float* in, float* out, int w, int h) {
  __shared__ float tile[4][128 + 16];
  int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x + 8] = in[y * w + x];
  if (threadIdx.x < 8) tile[threadIdx.y][threadIdx.x] = x >= 8 ? in[y * w + x - 8] : 0;
  if (threadIdx.x >= 120) tile[threadIdx.y][threadIdx.x + 16] = x + 8 < w ? in[y * w + x + 8] : 0;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = -8; k <= 8; k++) sum += taps[k + 8] * tile[threadIdx.y][threadIdx.x + 8 + k];
  out[y * w + x] = sum;
}

__global__ void convolve_naive(const float* in, const float* mask, float* out, int w, int h, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++) {
      int row = y - size / 2 + i, col = x - size / 2 + j;
      if (row >= 0 && row < h && col >= 0 && col < w) sum += in[row * w + col] * mask[i * size + j];
    }
  }
  out[y * w + x] = sum;
}

__global__ void stencil7(const float* in, float* out, int nx, int ny, int nz, float c0, float c1) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
      k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < nz - 1) {
    int at = (k * ny + j) * nx + i;
    out[at] =
        c0 * in[at] + c1 * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - nx * ny] + in[at + nx * ny]);
  }
}

// Marches along z with the values in registers.
__global__ void stencil7_march(const float* in, float* out, int nx, int ny, int nz, float c0, float c1) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || i >= nx - 1 || j < 1 || j >= ny - 1) return;
  int plane = nx * ny, at = j * nx + i + plane;
  float below = in[at - plane], here = in[at];
  for (int k = 1; k < nz - 1; k++) {
    float above = in[at + plane];
    out[at] = c0 * here + c1 * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + below + above);
    below = here;
    here = above;
    at += plane;
  }
}

// Radix 2, a pass over all; n pairs.
__global__ void fft_pass(const float2* in, float2* out, int half, int p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = i & (p - 1);
  float2 u0 = in[i], u1 = in[i + half];
  float angle = -3.14159265f * k / p, s, c;
  sincosf(angle, &s, &c);
  float2 t = make_float2(u1.x * c - u1.y * s, u1.x * s + u1.y * c);
  int j = (i << 1) - k;
  out[j] = make_float2(u0.x + t.x, u0.y + t.y);
  out[j + p] = make_float2(u0.x - t.x, u0.y - t.y);
}

__global__ void bitonic_shared(float* data) {
  extern __shared__ float v[];
  int t = threadIdx.x, n = blockDim.x;
  v[t] = data[blockIdx.x * n + t];
  __syncthreads();
  for (int k = 2; k <= n; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) {
      int other = t ^ j;
      if (other > t) {
        if ((t & k) == 0 ? v[t] > v[other] : v[t] < v[other]) {
          float swap = v[t];
          v[t] = v[other];
          v[other] = swap;
        }
      }
      __syncthreads();
    }
  }
  data[blockIdx.x * n + t] = v[t];
}

__global__ void bitonic_step(float* data, int j, int k) {
  unsigned i = threadIdx.x + blockDim.x * blockIdx.x, other = i ^ j;
  if (other > i) {
    if ((i & k) == 0) {
      if (data[i] > data[other]) {
        float swap = data[i];
        data[i] = data[other];
        data[other] = swap;
      }
    } else if (data[i] < data[other]) {
      float swap = data[i];
      data[i] = data[other];
      data[other] = swap;
    }
  }
}

__global__ void odd_even_sort(int* data) {
  __shared__ int v[256];
  int t = threadIdx.x;
  v[t] = data[blockIdx.x * 256 + t];
  __syncthreads();
  for (int phase = 0; phase < 256; phase++) {
    int i = 2 * t + (phase & 1);
    if (i + 1 < 256 && v[i] > v[i + 1]) {
      int swap = v[i];
      v[i] = v[i + 1];
      v[i + 1] = swap;
    }
    __syncthreads();
  }
  data[blockIdx.x * 256 + t] = v[t];
}

__global__ void hillis_steele(const float* in, float* out, int n) {
  extern __shared__ float temp[];
  int t = threadIdx.x, pout = 0, pin = 1;
  temp[t] = in[blockIdx.x * n + t];
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= offset)
      temp[pout * n + t] = temp[pin * n + t] + temp[pin * n + t - offset];
    else
      temp[pout * n + t] = temp[pin * n + t];
    __syncthreads();
  }
  out[blockIdx.x * n + t] = temp[pout * n + t];
}

__global__ void blelloch(const float* in, float* out, int n) {
  extern __shared__ float temp[];
  int t = threadIdx.x, offset = 1, base = blockIdx.x * n;
  temp[2 * t] = in[base + 2 * t];
  temp[2 * t + 1] = in[base + 2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (t == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      float swap = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += swap;
    }
  }
  __syncthreads();
  out[base + 2 * t] = temp[2 * t];
  out[base + 2 * t + 1] = temp[2 * t + 1];
}

__global__ void compact_naive(const float* in, float* out, int* count, int n, float threshold) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > threshold) out[atomicAdd(count, 1) & (n - 1)] = in[i];
}

__global__ void compact_warp(const float* in, float* out, int* count, int n, float threshold) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  float x = i < n ? in[i] : 0;
  bool keep = i < n && x > threshold;
  unsigned ballot = __ballot_sync(0xffffffffu, keep);
  int base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(ballot));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (keep) out[(base + __popc(ballot & ((1u << lane) - 1))) & (n - 1)] = x;
}

__global__ void private_histogram(const unsigned* data, unsigned* bins, int words) {
  __shared__ unsigned own[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x) {
    unsigned w = data[i];
    atomicAdd(&own[(w >> 0) & 255], 1u);
    atomicAdd(&own[(w >> 8) & 255], 1u);
    atomicAdd(&own[(w >> 16) & 255], 1u);
    atomicAdd(&own[w >> 24], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}

__global__ void scatter_add(const int* index, const float* values, float* out, int n, int dim) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * dim) return;
  int row = index[i / dim];
  atomicAdd(&out[row * dim + i % dim], values[i]);
}

__global__ void segmented_sum(const float* in, const int* start, float* out, int segments) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= segments) return;
  float sum = 0;
  for (int i = start[s]; i < start[s + 1]; i++) sum += in[i];
  out[s] = sum;
}

__global__ void string_search(const char* text, const char* pattern, int* found, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - m) return;
  int j = 0;
  while (j < m && (text[i + j] & 3) == (pattern[j] & 3)) j++;
  if (j == m) atomicAdd(found, 1);
}

__global__ void binary_search(const int* sorted, const float* keys, int* at, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int key = (int)(keys[i] * n) * 4, low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  at[i] = low;
}

}  // namespace

std::vector<Case> first_grids() {
  std::vector<Case> list;
  const auto add = [&](const char* name, const char* family, size_t bytes,
                       std::function<void(const Buffers&, cudaStream_t)> launch,
                       std::function<void(const Buffers&)> prepare = nullptr) {
    list.push_back({name, family, bytes, std::move(launch), false, std::move(prepare)});
  };
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const int m = 1 << 20;
  add("floyd_warshall 512", "graph", size_t{4} << 18,
      [=](const Buffers& b, cudaStream_t s) { floyd_warshall<<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.in, 512, 100); });
  // Rows of 0 to 31 entries (8 on average for the graph), columns anywhere.
  const auto rows_of = [](int n, int most, int columns) {
    return [=](const Buffers& b) {
      std::vector<int> row(1, 0), col;
      unsigned state = 7;
      for (int r = 0; r < n; r++) {
        const int count = static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % (most + 1);
        for (int e = 0; e < count; e++)
          col.push_back(static_cast<int>((state = state * 1664525u + 1013904223u) >> 8) % columns);
        row.push_back(static_cast<int>(col.size()));
      }
      cudaMemcpy(b.in, row.data(), row.size() * 4, cudaMemcpyHostToDevice);
      cudaMemcpy(b.in + (1 << 18), col.data(), col.size() * 4, cudaMemcpyHostToDevice);
    };
  };
  add(
      "bfs_level", "graph", size_t{4} * 16 << 16,
      [=](const Buffers& b, cudaStream_t s) {
        bfs_level<<<256, 256, 0, s>>>(ints(b.in + (1 << 18)), ints(b.in), b.counters, ints(b.out), ints(b.out) + 65536,
                                      1, 1 << 16);
      },
      rows_of(1 << 16, 16, 1 << 14));
  add(
      "csr_scalar", "sparse", (size_t{4} << 18) * 6 + (size_t{4} << 19),
      [=](const Buffers& b, cudaStream_t s) {
        csr_scalar<<<512, 128, 0, s>>>(ints(b.in), ints(b.in + (1 << 18)), b.in2, b.in2 + (1 << 20), b.out, 1 << 16);
      },
      rows_of(1 << 16, 31, 1 << 16));
  add(
      "csr_vector", "sparse", (size_t{4} << 18) * 6 + (size_t{4} << 19),
      [=](const Buffers& b, cudaStream_t s) {
        csr_vector<<<(1 << 14) / 4, 128, 0, s>>>(ints(b.in), ints(b.in + (1 << 18)), b.in2, b.in2 + (3 << 19), b.out,
                                                 1 << 14);
      },
      rows_of(1 << 14, 127, 1 << 16));
  const auto bytes_of = [](float* p) { return reinterpret_cast<unsigned char*>(p); };
  add("life 1024", "image", 2u << 20, [=](const Buffers& b, cudaStream_t s) {
    life<<<dim3(64, 64), dim3(16, 16), 0, s>>>(bytes_of(b.in), bytes_of(b.out), 1024, 1024);
  });
  add("sobel 2048", "image", 8u << 22, [=](const Buffers& b, cudaStream_t s) {
    sobel<<<dim3(128, 128), dim3(16, 16), 0, s>>>(b.in, b.out, 2048, 2048);
  });
  add("box_filter 3", "image", 8u << 20, [=](const Buffers& b, cudaStream_t s) {
    box_filter<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.out, 1024, 1024, 3);
  });
  add("median3", "image", 8u << 20, [=](const Buffers& b, cudaStream_t s) {
    median3<<<dim3(32, 128), dim3(32, 8), 0, s>>>(b.in, b.out, 1024, 1024);
  });
  add("insertion_median", "local arrays", size_t{68} << 18,
      [=](const Buffers& b, cudaStream_t s) { insertion_median<<<1024, 256, 0, s>>>(b.in, b.out, 1 << 18); });
  add("convolve_rows", "image", 8u << 22, [=](const Buffers& b, cudaStream_t s) {
    convolve_rows<<<dim3(16, 512), dim3(128, 4), 0, s>>>(b.in, b.out, 2048, 2048);
  });
  add("convolve_naive 5", "image", 8u << 20, [=](const Buffers& b, cudaStream_t s) {
    convolve_naive<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 1024, 1024, 5);
  });
  add("stencil7 128", "stencil", 8u << 21, [=](const Buffers& b, cudaStream_t s) {
    stencil7<<<dim3(4, 32, 64), dim3(32, 4, 2), 0, s>>>(b.in, b.out, 128, 128, 128, 0.4f, 0.1f);
  });
  add("stencil7 128 cubes of 8", "stencil", 8u << 21, [=](const Buffers& b, cudaStream_t s) {
    stencil7<<<dim3(16, 16, 16), dim3(8, 8, 8), 0, s>>>(b.in, b.out, 128, 128, 128, 0.4f, 0.1f);
  });
  add("stencil7_march", "stencil", 8u << 22, [=](const Buffers& b, cudaStream_t s) {
    stencil7_march<<<dim3(8, 64), dim3(32, 4), 0, s>>>(b.in, b.out, 256, 256, 64, 0.4f, 0.1f);
  });
  add("fft_pass", "transform", 16u << 20, [=](const Buffers& b, cudaStream_t s) {
    fft_pass<<<m / 2 / 256, 256, 0, s>>>(reinterpret_cast<const float2*>(b.in), reinterpret_cast<float2*>(b.out), m / 2,
                                         256);
  });
  add("bitonic_shared 512", "sort", 4u << 19,
      [=](const Buffers& b, cudaStream_t s) { bitonic_shared<<<1024, 512, 2048, s>>>(b.in); });
  add("bitonic_shared 1024", "sort", 4u << 18,
      [=](const Buffers& b, cudaStream_t s) { bitonic_shared<<<256, 1024, 4096, s>>>(b.in); });
  add("bitonic_step", "sort", 4u << 21,
      [=](const Buffers& b, cudaStream_t s) { bitonic_step<<<(2 << 20) / 512, 512, 0, s>>>(b.in, 64, 4096); });
  add("odd_even_sort", "sort", 4u << 16,
      [=](const Buffers& b, cudaStream_t s) { odd_even_sort<<<256, 256, 0, s>>>(b.counters); });
  add("hillis_steele", "prefix sums", 8u << 19,
      [=](const Buffers& b, cudaStream_t s) { hillis_steele<<<512, 1024, 8192, s>>>(b.in, b.out, 1024); });
  add("blelloch", "prefix sums", 8u << 20,
      [=](const Buffers& b, cudaStream_t s) { blelloch<<<1024, 512, 4096, s>>>(b.in, b.out, 1024); });
  add("compact_naive", "compaction", 6u << 20, [=](const Buffers& b, cudaStream_t s) {
    compact_naive<<<m / 256, 256, 0, s>>>(b.in, b.out, b.counters, m, 0.5f);
  });
  add("compact_warp", "compaction", 6u << 20, [=](const Buffers& b, cudaStream_t s) {
    compact_warp<<<m / 256, 256, 0, s>>>(b.in, b.out, b.counters, m, 0.5f);
  });
  add("private_histogram", "histogram", 4u << 21, [=](const Buffers& b, cudaStream_t s) {
    private_histogram<<<264, 256, 0, s>>>(reinterpret_cast<const unsigned*>(b.in),
                                          reinterpret_cast<unsigned*>(b.counters), 1 << 21);
  });
  add("scatter_add 64", "scatter", 8u << 20, [=](const Buffers& b, cudaStream_t s) {
    scatter_add<<<m / 256, 256, 0, s>>>(b.counters, b.in, b.out, 16384, 64);
  });
  const auto starts = [](int n, int most) {
    return [=](const Buffers& b) {
      std::vector<int> row(1, 0);
      unsigned state = 7;
      for (int r = 0; r < n; r++)
        row.push_back(row.back() + static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % (most + 1));
      cudaMemcpy(b.in2, row.data(), row.size() * 4, cudaMemcpyHostToDevice);
    };
  };
  add(
      "segmented_sum", "segments", 36u << 16,
      [=](const Buffers& b, cudaStream_t s) { segmented_sum<<<256, 256, 0, s>>>(b.in, ints(b.in2), b.out, 1 << 16); },
      starts(1 << 16, 15));
  add(
      "segmented_sum long", "segments", 132u << 14,
      [=](const Buffers& b, cudaStream_t s) { segmented_sum<<<128, 128, 0, s>>>(b.in, ints(b.in2), b.out, 1 << 14); },
      starts(1 << 14, 63));
  add("string_search", "search", 1u << 20, [=](const Buffers& b, cudaStream_t s) {
    string_search<<<m / 256, 256, 0, s>>>(reinterpret_cast<const char*>(b.in), reinterpret_cast<const char*>(b.in2),
                                          b.counters, m, 12);
  });
  add(
      "binary_search", "search", 6u << 20,
      [=](const Buffers& b, cudaStream_t s) {
        binary_search<<<2048, 256, 0, s>>>(ints(b.in2), b.in, ints(b.out), 1 << 19, 1 << 19);
      },
      [](const Buffers& b) {
        std::vector<int> sorted(1 << 19);
        for (size_t i = 0; i < sorted.size(); i++) sorted[i] = static_cast<int>(4 * i);
        cudaMemcpy(b.in2, sorted.data(), sorted.size() * 4, cudaMemcpyHostToDevice);
      });
  return list;
}

}  // namespace calibration
