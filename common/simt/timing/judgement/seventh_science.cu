// Kinds of public benchmarks (Rodinia, Parboil, PolyBench), steps in time, and small systems.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// SRAD's first step: how much each pixel diffuses, by its neighbours' differences.
__global__ void srad_coefficients(const float* J, float* dN, float* dS, float* dW, float* dE, float* C, int rows,
                                  int cols, float q0sqr) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  const int i = row * cols + col;
  const int north = row == 0 ? 0 : row - 1, south = row == rows - 1 ? row : row + 1;
  const int west = col == 0 ? 0 : col - 1, east = col == cols - 1 ? col : col + 1;
  const float jc = J[i] + 0.5f, n = J[north * cols + col] + 0.5f - jc, s = J[south * cols + col] + 0.5f - jc;
  const float w = J[row * cols + west] + 0.5f - jc, e = J[row * cols + east] + 0.5f - jc;
  const float g2 = (n * n + s * s + w * w + e * e) / (jc * jc), l = (n + s + w + e) / jc;
  const float num = 0.5f * g2 - 1.0f / 16.0f * (l * l);
  float den = 1.0f + 0.25f * l;
  const float qsqr = num / (den * den);
  den = (qsqr - q0sqr) / (q0sqr * (1.0f + q0sqr));
  float c = 1.0f / (1.0f + den);
  if (c < 0)
    c = 0;
  else if (c > 1)
    c = 1;
  dN[i] = n;
  dS[i] = s;
  dW[i] = w;
  dE[i] = e;
  C[i] = c;
}

#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

// Pathfinder: the cheapest ways down a grid, some rows per launch; blocks overlap.
__global__ void pathfinder(int iteration, const int* wall, const int* source, int* result, int cols, int start) {
  __shared__ int prev[256], next[256];
  const int border = iteration, small = 256 - iteration * 2, tx = threadIdx.x;
  const int begin = small * static_cast<int>(blockIdx.x) - border, x = begin + tx;
  const int last = begin + 255;
  const int valid_low = begin < 0 ? -begin : 0, valid_high = last > cols - 1 ? 255 - (last - cols + 1) : 255;
  int west = tx - 1, east = tx + 1;
  west = west < valid_low ? valid_low : west;
  east = east > valid_high ? valid_high : east;
  const bool valid = IN_RANGE(tx, valid_low, valid_high);
  if (IN_RANGE(x, 0, cols - 1)) prev[tx] = source[x];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, 256 - i - 2) && valid) {
      computed = true;
      int shortest = MIN(prev[west], prev[tx]);
      shortest = MIN(shortest, prev[east]);
      next[tx] = shortest + (wall[cols * (start + i) + x] & 15);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = next[tx];
    __syncthreads();
  }
  if (computed) result[x] = next[tx];
}

// Gauss: the rows below a pivot, once their multipliers are known.
__global__ void eliminate(const float* m, float* a, int size, int t) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size - 1 - t || y >= size - t) return;
  a[size * (x + 1 + t) + (y + t)] -= m[size * (x + 1 + t) + t] * a[size * t + (y + t)];
}

// Tridiagonal systems by parallel cyclic reduction, one per block.
__global__ void cyclic_reduction(const float* lower, const float* diagonal, const float* upper, const float* right,
                                 float* x, int n) {
  extern __shared__ float shared[];
  float *a = shared, *b = a + n, *c = b + n, *d = c + n;
  const int i = threadIdx.x, base = blockIdx.x * n;
  a[i] = i == 0 ? 0.0f : lower[base + i];
  b[i] = diagonal[base + i] + 3.0f;
  c[i] = i == n - 1 ? 0.0f : upper[base + i];
  d[i] = right[base + i];
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    const int below = max(i - step, 0), above = min(i + step, n - 1);
    const float k1 = a[i] / b[below], k2 = c[i] / b[above];
    const float na = -a[below] * k1, nb = b[i] - c[below] * k1 - a[above] * k2, nc = -c[above] * k2;
    const float nd = d[i] - d[below] * k1 - d[above] * k2;
    __syncthreads();
    a[i] = i - step < 0 ? 0.0f : na;
    b[i] = nb;
    c[i] = i + step >= n ? 0.0f : nc;
    d[i] = nd;
    __syncthreads();
  }
  x[base + i] = d[i] / b[i];
}

// MRI-Q: sums over points of k-space.
__global__ void mri_q(int count, const float4* k, const float* x, const float* y, const float* z, float* qr, float* qi,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float sx = x[i], sy = y[i], sz = z[i];
  float re = 0.0f, im = 0.0f;
  for (int j = 0; j < count; j++) {
    const float4 p = k[j];
    const float angle = 6.2831853071795864769252867665590058f * (p.x * sx + p.y * sy + p.z * sz);
    re += p.w * cosf(angle);
    im += p.w * sinf(angle);
  }
  qr[i] = re;
  qi[i] = im;
}

// The potential of atoms on a plane of a grid (VMD's direct sum), four points of a row per thread.
__global__ void coulomb(int atoms, const float4* atom, float spacing, float* grid, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int step = gridDim.x * blockDim.x;
  const float cy = spacing * y, cx = spacing * x, jump = spacing * step;
  float e1 = 0.0f, e2 = 0.0f, e3 = 0.0f, e4 = 0.0f;
  for (int i = 0; i < atoms; i++) {
    const float4 a = atom[i];
    const float dy = cy - a.y, dyz = dy * dy + a.z * a.z + 0.01f;
    const float dx1 = cx - a.x, dx2 = dx1 + jump, dx3 = dx2 + jump, dx4 = dx3 + jump;
    e1 += a.w * rsqrtf(dx1 * dx1 + dyz);
    e2 += a.w * rsqrtf(dx2 * dx2 + dyz);
    e3 += a.w * rsqrtf(dx3 * dx3 + dyz);
    e4 += a.w * rsqrtf(dx4 * dx4 + dyz);
  }
  float* out = grid + y * width + x;
  out[0] = e1;
  out[step] = e2;
  out[2 * step] = e3;
  out[3 * step] = e4;
}

// A cloth of points and springs to eight neighbours, structures of arrays of four.
__global__ void cloth(const float4* position, const float4* velocity, float4* next, int w, int h, float k, float dt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float4 p = position[y * w + x];
  float4 v = velocity[y * w + x];
  float fx = 0.0f, fy = -9.81f, fz = 0.0f;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      if (dx == 0 && dy == 0) continue;
      const int nx = x + dx, ny = y + dy;
      if (nx < 0 || ny < 0 || nx >= w || ny >= h) continue;
      const float4 q = position[ny * w + nx];
      const float ex = q.x - p.x, ey = q.y - p.y, ez = q.z - p.z;
      const float length = sqrtf(ex * ex + ey * ey + ez * ez + 1e-6f), rest = dx != 0 && dy != 0 ? 1.4142136f : 1.0f;
      const float f = k * (length - rest) / length;
      fx += f * ex;
      fy += f * ey;
      fz += f * ez;
    }
  }
  v.x = (v.x + dt * fx) * 0.99f;
  v.y = (v.y + dt * fy) * 0.99f;
  v.z = (v.z + dt * fz) * 0.99f;
  next[y * w + x] = make_float4(p.x + dt * v.x, p.y + dt * v.y, p.z + dt * v.z, p.w);
}

// PolyBench's gesummv: a thread per row of two matrices.
__global__ void gesummv(int n, float alpha, float beta, const float* A, const float* B, float* tmp, const float* x,
                        float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int j = 0; j < n; j++) {
      tmp[i] += A[i * n + j] * x[j];
      y[i] += B[i * n + j] * x[j];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
}

// PolyBench's covariance: a thread per column, against all later ones.
__global__ void covariance(const float* data, float* symmat, int m, int n) {
  const int j1 = blockIdx.x * blockDim.x + threadIdx.x, j2 = blockIdx.y * blockDim.y + threadIdx.y;
  if (j1 >= m || j2 > j1) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += data[i * m + j1] * data[i * m + j2];
  symmat[j1 * m + j2] = sum / (n - 1);
  symmat[j2 * m + j1] = sum / (n - 1);
}

// A fluid's velocities, carried along by themselves (Stam).
__global__ void advect(const float2* velocity, float2* out, int w, int h, float dt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float2 v = velocity[y * w + x];
  const float px = fminf(fmaxf(x - dt * (v.x - 0.5f), 0.5f), w - 1.5f),
              py = fminf(fmaxf(y - dt * (v.y - 0.5f), 0.5f), h - 1.5f);
  const int i = static_cast<int>(px), j = static_cast<int>(py);
  const float s = px - i, t = py - j;
  const float2 a = velocity[j * w + i], b = velocity[j * w + i + 1], c = velocity[(j + 1) * w + i],
               d = velocity[(j + 1) * w + i + 1];
  out[y * w + x] = make_float2((1 - t) * ((1 - s) * a.x + s * b.x) + t * ((1 - s) * c.x + s * d.x),
                               (1 - t) * ((1 - s) * a.y + s * b.y) + t * ((1 - s) * c.y + s * d.y));
}

// Inverses of matrices of 16 x 16, one per block, by Gauss and Jordan in shared memory.
__global__ void invert16(const float* in, float* out) {
  __shared__ float m[16][33];
  const int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * 256;
  m[y][x] = in[base + y * 16 + x] + (x == y ? 16.0f : 0.0f);
  m[y][x + 16] = x == y ? 1.0f : 0.0f;
  __syncthreads();
  for (int p = 0; p < 16; p++) {
    const float pivot = m[p][p], factor = m[y][p], left = m[p][x] / pivot, right = m[p][x + 16] / pivot;
    __syncthreads();
    if (y == p) {
      m[y][x] = left;
      m[y][x + 16] = right;
    } else {
      m[y][x] -= factor * left;
      m[y][x + 16] -= factor * right;
    }
    __syncthreads();
  }
  out[base + y * 16 + x] = m[y][x + 16];
}

}  // namespace

std::vector<Case> seventh_science() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto twos = [](float* p) { return reinterpret_cast<float2*>(p); };
  const auto fours = [](float* p) { return reinterpret_cast<float4*>(p); };
  add("srad_coefficients", "Rodinia", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    srad_coefficients<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.out, b.out + (1 << 20), b.out + (2 << 20),
                                                            b.out + (3 << 20), b.out + (4 << 20), 1024, 1024, 0.05f);
  });
  add("pathfinder", "Rodinia", size_t{4} * 100000 * 22, [=](const Buffers& b, cudaStream_t s) {
    pathfinder<<<463, 256, 0, s>>>(20, ints(b.in), ints(b.in2), ints(b.out), 100000, 0);
  });
  add("eliminate", "Rodinia", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    eliminate<<<dim3(256, 256), dim3(4, 4), 0, s>>>(b.in, b.in2, 1024, 10);
  });
  add("mri_q", "all pairs", size_t{20} << 15, [=](const Buffers& b, cudaStream_t s) {
    mri_q<<<128, 256, 0, s>>>(512, fours(b.in2), b.in, b.in + (1 << 15), b.in + (2 << 15), b.out, b.out + (1 << 15),
                              1 << 15);
  });
  add("coulomb", "all pairs", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
    coulomb<<<dim3(8, 64), dim3(16, 8), 0, s>>>(512, fours(b.in), 0.1f, b.out, 512);
  });
  add("gesummv", "PolyBench", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    gesummv<<<4, 256, 0, s>>>(1024, 1.5f, 1.2f, b.in, b.in2, b.out, b.in + (1 << 19), b.out + 1024);
  });
  add("covariance", "PolyBench", size_t{8} << 18, [=](const Buffers& b, cudaStream_t s) {
    covariance<<<dim3(16, 64), dim3(32, 8), 0, s>>>(b.in, b.out, 512, 512);
  });
  add("cyclic_reduction 256", "small systems", size_t{20} << 18, [=](const Buffers& b, cudaStream_t s) {
    cyclic_reduction<<<1024, 256, 4096, s>>>(b.in, b.in2, b.in + (1 << 18), b.in2 + (1 << 18), b.out, 256);
  });
  add("invert16", "small systems", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { invert16<<<4096, dim3(16, 16), 0, s>>>(b.in, b.out); });
  add("cloth", "steps in time", size_t{48} << 18, [=](const Buffers& b, cudaStream_t s) {
    cloth<<<dim3(32, 32), dim3(16, 16), 0, s>>>(fours(b.in), fours(b.in2), fours(b.out), 512, 512, 50.0f, 0.001f);
  });
  add("advect", "steps in time", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    advect<<<dim3(32, 128), dim3(32, 8), 0, s>>>(twos(b.in), twos(b.out), 1024, 1024, 10.0f);
  });
  return list;
}

}  // namespace calibration
