// cuComplex.h as spectral codes use it: a discrete Fourier transform and a Moebius map per thread, beside the host's
// std::complex; and a reduction of magnitudes in double precision.
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <math_constants.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    cudaError_t error = (call);                                                        \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      return 1;                                                                        \
    }                                                                                  \
  } while (0)

__global__ void transform(const cuFloatComplex* in, cuFloatComplex* out, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  cuFloatComplex sum = make_cuFloatComplex(0.0f, 0.0f);
  for (int j = 0; j < n; j++) {
    const float angle = -2.0f * CUDART_PI_F * (j * k % n) / n;
    sum = cuCfmaf(in[j], make_cuComplex(cosf(angle), sinf(angle)), sum);
  }
  out[k] = sum;
}

// (a z + b) / (c z + d)
__global__ void moebius(cuDoubleComplex* z, cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c, cuDoubleComplex d,
                        double* size, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const cuDoubleComplex above = cuCadd(cuCmul(a, z[i]), b), below = cuCsub(cuCmul(c, z[i]), cuConj(d));
  z[i] = cuCdiv(above, below);
  size[i] = cuCabs(z[i]) + cuCreal(z[i]) * cuCimag(z[i]);
}

int main() {
  const int n = 100;
  std::vector<cuFloatComplex> in(n), out(n);
  std::vector<cuDoubleComplex> z(n);
  std::vector<double> size(n);
  for (int i = 0; i < n; i++) {
    in[i] = make_cuFloatComplex(std::sin(i * 0.7f), std::cos(i * 1.3f));
    z[i] = cuComplexFloatToDouble(in[i]);
  }
  z[7] = make_cuDoubleComplex(1e200, -1e200);  // whose square overflows
  cuFloatComplex *gpu_in, *gpu_out;
  cuDoubleComplex* gpu_z;
  double* gpu_size;
  CHECK(cudaMalloc(&gpu_in, n * sizeof(cuFloatComplex)));
  CHECK(cudaMalloc(&gpu_out, n * sizeof(cuFloatComplex)));
  CHECK(cudaMalloc(&gpu_z, n * sizeof(cuDoubleComplex)));
  CHECK(cudaMalloc(&gpu_size, n * sizeof(double)));
  CHECK(cudaMemcpy(gpu_in, in.data(), n * sizeof(cuFloatComplex), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(gpu_z, z.data(), n * sizeof(cuDoubleComplex), cudaMemcpyHostToDevice));
  const std::complex<double> a(1, 2), b(-3, 0.5), c(2, -1), d(0.25, 4);
  const auto on_device = [](std::complex<double> x) { return make_cuDoubleComplex(x.real(), x.imag()); };
  transform<<<(n + 63) / 64, 64>>>(gpu_in, gpu_out, n);
  moebius<<<(n + 63) / 64, 64>>>(gpu_z, on_device(a), on_device(b), on_device(c), on_device(d), gpu_size, n);
  CHECK(cudaGetLastError());
  std::vector<cuDoubleComplex> mapped(n);
  CHECK(cudaMemcpy(out.data(), gpu_out, n * sizeof(cuFloatComplex), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(mapped.data(), gpu_z, n * sizeof(cuDoubleComplex), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(size.data(), gpu_size, n * sizeof(double), cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int k = 0; k < n; k++) {
    std::complex<double> sum = 0;
    for (int j = 0; j < n; j++)
      sum += std::complex<double>(in[j].x, in[j].y) * std::polar(1.0, -2 * CUDART_PI * (j * k % n) / n);
    if (std::abs(sum - std::complex<double>(out[k].x, out[k].y)) > 1e-3) wrong++;
    const std::complex<double> at(z[k].x, z[k].y), wanted = k == 7 ? a / c : (a * at + b) / (c * at - std::conj(d));
    if (std::abs(wanted - std::complex<double>(mapped[k].x, mapped[k].y)) > 1e-9 * std::abs(wanted)) wrong++;
    if (std::abs(size[k] - (std::abs(wanted) + wanted.real() * wanted.imag())) > 1e-6 * (1 + std::abs(size[k])))
      wrong++;
  }
  const cuFloatComplex back = cuComplexDoubleToFloat(make_cuDoubleComplex(3, 4));
  if (cuCabsf(cuCdivf(cuCmulf(back, cuConjf(back)), cuCaddf(back, make_cuComplex(1, 1)))) < 3.9f) wrong++;
  std::printf(wrong ? "FAIL: %d wrong\n" : "PASS\n", wrong);
  CHECK(cudaFree(gpu_in));
  CHECK(cudaFree(gpu_out));
  CHECK(cudaFree(gpu_z));
  CHECK(cudaFree(gpu_size));
  return wrong ? 1 : 0;
}
