// Trees, strings, simulation grids, quantised weights, collectives in a block: none of them in the first set or the
// calibration.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Thomas' algorithm: a tridiagonal system per thread, interleaved.
__global__ void tridiagonal(const float* a, const float* b, const float* c, float* d, float* cp, int systems, int n) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float last_c = c[s] / (b[s] + 4.0f), last_d = d[s] / (b[s] + 4.0f);
  cp[s] = last_c;
  d[s] = last_d;
  for (int i = 1; i < n; i++) {
    int at = i * systems + s;
    float m = 1.0f / (b[at] + 4.0f - a[at] * last_c);
    last_c = c[at] * m;
    last_d = (d[at] - a[at] * last_d) * m;
    cp[at] = last_c;
    d[at] = last_d;
  }
  for (int i = n - 2; i >= 0; i--) {
    int at = i * systems + s;
    last_d = d[at] - cp[at] * last_d;
    d[at] = last_d;
  }
}

// A search through an implicit binary tree (heap order), a key per thread.
__global__ void tree_lookup(const float* tree, const float* keys, int* leaf, int n, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float key = keys[i];
  int node = 0;
  for (int level = 0; level < depth; level++) node = 2 * node + 1 + (key > tree[node]);
  leaf[i] = node;
}

// Connected components: each edge hooks the larger root onto the smaller.
__global__ void union_find(int* parent, const int2* edges, int n) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  int a = edges[e].x & 65535, b = edges[e].y & 65535;
  while (parent[a] != a) a = parent[a];
  while (parent[b] != b) b = parent[b];
  if (a != b) atomicMin(&parent[max(a, b)], min(a, b));
}

// Weights of four bits with a scale per 32, times a vector: a warp per row.
__global__ void dequantise_matvec(const unsigned* weights, const float* scales, const float* x, float* y, int rows,
                                  int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int w = lane; w < cols / 8; w += 32) {
    unsigned packed = weights[row * (cols / 8) + w];
    float scale = scales[row * (cols / 32) + w / 4], part = 0;
    for (int k = 0; k < 8; k++) part += ((int)((packed >> (4 * k)) & 15) - 8) * x[w * 8 + k];
    sum += scale * part;
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) y[row] = sum;
}

__global__ void quantise_rows(const float* in, signed char* out, float* scale, int cols) {
  __shared__ float most[8];
  const float* row = in + blockIdx.x * cols;
  float m = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, fabsf(row[c]));
  for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = m;
  __syncthreads();
  m = most[0];
  for (int w = 1; w < 8; w++) m = fmaxf(m, most[w]);
  if (threadIdx.x == 0) scale[blockIdx.x] = m / 127.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[blockIdx.x * cols + c] = (signed char)rintf(row[c] * 127.0f / m);
}

__global__ void swiglu(const float* gate, const float* up, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float g = gate[i];
  out[i] = g / (1.0f + expf(-g)) * up[i];
}

__global__ void dropout(const float* in, float* out, unsigned char* mask, float p, unsigned seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = (i ^ seed) * 0x27d4eb2du;
  h ^= h >> 15;
  h *= 0x85ebca77u;
  h ^= h >> 13;
  bool keep = (h >> 8) * (1.0f / 16777216.0f) > p;
  mask[i] = keep;
  out[i] = keep ? in[i] / (1.0f - p) : 0.0f;
}

__global__ void group_norm(const float* in, float* out, int size) {
  __shared__ float s1[128], s2[128];
  const float* x = in + blockIdx.x * size;
  float a = 0, b = 0;
  for (int i = threadIdx.x; i < size; i += 128) {
    a += x[i];
    b += x[i] * x[i];
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = b;
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) {
      s1[threadIdx.x] += s1[threadIdx.x + s];
      s2[threadIdx.x] += s2[threadIdx.x + s];
    }
  }
  __syncthreads();
  float mean = s1[0] / size, inv = rsqrtf(s2[0] / size - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < size; i += 128) out[blockIdx.x * size + i] = (x[i] - mean) * inv;
}

// Rows to columns of images for a convolution (im2col), 3 x 3.
__global__ void im2col(const float* in, float* out, int channels, int h, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * h * w) return;
  int x = i % w, y = (i / w) % h, c = i / (h * w);
  for (int ky = 0; ky < 3; ky++) {
    for (int kx = 0; kx < 3; kx++) {
      int sy = y + ky - 1, sx = x + kx - 1;
      out[((c * 9 + ky * 3 + kx) * h + y) * w + x] =
          sy >= 0 && sy < h && sx >= 0 && sx < w ? in[(c * h + sy) * w + sx] : 0.0f;
    }
  }
}

// Edit distance's anti-diagonals, a pair of strings per block.
__global__ void edit_distance(const int* a, const int* b, int* out, int n) {
  __shared__ int row[3][130];
  int t = threadIdx.x, *before = row[0], *last = row[1], *now = row[2];
  int mine = a[blockIdx.x * n + t];
  for (int d = 0; d <= 2 * n; d++) {
    int i = t, j = d - t;
    if (j >= 0 && j <= n && i <= n) {
      if (i == 0 || j == 0) {
        now[t] = i + j;
      } else {
        int cost = mine == b[blockIdx.x * n + j - 1] ? 0 : 1;
        now[t] = min(min(last[t - 1], last[t]) + 1, before[t - 1] + cost);
      }
    }
    __syncthreads();
    int* old = before;
    before = last;
    last = now;
    now = old;
  }
  if (t == 0) out[blockIdx.x] = last[0];
}

__global__ void run_starts(const int* in, int* flags, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flags[i] = i == 0 || in[i] / 8 != in[i - 1] / 8;
}

// A pass of a radix sort: digits counted per block, in shared memory.
__global__ void radix_count(const unsigned* keys, unsigned* counts, int shift, int n) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  int base = blockIdx.x * 2048;
  for (int k = threadIdx.x; k < 2048 && base + k < n; k += blockDim.x)
    atomicAdd(&bins[(keys[base + k] >> shift) & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// Kinetic energy in double precision, a sum per block.
__global__ void energy64(const float4* velocity, double* out, int n) {
  __shared__ double part[256];
  double e = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = velocity[i];
    e += 0.5 * v.w * ((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
  }
  part[threadIdx.x] = e;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

// Ising model, one colour of the checkerboard.
__global__ void ising(signed char* spin, const float* random, int w, int h, int colour, float beta) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h || ((x + y) & 1) != colour) return;
  int up = y == 0 ? h - 1 : y - 1, down = y == h - 1 ? 0 : y + 1, left = x == 0 ? w - 1 : x - 1,
      right = x == w - 1 ? 0 : x + 1;
  int sum = (spin[up * w + x] & 1) + (spin[down * w + x] & 1) + (spin[y * w + left] & 1) + (spin[y * w + right] & 1);
  if (random[y * w + x] < expf(-2.0f * beta * (2 * sum - 4))) spin[y * w + x] = -spin[y * w + x];
}

__global__ void pairwise_cosine(const float* a, float* out, int n, int dim) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j >= n) return;
  float dot = 0, na = 0, nb = 0;
  for (int k = 0; k < dim; k++) {
    float x = a[i * dim + k], y = a[j * dim + k];
    dot += x * y;
    na += x * x;
    nb += y * y;
  }
  out[i * n + j] = dot / (sqrtf(na) * sqrtf(nb));
}

__global__ void reverse_in_blocks(float* data) {
  extern __shared__ float part[];
  int t = threadIdx.x, base = blockIdx.x * blockDim.x;
  part[t] = data[base + t];
  __syncthreads();
  data[base + t] = part[blockDim.x - 1 - t];
}

}  // namespace

std::vector<Case> second_b() {
  std::vector<Case> list;
  const auto add = [&](const char* name, const char* family, size_t bytes,
                       std::function<void(const Buffers&, cudaStream_t)> launch,
                       std::function<void(const Buffers&)> prepare = nullptr) {
    list.push_back({name, family, bytes, std::move(launch), false, std::move(prepare)});
  };
  const int m = 1 << 20;
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  add("tridiagonal 4096", "systems", size_t{24} << 18, [=](const Buffers& b, cudaStream_t s) {
    tridiagonal<<<32, 128, 0, s>>>(b.in, b.in2, b.in, b.in2 + (1 << 18), b.out, 4096, 64);
  });
  add("tridiagonal 32768", "systems", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    tridiagonal<<<256, 128, 0, s>>>(b.in, b.in2, b.in, b.in2 + (1 << 20), b.out, 32768, 32);
  });
  add("tree_lookup", "trees", size_t{12} << 18, [=](const Buffers& b, cudaStream_t s) {
    tree_lookup<<<1024, 256, 0, s>>>(b.in, b.in2, ints(b.out), 1 << 18, 17);
  });
  add(
      "union_find", "trees", size_t{8} << 16,
      [=](const Buffers& b, cudaStream_t s) {
        union_find<<<256, 256, 0, s>>>(b.counters, reinterpret_cast<const int2*>(b.in), 1 << 16);
      },
      [](const Buffers& b) {
        std::vector<int> parent(65536);
        for (int i = 0; i < 65536; i++) parent[static_cast<size_t>(i)] = i / 8 * 8;
        cudaMemcpy(b.counters, parent.data(), parent.size() * 4, cudaMemcpyHostToDevice);
        cudaMemset(b.in, 0, size_t{8} << 16);
      });
  add("dequantise_matvec", "quantised", size_t{5} << 20, [=](const Buffers& b, cudaStream_t s) {
    dequantise_matvec<<<256, 256, 0, s>>>(words(b.in), b.in2, b.in2 + (1 << 19), b.out, 2048, 4096);
  });
  add("quantise_rows", "quantised", size_t{5} << 20, [=](const Buffers& b, cudaStream_t s) {
    quantise_rows<<<1024, 256, 0, s>>>(b.in, reinterpret_cast<signed char*>(b.out), b.in2, 1024);
  });
  add("swiglu", "layers", size_t{12} << 21,
      [=](const Buffers& b, cudaStream_t s) { swiglu<<<m * 2 / 256, 256, 0, s>>>(b.in, b.in2, b.out, m * 2); });
  add("dropout", "layers", size_t{9} << 20, [=](const Buffers& b, cudaStream_t s) {
    dropout<<<m / 256, 256, 0, s>>>(b.in, b.out, reinterpret_cast<unsigned char*>(b.in2), 0.1f, 5, m);
  });
  add("group_norm", "layers", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { group_norm<<<256, 128, 0, s>>>(b.in, b.out, 4096); });
  add("im2col", "layers", size_t{40} << 18,
      [=](const Buffers& b, cudaStream_t s) { im2col<<<1024, 256, 0, s>>>(b.in, b.out, 16, 128, 128); });
  add("edit_distance", "strings", size_t{8} << 15, [=](const Buffers& b, cudaStream_t s) {
    edit_distance<<<256, 128, 0, s>>>(b.counters, ints(b.in), ints(b.out), 127);
  });
  add("run_starts", "strings", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { run_starts<<<m / 256, 256, 0, s>>>(ints(b.in), ints(b.out), m); });
  add("radix_count", "keys", size_t{4} << 21, [=](const Buffers& b, cudaStream_t s) {
    radix_count<<<1024, 256, 0, s>>>(words(b.in), words(b.out), 4, 2 << 20);
  });
  add("energy64", "double precision", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    energy64<<<264, 256, 0, s>>>(reinterpret_cast<const float4*>(b.in), reinterpret_cast<double*>(b.out), m);
  });
  add("ising", "simulation", size_t{5} << 21, [=](const Buffers& b, cudaStream_t s) {
    ising<<<dim3(64, 256), dim3(32, 4), 0, s>>>(reinterpret_cast<signed char*>(b.in), b.in2, 2048, 1024, 0, 0.4f);
  });
  add("pairwise_cosine 512", "similarity", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
    pairwise_cosine<<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.in, b.out, 512, 64);
  });
  add("pairwise_cosine 256", "similarity", size_t{4} << 16, [=](const Buffers& b, cudaStream_t s) {
    pairwise_cosine<<<dim3(8, 32), dim3(32, 8), 0, s>>>(b.in, b.out, 256, 128);
  });
  for (const int threads : {64, 256, 1024})
    list.push_back({"reverse_in_blocks " + std::to_string(threads), "reversal", size_t{8} << 20,
                    [=](const Buffers& b, cudaStream_t s) {
                      reverse_in_blocks<<<2 * m / threads, threads, static_cast<size_t>(threads) * 4, s>>>(b.in);
                    }});
  return list;
}

}  // namespace calibration
