// Texture objects: an image that is turned and scaled with bilinear filtering, a table that is interpolated, and linear
// memory; every addressing mode, held against the host's own fetches.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

constexpr int width = 37, height = 21, out_width = 48, out_height = 32;

__device__ __host__ void turned(int x, int y, float angle, float& u, float& v) {
  const float s = sinf(angle), c = cosf(angle), dx = x + 0.5f - out_width / 2, dy = y + 0.5f - out_height / 2;
  u = (c * dx - s * dy) / 24 + 0.5f;
  v = (s * dx + c * dy) / 16 + 0.5f;
}

template <typename T>
__global__ void turn(cudaTextureObject_t image, T* out, float angle, float scale_u, float scale_v) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out_width || y >= out_height) return;
  float u, v;
  turned(x, y, angle, u, v);
  out[y * out_width + x] = tex2D<T>(image, u * scale_u, v * scale_v);
}

__global__ void look_up(cudaTextureObject_t table, cudaTextureObject_t numbers, cudaTextureObject_t vectors, float* y,
                        int* picked, float4* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = tex1D<float>(table, i * 0.25f);
  int number;
  tex1Dfetch(&number, numbers, i - 2);
  picked[i] = number;
  const float4 a = tex1Dfetch<float4>(vectors, i), b = tex1Dfetch<float4>(vectors, i + 1);
  sums[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

int place(int i, int n, cudaTextureAddressMode mode) {
  if (mode == cudaAddressModeBorder && (i < 0 || i >= n)) return -1;
  if (mode == cudaAddressModeWrap) return (i % n + n) % n;
  if (mode == cudaAddressModeMirror) i = (i % (2 * n) + 2 * n) % (2 * n), i = i < n ? i : 2 * n - 1 - i;
  return std::min(std::max(i, 0), n - 1);
}

// A channel of the image at this place in texels, in double precision.
template <typename At>
double fetched(const At& at, float x, float y, bool filter, cudaTextureAddressMode mode) {
  const auto texel = [&](int i, int j) {
    i = place(i, width, mode), j = place(j, height, mode);
    return i < 0 || j < 0 ? 0.0 : at(i, j);
  };
  if (!filter) return texel(static_cast<int>(floorf(x)), static_cast<int>(floorf(y)));
  const double a = x - 0.5 - floor(x - 0.5), b = y - 0.5 - floor(y - 0.5);
  const int i = static_cast<int>(floor(x - 0.5)), j = static_cast<int>(floor(y - 0.5));
  return (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j) + (1 - a) * b * texel(i, j + 1) +
         a * b * texel(i + 1, j + 1);
}

template <typename T, typename At>
bool image_is(const char* what, const cudaResourceDesc& from, cudaTextureReadMode read, bool normalized, bool filter,
              cudaTextureAddressMode mode, const At& at) {
  cudaTextureDesc how;
  std::memset(&how, 0, sizeof how);
  how.addressMode[0] = how.addressMode[1] = mode;
  how.filterMode = filter ? cudaFilterModeLinear : cudaFilterModePoint;
  how.readMode = read;
  how.normalizedCoords = normalized;
  cudaTextureObject_t image = 0;
  CHECK(cudaCreateTextureObject(&image, &from, &how, nullptr));
  std::vector<T> out(out_width * out_height);
  T* d_out;
  CHECK(cudaMalloc(&d_out, out.size() * sizeof(T)));
  const float su = normalized ? 1 : width, sv = normalized ? 1 : height;
  turn<T><<<dim3(3, 4), dim3(16, 8)>>>(image, d_out, 0.4f, su, sv);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaFree(d_out));
  // Without normalised coordinates the repeating modes are those at the edge.
  if (!normalized && mode != cudaAddressModeBorder) mode = cudaAddressModeClamp;
  double worst = 0;
  int other = 0;
  for (int i = 0; i < out_width * out_height; i++) {
    float u, v;
    turned(i % out_width, i / out_width, 0.4f, u, v);
    const double difference = std::fabs(fetched(at, u * width, v * height, filter, mode) - out[i].x);
    worst = std::max(worst, difference);
    other += difference > 1e-5;
  }
  // Weights have 8 bits; a nearest texel may be the neighbour where the coordinate falls between two.
  const bool is = filter ? worst < 2.1 / 256 : other <= 2;
  if (!is) std::printf("%s: off by %g, %d of them\n", what, worst, other);
  return is;
}

int main() {
  bool right = true;
  std::vector<uchar4> pixels(width * height);
  std::vector<float2> fields(width * height);
  for (int i = 0; i < width * height; i++) {
    pixels[i] = make_uchar4(i * 37 % 256, i % 7, 0, 255);
    fields[i] = make_float2(i * 53 % 101 / 101.f, -1);
  }
  cudaArray_t array;
  const cudaChannelFormatDesc rgba = cudaCreateChannelDesc<uchar4>();
  CHECK(cudaMallocArray(&array, &rgba, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaResourceDesc of_array = {};
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;

  float2* pitched;
  cudaResourceDesc of_pitched = {};
  of_pitched.resType = cudaResourceTypePitch2D;
  CHECK(cudaMallocPitch(&pitched, &of_pitched.res.pitch2D.pitchInBytes, width * sizeof(float2), height));
  CHECK(cudaMemcpy2D(pitched, of_pitched.res.pitch2D.pitchInBytes, fields.data(), width * sizeof(float2),
                     width * sizeof(float2), height, cudaMemcpyHostToDevice));
  of_pitched.res.pitch2D.devPtr = pitched;
  of_pitched.res.pitch2D.desc = cudaCreateChannelDesc<float2>();
  of_pitched.res.pitch2D.width = width;
  of_pitched.res.pitch2D.height = height;

  const auto red = [&](int i, int j) { return pixels[j * width + i].x / 255.0; };
  const auto byte = [&](int i, int j) { return static_cast<double>(pixels[j * width + i].x); };
  const auto field = [&](int i, int j) { return static_cast<double>(fields[j * width + i].x); };
  for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
    for (const bool normalized : {false, true}) {
      right &= image_is<float4>("filtered bytes", of_array, cudaReadModeNormalizedFloat, normalized, true, mode, red);
      right &= image_is<uchar4>("nearest bytes", of_array, cudaReadModeElementType, normalized, false, mode, byte);
      right &= image_is<float2>("filtered floats", of_pitched, cudaReadModeElementType, normalized, true, mode, field);
    }
  }

  const int n = 64;
  std::vector<float> table(16), y(n);
  std::vector<int> numbers(50), picked(n);
  std::vector<float4> vectors(n), sums(n);
  for (int i = 0; i < 16; i++) table[i] = i * i;
  for (int i = 0; i < 50; i++) numbers[i] = 1000 - i;
  for (int i = 0; i < n; i++) vectors[i] = make_float4(i, 2 * i, -i, 1);
  const cudaChannelFormatDesc one_float = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t line;
  CHECK(cudaMallocArray(&line, &one_float, 16));
  CHECK(cudaMemcpy2DToArray(line, 0, 0, table.data(), 64, 64, 1, cudaMemcpyHostToDevice));
  cudaTextureDesc how = {};
  how.addressMode[0] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeArray;
  from.res.array.array = line;
  cudaTextureObject_t objects[3];
  CHECK(cudaCreateTextureObject(&objects[0], &from, &how, nullptr));
  how.filterMode = cudaFilterModePoint;
  int *d_numbers, *d_picked;
  float4 *d_vectors, *d_sums;
  float* d_y;
  CHECK(cudaMalloc(&d_numbers, 50 * sizeof(int)));
  CHECK(cudaMalloc(&d_picked, n * sizeof(int)));
  CHECK(cudaMalloc(&d_vectors, n * sizeof(float4)));
  CHECK(cudaMalloc(&d_sums, n * sizeof(float4)));
  CHECK(cudaMalloc(&d_y, n * sizeof(float)));
  CHECK(cudaMemcpy(d_numbers, numbers.data(), 50 * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_vectors, vectors.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
  from.resType = cudaResourceTypeLinear;
  from.res.linear = {d_numbers, cudaCreateChannelDesc<int>(), 50 * sizeof(int)};
  CHECK(cudaCreateTextureObject(&objects[1], &from, &how, nullptr));
  from.res.linear = {d_vectors, cudaCreateChannelDesc<float4>(), n * sizeof(float4)};
  CHECK(cudaCreateTextureObject(&objects[2], &from, &how, nullptr));
  look_up<<<1, n>>>(objects[0], objects[1], objects[2], d_y, d_picked, d_sums, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(picked.data(), d_picked, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums.data(), d_sums, n * sizeof(float4), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) {
    const double x = std::min(std::max(i * 0.25 - 0.5, 0.0), 15.0), below = std::floor(x), above = std::ceil(x);
    right &= std::fabs(y[i] - (below * below + (x - below) * (above * above - below * below))) < 1e-4;
    right &= picked[i] == (i >= 2 && i < 52 ? numbers[i - 2] : 0);
    right &= sums[i].y == (i + 1 < n ? 4 * i + 2 : 2 * i) && sums[i].w == (i + 1 < n ? 2 : 1);
  }
  for (const auto object : objects) CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFreeArray(line));
  CHECK(cudaFreeArray(array));
  std::puts(right ? "PASS" : "FAIL");
  return !right;
}
