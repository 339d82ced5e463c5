// Points, graphs, a matrix or sparse matrix and a vector.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Each point's nearest of k centres: points as rows, or a plane per coordinate.
template <bool planes>
__global__ void kmeans_assign(const float* points, const float* centres, int* out, int n, int k, int d) {
  extern __shared__ float c[];
  for (int i = threadIdx.x; i < k * d; i += blockDim.x) c[i] = centres[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float best = INFINITY;
  int at = 0;
  for (int j = 0; j < k; j++) {
    float sum = 0;
    for (int x = 0; x < d; x++) {
      const float diff = (planes ? points[x * n + i] : points[i * d + x]) - c[j * d + x];
      sum += diff * diff;
    }
    if (sum < best) best = sum, at = j;
  }
  out[i] = at;
}

// The four nearest of m points for each query, kept sorted in registers.
__global__ void knn4(const float3* queries, const float3* points, float4* out, int m) {
  __shared__ float3 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float3 q = queries[i];
  float a = 1e30f, b = 1e30f, c = 1e30f, d = 1e30f;
  for (int first = 0; first < m; first += 256) {
    tile[threadIdx.x] = points[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 256; j++) {
      const float dx = tile[j].x - q.x, dy = tile[j].y - q.y, dz = tile[j].z - q.z, r = dx * dx + dy * dy + dz * dz;
      if (r < d) {
        d = r;
        if (d < c) {
          const float t = c;
          c = d, d = t;
        }
        if (c < b) {
          const float t = b;
          b = c, c = t;
        }
        if (b < a) {
          const float t = a;
          a = b, b = t;
        }
      }
    }
    __syncthreads();
  }
  out[i] = make_float4(a, b, c, d);
}

// Ranks along the edges of a graph of equal degrees: each vertex sums what its neighbours have, or adds to theirs.
__global__ void pagerank_pull(const int* edges, const float* ranks, float* out, int n, int degree) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0;
  for (int e = 0; e < degree; e++) sum += ranks[edges[v * degree + e]];
  out[v] = 0.15f / n + 0.85f * sum / degree;
}
__global__ void pagerank_push(const int* edges, const float* ranks, float* out, int n, int degree) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const float share = ranks[v] / degree;
  for (int e = 0; e < degree; e++) atomicAdd(&out[edges[v * degree + e]], share);
}
__global__ void frontier_step(const int* edges, const float* seen, int* next, int* size, int n, int degree) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || seen[v] < 0.75f) return;
  for (int e = 0; e < degree; e++) {
    const int to = edges[v * degree + e];
    if (seen[to] < 0.1f) next[atomicAdd(size, 1)] = to;
  }
}

// y = A' (A x) as PolyBench has it: a thread per row, then a thread per column; and a sparse product by four threads
// per row.
__global__ void atax_rows(const float* a, const float* x, float* y, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = 0;
  for (int j = 0; j < m; j++) y[i] += a[i * m + j] * x[j];
}
__global__ void atax_columns(const float* a, const float* x, float* y, int n, int m) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m) return;
  y[j] = 0;
  for (int i = 0; i < n; i++) y[j] += a[i * m + j] * x[i];
}
__global__ void csr_four_threads(const int* columns, const float* values, const float* x, float* y, int rows) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 4, lane = thread % 4;
  if (row >= rows) return;
  const int first = row * 24 + row % 8, last = (row + 1) * 24 + (row + 1) % 8;
  float sum = 0;
  for (int e = first + lane; e < last; e += 4) sum += values[e] * x[columns[e]];
  sum += __shfl_down_sync(~0u, sum, 2, 4);
  sum += __shfl_down_sync(~0u, sum, 1, 4);
  if (lane == 0) y[row] = sum;
}

}  // namespace

std::vector<Case> ninth_graphs() {
  std::vector<Case> list;
  const Add add = {list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto threes = [](float* p) { return reinterpret_cast<float3*>(p); };
  constexpr size_t m = size_t{1} << 20;
  add("kmeans_assign rows", "points", 17 * m, [=](const Buffers& b, cudaStream_t s) {
    kmeans_assign<false><<<512, 256, 16 * 32 * 4, s>>>(b.in, b.in2, ints(b.out), 1 << 17, 16, 32);
  });
  add("kmeans_assign planes", "points", 17 * m, [=](const Buffers& b, cudaStream_t s) {
    kmeans_assign<true><<<512, 256, 16 * 32 * 4, s>>>(b.in, b.in2, ints(b.out), 1 << 17, 16, 32);
  });
  add("knn4", "points", 2 * m, [=](const Buffers& b, cudaStream_t s) {
    knn4<<<128, 256, 0, s>>>(threes(b.in), threes(b.in2), reinterpret_cast<float4*>(b.out), 1024);
  });
  add(
      "pagerank_pull", "ranks of graphs", 10 * m,
      [=](const Buffers& b, cudaStream_t s) {
        pagerank_pull<<<1024, 256, 0, s>>>(ints(b.in2), b.in, b.out, 1 << 18, 8);
      },
      indices(1 << 21, 1 << 18));
  add(
      "pagerank_push", "ranks of graphs", 10 * m,
      [=](const Buffers& b, cudaStream_t s) {
        pagerank_push<<<1024, 256, 0, s>>>(ints(b.in2), b.in, b.out, 1 << 18, 8);
      },
      indices(1 << 21, 1 << 18));
  add(
      "frontier_step", "ranks of graphs", 10 * m,
      [=](const Buffers& b, cudaStream_t s) {
        frontier_step<<<1024, 256, 0, s>>>(ints(b.in2), b.in, ints(b.out), b.counters + 1, 1 << 18, 8);
      },
      indices(1 << 21, 1 << 18));
  add("atax_rows", "matrix and vector", 8 * m,
      [=](const Buffers& b, cudaStream_t s) { atax_rows<<<16, 128, 0, s>>>(b.in, b.in2, b.out, 2048, 1024); });
  add("atax_columns", "matrix and vector", 8 * m,
      [=](const Buffers& b, cudaStream_t s) { atax_columns<<<16, 128, 0, s>>>(b.in, b.in2, b.out, 1024, 2048); });
  add(
      "csr_four_threads", "matrix and vector", 13 * m,
      [=](const Buffers& b, cudaStream_t s) {
        csr_four_threads<<<1024, 256, 0, s>>>(ints(b.in2), b.in, b.in + 2 * m, b.out, 1 << 16);
      },
      indices(24 << 16, 1 << 18));
  return list;
}

}  // namespace calibration
