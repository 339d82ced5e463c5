// Small methods of numerics.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Four stages of Runge and Kutta for Lorenz's equations, a thread per start.
__global__ void lorenz(float* state, int n, int steps, float h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = state[i], y = state[n + i], z = state[2 * n + i];
  for (int s = 0; s < steps; s++) {
    float dx = 0.0f, dy = 0.0f, dz = 0.0f, px = x, py = y, pz = z;
#pragma unroll
    for (int stage = 0; stage < 4; stage++) {
      const float kx = 10.0f * (py - px), ky = px * (28.0f - pz) - py, kz = px * py - 2.6666667f * pz;
      const float weight = stage == 1 || stage == 2 ? 2.0f : 1.0f, step = stage == 2 ? h : 0.5f * h;
      dx += weight * kx;
      dy += weight * ky;
      dz += weight * kz;
      px = x + step * kx;
      py = y + step * ky;
      pz = z + step * kz;
    }
    x += h / 6.0f * dx;
    y += h / 6.0f * dy;
    z += h / 6.0f * dz;
  }
  state[i] = x;
  state[n + i] = y;
  state[2 * n + i] = z;
}

// The area below a curve by trapezes.
__global__ void trapezoid(float* out, int n, float a, float h) {
  __shared__ float part[256];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float x = a + i * h;
    sum += sinf(x) * expf(-x * 0.1f);
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0] * h);
}

// Normal numbers of Box and Muller.
__global__ void box_muller(float2* out, int n, unsigned seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned s = seed ^ (i * 2654435761u);
  s ^= s << 13;
  s ^= s >> 17;
  s ^= s << 5;
  const float u = (s + 1.0f) * 2.3283064e-10f;
  s ^= s << 13;
  s ^= s >> 17;
  s ^= s << 5;
  const float v = s * 2.3283064e-10f, r = sqrtf(-2.0f * logf(u));
  out[i] = make_float2(r * cosf(6.2831853f * v), r * sinf(6.2831853f * v));
}

// Heat along a line: each block steps its piece in shared memory, and its borders do not move.
__global__ void heat_line(const float* in, float* out, int steps) {
  __shared__ float u[2][258];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  u[0][t + 1] = in[i];
  if (t == 0) u[0][0] = u[1][0] = in[max(i - 1, 0)];
  if (t == 255) u[0][257] = u[1][257] = in[i + 1];
  __syncthreads();
  int now = 0;
  for (int s = 0; s < steps; s++) {
    u[1 - now][t + 1] = u[now][t + 1] + 0.2f * (u[now][t] - 2.0f * u[now][t + 1] + u[now][t + 2]);
    now = 1 - now;
    __syncthreads();
  }
  out[i] = u[now][t + 1];
}

// Each number of a row goes where as many are below it.
__global__ void rank_sort(const float* in, float* out, int n) {
  extern __shared__ float row[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = in[static_cast<size_t>(blockIdx.x) * n + i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int rank = 0;
    for (int j = 0; j < n; j++) rank += row[j] < row[i] || (row[j] == row[i] && j < i);
    out[static_cast<size_t>(blockIdx.x) * n + rank] = row[i];
  }
}

__global__ void sliding_maximum(const float* in, float* out, int n, int window) {
  extern __shared__ float tile[];
  const int base = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < blockDim.x + window; i += blockDim.x) tile[i] = base + i < n ? in[base + i] : -INFINITY;
  __syncthreads();
  float most = -INFINITY;
  for (int w = 0; w < window; w++) most = fmaxf(most, tile[threadIdx.x + w]);
  if (base + threadIdx.x < n) out[base + threadIdx.x] = most;
}

// Values at points between the corners of a grid of 64 x 64 x 64.
__global__ void trilinear(const float* volume, const float* points, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = points[3 * i] * 62.0f, y = points[3 * i + 1] * 62.0f, z = points[3 * i + 2] * 62.0f;
  const int x0 = static_cast<int>(floorf(x)), y0 = static_cast<int>(floorf(y)), z0 = static_cast<int>(floorf(z));
  const float fx = x - x0, fy = y - y0, fz = z - z0;
  const auto at = [&](int a, int b, int c) { return volume[((z0 + c) * 64 + y0 + b) * 64 + x0 + a]; };
  const float c00 = at(0, 0, 0) * (1 - fx) + at(1, 0, 0) * fx, c10 = at(0, 1, 0) * (1 - fx) + at(1, 1, 0) * fx;
  const float c01 = at(0, 0, 1) * (1 - fx) + at(1, 0, 1) * fx, c11 = at(0, 1, 1) * (1 - fx) + at(1, 1, 1) * fx;
  out[i] = (c00 * (1 - fy) + c10 * fy) * (1 - fz) + (c01 * (1 - fy) + c11 * fy) * fz;
}

__global__ void pairwise_distance(const float* a, const float* b, float* out, int n, int m, int d) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= m) return;
  float sum = 0.0f;
  for (int k = 0; k < d; k++) {
    const float diff = a[i * d + k] - b[j * d + k];
    sum += diff * diff;
  }
  out[i * m + j] = sqrtf(sum);
}

__global__ void outer_product(const float* a, const float* b, float* out, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n) out[static_cast<size_t>(i) * n + j] = a[i] * b[j];
}

// Power spectra: products of complex numbers and their squares.
__global__ void spectrum(const float2* a, const float2* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 p = a[i], q = b[i];
  const float re = p.x * q.x + p.y * q.y, im = p.y * q.x - p.x * q.y;
  out[i] = hypotf(re, im);
}

// Counts of bytes, by the lanes of a warp that have the same one.
__global__ void histogram_matched(const unsigned char* in, int* bins, int n) {
  __shared__ int local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const int value = in[i];
    const unsigned same = __match_any_sync(0xffffffff, value);
    if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&local[value], __popc(same));
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

}  // namespace

std::vector<Case> sixth_numerics() {
  std::vector<Case> list;
  const Add add{list};
  add("lorenz", "steps in time", size_t{12} << 16,
      [=](const Buffers& b, cudaStream_t s) { lorenz<<<256, 256, 0, s>>>(b.out, 1 << 16, 100, 0.01f); });
  add("heat_line", "steps in time", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { heat_line<<<4095, 256, 0, s>>>(b.in, b.out, 64); });
  add("trapezoid", "functions", size_t{1} << 12,
      [=](const Buffers& b, cudaStream_t s) { trapezoid<<<528, 256, 0, s>>>(b.out, 1 << 22, 0.0f, 1e-5f); });
  add("box_muller", "functions", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    box_muller<<<8192, 256, 0, s>>>(reinterpret_cast<float2*>(b.out), 1 << 21, 12345u);
  });
  add("rank_sort 256", "sorting", size_t{8} << 18,
      [=](const Buffers& b, cudaStream_t s) { rank_sort<<<1024, 256, 1024, s>>>(b.in, b.out, 256); });
  add("rank_sort 1024", "sorting", size_t{8} << 18,
      [=](const Buffers& b, cudaStream_t s) { rank_sort<<<256, 256, 4096, s>>>(b.in, b.out, 1024); });
  add("sliding_maximum 32", "windows", size_t{8} << 21,
      [=](const Buffers& b, cudaStream_t s) { sliding_maximum<<<8192, 256, 1152, s>>>(b.in, b.out, 1 << 21, 32); });
  add(
      "trilinear", "samples of volumes", size_t{16} << 18,
      [=](const Buffers& b, cudaStream_t s) { trilinear<<<1024, 256, 0, s>>>(b.in2, b.in, b.out, 1 << 18); },
      [](const Buffers& b) { cudaMemcpy(b.in2, b.in, 4 << 18, cudaMemcpyDeviceToDevice); });
  add("pairwise_distance", "all pairs", size_t{4} * (2 * 65536 + (1 << 20)), [=](const Buffers& b, cudaStream_t s) {
    pairwise_distance<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 1024, 1024, 64);
  });
  add("outer_product", "products", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) { outer_product<<<dim3(8, 2048), 256, 0, s>>>(b.in, b.in2, b.out, 2048); });
  add("spectrum", "complex numbers", size_t{20} << 20, [=](const Buffers& b, cudaStream_t s) {
    spectrum<<<4096, 256, 0, s>>>(reinterpret_cast<float2*>(b.in), reinterpret_cast<float2*>(b.in2), b.out, 1 << 20);
  });
  add("histogram_matched", "histograms", size_t{1} << 23, [=](const Buffers& b, cudaStream_t s) {
    histogram_matched<<<264, 256, 0, s>>>(reinterpret_cast<unsigned char*>(b.in), b.counters, 1 << 23);
  });
  return list;
}

}  // namespace calibration
