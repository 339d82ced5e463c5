// Geometry, physics, coding, statistics, cryptography: none of them in the first set or the calibration.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Velocity Verlet of particles in a box with walls, one step.
__global__ void particles(float4* position, float4* velocity, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = position[i], v = velocity[i];
  v.y -= 9.81f * dt;
  p.x += v.x * dt;
  p.y += v.y * dt;
  p.z += v.z * dt;
  if (p.x < 0 || p.x > 1) v.x = -v.x;
  if (p.y < 0 || p.y > 1) v.y = -v.y * 0.8f;
  if (p.z < 0 || p.z > 1) v.z = -v.z;
  position[i] = p;
  velocity[i] = v;
}

// The nearest of some spheres that a ray through the pixel hits, with a shade.
__global__ void ray_spheres(const float4* spheres, int count, float* image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float ox = (float)x / width, oy = (float)y / height, nearest = -1e20f, shade = 0;
  for (int s = 0; s < count; s++) {
    float4 ball = spheres[s];
    float dx = ox - ball.x, dy = oy - ball.y, r = 0.1f * ball.w;
    if (dx * dx + dy * dy < r * r) {
      float dz = sqrtf(r * r - dx * dx - dy * dy);
      if (dz + ball.z > nearest) {
        nearest = dz + ball.z;
        shade = dz / r;
      }
    }
  }
  image[y * width + x] = shade;
}

// Which points lie in a polygon (crossing number).
__global__ void in_polygon(const float2* points, const float2* corners, int* inside, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 p = points[i];
  int c = 0;
  for (int a = 0, b = count - 1; a < count; b = a++) {
    if ((corners[a].y > p.y) != (corners[b].y > p.y) &&
        p.x < (corners[b].x - corners[a].x) * (p.y - corners[a].y) / (corners[b].y - corners[a].y) + corners[a].x)
      c = !c;
  }
  inside[i] = c;
}

// Great-circle distances.
__global__ void haversine(const float2* from, const float2* to, float* km, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 a = from[i], b = to[i];
  float s1 = sinf((b.x - a.x) * 0.5f), s2 = sinf((b.y - a.y) * 0.5f);
  float h = s1 * s1 + cosf(a.x) * cosf(b.x) * s2 * s2;
  km[i] = 2.0f * 6371.0f * asinf(sqrtf(h));
}

// Lattice Boltzmann's collision, D2Q9 with arrays by direction.
__global__ void collide(float* f, int cells, float omega) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  const float w0 = 4.0f / 9, w1 = 1.0f / 9, w2 = 1.0f / 36;
  float f0 = f[i], f1 = f[i + cells], f2 = f[i + 2 * cells], f3 = f[i + 3 * cells], f4 = f[i + 4 * cells],
        f5 = f[i + 5 * cells], f6 = f[i + 6 * cells], f7 = f[i + 7 * cells], f8 = f[i + 8 * cells];
  float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
  float ux = (f1 - f3 + f5 - f6 - f7 + f8) / rho, uy = (f2 - f4 + f5 + f6 - f7 - f8) / rho;
  float u2 = 1.5f * (ux * ux + uy * uy);
  f[i] = f0 + omega * (w0 * rho * (1 - u2) - f0);
  f[i + cells] = f1 + omega * (w1 * rho * (1 + 3 * ux + 4.5f * ux * ux - u2) - f1);
  f[i + 2 * cells] = f2 + omega * (w1 * rho * (1 + 3 * uy + 4.5f * uy * uy - u2) - f2);
  f[i + 3 * cells] = f3 + omega * (w1 * rho * (1 - 3 * ux + 4.5f * ux * ux - u2) - f3);
  f[i + 4 * cells] = f4 + omega * (w1 * rho * (1 - 3 * uy + 4.5f * uy * uy - u2) - f4);
  float a = ux + uy, b = uy - ux;
  f[i + 5 * cells] = f5 + omega * (w2 * rho * (1 + 3 * a + 4.5f * a * a - u2) - f5);
  f[i + 6 * cells] = f6 + omega * (w2 * rho * (1 + 3 * b + 4.5f * b * b - u2) - f6);
  f[i + 7 * cells] = f7 + omega * (w2 * rho * (1 - 3 * a + 4.5f * a * a - u2) - f7);
  f[i + 8 * cells] = f8 + omega * (w2 * rho * (1 - 3 * b + 4.5f * b * b - u2) - f8);
}

// Shallow water: fluxes on a grid with global loads.
__global__ void flux(const float* h, const float* u, float* out, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || i >= nx - 1 || j >= ny) return;
  int at = j * nx + i;
  float hl = 0.5f * (h[at - 1] + h[at]), hr = 0.5f * (h[at] + h[at + 1]);
  float cl = sqrtf(9.81f * hl), cr = sqrtf(9.81f * hr);
  out[at] = hr * u[at] - hl * u[at - 1] + 0.5f * (cr * (h[at + 1] - h[at]) - cl * (h[at] - h[at - 1]));
}

// Binomial tree of an option, one block each, the tree in shared memory.
__global__ void binomial_tree(const float* spot, float* price, int steps) {
  __shared__ float value[257];
  int t = threadIdx.x;
  float s = 80.0f + 40.0f * spot[blockIdx.x], u = 1.01f, d = 1.0f / u, p = 0.52f;
  value[t] = fmaxf(s * powf(u, 2.0f * t - steps) - 100.0f, 0.0f);
  __syncthreads();
  for (int k = steps; k > 0; k--) {
    float next = 0;
    if (t < k) next = 0.9999f * (p * value[t + 1] + (1 - p) * value[t]);
    __syncthreads();
    if (t < k) value[t] = next;
    __syncthreads();
  }
  if (t == 0) price[blockIdx.x] = value[0] + d;
}

// XTEA, 32 rounds per block of 8 bytes.
__global__ void xtea(uint2* data, unsigned k0, unsigned k1, unsigned k2, unsigned k3, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint2 v = data[i];
  unsigned sum = 0, delta = 0x9E3779B9u;
  for (int r = 0; r < 32; r++) {
    unsigned key = (sum & 3) == 0 ? k0 : (sum & 3) == 1 ? k1 : (sum & 3) == 2 ? k2 : k3;
    v.x += (((v.y << 4) ^ (v.y >> 5)) + v.y) ^ (sum + key);
    sum += delta;
    unsigned other = ((sum >> 11) & 3) == 0 ? k0 : ((sum >> 11) & 3) == 1 ? k1 : ((sum >> 11) & 3) == 2 ? k2 : k3;
    v.y += (((v.x << 4) ^ (v.x >> 5)) + v.x) ^ (sum + other);
  }
  data[i] = v;
}

// FNV-1a of strings of 32 bytes.
__global__ void fnv(const unsigned char* text, unsigned* hash, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = 2166136261u;
  for (int k = 0; k < 32; k++) h = (h ^ text[i * 32 + k]) * 16777619u;
  hash[i] = h;
}

__global__ void rgb_to_gray(const uchar4* rgb, unsigned char* gray, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 p = rgb[i];
  gray[i] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
}

__global__ void bilinear(const float* in, float* out, int w, int h, int ow, int oh) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= ow || y >= oh) return;
  float fx = (x + 0.5f) * w / ow - 0.5f, fy = (y + 0.5f) * h / oh - 0.5f;
  int x0 = max(0, (int)floorf(fx)), y0 = max(0, (int)floorf(fy)), x1 = min(w - 1, x0 + 1), y1 = min(h - 1, y0 + 1);
  float ax = fx - x0, ay = fy - y0;
  out[y * ow + x] = (1 - ay) * ((1 - ax) * in[y0 * w + x0] + ax * in[y0 * w + x1]) +
                    ay * ((1 - ax) * in[y1 * w + x0] + ax * in[y1 * w + x1]);
}

// Dilation of a binary image by a 5 x 5 square, from a tile in shared memory.
__global__ void dilate(const unsigned char* in, unsigned char* out, int w, int h) {
  __shared__ unsigned char tile[20][36];
  int bx = blockIdx.x * 32, by = blockIdx.y * 16;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 20 * 36; k += 512) {
    int gx = bx + k % 36 - 2, gy = by + k / 36 - 2;
    tile[k / 36][k % 36] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0;
  }
  __syncthreads();
  unsigned char most = 0;
  for (int dy = 0; dy < 5; dy++)
    for (int dx = 0; dx < 5; dx++) most = max(most, tile[threadIdx.y + dy][threadIdx.x + dx]);
  out[(by + threadIdx.y) * w + bx + threadIdx.x] = most;
}

// Welford's mean and variance of columns.
__global__ void welford(const float* in, float* mean, float* variance, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float m = 0, m2 = 0;
  for (int r = 0; r < rows; r++) {
    float x = in[r * cols + c], d = x - m;
    m += d / (r + 1);
    m2 += d * (x - m);
  }
  mean[c] = m;
  variance[c] = m2 / rows;
}

// Pearson correlation of pairs of series, a warp each.
__global__ void correlate(const float* a, const float* b, float* out, int length) {
  int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (int k = lane; k < length; k += 32) {
    float x = a[pair * length + k], y = b[pair * length + k];
    sa += x;
    sb += y;
    saa += x * x;
    sbb += y * y;
    sab += x * y;
  }
  for (int o = 16; o > 0; o >>= 1) {
    sa += __shfl_down_sync(~0u, sa, o);
    sb += __shfl_down_sync(~0u, sb, o);
    saa += __shfl_down_sync(~0u, saa, o);
    sbb += __shfl_down_sync(~0u, sbb, o);
    sab += __shfl_down_sync(~0u, sab, o);
  }
  if (lane == 0) out[pair] = (length * sab - sa * sb) / (sqrtf(length * saa - sa * sa) * sqrtf(length * sbb - sb * sb));
}

// One scan line of a chain of recursive filters, one thread each.
__global__ void recursive_filter(const float* in, float* out, int channels, int samples, float a1, float a2) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  float y1 = 0, y2 = 0;
  for (int k = 0; k < samples; k++) {
    float y = in[k * channels + c] - a1 * y1 - a2 * y2;
    out[k * channels + c] = y;
    y2 = y1;
    y1 = y;
  }
}

// Newton's method for roots of cubics in double precision.
__global__ void newton64(const double* c, double* root, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = 1.0 + c[i] * 0.0, x = 2.0;
  for (int k = 0; k < 8; k++) x = x - (a * x * x * x - 2.0) / (3.0 * a * x * x);
  root[i] = x;
}

}  // namespace

std::vector<Case> second_a() {
  std::vector<Case> list;
  const auto add = [&](const char* name, const char* family, size_t bytes,
                       std::function<void(const Buffers&, cudaStream_t)> launch) {
    list.push_back({name, family, bytes, std::move(launch)});
  };
  const int m = 1 << 20;
  const auto four = [](float* p) { return reinterpret_cast<float4*>(p); };
  const auto two = [](float* p) { return reinterpret_cast<float2*>(p); };
  const auto bytes_of = [](float* p) { return reinterpret_cast<unsigned char*>(p); };
  add("particles", "physics", size_t{64} << 19, [=](const Buffers& b, cudaStream_t s) {
    particles<<<2048, 256, 0, s>>>(four(b.in), four(b.in2), 0.01f, 1 << 19);
  });
  add("collide", "physics", size_t{72} << 18,
      [=](const Buffers& b, cudaStream_t s) { collide<<<1024, 256, 0, s>>>(b.in, 1 << 18, 1.2f); });
  add("flux", "physics", size_t{12} << 21, [=](const Buffers& b, cudaStream_t s) {
    flux<<<dim3(8, 512), dim3(256, 2), 0, s>>>(b.in, b.in2, b.out, 2048, 1024);
  });
  add("ray_spheres 20", "geometry", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
    ray_spheres<<<dim3(64, 64), dim3(16, 16), 0, s>>>(four(b.in), 20, b.out, 1024, 1024);
  });
  add("ray_spheres 100", "geometry", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
    ray_spheres<<<dim3(32, 32), dim3(16, 16), 0, s>>>(four(b.in), 100, b.out, 512, 512);
  });
  add("in_polygon", "geometry", size_t{12} << 18, [=](const Buffers& b, cudaStream_t s) {
    in_polygon<<<1024, 256, 0, s>>>(two(b.in), two(b.in2), reinterpret_cast<int*>(b.out), 1 << 18, 32);
  });
  add("haversine", "geometry", size_t{20} << 20,
      [=](const Buffers& b, cudaStream_t s) { haversine<<<m / 256, 256, 0, s>>>(two(b.in), two(b.in2), b.out, m); });
  add("binomial_tree", "finance", size_t{4} << 10,
      [=](const Buffers& b, cudaStream_t s) { binomial_tree<<<512, 256, 0, s>>>(b.in, b.out, 255); });
  add("xtea", "codes", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    xtea<<<m / 256, 256, 0, s>>>(reinterpret_cast<uint2*>(b.in), 1, 2, 3, 4, m);
  });
  add("fnv", "codes", size_t{36} << 18, [=](const Buffers& b, cudaStream_t s) {
    fnv<<<1024, 256, 0, s>>>(bytes_of(b.in), reinterpret_cast<unsigned*>(b.out), 1 << 18);
  });
  add("rgb_to_gray", "pictures", size_t{5} << 21, [=](const Buffers& b, cudaStream_t s) {
    rgb_to_gray<<<m * 2 / 256, 256, 0, s>>>(reinterpret_cast<const uchar4*>(b.in), bytes_of(b.out), m * 2);
  });
  add("bilinear up", "pictures", size_t{5} << 20, [=](const Buffers& b, cudaStream_t s) {
    bilinear<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.out, 512, 512, 1024, 1024);
  });
  add("bilinear down", "pictures", size_t{20} << 18, [=](const Buffers& b, cudaStream_t s) {
    bilinear<<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.in, b.out, 1024, 1024, 512, 512);
  });
  add("dilate", "pictures", size_t{2} << 20, [=](const Buffers& b, cudaStream_t s) {
    dilate<<<dim3(32, 64), dim3(32, 16), 0, s>>>(bytes_of(b.in), bytes_of(b.out), 1024, 1024);
  });
  add("welford", "statistics", size_t{4} << 21,
      [=](const Buffers& b, cudaStream_t s) { welford<<<64, 128, 0, s>>>(b.in, b.out, b.out + 8192, 256, 8192); });
  add("correlate", "statistics", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { correlate<<<256, 256, 0, s>>>(b.in, b.in2, b.out, 512); });
  add("recursive_filter", "signals", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    recursive_filter<<<64, 64, 0, s>>>(b.in, b.out, 4096, 256, -0.5f, 0.2f);
  });
  add("newton64", "double precision", size_t{16} << 17, [=](const Buffers& b, cudaStream_t s) {
    newton64<<<512, 256, 0, s>>>(reinterpret_cast<const double*>(b.in), reinterpret_cast<double*>(b.out), 1 << 17);
  });
  return list;
}

}  // namespace calibration
