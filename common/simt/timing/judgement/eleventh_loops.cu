// Loops of linear algebra, statistics and stencils as collections of them have it: a thread for each element or row,
// matrices by rows, in float and double, nothing in shared memory.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

template <typename T>
T* as(float* p) {
  return reinterpret_cast<T*>(p);
}

template <typename T>
__global__ void gemm(int ni, int nj, int nk, T alpha, T beta, T* a, T* b, T* c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < ni) && (j < nj)) {
    c[i * nj + j] *= beta;
    int k;
    for (k = 0; k < nk; k++) {
      c[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
    }
  }
}

template <typename T>
__global__ void syrk(int ni, int nj, T alpha, T beta, T* a, T* c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < ni) && (j < ni)) {
    c[i * ni + j] *= beta;
    for (int k = 0; k < nj; k++) c[i * ni + j] += alpha * a[i * nj + k] * a[j * nj + k];
  }
}
__global__ void syr2k(int ni, int nj, float alpha, float beta, float* a, float* b, float* c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < ni) && (j < ni)) {
    c[i * ni + j] *= beta;
    for (int k = 0; k < nj; k++)
      c[i * ni + j] += alpha * a[i * nj + k] * b[j * nj + k] + alpha * b[i * nj + k] * a[j * nj + k];
  }
}

// The two halves of mvt and of bicg: along rows, and along columns.
template <typename T>
__global__ void along_rows(int n, T* a, T* x1, T* y1) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int j;
    for (j = 0; j < n; j++) {
      x1[i] += a[i * n + j] * y1[j];
    }
  }
}
template <typename T>
__global__ void along_columns(int n, T* a, T* x2, T* y2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int j;
    for (j = 0; j < n; j++) {
      x2[i] += a[j * n + i] * y2[j];
    }
  }
}

template <typename T>
__global__ void orthogonal_norm(int ni, int nj, T* a, T* r, T* q, int k) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid == 0) {
    T nrm = 0.0;
    for (int i = 0; i < ni; i++) nrm += a[i * nj + k] * a[i * nj + k];
    r[k * nj + k] = sqrt(nrm);
  }
}
__global__ void orthogonal_divide(int ni, int nj, float* a, float* r, float* q, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ni) q[i * nj + k] = a[i * nj + k] / r[k * nj + k];
}
__global__ void orthogonal_subtract(int ni, int nj, float* a, float* r, float* q, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if ((j > k) && (j < nj)) {
    r[k * nj + j] = 0.0;
    int i;
    for (i = 0; i < ni; i++) r[k * nj + j] += q[i * nj + k] * a[i * nj + j];
    for (i = 0; i < ni; i++) a[i * nj + j] -= q[i * nj + k] * r[k * nj + j];
  }
}

__global__ void column_mean(int m, int n, float* mean, float* data) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < m) {
    mean[j] = 0.0;
    for (int i = 0; i < n; i++) mean[j] += data[i * m + j];
    mean[j] /= 1000.0f;
  }
}
__global__ void column_deviation(int m, int n, float* mean, float* std, float* data) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < m) {
    std[j] = 0.0;
    for (int i = 0; i < n; i++) std[j] += (data[i * m + j] - mean[j]) * (data[i * m + j] - mean[j]);
    std[j] /= 1000.0f;
    std[j] = sqrt(std[j]);
    if (std[j] <= 0.005f) std[j] = 1.0;
  }
}
__global__ void reduce_columns(int m, int n, float* mean, float* std, float* data) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < n) && (j < m)) {
    data[i * m + j] -= mean[j];
    data[i * m + j] /= (sqrt(1000.0f) * std[j]);
  }
}
__global__ void correlation(int m, int n, float* symmat, float* data) {
  int j1 = blockIdx.x * blockDim.x + threadIdx.x;
  if (j1 < (m - 1)) {
    symmat[j1 * m + j1] = 1.0;
    for (int j2 = j1 + 1; j2 < m; j2++) {
      symmat[j1 * m + j2] = 0.0;
      for (int i = 0; i < n; i++) symmat[j1 * m + j2] += data[i * m + j1] * data[i * m + j2];
      symmat[j2 * m + j1] = symmat[j1 * m + j2];
    }
  }
}

template <typename T>
__global__ void fdtd_ex(int nx, int ny, T* ex, T* hz) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < nx) && (j < ny) && (j > 0)) ex[i * ny + j] = ex[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[i * ny + (j - 1)]);
}
template <typename T>
__global__ void fdtd_hz(int nx, int ny, T* ex, T* ey, T* hz) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < (nx - 1)) && (j < (ny - 1)))
    hz[i * ny + j] =
        hz[i * ny + j] - T(0.7) * (ex[i * ny + (j + 1)] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

__global__ void convolution3d(int ni, int nj, int nk, float* a, float* b, int i) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  float c11 = +2, c21 = +5, c31 = -8, c12 = -3, c22 = +6, c32 = -9, c13 = +4, c23 = +7, c33 = +10;
  if ((i < (ni - 1)) && (j < (nj - 1)) && (k < (nk - 1)) && (i > 0) && (j > 0) && (k > 0)) {
    b[i * (nk * nj) + j * nk + k] =
        c11 * a[(i - 1) * (nk * nj) + (j - 1) * nk + (k - 1)] + c13 * a[(i + 1) * (nk * nj) + (j - 1) * nk + (k - 1)] +
        c21 * a[(i - 1) * (nk * nj) + (j - 1) * nk + (k - 1)] + c23 * a[(i + 1) * (nk * nj) + (j - 1) * nk + (k - 1)] +
        c31 * a[(i - 1) * (nk * nj) + (j - 1) * nk + (k - 1)] + c33 * a[(i + 1) * (nk * nj) + (j - 1) * nk + (k - 1)] +
        c12 * a[(i + 0) * (nk * nj) + (j - 1) * nk + (k + 0)] + c22 * a[(i + 0) * (nk * nj) + (j + 0) * nk + (k + 0)] +
        c32 * a[(i + 0) * (nk * nj) + (j + 1) * nk + (k + 0)] + c11 * a[(i - 1) * (nk * nj) + (j - 1) * nk + (k + 1)] +
        c13 * a[(i + 1) * (nk * nj) + (j - 1) * nk + (k + 1)] + c21 * a[(i - 1) * (nk * nj) + (j + 0) * nk + (k + 1)] +
        c23 * a[(i + 1) * (nk * nj) + (j + 0) * nk + (k + 1)] + c31 * a[(i - 1) * (nk * nj) + (j + 1) * nk + (k + 1)] +
        c33 * a[(i + 1) * (nk * nj) + (j + 1) * nk + (k + 1)];
  }
}

template <typename T>
__global__ void jacobi1d(int n, T* a, T* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((i > 0) && (i < (n - 1))) b[i] = T(0.33333) * (a[i - 1] + a[i] + a[i + 1]);
}
template <typename T>
__global__ void jacobi2d(int n, T* a, T* b) {
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if ((i >= 1) && (i < (n - 1)) && (j >= 1) && (j < (n - 1)))
    b[i * n + j] =
        T(0.2) * (a[i * n + j] + a[i * n + (j - 1)] + a[i * n + (1 + j)] + a[(1 + i) * n + j] + a[(i - 1) * n + j]);
}

__global__ void doitgen(int nr, int nq, int np, float* sum, float* a, float* c4, int r) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int q = blockIdx.y * blockDim.y + threadIdx.y;
  if ((p < np) && (q < nq)) {
    sum[r * (nq * np) + q * np + p] = 0.0f;
    for (int s = 0; s < np; s++) sum[r * (nq * np) + q * np + p] += a[r * (nq * np) + q * np + s] * c4[s * np + p];
  }
}

// Alternating directions: a thread sweeps along its row, or down its column.
__global__ void sweep_rows(int n, float* a, float* b, float* x) {
  int i1 = blockIdx.x * blockDim.x + threadIdx.x;
  if (i1 < n) {
    for (int i2 = 1; i2 < n; i2++) {
      x[i1 * n + i2] = x[i1 * n + i2] - x[i1 * n + (i2 - 1)] * a[i1 * n + i2] / b[i1 * n + (i2 - 1)];
      b[i1 * n + i2] = b[i1 * n + i2] - a[i1 * n + i2] * a[i1 * n + i2] / b[i1 * n + (i2 - 1)];
    }
  }
}
__global__ void sweep_columns(int n, float* a, float* b, float* x, int i1) {
  int i2 = blockIdx.x * blockDim.x + threadIdx.x;
  if (i2 < n) {
    x[i1 * n + i2] = x[i1 * n + i2] - x[(i1 - 1) * n + i2] * a[i1 * n + i2] / b[(i1 - 1) * n + i2];
    b[i1 * n + i2] = b[i1 * n + i2] - a[i1 * n + i2] * a[i1 * n + i2] / b[(i1 - 1) * n + i2];
  }
}

template <typename T>
void both_ways(const Add& add, const char* type, int n) {
  const std::string tail = std::string(" ") + type + " " + std::to_string(n);
  const size_t bytes = sizeof(T) * n * n;
  add("along_rows" + tail, "products with a vector", bytes, [=](const Buffers& b, cudaStream_t s) {
    along_rows<T><<<ceil_div(n, 256), 256, 0, s>>>(n, as<T>(b.in), as<T>(b.out), as<T>(b.in2));
  });
  add("along_columns" + tail, "products with a vector", bytes, [=](const Buffers& b, cudaStream_t s) {
    along_columns<T><<<ceil_div(n, 256), 256, 0, s>>>(n, as<T>(b.in), as<T>(b.out), as<T>(b.in2));
  });
}
template <typename T>
void products(const Add& add, const char* type, int n) {
  const std::string tail = std::string(" ") + type + " " + std::to_string(n);
  const dim3 grid(n / 32, n / 8), block(32, 8);
  add("gemm" + tail, "products", sizeof(T) * n * n, [=](const Buffers& b, cudaStream_t s) {
    gemm<T><<<grid, block, 0, s>>>(n, n, n, T(1.5), T(1.2), as<T>(b.in), as<T>(b.in2), as<T>(b.out));
  });
  add("syrk" + tail, "products", sizeof(T) * n * n, [=](const Buffers& b, cudaStream_t s) {
    syrk<T><<<grid, block, 0, s>>>(n, n, T(1.5), T(1.2), as<T>(b.in), as<T>(b.out));
  });
}
template <typename T>
void stencils(const Add& add, const char* type) {
  const std::string tail = std::string(" ") + type;
  const dim3 grid(32, 128), block(32, 8);
  const size_t bytes = sizeof(T) << 20;
  add("fdtd_ex" + tail, "stencils", bytes, [=](const Buffers& b, cudaStream_t s) {
    fdtd_ex<T><<<grid, block, 0, s>>>(1024, 1024, as<T>(b.in), as<T>(b.in2));
  });
  add("fdtd_hz" + tail, "stencils", bytes, [=](const Buffers& b, cudaStream_t s) {
    fdtd_hz<T><<<grid, block, 0, s>>>(1024, 1024, as<T>(b.in), as<T>(b.in2), as<T>(b.out));
  });
  add("jacobi1d" + tail, "stencils", bytes,
      [=](const Buffers& b, cudaStream_t s) { jacobi1d<T><<<4096, 256, 0, s>>>(1 << 20, as<T>(b.in), as<T>(b.out)); });
  add("jacobi2d" + tail, "stencils", bytes,
      [=](const Buffers& b, cudaStream_t s) { jacobi2d<T><<<grid, block, 0, s>>>(1024, as<T>(b.in), as<T>(b.out)); });
}

}  // namespace

std::vector<Case> eleventh_loops() {
  std::vector<Case> list;
  const Add add{list};
  products<float>(add, "f32", 128);
  products<float>(add, "f32", 384);
  products<double>(add, "f64", 256);
  add("syr2k 256", "products", size_t{4} << 16, [=](const Buffers& b, cudaStream_t s) {
    syr2k<<<dim3(8, 32), dim3(32, 8), 0, s>>>(256, 256, 1.5f, 1.2f, b.in, b.in2, b.out);
  });
  both_ways<float>(add, "f32", 512);
  both_ways<float>(add, "f32", 2048);
  both_ways<double>(add, "f64", 1024);
  add("orthogonal_norm", "orthogonal", size_t{4} << 18,
      [=](const Buffers& b, cudaStream_t s) { orthogonal_norm<<<1, 256, 0, s>>>(512, 512, b.in, b.in2, b.out, 3); });
  add("orthogonal_divide", "orthogonal", size_t{4} << 18,
      [=](const Buffers& b, cudaStream_t s) { orthogonal_divide<<<2, 256, 0, s>>>(512, 512, b.in, b.in2, b.out, 3); });
  add("orthogonal_subtract", "orthogonal", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
    orthogonal_subtract<<<2, 256, 0, s>>>(512, 512, b.in, b.in2, b.out, 3);
  });
  add("column_mean", "statistics", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { column_mean<<<4, 256, 0, s>>>(1024, 1024, b.out, b.in); });
  add("column_deviation", "statistics", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { column_deviation<<<4, 256, 0, s>>>(1024, 1024, b.in2, b.out, b.in); });
  add("reduce_columns", "statistics", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
    reduce_columns<<<dim3(32, 128), dim3(32, 8), 0, s>>>(1024, 1024, b.in2, b.in2 + 1024, b.in);
  });
  add("correlation", "statistics", size_t{4} << 16,
      [=](const Buffers& b, cudaStream_t s) { correlation<<<1, 256, 0, s>>>(192, 192, b.out, b.in); });
  stencils<float>(add, "f32");
  stencils<double>(add, "f64");
  for (const int side : {128, 512})
    add("convolution3d " + std::to_string(side), "convolution3d", size_t{12} * side * side,
        [=](const Buffers& b, cudaStream_t s) {
          convolution3d<<<dim3(side / 32, side / 8), dim3(32, 8), 0, s>>>(3, side, side, b.in, b.out, 1);
        });
  add("doitgen", "products", size_t{4} << 16, [=](const Buffers& b, cudaStream_t s) {
    doitgen<<<dim3(8, 32), dim3(32, 8), 0, s>>>(1, 256, 256, b.out, b.in, b.in2, 0);
  });
  for (const int n : {256, 1024})
    add("sweep_rows " + std::to_string(n), "sweeps", size_t{4} * n * n,
        [=](const Buffers& b, cudaStream_t s) { sweep_rows<<<n / 256, 256, 0, s>>>(n, b.in, b.in2, b.out); });
  add("sweep_columns", "sweeps", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { sweep_columns<<<4, 256, 0, s>>>(1024, b.in, b.in2, b.out, 5); });
  return list;
}

}  // namespace calibration
