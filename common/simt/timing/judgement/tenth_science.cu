// Methods of science: stencils in three dimensions, waters and particles, tiles of paths and of factors, transforms and
// long numbers modulo primes, densities and distances, rays, prices, walks.
#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// The mean of 27 neighbours: from global memory, and with a tile of three planes that goes along z.
__global__ void mean27(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  const int z = blockIdx.z + 1;
  if (x >= n - 1 || y >= n - 1) return;
  float sum = 0.0f;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) sum += in[((z + dz) * n + y + dy) * n + x + dx];
  out[(z * n + y) * n + x] = sum * (1.0f / 27.0f);
}
__global__ void mean27_planes(const float* in, float* out, int n, int planes) {
  __shared__ float tile[3][10][34];
  const int first = blockIdx.z * planes + 1, left = blockIdx.x * 32, top = blockIdx.y * 8;
  const int thread = threadIdx.y * 32 + threadIdx.x;
  const auto fetch = [&](int z) {
    for (int i = thread; i < 340; i += 256) {
      const int x = min(left + i % 34, n - 1), y = min(top + i / 34, n - 1);
      tile[z % 3][i / 34][i % 34] = in[(z * n + y) * n + x];
    }
  };
  fetch(first - 1);
  fetch(first);
  for (int z = first; z < first + planes && z < n - 1; z++) {
    fetch(z + 1);
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < 3; p++)
#pragma unroll
      for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++) sum += tile[p][threadIdx.y + dy][threadIdx.x + dx];
    const int x = left + threadIdx.x + 1, y = top + threadIdx.y + 1;
    if (x < n - 1 && y < n - 1) out[(z * n + y) * n + x] = sum * (1.0f / 27.0f);
    __syncthreads();
  }
}

// A wave's step of eighth order: what lies along z is in registers.
__global__ void wave25(const float* in, float* out, const float* speed, int nx, int ny, int nz) {
  const int x = blockIdx.x * 32 + threadIdx.x + 4, y = blockIdx.y * 8 + threadIdx.y + 4;
  if (x >= nx - 4 || y >= ny - 4) return;
  const int plane = nx * ny;
  const float c[5] = {-2.84722f, 1.6f, -0.2f, 0.0253968f, -0.0017857f};
  int at = y * nx + x;
  float queue[9];
#pragma unroll
  for (int i = 1; i < 9; i++) queue[i] = in[at + (i - 1) * plane];
  at += 4 * plane;
  for (int z = 4; z < nz - 4; z++, at += plane) {
#pragma unroll
    for (int i = 0; i < 8; i++) queue[i] = queue[i + 1];
    queue[8] = in[at + 4 * plane];
    float sum = 3.0f * c[0] * queue[4];
#pragma unroll
    for (int r = 1; r <= 4; r++)
      sum += c[r] * (queue[4 - r] + queue[4 + r] + in[at - r] + in[at + r] + in[at - r * nx] + in[at + r * nx]);
    out[at] = 2.0f * queue[4] - out[at] + speed[at] * sum;
  }
}

// Shallow water: fluxes at four faces of a cell.
__device__ float3 face(float3 a, float3 b, bool along_x) {
  const float ua = (along_x ? a.y : a.z) / a.x, ub = (along_x ? b.y : b.z) / b.x;
  const float fastest = fmaxf(fabsf(ua) + sqrtf(9.81f * a.x), fabsf(ub) + sqrtf(9.81f * b.x));
  const float pa = 4.905f * a.x * a.x, pb = 4.905f * b.x * b.x;
  return make_float3(0.5f * (ua * a.x + ub * b.x) - 0.5f * fastest * (b.x - a.x),
                     0.5f * (a.y * ua + b.y * ub + (along_x ? pa + pb : 0.0f)) - 0.5f * fastest * (b.y - a.y),
                     0.5f * (a.z * ua + b.z * ub + (along_x ? 0.0f : pa + pb)) - 0.5f * fastest * (b.z - a.z));
}
__global__ void shallow_water(const float* h, const float* hu, const float* hv, float* out, int n, float step) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const auto cell = [&](int at) { return make_float3(h[at] + 1.0f, hu[at], hv[at]); };
  const float3 middle = cell(i);
  const float3 west = face(cell(i - 1), middle, true), east = face(middle, cell(i + 1), true);
  const float3 south = face(cell(i - n), middle, false), north = face(middle, cell(i + n), false);
  out[i] = middle.x - step * (east.x - west.x + north.x - south.x);
  out[i + n * n] = middle.y - step * (east.y - west.y + north.y - south.y);
  out[i + 2 * n * n] = middle.z - step * (east.z - west.z + north.z - south.z);
}

// Charged particles in a field on a grid: half a kick, a turn, half a kick, a move.
__global__ void boris_push(float4* place, float4* velocity, const float4* field, int count, int grid) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 p = place[i], v = velocity[i];
  const int cell =
      (static_cast<int>(p.z * grid) * grid + static_cast<int>(p.y * grid)) * grid + static_cast<int>(p.x * grid);
  const float4 e = field[2 * cell], b = field[2 * cell + 1];
  const float3 minus = make_float3(v.x + 0.01f * e.x, v.y + 0.01f * e.y, v.z + 0.01f * e.z);
  const float3 t = make_float3(0.01f * b.x, 0.01f * b.y, 0.01f * b.z);
  const float scale = 2.0f / (1.0f + t.x * t.x + t.y * t.y + t.z * t.z);
  const float3 half_turn = make_float3(minus.x + minus.y * t.z - minus.z * t.y, minus.y + minus.z * t.x - minus.x * t.z,
                                       minus.z + minus.x * t.y - minus.y * t.x);
  v.x = minus.x + scale * (half_turn.y * t.z - half_turn.z * t.y) + 0.01f * e.x;
  v.y = minus.y + scale * (half_turn.z * t.x - half_turn.x * t.z) + 0.01f * e.y;
  v.z = minus.z + scale * (half_turn.x * t.y - half_turn.y * t.x) + 0.01f * e.z;
  p.x += 0.001f * v.x, p.y += 0.001f * v.y, p.z += 0.001f * v.z;
  p.x -= floorf(p.x), p.y -= floorf(p.y), p.z -= floorf(p.z);
  place[i] = p, velocity[i] = v;
}

// Shortest paths by tiles of 32: the tiles of the pivot's row, and all others.
__global__ void paths_row(float* d, const float* diagonal, int n, int pivot) {
  __shared__ float own[32][32], other[32][33];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x;
  own[y][x] = d[(pivot * 32 + y) * n + column];
  other[y][x] = diagonal[y * 32 + x];
  __syncthreads();
  for (int k = 0; k < 32; k++) {
    own[y][x] = fminf(own[y][x], other[y][k] + own[k][x]);
    __syncthreads();
  }
  d[(pivot * 32 + y) * n + column] = own[y][x];
}
__global__ void paths_rest(const float* d, float* out, int n, int pivot) {
  __shared__ float left[32][32], top[32][32];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
  left[y][x] = d[row * n + pivot * 32 + x];
  top[y][x] = d[(pivot * 32 + y) * n + column];
  __syncthreads();
  float best = d[row * n + column];
#pragma unroll
  for (int k = 0; k < 32; k++) best = fminf(best, left[y][k] + top[k][x]);
  out[row * n + column] = best;
}

// Factors of a matrix, a step by one pivot of all that is below and right of it.
__global__ void lu_multipliers(float* a, int n, int pivot) {
  const int row = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) a[row * n + pivot] /= a[pivot * n + pivot];
}
__global__ void lu_trailing(float* a, int n, int pivot) {
  const int column = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x,
            row = pivot + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n) a[row * n + column] -= a[row * n + pivot] * a[pivot * n + column];
}
// A triangular system of 64 unknowns with many right sides: a thread for each, the factor in shared memory.
__global__ void triangular_solve(const float* factor, const float* b, float* x, int sides) {
  __shared__ float l[64][64];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) l[i / 64][i % 64] = factor[i];
  __syncthreads();
  const int side = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 64; i++) {
    float sum = b[i * sides + side];
    for (int k = 0; k < i; k++) sum -= l[i][k] * x[k * sides + side];
    x[i * sides + side] = sum / (l[i][i] + 1.0f);
  }
}

// A butterfly modulo 2^64 - 2^32 + 1, and products of numbers of 256 bits modulo a prime in Montgomery's way.
__device__ uint64_t times_modulo(uint64_t a, uint64_t b) {
  const uint64_t low = a * b, high = __umul64hi(a, b);
  const uint64_t top = high >> 32, middle = high & 0xffffffffu;
  uint64_t t = low - top;
  if (low < top) t -= 0xffffffffu;
  const uint64_t u = (middle << 32) - middle;
  uint64_t sum = t + u;
  if (sum < u) sum += 0xffffffffu;
  return sum >= 0xffffffff00000001ull ? sum - 0xffffffff00000001ull : sum;
}
__global__ void ntt_stage(uint64_t* values, const uint64_t* roots, int distance, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const int j = i % distance, at = i / distance * 2 * distance + j;
  const uint64_t a = values[at], b = times_modulo(values[at + distance], roots[distance + j]);
  const uint64_t sum = a + b;
  values[at] = sum < a || sum >= 0xffffffff00000001ull ? sum - 0xffffffff00000001ull : sum;
  values[at + distance] = a >= b ? a - b : a - b + 0xffffffff00000001ull;
}
__global__ void montgomery256(const uint4* a, const uint4* b, uint4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uint4 a0 = a[2 * i], a1 = a[2 * i + 1], b0 = b[2 * i], b1 = b[2 * i + 1];
  const unsigned x[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w},
                 y[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
  const unsigned p[8] = {0xd87cfd47u, 0x3c208c16u, 0x6871ca8du, 0x97816a91u,
                         0x8181585du, 0xb85045b6u, 0xe131a029u, 0x30644e72u};
  unsigned t[10] = {};
#pragma unroll
  for (int r = 0; r < 8; r++) {
    uint64_t carry = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
      carry += static_cast<uint64_t>(x[k]) * y[r] + t[k];
      t[k] = static_cast<unsigned>(carry);
      carry >>= 32;
    }
    carry += t[8];
    t[8] = static_cast<unsigned>(carry), t[9] = static_cast<unsigned>(carry >> 32);
    const unsigned m = t[0] * 0xe4866389u;
    carry = (static_cast<uint64_t>(m) * p[0] + t[0]) >> 32;
#pragma unroll
    for (int k = 1; k < 8; k++) {
      carry += static_cast<uint64_t>(m) * p[k] + t[k];
      t[k - 1] = static_cast<unsigned>(carry);
      carry >>= 32;
    }
    carry += t[8];
    t[7] = static_cast<unsigned>(carry), t[8] = t[9] + static_cast<unsigned>(carry >> 32);
  }
  out[2 * i] = make_uint4(t[0], t[1], t[2], t[3]);
  out[2 * i + 1] = make_uint4(t[4], t[5], t[6], t[7]);
}

// The density of points about each query, and sums of absolute differences of all pairs of rows.
__global__ void kernel_density(const float2* points, const float2* queries, float* density, int n, float width) {
  __shared__ float2 tile[256];
  const float2 q = queries[blockIdx.x * 256 + threadIdx.x];
  float sum = 0.0f;
  for (int first = 0; first < n; first += 256) {
    tile[threadIdx.x] = points[first + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 256; i++) {
      const float dx = tile[i].x - q.x, dy = tile[i].y - q.y;
      sum += expf(-(dx * dx + dy * dy) * width);
    }
    __syncthreads();
  }
  density[blockIdx.x * 256 + threadIdx.x] = sum;
}
__global__ void distances_l1(const float* a, const float* b, float* out, int rows, int dims) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= rows) return;
  float sum = 0.0f;
  for (int d = 0; d < dims; d++) sum += fabsf(a[row * dims + d] - b[column * dims + d]);
  out[row * rows + column] = sum;
}
// Forces among points of a map of two dimensions.
__global__ void map_forces(const float2* y, float2* force, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 own = y[i];
  float2 total = {0.0f, 0.0f};
  float z = 0.0f;
  for (int j = 0; j < n; j++) {
    const float dx = own.x - y[j].x, dy = own.y - y[j].y, w = 1.0f / (1.0f + dx * dx + dy * dy);
    z += w;
    total.x += w * w * dx, total.y += w * w * dy;
  }
  force[i] = total, sums[i] = z;
}

// The nearest of many triangles along a ray.
__global__ void nearest_triangle(const float* triangles, float* hits, int count, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float dx = x * (1.0f / width) - 0.5f, dy = y * (1.0f / width) - 0.5f, dz = 1.0f;
  float nearest = 1e30f;
  for (int i = 0; i < count; i++) {
    const float* t = triangles + i * 9;
    const float e1x = t[3], e1y = t[4], e1z = t[5], e2x = t[6], e2y = t[7], e2z = t[8];
    const float px = dy * e2z - dz * e2y, py = dz * e2x - dx * e2z, pz = dx * e2y - dy * e2x;
    const float determinant = e1x * px + e1y * py + e1z * pz;
    if (fabsf(determinant) < 1e-8f) continue;
    const float inverse = 1.0f / determinant, sx = 0.5f - t[0], sy = 0.5f - t[1], sz = -1.0f - t[2];
    const float u = (sx * px + sy * py + sz * pz) * inverse;
    if (u < 0.0f || u > 1.0f) continue;
    const float qx = sy * e1z - sz * e1y, qy = sz * e1x - sx * e1z, qz = sx * e1y - sy * e1x;
    const float v = (dx * qx + dy * qy + dz * qz) * inverse;
    if (v < 0.0f || u + v > 1.0f) continue;
    const float distance = (e2x * qx + e2y * qy + e2z * qz) * inverse;
    if (distance > 0.0f) nearest = fminf(nearest, distance);
  }
  hits[y * width + x] = nearest;
}

// Prices in double precision; an option that ends at a barrier, a walk of `steps` a thread.
__global__ void prices_f64(const double* spot, const double* strike, double* call, double* put, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double s = spot[i] * 1e-9 + 20.0, x = strike[i] * 1e-9 + 21.0, root = 0.3;
  const double d1 = (log(s / x) + 0.09) / root, d2 = d1 - root;
  const double n1 = 0.5 * erfc(-d1 * 0.7071067811865475), n2 = 0.5 * erfc(-d2 * 0.7071067811865475);
  const double paid = s * n1 - x * 0.98 * n2;
  call[i] = paid, put[i] = paid - s + x * 0.98;
}
__global__ void barrier_walks(float* out, int steps, float drift, float spread, float barrier) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = i * 2654435761u + 1, y = 362436069u, z = 521288629u, w = 88675123u;
  float logarithm = 0.0f;
  bool alive = true;
  for (int step = 0; step < steps && alive; step++) {
    const unsigned t = x ^ (x << 11);
    x = y, y = z, z = w, w = w ^ (w >> 19) ^ t ^ (t >> 8);
    const float u = (w >> 9) * (1.0f / 8388608.0f);
    logarithm += drift + spread * (u - 0.5f);
    alive = logarithm > barrier;
  }
  out[i] = alive ? fmaxf(expf(logarithm) - 1.0f, 0.0f) : 0.0f;
}

}  // namespace

std::vector<Case> tenth_science() {
  std::vector<Case> list;
  const Add add{list};
  const auto pairs = [](float* p) { return reinterpret_cast<float2*>(p); };
  const auto quads = [](float* p) { return reinterpret_cast<float4*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<uint4*>(p); };
  const auto longs = [](float* p) { return reinterpret_cast<uint64_t*>(p); };
  const auto doubles = [](float* p) { return reinterpret_cast<double*>(p); };
  add("mean27", "means of 27", size_t{7} << 20,
      [=](const Buffers& b, cudaStream_t s) { mean27<<<dim3(3, 12, 94), dim3(32, 8), 0, s>>>(b.in, b.out, 96); });
  for (const int planes : {16, 47})
    add("mean27_planes " + std::to_string(planes), "means of 27", size_t{7} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          mean27_planes<<<dim3(3, 12, ceil_div(94, planes)), dim3(32, 8), 0, s>>>(b.in, b.out, 96, planes);
        });
  add("wave25", "grids in time", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    wave25<<<dim3(7, 28), dim3(32, 8), 0, s>>>(b.in, b.in2, b.in + (2 << 20), 232, 232, 32);
  });
  add("shallow_water", "grids in time", size_t{12} << 20, [=](const Buffers& b, cudaStream_t s) {
    shallow_water<<<dim3(16, 128), dim3(64, 8), 0, s>>>(b.in, b.in2, b.in2 + (1 << 20), b.out, 1024, 0.01f);
  });
  add("boris_push", "grids in time", size_t{36} << 20, [=](const Buffers& b, cudaStream_t s) {
    boris_push<<<2048, 256, 0, s>>>(quads(b.in), quads(b.in) + (1 << 19), quads(b.in2), 1 << 19, 32);
  });
  add("paths_row", "tiles of paths", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { paths_row<<<32, dim3(32, 32), 0, s>>>(b.in, b.in2, 1024, 5); });
  add("paths_rest", "tiles of paths", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
    paths_rest<<<dim3(32, 32), dim3(32, 32), 0, s>>>(b.in, b.out, 1024, 5);
  });
  add("lu_multipliers", "factors", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { lu_multipliers<<<4, 256, 0, s>>>(b.in, 1024, 3); });
  add("lu_trailing", "factors", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { lu_trailing<<<dim3(32, 128), dim3(32, 8), 0, s>>>(b.in, 1024, 3); });
  for (const int sides : {4096, 16384})
    add("triangular_solve " + std::to_string(sides), "factors", size_t{512} * sides,
        [=](const Buffers& b, cudaStream_t s) {
          triangular_solve<<<sides / 128, 128, 0, s>>>(b.in2, b.in, b.out, sides);
        });
  for (const int distance : {16, 65536})
    add("ntt_stage " + std::to_string(distance), "numbers modulo primes", size_t{9} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          ntt_stage<<<2048, 256, 0, s>>>(longs(b.in), longs(b.in2), distance, 1 << 19);
        });
  add("montgomery256", "numbers modulo primes", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    montgomery256<<<1024, 128, 0, s>>>(words(b.in), words(b.in2), words(b.out), 1 << 17);
  });
  add("kernel_density", "sums over all", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    kernel_density<<<128, 256, 0, s>>>(pairs(b.in), pairs(b.in2), b.out, 1024, 30.0f);
  });
  add("map_forces", "sums over all", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    map_forces<<<64, 64, 0, s>>>(pairs(b.in), pairs(b.out), b.out + (1 << 15), 4096);
  });
  for (const int dims : {16, 128})
    add("distances_l1 " + std::to_string(dims), "distances_l1", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
      distances_l1<<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 512, dims);
    });
  add("nearest_triangle 64", "nearest_triangle", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    nearest_triangle<<<dim3(16, 32), dim3(16, 8), 0, s>>>(b.in, b.out, 64, 256);
  });
  add("nearest_triangle 256", "nearest_triangle", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    nearest_triangle<<<dim3(16, 32), dim3(16, 8), 0, s>>>(b.in, b.out, 256, 256);
  });
  add("prices_f64", "prices and walks", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    prices_f64<<<2048, 256, 0, s>>>(doubles(b.in), doubles(b.in2), doubles(b.out), doubles(b.out) + (1 << 19), 1 << 19);
  });
  for (const float barrier : {-1.0f, -0.2f})
    add(barrier < -0.5f ? "barrier_walks far" : "barrier_walks near", "prices and walks", size_t{1} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          barrier_walks<<<1024, 128, 0, s>>>(b.out, 64, 0.0005f, 0.1f, barrier);
        });
  return list;
}

}  // namespace calibration
