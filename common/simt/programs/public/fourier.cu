// cuFFT as spectral codes use it: against sums written out, for sizes with several factors and a prime, in one to three
// dimensions, of complex and real numbers, in place, in batches with strides, on a stream, and around a kernel.
#include <cuda_runtime.h>
#include <cufft.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

using Complex = std::complex<double>;

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* pointer;
  EXPECT(cudaMalloc(&pointer, values.size() * sizeof(T)) == cudaSuccess);
  EXPECT(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  return pointer;
}
template <typename T>
std::vector<T> on_host(const T* pointer, size_t count) {
  std::vector<T> values(count);
  EXPECT(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return values;
}
template <typename T>
Complex complex_of(const T& value) {
  return {value.x, value.y};
}
static double noise(int i) { return std::sin(i * 12.9898) * 1.7 + std::cos(i * 3.7); }

// The sum over all elements of n[0] x n[1] x n[2], written out.
template <typename Value>
Complex term(const int (&n)[3], const int (&k)[3], int sign, const Value& value) {
  Complex sum = 0;
  for (int a = 0; a < n[0]; a++)
    for (int b = 0; b < n[1]; b++)
      for (int c = 0; c < n[2]; c++)
        sum += value(a, b, c) *
               std::polar(1.0, sign * 2 * M_PI *
                                   (double(a) * k[0] / n[0] + double(b) * k[1] / n[1] + double(c) * k[2] / n[2]));
  return sum;
}

__global__ void scale(cufftComplex* spectrum, float by, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) spectrum[i] = make_cuComplex(spectrum[i].x * by, spectrum[i].y * by);
}

static void one_dimension(int size, int batch) {
  std::vector<cufftComplex> values(size * batch);
  for (int i = 0; i < size * batch; i++) values[i] = make_cuComplex(noise(i), noise(-i));
  cufftComplex *in = on_device(values), *out = on_device(values);
  cufftHandle plan;
  EXPECT(cufftPlan1d(&plan, size, CUFFT_C2C, batch) == CUFFT_SUCCESS);
  EXPECT(cufftExecC2C(plan, in, out, CUFFT_FORWARD) == CUFFT_SUCCESS);
  const auto spectrum = on_host(out, values.size());
  for (int b = 0; b < batch; b++)
    for (int k = 0; k < size; k += 3) {
      const Complex wanted =
          term({1, 1, size}, {0, 0, k}, -1, [&](int, int, int c) { return complex_of(values[b * size + c]); });
      EXPECT(std::abs(complex_of(spectrum[b * size + k]) - wanted) < 1e-4 * size);
    }
  scale<<<(size * batch + 127) / 128, 128>>>(out, 1.0f / size, size * batch);
  EXPECT(cufftExecC2C(plan, out, out, CUFFT_INVERSE) == CUFFT_SUCCESS);
  const auto back = on_host(out, values.size());
  for (int i = 0; i < size * batch; i++) EXPECT(std::abs(complex_of(back[i]) - complex_of(values[i])) < 1e-4);
  EXPECT(cufftExecZ2Z(plan, nullptr, nullptr, CUFFT_FORWARD) == CUFFT_INVALID_TYPE);
  EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS);
  EXPECT(cufftExecC2C(plan, in, out, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  cudaFree(in);
  cudaFree(out);
}

// Real numbers to half a spectrum and back; in place, rows are padded.
static void real_numbers(int slices, int rows, int columns, bool in_place) {
  const int half = columns / 2 + 1, row = in_place ? 2 * half : columns, lines = slices * rows;
  std::vector<double> values(lines * row);
  for (int i = 0; i < int(values.size()); i++) values[i] = noise(i);
  double* in = on_device(values);
  cufftDoubleComplex* out =
      in_place ? reinterpret_cast<cufftDoubleComplex*>(in) : on_device(std::vector<cufftDoubleComplex>(lines * half));
  cufftHandle forth, back;
  EXPECT(cufftPlan3d(&forth, slices, rows, columns, CUFFT_D2Z) == CUFFT_SUCCESS);
  EXPECT(cufftPlan3d(&back, slices, rows, columns, CUFFT_Z2D) == CUFFT_SUCCESS);
  EXPECT(cufftExecD2Z(forth, in, out) == CUFFT_SUCCESS);
  const auto spectrum = on_host(out, lines * half);
  for (int i = 0; i < lines * half; i += 5) {
    const Complex wanted = term({slices, rows, columns}, {i / half / rows, i / half % rows, i % half}, -1,
                                [&](int a, int b, int c) { return Complex(values[(a * rows + b) * row + c]); });
    EXPECT(std::abs(complex_of(spectrum[i]) - wanted) < 1e-9);
  }
  EXPECT(cufftExecZ2D(back, out, in) == CUFFT_SUCCESS);
  const auto again = on_host(in, values.size());
  for (int i = 0; i < lines; i++)
    for (int k = 0; k < columns; k++)
      EXPECT(std::abs(again[i * row + k] / (lines * columns) - values[i * row + k]) < 1e-9);
  cufftDestroy(forth);
  cufftDestroy(back);
  cudaFree(in);
  if (!in_place) cudaFree(out);
}

// The columns of a matrix of 6 x 4, each a transform: strides of 4, and results in rows of 8 of which 6 are written.
static void strided() {
  std::vector<cufftComplex> values(24), old(32, make_cuComplex(-5, -5));
  for (int i = 0; i < 24; i++) values[i] = make_cuComplex(noise(i), 0);
  cufftComplex *in = on_device(values), *out = on_device(old);
  int n = 6, in_embed = 6, out_embed = 8;
  cufftHandle plan;
  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  size_t work = 1;
  EXPECT(cufftCreate(&plan) == CUFFT_SUCCESS);
  EXPECT(cufftExecC2C(plan, in, out, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  EXPECT(cufftMakePlanMany(plan, 1, &n, &in_embed, 4, 1, &out_embed, 1, 8, CUFFT_C2C, 4, &work) == CUFFT_SUCCESS);
  EXPECT(cufftSetStream(plan, stream) == CUFFT_SUCCESS);
  EXPECT(cufftExecC2C(plan, in, out, CUFFT_INVERSE) == CUFFT_SUCCESS);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  const auto spectrum = on_host(out, 32);
  for (int column = 0; column < 4; column++)
    for (int k = 0; k < 8; k++) {
      const Complex wanted =
          k >= 6 ? Complex(-5, -5)
                 : term({1, 1, 6}, {0, 0, k}, 1, [&](int, int, int c) { return complex_of(values[c * 4 + column]); });
      EXPECT(std::abs(complex_of(spectrum[column * 8 + k]) - wanted) < 1e-5);
    }
  // Captured, it is done when the graph is launched.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  EXPECT(cudaMemsetAsync(out, 0, 32 * sizeof *out, stream) == cudaSuccess);
  EXPECT(cufftExecC2C(plan, in, out, CUFFT_INVERSE) == CUFFT_SUCCESS);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  EXPECT(cudaGraphLaunch(exec, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  const auto captured = on_host(out, 32);
  for (int i = 0; i < 32; i++) EXPECT(captured[i].x == (i % 8 < 6 ? spectrum[i].x : 0));
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cufftDestroy(plan);
  cudaStreamDestroy(stream);
  cudaFree(in);
  cudaFree(out);
}

int main() {
  one_dimension(1, 3);
  one_dimension(64, 2);
  one_dimension(90, 1);
  one_dimension(101, 1);
  real_numbers(1, 1, 15, false);
  real_numbers(1, 6, 10, true);
  real_numbers(3, 4, 7, false);
  real_numbers(3, 2, 8, true);
  strided();
  cufftHandle plan;
  EXPECT(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
  EXPECT(cufftPlan2d(&plan, 8, 8, static_cast<cufftType>(1)) == CUFFT_INVALID_TYPE);
  if (!wrong) std::printf("PASS\n");
  return wrong ? 1 : 0;
}
