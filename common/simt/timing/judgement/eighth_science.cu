// Physics, numerics and signals.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// FDTD of two dimensions: the magnetic field from the electric one (PolyBench's third kernel).
__global__ void fdtd_magnetic(const float* ex, const float* ey, float* hz, int w, int h) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < h - 1 && j < w - 1)
    hz[i * w + j] = hz[i * w + j] - 0.7f * (ex[i * w + j + 1] - ex[i * w + j] + ey[(i + 1) * w + j] - ey[i * w + j]);
}

// Charges of particles into the four nearest nodes, in fixed point.
__global__ void deposit_charge(const float2* position, int* grid, int n, int side) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 p = position[i];
  const float x = p.x * (side - 1), y = p.y * (side - 1);
  const int ix = static_cast<int>(x), iy = static_cast<int>(y);
  const float fx = x - ix, fy = y - iy;
  atomicAdd(&grid[iy * side + ix], static_cast<int>((1.0f - fx) * (1.0f - fy) * 4096.0f));
  atomicAdd(&grid[iy * side + ix + 1], static_cast<int>(fx * (1.0f - fy) * 4096.0f));
  atomicAdd(&grid[(iy + 1) * side + ix], static_cast<int>((1.0f - fx) * fy * 4096.0f));
  atomicAdd(&grid[(iy + 1) * side + ix + 1], static_cast<int>(fx * fy * 4096.0f));
}

// Densities of smoothed particles, over tiles of all others.
__global__ void sph_density(const float4* particles, float* density, int n, float radius) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 own = particles[i];
  const float r2 = radius * radius;
  float sum = 0.0f;
  for (int base = 0; base < n; base += 128) {
    tile[threadIdx.x] = particles[base + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      const float dx = own.x - tile[j].x, dy = own.y - tile[j].y, dz = own.z - tile[j].z;
      const float d2 = dx * dx + dy * dy + dz * dz;
      if (d2 < r2) {
        const float t = r2 - d2;
        sum += tile[j].w * t * t * t;
      }
    }
    __syncthreads();
  }
  density[i] = 315.0f / (64.0f * 3.14159265f * powf(radius, 9.0f)) * sum;
}

// Kepler's equation by eight of Newton's steps.
__global__ void kepler(const float* anomaly, const float* eccentricity, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float m = anomaly[i] * 6.2831853f, e = 0.9f * eccentricity[i];
  float x = m;
  for (int k = 0; k < 8; k++) x -= (x - e * sinf(x) - m) / (1.0f - e * cosf(x));
  out[i] = x;
}

// A multigrid's restriction by full weights in three dimensions.
__global__ void restrict_full(const float* fine, float* coarse, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  const int half = n / 2;
  if (x < 1 || y < 1 || z < 1 || x >= half - 1 || y >= half - 1 || z >= half - 1) return;
  float sum = 0.0f;
  for (int dz = -1; dz <= 1; dz++) {
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const float weight = 1.0f / (8 << (abs(dx) + abs(dy) + abs(dz)));
        sum += weight * fine[((2 * z + dz) * n + 2 * y + dy) * n + 2 * x + dx];
      }
    }
  }
  coarse[(z * half + y) * half + x] = sum;
}

// A product of a sparse matrix in coordinates: sums of equal rows within the warp, then atomics on integers.
__global__ void spmv_coo(const int* rows, const int* columns, const int* values, const int* x, int* y, int nonzeros) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const int row = i < nonzeros ? rows[i] : -1;
  int v = i < nonzeros ? (values[i] & 255) * x[columns[i] & 65535] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(0xffffffff, v, d), its_row = __shfl_up_sync(0xffffffff, row, d);
    if (lane >= d && its_row == row) v += other;
  }
  const int next = __shfl_down_sync(0xffffffff, row, 1);
  if (row >= 0 && (lane == 31 || next != row)) atomicAdd(&y[row], v);
}

// Polar decomposition of matrices of 2 x 2, a thread each: the rotation that is nearest.
__global__ void polar2(const float4* in, float2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 m = in[i];
  const float x = m.x + m.w, y = m.z - m.y, d = rsqrtf(x * x + y * y + 1e-20f);
  out[i] = make_float2(x * d, y * d);
}

// Implied volatility by Newton's method.
__global__ void implied_volatility(const float* price, const float* strike, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = 1.0f, k = 0.8f + 0.4f * strike[i], target = 0.05f + 0.2f * price[i];
  float v = 0.3f;
  for (int round = 0; round < 6; round++) {
    const float d1 = logf(s / k) / v + 0.5f * v, d2 = d1 - v;
    const float value = s * 0.5f * erfcf(-d1 * 0.70710678f) - k * 0.5f * erfcf(-d2 * 0.70710678f);
    const float vega = s * 0.39894228f * expf(-0.5f * d1 * d1);
    v -= (value - target) / fmaxf(vega, 1e-4f);
    v = fminf(fmaxf(v, 0.01f), 3.0f);
  }
  out[i] = v;
}

// Goertzel's filter: one frequency per thread over a signal that all read.
__global__ void goertzel(const float* signal, float* power, int length, int frequencies) {
  const int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= frequencies) return;
  const float c = 2.0f * cosf(6.2831853f * f / length);
  const float* x = signal + static_cast<size_t>(blockIdx.y) * length;
  float s1 = 0.0f, s2 = 0.0f;
  for (int i = 0; i < length; i++) {
    const float s = x[i] + c * s1 - s2;
    s2 = s1;
    s1 = s;
  }
  power[blockIdx.y * frequencies + f] = s1 * s1 + s2 * s2 - c * s1 * s2;
}

// Autocorrelation of rows, a block per row and all lags from shared memory.
__global__ void autocorrelation(const float* in, float* out, int n, int lags) {
  extern __shared__ float x[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = in[blockIdx.x * n + i];
  __syncthreads();
  for (int lag = threadIdx.x; lag < lags; lag += blockDim.x) {
    float sum = 0.0f;
    for (int i = 0; i < n - lag; i++) sum += x[i] * x[i + lag];
    out[blockIdx.x * lags + lag] = sum;
  }
}

// Three samples from two by a polyphase filter of 24 taps each.
template <int taps>
__global__ void resample3to2(const float* __restrict__ in, const float* __restrict__ filter, float* __restrict__ out,
                             int n) {
  __shared__ float bank[3][taps];
  if (threadIdx.x < 3 * taps) bank[threadIdx.x / taps][threadIdx.x % taps] = filter[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int phase = i * 2 % 3, at = i * 2 / 3;
  float sum = 0.0f;
#pragma unroll
  for (int t = 0; t < taps; t++) sum += in[at + t] * bank[phase][t];
  out[i] = sum;
}

// One step of Jacobi's method for a dense system, a block per row.
__global__ void jacobi_dense(const float* a, const float* b, const float* x, float* next, int n) {
  __shared__ float part[4];
  const int row = blockIdx.x;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < n; j += blockDim.x)
    if (j != row) sum += a[static_cast<size_t>(row) * n + j] * x[j];
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    next[row] = (b[row] - part[0] - part[1] - part[2] - part[3]) / (a[static_cast<size_t>(row) * n + row] + n);
}

// Rows of a sparse matrix of 1 to 24 elements each, in order.
void sorted_rows(const Buffers& b) {
  std::vector<int> rows(1 << 20);
  unsigned state = 7;
  int row = 0, left = 12;
  for (int& r : rows) {
    r = row;
    if (--left > 0) continue;
    row++;
    left = 1 + static_cast<int>((state = state * 1664525u + 1013904223u) >> 8) % 24;
  }
  cudaMemcpy(b.in2, rows.data(), rows.size() * 4, cudaMemcpyHostToDevice);
}

}  // namespace

std::vector<Case> eighth_science() {
  std::vector<Case> list;
  const Add add = {list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  add("fdtd_magnetic", "fields", size_t{16} << 21, [=](const Buffers& b, cudaStream_t s) {
    fdtd_magnetic<<<dim3(64, 128), dim3(32, 8), 0, s>>>(b.in, b.in2, b.out, 2048, 1024);
  });
  add("deposit_charge", "fields", size_t{12} << 18, [=](const Buffers& b, cudaStream_t s) {
    deposit_charge<<<1024, 256, 0, s>>>(reinterpret_cast<float2*>(b.in), ints(b.out), 1 << 18, 512);
  });
  add("sph_density 8192", "particles, more", size_t{20} << 13, [=](const Buffers& b, cudaStream_t s) {
    sph_density<<<64, 128, 0, s>>>(reinterpret_cast<float4*>(b.in), b.out, 8192, 0.1f);
  });
  add("kepler", "roots of equations", size_t{12} << 20,
      [=](const Buffers& b, cudaStream_t s) { kepler<<<4096, 256, 0, s>>>(b.in, b.in2, b.out, 1 << 20); });
  add("implied_volatility", "roots of equations", size_t{12} << 19,
      [=](const Buffers& b, cudaStream_t s) { implied_volatility<<<2048, 256, 0, s>>>(b.in, b.in2, b.out, 1 << 19); });
  add("restrict_full 256", "grids of grids", size_t{72} << 20, [=](const Buffers& b, cudaStream_t s) {
    restrict_full<<<dim3(4, 16, 128), dim3(32, 8), 0, s>>>(b.in, b.out, 256);
  });
  add(
      "spmv_coo", "sparse, more", size_t{12} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        spmv_coo<<<4096, 256, 0, s>>>(ints(b.in2), ints(b.in), ints(b.in) + (1 << 20), ints(b.in2) + (1 << 20),
                                      ints(b.out), 1 << 20);
      },
      sorted_rows);
  add("polar2", "small matrices, more", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    polar2<<<8192, 128, 0, s>>>(reinterpret_cast<float4*>(b.in), reinterpret_cast<float2*>(b.out), 1 << 20);
  });
  add("goertzel 1024", "spectra", size_t{4} * 64 * 1024,
      [=](const Buffers& b, cudaStream_t s) { goertzel<<<dim3(4, 64), 128, 0, s>>>(b.in, b.out, 1024, 512); });
  add("autocorrelation 1024", "spectra", size_t{4} * 512 * 1280,
      [=](const Buffers& b, cudaStream_t s) { autocorrelation<<<512, 256, 4096, s>>>(b.in, b.out, 1024, 256); });
  add("resample3to2", "filters of signals", size_t{7} << 20,
      [=](const Buffers& b, cudaStream_t s) { resample3to2<24><<<4096, 256, 0, s>>>(b.in, b.in2, b.out, 1 << 20); });
  add("jacobi_dense 4096", "systems", size_t{4} << 24, [=](const Buffers& b, cudaStream_t s) {
    jacobi_dense<<<4096, 128, 0, s>>>(b.in, b.in2, b.in2 + 4096, b.out, 4096);
  });
  return list;
}

}  // namespace calibration
