// Particles, reactions, random paths, a cipher, small solvers, tables: and grids that fill little of a GPU.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Forces of listed neighbours within a cut-off; the list is one neighbour after the other for all atoms.
__global__ void lennard_jones(const float4* at, const int* neighbours, float4* force, int atoms, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= atoms) return;
  const float4 own = at[i];
  float3 f = {0, 0, 0};
  for (int k = 0; k < most; k++) {
    const float4 other = at[neighbours[k * atoms + i]];
    const float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z, r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < 0.25f) {
      const float r2inv = 1.0f / (r2 + 1e-3f), r6inv = r2inv * r2inv * r2inv;
      const float strength = r2inv * r6inv * (1.5f * r6inv - 2.0f);
      f.x += dx * strength;
      f.y += dy * strength;
      f.z += dz * strength;
    }
  }
  force[i] = {f.x, f.y, f.z, 0};
}

// Two substances that react and diffuse, one step.
__global__ void gray_scott(const float* u, const float* v, float* new_u, float* new_v, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int left = (x + n - 1) % n, right = (x + 1) % n, up = (y + n - 1) % n * n, down = (y + 1) % n * n,
            at = y * n + x;
  const float a = u[at], b = v[at], r = a * b * b;
  const float lu = u[y * n + left] + u[y * n + right] + u[up + x] + u[down + x] - 4.0f * a;
  const float lv = v[y * n + left] + v[y * n + right] + v[up + x] + v[down + x] - 4.0f * b;
  new_u[at] = a + 0.16f * lu - r + 0.035f * (1.0f - a);
  new_v[at] = b + 0.08f * lv + r - 0.1f * b;
}

// The mean over a path of random steps (PCG, Box and Muller), a path per thread.
__device__ unsigned pcg(unsigned& state) {
  state = state * 747796405u + 2891336453u;
  const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return (word >> 22) ^ word;
}
__global__ void asian_option(float* payoff, int steps, float drift, float volatility, float strike) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = i * 9781u + 1u;
  float price = 100.0f, sum = 0;
  for (int k = 0; k < steps; k++) {
    const float u1 = (pcg(state) + 1.0f) * 2.3283064e-10f, u2 = pcg(state) * 2.3283064e-10f;
    price *= __expf(drift + volatility * sqrtf(-2.0f * __logf(u1)) * __cosf(6.2831853f * u2));
    sum += price;
  }
  payoff[i] = fmaxf(sum / steps - strike, 0.0f);
}

// ChaCha20's key stream, a block of 64 bytes per thread.
#define QUARTER(a, b, c, d)                                                                                           \
  a += b, d ^= a, d = d << 16 | d >> 16, c += d, b ^= c, b = b << 12 | b >> 20, a += b, d ^= a, d = d << 8 | d >> 24, \
                  c += d, b ^= c, b = b << 7 | b >> 25
__global__ void chacha20(uint4* out, uint4 key, uint4 key2, unsigned nonce) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a0 = 0x61707865, a1 = 0x3320646e, a2 = 0x79622d32, a3 = 0x6b206574, b0 = key.x, b1 = key.y, b2 = key.z,
           b3 = key.w, c0 = key2.x, c1 = key2.y, c2 = key2.z, c3 = key2.w, d0 = i, d1 = 0, d2 = nonce, d3 = 7;
  for (int round = 0; round < 10; round++) {
    QUARTER(a0, b0, c0, d0);
    QUARTER(a1, b1, c1, d1);
    QUARTER(a2, b2, c2, d2);
    QUARTER(a3, b3, c3, d3);
    QUARTER(a0, b1, c2, d3);
    QUARTER(a1, b2, c3, d0);
    QUARTER(a2, b3, c0, d1);
    QUARTER(a3, b0, c1, d2);
  }
  out[4 * i] = {a0 + 0x61707865, a1 + 0x3320646e, a2 + 0x79622d32, a3 + 0x6b206574};
  out[4 * i + 1] = {b0 + key.x, b1 + key.y, b2 + key.z, b3 + key.w};
  out[4 * i + 2] = {c0 + key2.x, c1 + key2.y, c2 + key2.z, c3 + key2.w};
  out[4 * i + 3] = {d0 + i, d1, d2 + nonce, d3 + 7};
}

// Gauss' elimination of 6 x 6 in the registers of a thread; systems interleaved.
__global__ void solve6(const float* a, const float* b, float* x, int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  float m[6][7];
#pragma unroll
  for (int r = 0; r < 6; r++) {
#pragma unroll
    for (int c = 0; c < 6; c++) m[r][c] = a[(r * 6 + c) * systems + s] + (r == c ? 6.0f : 0.0f);
    m[r][6] = b[r * systems + s];
  }
#pragma unroll
  for (int p = 0; p < 6; p++) {
    const float inverse = 1.0f / m[p][p];
#pragma unroll
    for (int r = p + 1; r < 6; r++) {
      const float factor = m[r][p] * inverse;
#pragma unroll
      for (int c = p + 1; c < 7; c++) m[r][c] -= factor * m[p][c];
    }
  }
#pragma unroll
  for (int p = 5; p >= 0; p--) {
    float v = m[p][6];
#pragma unroll
    for (int c = p + 1; c < 6; c++) v -= m[p][c] * m[c][6];
    m[p][6] = v / m[p][p];
    x[p * systems + s] = m[p][6];
  }
}

// LU factors of matrices of 32 x 32 in shared memory, without pivots; a block of 32 x 8 threads each.
__global__ void lu_small(const float* in, float* out) {
  __shared__ float m[32][33];
  const float* from = in + static_cast<size_t>(blockIdx.x) * 1024;
  for (int r = threadIdx.y; r < 32; r += 8)
    m[r][threadIdx.x] = from[r * 32 + threadIdx.x] + (r == threadIdx.x ? 32.0f : 0.0f);
  __syncthreads();
  for (int p = 0; p < 31; p++) {
    for (int r = p + 1 + threadIdx.y; r < 32; r += 8)
      if (threadIdx.x == p) m[r][p] /= m[p][p];
    __syncthreads();
    for (int r = p + 1 + threadIdx.y; r < 32; r += 8)
      if (threadIdx.x > p) m[r][threadIdx.x] -= m[r][p] * m[p][threadIdx.x];
    __syncthreads();
  }
  for (int r = threadIdx.y; r < 32; r += 8)
    out[static_cast<size_t>(blockIdx.x) * 1024 + r * 32 + threadIdx.x] = m[r][threadIdx.x];
}

// Values by a table that fills most of a multiprocessor's shared memory.
__global__ void quantiles_by_table(const float* table, const float* in, float* out, int entries, int n) {
  extern __shared__ float copy[];
  for (int i = threadIdx.x; i < entries; i += blockDim.x) copy[i] = table[i];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float at = in[i] * (entries - 1);
    const int below = static_cast<int>(at);
    const float part = at - below;
    out[i] = copy[below] + part * (copy[min(below + 1, entries - 1)] - copy[below]);
  }
}

}  // namespace

std::vector<Case> fourth_simulation() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto fours = [](float* p) { return reinterpret_cast<float4*>(p); };
  add(
      "lennard_jones", "simulation", size_t{8} << 19,
      [=](const Buffers& b, cudaStream_t s) {
        lennard_jones<<<128, 128, 0, s>>>(fours(b.in), ints(b.in2), fours(b.out), 16384, 40);
      },
      indices(16384 * 40, 16384));
  add("gray_scott", "simulation", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    gray_scott<<<dim3(32, 128), dim3(32, 8), 0, s>>>(b.in, b.in2, b.out, b.out + (1 << 20), 1024);
  });
  add("asian_option 64", "random", size_t{4} << 16,
      [=](const Buffers& b, cudaStream_t s) { asian_option<<<512, 128, 0, s>>>(b.out, 64, 0.0001f, 0.01f, 100.0f); });
  add("chacha20", "random", size_t{64} << 16, [=](const Buffers& b, cudaStream_t s) {
    chacha20<<<256, 256, 0, s>>>(reinterpret_cast<uint4*>(b.out), uint4{1, 2, 3, 4}, uint4{5, 6, 7, 8}, 9);
  });
  add("solve6", "solvers", size_t{192} << 16,
      [=](const Buffers& b, cudaStream_t s) { solve6<<<512, 128, 0, s>>>(b.in, b.in2, b.out, 1 << 16); });
  for (const int count : {100, 1057})
    add("lu_small " + std::to_string(count), "solvers", size_t{8192} * count,
        [=](const Buffers& b, cudaStream_t s) { lu_small<<<count, dim3(32, 8), 0, s>>>(b.in, b.out); });
  for (const int kib : {16, 96})
    add("quantiles_by_table " + std::to_string(kib), "tables", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
      cudaFuncSetAttribute(quantiles_by_table, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10);
      quantiles_by_table<<<264, 512, kib << 10, s>>>(b.in2, b.in, b.out, kib << 8, 1 << 20);
    });
  return list;
}

}  // namespace calibration
