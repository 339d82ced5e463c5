// Benchmarks of science and pictures: double precision, random walks, transforms, stencils, scans, few
// blocks.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Bodies in double precision; a tile of them in shared memory.
__global__ void bodies_f64(const double4* bodies, double4* accelerations, int n) {
  __shared__ double4 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double4 own = bodies[i];
  double ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 128) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      const double dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
      const double r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3), w = tile[j].w * r * r * r;
      ax += dx * w;
      ay += dy * w;
      az += dz * w;
    }
    __syncthreads();
  }
  accelerations[i] = make_double4(ax, ay, az, 0);
}

// Points of a fractal: the Mandelbrot set in double, the burning ship in float, basins of Newton's method.
__global__ void mandelbrot_f64(int* out, int w, int h, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const double cx = -2.2 + 3.0 * x / w, cy = -1.5 + 3.0 * y / h;
  double zx = 0, zy = 0;
  int i = 0;
  while (i < limit && zx * zx + zy * zy < 4.0) {
    const double t = zx * zx - zy * zy + cx;
    zy = 2.0 * zx * zy + cy;
    zx = t;
    i++;
  }
  out[y * w + x] = i;
}
__global__ void burning_ship(int* out, int w, int h, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float cx = -2.2f + 3.0f * x / w, cy = -2.0f + 3.0f * y / h;
  float zx = 0, zy = 0;
  int i;
  for (i = 0; i < limit; i++) {
    const float xx = zx * zx, yy = zy * zy;
    if (xx + yy > 4.0f) break;
    zy = fabsf(2.0f * zx * zy) + cy;
    zx = xx - yy + cx;
  }
  out[y * w + x] = i;
}
__global__ void newton_basins(float* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float zx = -1.5f + 3.0f * x / w, zy = -1.5f + 3.0f * y / h;
  int i = 0;
  for (; i < 40; i++) {
    const float x2 = zx * zx - zy * zy, y2 = 2 * zx * zy, x3 = x2 * zx - y2 * zy - 1, y3 = x2 * zy + y2 * zx;
    const float down = 3 * (x2 * x2 + y2 * y2) + 1e-12f;
    const float dx = (x3 * x2 + y3 * y2) / down, dy = (y3 * x2 - x3 * y2) / down;
    zx -= dx;
    zy -= dy;
    if (dx * dx + dy * dy < 1e-10f) break;
  }
  out[y * w + x] = i + atan2f(zy, zx);
}

// Paths of a stochastic volatility, in double.
__global__ void heston_paths(double* payoffs, int steps, double dt, unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long state = seed ^ i * 0x9e3779b97f4a7c15ull;
  const auto uniform = [&] {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return ((state * 2685821657736338717ull >> 11) + 0.5) * (1.0 / 9007199254740992.0);
  };
  double price = 100.0, variance = 0.04;
  for (int s = 0; s < steps; s++) {
    const double r = sqrt(-2.0 * log(uniform())), angle = 6.283185307179586 * uniform();
    const double z1 = r * cos(angle), z2 = -0.7 * z1 + 0.714142842854285 * r * sin(angle);
    const double v = fmax(variance, 0.0), root = sqrt(v * dt);
    price *= exp((0.02 - 0.5 * v) * dt + root * z1);
    variance += 1.5 * (0.04 - v) * dt + 0.3 * root * z2;
  }
  payoffs[i] = fmax(price - 100.0, 0.0);
}

// A step of Stockham's transform with radix 2 or 4, in global memory.
template <int radix>
__global__ void fft_step(const float2* in, float2* out, int n, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, part = n / radix;
  if (i >= part) return;
  const int k = i & (stride - 1), to = (i - k) * radix + k;
  const float angle = -6.2831853f * k / (radix * stride);
  float2 v[radix];
#pragma unroll
  for (int j = 0; j < radix; j++) {
    const float2 x = in[i + j * part];
    float s, c;
    __sincosf(angle * j, &s, &c);
    v[j] = make_float2(x.x * c - x.y * s, x.x * s + x.y * c);
  }
  if constexpr (radix == 2) {
    out[to] = make_float2(v[0].x + v[1].x, v[0].y + v[1].y);
    out[to + stride] = make_float2(v[0].x - v[1].x, v[0].y - v[1].y);
  } else {
    const float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    const float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    out[to] = make_float2(a.x + c.x, a.y + c.y);
    out[to + stride] = make_float2(b.x + d.x, b.y + d.y);
    out[to + 2 * stride] = make_float2(a.x - c.x, a.y - c.y);
    out[to + 3 * stride] = make_float2(b.x - d.x, b.y - d.y);
  }
}

// A wave's step, eighth order in space: each thread for itself, or the rows of a tile in shared memory.
__device__ __constant__ const float wave[5] = {-2.8472222f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};
__global__ void wave_order8(const float* now, float* before, int w, int h, float c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 4 || y < 4 || x >= w - 4 || y >= h - 4) return;
  const int i = y * w + x;
  float sum = 2 * wave[0] * now[i];
#pragma unroll
  for (int k = 1; k <= 4; k++) sum += wave[k] * (now[i - k] + now[i + k] + now[i - k * w] + now[i + k * w]);
  before[i] = 2 * now[i] - before[i] + c * sum;
}
__global__ void wave_order8_tile(const float* now, float* before, int w, int h, float c) {
  __shared__ float tile[16 + 8][32 + 8];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 24 * 40; i += 512) {
    const int x = min(max(x0 + i % 40 - 4, 0), w - 1), y = min(max(y0 + i / 40 - 4, 0), h - 1);
    tile[i / 40][i % 40] = now[y * w + x];
  }
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y, tx = threadIdx.x + 4, ty = threadIdx.y + 4;
  if (x < 4 || y < 4 || x >= w - 4 || y >= h - 4) return;
  float sum = 2 * wave[0] * tile[ty][tx];
#pragma unroll
  for (int k = 1; k <= 4; k++)
    sum += wave[k] * (tile[ty][tx - k] + tile[ty][tx + k] + tile[ty - k][tx] + tile[ty + k][tx]);
  before[y * w + x] = 2 * tile[ty][tx] - before[y * w + x] + c * sum;
}

// Heat with power in tiles of 16 x 16, two steps per launch.
__global__ void hotspot(const float* temperature, const float* power, float* out, int w, int h) {
  __shared__ float t[2][16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 12 + tx - 2, y = blockIdx.y * 12 + ty - 2;
  const bool valid = x >= 0 && y >= 0 && x < w && y < h;
  float p = 0;
  t[0][ty][tx] = valid ? temperature[y * w + x] : 80.0f;
  if (valid) p = power[y * w + x];
  __syncthreads();
  for (int step = 0; step < 2; step++) {
    const int n = max(ty - 1, 0), s = min(ty + 1, 15), l = max(tx - 1, 0), r = min(tx + 1, 15);
    const float c = t[step][ty][tx];
    const float next = c + 0.1f * (p + (t[step][n][tx] + t[step][s][tx] - 2 * c) * 0.3f +
                                   (t[step][ty][l] + t[step][ty][r] - 2 * c) * 0.3f + (80.0f - c) * 0.01f);
    __syncthreads();
    t[step ^ 1][ty][tx] = next;
    __syncthreads();
  }
  if (valid && tx >= 2 && ty >= 2 && tx < 14 && ty < 14) out[y * w + x] = t[0][ty][tx];
}

// Sums and scans that fill little of a GPU, or end at one address.
__global__ void sum_f64(const double* in, double* out, int n) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void scan_one_block(const int* in, int* out, int n) {
  __shared__ int sums[1024];
  int carry = 0;
  for (int first = 0; first < n; first += 1024) {
    const int own = in[first + threadIdx.x];
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int d = 1; d < 1024; d <<= 1) {
      const int other = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    out[first + threadIdx.x] = carry + sums[threadIdx.x];
    carry += sums[1023];
    __syncthreads();
  }
}

// Running sums of a box along rows and along columns; hue, saturation and value.
__global__ void box_rows(const float* in, float* out, int w, int h, int r) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= h) return;
  float sum = 0;
  for (int x = -r; x < w; x++) {
    if (x + r < w) sum += in[y * w + x + r];
    if (x - r - 1 >= 0) sum -= in[y * w + x - r - 1];
    if (x >= 0) out[y * w + x] = sum / (2 * r + 1);
  }
}
__global__ void box_columns(const float* in, float* out, int w, int h, int r) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  float sum = 0;
  for (int y = -r; y < h; y++) {
    if (y + r < h) sum += in[(y + r) * w + x];
    if (y - r - 1 >= 0) sum -= in[(y - r - 1) * w + x];
    if (y >= 0) out[y * w + x] = sum / (2 * r + 1);
  }
}
__global__ void rgb_to_hsv(const uchar4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uchar4 p = in[i];
  const float r = p.x / 255.0f, g = p.y / 255.0f, b = p.z / 255.0f;
  const float v = fmaxf(r, fmaxf(g, b)), c = v - fminf(r, fminf(g, b));
  float hue = 0;
  if (c > 0) {
    if (v == r)
      hue = fmodf((g - b) / c, 6.0f);
    else if (v == g)
      hue = (b - r) / c + 2;
    else
      hue = (r - g) / c + 4;
    hue *= 60;
    if (hue < 0) hue += 360;
  }
  out[i] = make_float4(hue, v > 0 ? c / v : 0, v, p.w);
}

}  // namespace

std::vector<Case> ninth_science() {
  std::vector<Case> list;
  const Add add = {list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto pairs = [](float* p) { return reinterpret_cast<float2*>(p); };
  const auto doubles = [](float* p) { return reinterpret_cast<double*>(p); };
  constexpr size_t m = size_t{1} << 20;
  add("bodies_f64", "double precision", m / 2, [=](const Buffers& b, cudaStream_t s) {
    bodies_f64<<<32, 128, 0, s>>>(reinterpret_cast<double4*>(b.in), reinterpret_cast<double4*>(b.out), 4096);
  });
  add("heston_paths", "double precision", m / 2,
      [=](const Buffers& b, cudaStream_t s) { heston_paths<<<256, 128, 0, s>>>(doubles(b.out), 16, 1.0 / 16, 2026); });
  add("mandelbrot_f64", "fractals, more", m, [=](const Buffers& b, cudaStream_t s) {
    mandelbrot_f64<<<dim3(32, 32), dim3(16, 16), 0, s>>>(ints(b.out), 512, 512, 128);
  });
  add("burning_ship", "fractals, more", m, [=](const Buffers& b, cudaStream_t s) {
    burning_ship<<<dim3(16, 64), dim3(32, 8), 0, s>>>(ints(b.out), 512, 512, 128);
  });
  add("newton_basins", "fractals, more", m,
      [=](const Buffers& b, cudaStream_t s) { newton_basins<<<dim3(16, 64), dim3(32, 8), 0, s>>>(b.out, 512, 512); });
  add("fft_step 2", "fft_step", 16 * m, [=](const Buffers& b, cudaStream_t s) {
    fft_step<2><<<2048, 256, 0, s>>>(pairs(b.in), pairs(b.out), 1 << 20, 64);
  });
  add("fft_step 4", "fft_step", 16 * m, [=](const Buffers& b, cudaStream_t s) {
    fft_step<4><<<1024, 256, 0, s>>>(pairs(b.in), pairs(b.out), 1 << 20, 64);
  });
  add("wave_order8", "stencils, more", 12 * m, [=](const Buffers& b, cudaStream_t s) {
    wave_order8<<<dim3(32, 64), dim3(32, 16), 0, s>>>(b.in, b.out, 1024, 1024, 0.1f);
  });
  add("wave_order8_tile", "stencils, more", 12 * m, [=](const Buffers& b, cudaStream_t s) {
    wave_order8_tile<<<dim3(32, 64), dim3(32, 16), 0, s>>>(b.in, b.out, 1024, 1024, 0.1f);
  });
  add("hotspot", "stencils, more", 12 * m, [=](const Buffers& b, cudaStream_t s) {
    hotspot<<<dim3(86, 86), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 1024, 1024);
  });
  add("sum_f64 132", "sums of doubles", 16 * m,
      [=](const Buffers& b, cudaStream_t s) { sum_f64<<<132, 256, 0, s>>>(doubles(b.in), doubles(b.out), 1 << 21); });
  add("sum_f64 1056", "sums of doubles", 16 * m,
      [=](const Buffers& b, cudaStream_t s) { sum_f64<<<1056, 256, 0, s>>>(doubles(b.in), doubles(b.out), 1 << 21); });
  for (const int n : {8192, 65536})
    add("scan_one_block " + std::to_string(n), "scan_one_block", size_t{8} * n,
        [=](const Buffers& b, cudaStream_t s) { scan_one_block<<<1, 1024, 0, s>>>(ints(b.in), ints(b.out), n); });
  add("box_rows", "running sums", 8 * m,
      [=](const Buffers& b, cudaStream_t s) { box_rows<<<16, 64, 0, s>>>(b.in, b.out, 1024, 1024, 5); });
  add("box_columns", "running sums", 8 * m,
      [=](const Buffers& b, cudaStream_t s) { box_columns<<<16, 64, 0, s>>>(b.in, b.out, 1024, 1024, 5); });
  add("rgb_to_hsv", "colours", 20 * m, [=](const Buffers& b, cudaStream_t s) {
    rgb_to_hsv<<<4096, 256, 0, s>>>(reinterpret_cast<uchar4*>(b.in), reinterpret_cast<float4*>(b.out), 1 << 20);
  });
  return list;
}

}  // namespace calibration
