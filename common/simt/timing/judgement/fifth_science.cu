// Fluids, eigenvalues, small matrices, sparse products, graphs, tables of hashes, clusters, digests.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// One step of a fluid as nine populations per cell: streamed from the neighbours, then collided.
__global__ void lattice_boltzmann(const float* from, float* to, int width, int height, float omega) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int cells = width * height, at = y * width + x;
  const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const float w[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
  float f[9], density = 0.0f, ux = 0.0f, uy = 0.0f;
#pragma unroll
  for (int i = 0; i < 9; i++) {
    const int sx = (x - ex[i] + width) % width, sy = (y - ey[i] + height) % height;
    f[i] = from[i * cells + sy * width + sx];
    density += f[i];
    ux += ex[i] * f[i];
    uy += ey[i] * f[i];
  }
  ux /= density;
  uy /= density;
  const float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int i = 0; i < 9; i++) {
    const float along = 3.0f * (ex[i] * ux + ey[i] * uy);
    const float equilibrium = w[i] * density * (1.0f + along + 0.5f * along * along - square);
    to[i * cells + at] = f[i] - omega * (f[i] - equilibrium);
  }
}

// Half of the points of a grid, those of one colour, from the other half; in place.
__global__ void red_black(float* u, const float* right, int width, int height, int colour) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= width - 1 || y >= height - 1 || (x + y) % 2 != colour) return;
  const int i = y * width + x;
  u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - right[i]);
}

// Eigenvalues of a tridiagonal matrix by bisection: how many are below a number is counted; a thread per eigenvalue.
__global__ void eigenvalues(const float* diagonal, const float* beside, float* out, int n) {
  __shared__ float d[256], e[256];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    d[i] = diagonal[blockIdx.y * n + i];
    e[i] = i == 0 ? 0.0f : beside[blockIdx.y * n + i] * beside[blockIdx.y * n + i];
  }
  __syncthreads();
  const int wanted = blockIdx.x * blockDim.x + threadIdx.x;
  float low = -3.0f, high = 4.0f;
  while (high - low > 1e-4f) {
    const float middle = 0.5f * (low + high);
    int below = 0;
    float q = 1.0f;
    for (int i = 0; i < n; i++) {
      q = d[i] - middle - e[i] / q;
      if (q < 0.0f) below++;
    }
    if (below > wanted)
      high = middle;
    else
      low = middle;
  }
  out[blockIdx.y * n + wanted] = 0.5f * (low + high);
}

// The factors of symmetric matrices of 32 x 32, a warp for each.
__global__ void cholesky32(const float* in, float* out) {
  __shared__ float a[32][33];
  const int lane = threadIdx.x;
  const float* matrix = in + blockIdx.x * 1024;
  for (int r = 0; r < 32; r++) a[r][lane] = 0.01f * matrix[r * 32 + lane] + (r == lane ? 8.0f : 0.0f);
  __syncwarp();
  for (int k = 0; k < 32; k++) {
    if (lane == k) a[k][k] = sqrtf(a[k][k]);
    __syncwarp();
    if (lane > k) a[lane][k] /= a[k][k];
    __syncwarp();
    for (int j = k + 1; j < 32; j++)
      if (lane >= j) a[lane][j] -= a[lane][k] * a[j][k];
    __syncwarp();
  }
  for (int r = 0; r < 32; r++) out[blockIdx.x * 1024 + r * 32 + lane] = lane <= r ? a[r][lane] : 0.0f;
}

// Inverses of matrices of 4 x 4 by cofactors, a thread for each.
__global__ void inverse4(const float4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = in[i * 4], b = in[i * 4 + 1], c = in[i * 4 + 2], d = in[i * 4 + 3];
  const float s0 = a.x * b.y - b.x * a.y, s1 = a.x * b.z - b.x * a.z, s2 = a.x * b.w - b.x * a.w;
  const float s3 = a.y * b.z - b.y * a.z, s4 = a.y * b.w - b.y * a.w, s5 = a.z * b.w - b.z * a.w;
  const float c5 = c.z * d.w - d.z * c.w, c4 = c.y * d.w - d.y * c.w, c3 = c.y * d.z - d.y * c.z;
  const float c2 = c.x * d.w - d.x * c.w, c1 = c.x * d.z - d.x * c.z, c0 = c.x * d.y - d.x * c.y;
  const float r = 1.0f / (s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0);
  out[i * 4] = {(b.y * c5 - b.z * c4 + b.w * c3) * r, (-a.y * c5 + a.z * c4 - a.w * c3) * r,
                (d.y * s5 - d.z * s4 + d.w * s3) * r, (-c.y * s5 + c.z * s4 - c.w * s3) * r};
  out[i * 4 + 1] = {(-b.x * c5 + b.z * c2 - b.w * c1) * r, (a.x * c5 - a.z * c2 + a.w * c1) * r,
                    (-d.x * s5 + d.z * s2 - d.w * s1) * r, (c.x * s5 - c.z * s2 + c.w * s1) * r};
  out[i * 4 + 2] = {(b.x * c4 - b.y * c2 + b.w * c0) * r, (-a.x * c4 + a.y * c2 - a.w * c0) * r,
                    (d.x * s4 - d.y * s2 + d.w * s0) * r, (-c.x * s4 + c.y * s2 - c.w * s0) * r};
  out[i * 4 + 3] = {(-b.x * c3 + b.y * c1 - b.z * c0) * r, (a.x * c3 - a.y * c1 + a.z * c0) * r,
                    (-d.x * s3 + d.y * s1 - d.z * s0) * r, (c.x * s3 - c.y * s1 + c.z * s0) * r};
}

// A sparse matrix times a dense one of 32 columns, a warp per row.
__global__ void spmm(const int* start, const int* columns, const float* values, const float* b, float* c, int rows) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = start[row]; k < start[row + 1]; k++) sum += values[k] * b[columns[k] * 32 + lane];
  c[row * 32 + lane] = sum;
}

// Products of rows of two dense matrices where a sparse one has entries; eight lanes for each, rows of 64.
__global__ void sddmm(const int* rows, const int* columns, const float4* a, const float4* b, float* out, int count) {
  const int k = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  if (k >= count) return;
  const float4* x = a + rows[k] * 16;
  const float4* y = b + columns[k] * 16;
  float sum = 0.0f;
  for (int i = lane; i < 16; i += 8) sum += x[i].x * y[i].x + x[i].y * y[i].y + x[i].z * y[i].z + x[i].w * y[i].w;
  for (int offset = 4; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset, 8);
  if (lane == 0) out[k] = sum;
}

// Triangles of a graph: what the sorted neighbours of each edge's ends have in common.
__global__ void triangles(const int* start, const int* neighbours, const int* from, int edges, int* total) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  int found = 0;
  if (e < edges) {
    const int u = from[e], v = neighbours[e];
    int i = start[u], j = start[v];
    const int i_end = start[u + 1], j_end = start[v + 1];
    while (i < i_end && j < j_end) {
      const int a = neighbours[i], b = neighbours[j];
      if (a == b) {
        found++;
        i++;
        j++;
      } else if (a < b)
        i++;
      else
        j++;
    }
  }
  for (int offset = 16; offset > 0; offset >>= 1) found += __shfl_down_sync(0xffffffff, found, offset);
  if (threadIdx.x % 32 == 0 && found) atomicAdd(total, found);
}

__host__ __device__ inline unsigned slot_of(unsigned key, unsigned slots) {
  key ^= key >> 16;
  key *= 0x85ebca6b;
  key ^= key >> 13;
  key *= 0xc2b2ae35;
  key ^= key >> 16;
  return key & (slots - 1);
}

// Values of keys in a table with open addresses.
__global__ void hash_lookup(const uint2* table, unsigned slots, const unsigned* keys, unsigned* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i];
  unsigned slot = slot_of(key, slots), value = 0xffffffff;
  while (true) {
    const uint2 entry = table[slot];
    if (entry.x == key) {
      value = entry.y;
      break;
    }
    if (entry.x == 0xffffffff) break;
    slot = (slot + 1) & (slots - 1);
  }
  values[i] = value;
}

// Sums and numbers of the points of each of 16 clusters: the nearest center, then atomics in shared memory.
__global__ void update_clusters(const float2* points, const float2* centers, float* sums, int n) {
  __shared__ float2 center[16];
  __shared__ float sum_x[16], sum_y[16], count[16];
  if (threadIdx.x < 16) {
    center[threadIdx.x] = centers[threadIdx.x];
    sum_x[threadIdx.x] = sum_y[threadIdx.x] = count[threadIdx.x] = 0.0f;
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float2 p = points[i];
    float best = 1e30f;
    int nearest = 0;
    for (int c = 0; c < 16; c++) {
      const float dx = p.x - center[c].x, dy = p.y - center[c].y, d = dx * dx + dy * dy;
      if (d < best) {
        best = d;
        nearest = c;
      }
    }
    atomicAdd(&sum_x[nearest], p.x);
    atomicAdd(&sum_y[nearest], p.y);
    atomicAdd(&count[nearest], 1.0f);
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    atomicAdd(&sums[threadIdx.x], sum_x[threadIdx.x]);
    atomicAdd(&sums[16 + threadIdx.x], sum_y[threadIdx.x]);
    atomicAdd(&sums[32 + threadIdx.x], count[threadIdx.x]);
  }
}

// Each number to the largest of its key's, by compare and swap.
__device__ void atomic_max(float* address, float value) {
  int* as_int = reinterpret_cast<int*>(address);
  int old = *as_int, assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value) return;
    old = atomicCAS(as_int, assumed, __float_as_int(value));
  } while (assumed != old);
}

__global__ void scatter_max(const float* values, float* largest, int n, unsigned keys) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomic_max(&largest[slot_of(i, keys)], values[i]);
}

// SHA-256 of messages of 56 bytes, a thread for each.
__constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned rotate(unsigned x, int n) { return (x >> n) | (x << (32 - n)); }

__global__ void sha256(const unsigned* messages, unsigned* digests, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned w[16];
#pragma unroll
  for (int k = 0; k < 14; k++) w[k] = messages[k * n + i];
  w[14] = 0x80000000u;
  w[15] = 448;
  unsigned a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c,
           g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma unroll
  for (int k = 0; k < 64; k++) {
    if (k >= 16) {
      const unsigned x = w[(k - 15) & 15], y = w[(k - 2) & 15];
      w[k & 15] +=
          w[(k - 7) & 15] + (rotate(x, 7) ^ rotate(x, 18) ^ (x >> 3)) + (rotate(y, 17) ^ rotate(y, 19) ^ (y >> 10));
    }
    const unsigned t1 =
        h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + rounds[k] + w[k & 15];
    const unsigned t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const unsigned words[8] = {a + 0x6a09e667, b + 0xbb67ae85, c + 0x3c6ef372, d + 0xa54ff53a,
                             e + 0x510e527f, f + 0x9b05688c, g + 0x1f83d9ab, h + 0x5be0cd19};
#pragma unroll
  for (int k = 0; k < 8; k++) digests[k * n + i] = words[k];
}

}  // namespace

std::vector<Case> fifth_science() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  const auto fours = [](float* p) { return reinterpret_cast<float4*>(p); };
  add("lattice_boltzmann", "grids", size_t{72} << 18, [=](const Buffers& b, cudaStream_t s) {
    lattice_boltzmann<<<dim3(16, 64), dim3(32, 8), 0, s>>>(b.in, b.out, 512, 512, 1.2f);
  });
  add("red_black", "grids", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    red_black<<<dim3(32, 64), dim3(32, 16), 0, s>>>(b.in, b.in2, 1024, 1024, 0);
  });
  add("eigenvalues 8", "small matrices", size_t{1} << 16,
      [=](const Buffers& b, cudaStream_t s) { eigenvalues<<<dim3(4, 8), 64, 0, s>>>(b.in, b.in2, b.out, 256); });
  add("cholesky32 1024", "small matrices", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { cholesky32<<<1024, 32, 0, s>>>(b.in, b.out); });
  add("inverse4", "small matrices", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { inverse4<<<256, 256, 0, s>>>(fours(b.in), fours(b.out), 65536); });
  add(
      "spmm", "sparse", size_t{6} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        spmm<<<2048, 128, 0, s>>>(ints(b.in2), ints(b.in2 + 16384), b.in, b.in + (1 << 18), b.out, 8192);
      },
      [](const Buffers& b) {
        std::vector<int> index(16384 + 8192 * 32);
        unsigned state = 23;
        for (int r = 0; r < 8192; r++)
          index[r + 1] = index[r] + static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % 32;
        for (int k = 16384; k < 16384 + 8192 * 32; k++)
          index[k] = static_cast<int>((state = state * 1664525u + 1013904223u) >> 8) % 8192;
        cudaMemcpy(b.in2, index.data(), index.size() * 4, cudaMemcpyHostToDevice);
      });
  add(
      "sddmm", "sparse", size_t{5} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        sddmm<<<2048, 256, 0, s>>>(ints(b.in2), ints(b.in2 + 65536), fours(b.in), fours(b.in + (1 << 19)), b.out,
                                   65536);
      },
      indices(1 << 17, 8192));
  // A ring of 8192 whose every vertex has 16 neighbours, near ones and far ones.
  add(
      "triangles", "graphs", size_t{6} << 18,
      [=](const Buffers& b, cudaStream_t s) {
        triangles<<<512, 256, 0, s>>>(ints(b.in2), ints(b.in2 + 16384), ints(b.in2 + 16384 + (1 << 17)), 1 << 17,
                                      ints(b.out));
      },
      [](const Buffers& b) {
        constexpr int n = 8192;
        std::vector<int> index(16384 + (1 << 18));
        for (int v = 0; v <= n; v++) index[v] = v * 16;
        for (int v = 0; v < n; v++) {
          std::vector<int> own;
          for (int step : {1, 2, 3, 5, 8, 100 + v % 7, 1000 + v % 31, 3000 + v % 3})
            own.push_back((v + step) % n), own.push_back((v - step + n) % n);
          for (size_t i = 1; i < own.size(); i++)
            for (size_t j = i; j > 0 && own[j] < own[j - 1]; j--) std::swap(own[j], own[j - 1]);
          for (int k = 0; k < 16; k++) index[16384 + v * 16 + k] = own[k], index[16384 + (1 << 17) + v * 16 + k] = v;
        }
        cudaMemcpy(b.in2, index.data(), index.size() * 4, cudaMemcpyHostToDevice);
      });
  add(
      "hash_lookup", "tables", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        hash_lookup<<<1024, 256, 0, s>>>(reinterpret_cast<uint2*>(b.in2), 1 << 18, words(b.in2 + (1 << 19)),
                                         words(b.out), 1 << 18);
      },
      [](const Buffers& b) {
        constexpr unsigned slots = 1 << 18;
        std::vector<unsigned> table(2 * slots + (1 << 18), 0xffffffff);
        unsigned state = 29;
        for (unsigned i = 0; i < slots * 6 / 10; i++) {
          const unsigned key = (state = state * 1664525u + 1013904223u) >> 1;
          unsigned slot = slot_of(key, slots);
          while (table[2 * slot] != 0xffffffff) slot = (slot + 1) & (slots - 1);
          table[2 * slot] = key;
          table[2 * slot + 1] = i;
        }
        state = 29;  // the first six in ten are there, the rest are not
        for (unsigned i = 0; i < 1 << 18; i++) table[2 * slots + i] = (state = state * 1664525u + 1013904223u) >> 1;
        cudaMemcpy(b.in2, table.data(), table.size() * 4, cudaMemcpyHostToDevice);
      });
  add("scatter_max", "tables", size_t{4} << 18,
      [=](const Buffers& b, cudaStream_t s) { scatter_max<<<1024, 256, 0, s>>>(b.in, b.in2, 1 << 18, 1 << 12); });
  add("update_clusters", "clusters", size_t{8} << 18, [=](const Buffers& b, cudaStream_t s) {
    update_clusters<<<1024, 256, 0, s>>>(reinterpret_cast<float2*>(b.in), reinterpret_cast<float2*>(b.in2), b.out,
                                         1 << 18);
  });
  add("sha256", "digests", size_t{88} << 16,
      [=](const Buffers& b, cudaStream_t s) { sha256<<<512, 128, 0, s>>>(words(b.in), words(b.out), 65536); });
  return list;
}

}  // namespace calibration
