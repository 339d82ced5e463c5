// Surface objects and arrays of three dimensions: an image that is written through a surface and read as a texture, a
// volume that is sampled with trilinear filtering, and layers.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

constexpr int width = 40, height = 24, depth = 10;

__global__ void shift(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int dx) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uchar4 beyond = surf2Dread<uchar4>(in, (x + dx) * (int)sizeof(uchar4), y, cudaBoundaryModeZero);
  uchar4 edge;
  surf2Dread(&edge, in, (x + dx) * (int)sizeof(uchar4), y, cudaBoundaryModeClamp);
  surf2Dwrite(make_uchar4(beyond.x, edge.x, y, 255), out, x * (int)sizeof(uchar4), y);
}

__global__ void fill_volume(cudaSurfaceObject_t volume) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  for (int z = 0; z < depth; z++) {
    const float value = surf3Dread<float>(volume, x * sizeof(float), y, z) * 2;
    surf3Dwrite<float>(value + x, volume, x * sizeof(float), y, z);
  }
}

__global__ void sample(cudaTextureObject_t volume, float* out, float step) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width) out[y * width + x] = tex3D<float>(volume, x * step, y * step, (x + y) * 0.1f);
}

__global__ void layers(cudaTextureObject_t images, cudaSurfaceObject_t line, float* out) {
  const int x = threadIdx.x;
  float sum = 0;
  for (int layer = 0; layer < 3; layer++) sum += tex2DLayered<float>(images, x + 0.5f, 1.5f, layer);
  out[x] = sum;
  surf1Dwrite(sum, line, x * (int)sizeof(float));
}

cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeArray;
  from.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &from));
  return surface;
}

cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter) {
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeArray;
  from.res.array.array = array;
  cudaTextureDesc how = {};
  for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
  how.filterMode = filter;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
  return texture;
}

bool image_is_shifted() {
  const cudaChannelFormatDesc rgba = cudaCreateChannelDesc<uchar4>();
  cudaArray_t in, out;
  CHECK(cudaMallocArray(&in, &rgba, width, height, cudaArraySurfaceLoadStore));
  CHECK(cudaMallocArray(&out, &rgba, width, height, cudaArraySurfaceLoadStore));
  std::vector<uchar4> pixels(width * height), shifted(width * height);
  for (int i = 0; i < width * height; i++) pixels[i] = make_uchar4(1 + i * 31 % 255, 0, 0, 0);
  CHECK(cudaMemcpy2DToArray(in, 0, 0, pixels.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  const cudaSurfaceObject_t from = surface_of(in), to = surface_of(out);
  shift<<<dim3(3, 3), dim3(16, 8)>>>(from, to, 5);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2DFromArray(shifted.data(), width * 4, out, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  CHECK(cudaDestroySurfaceObject(from));
  CHECK(cudaDestroySurfaceObject(to));
  CHECK(cudaFreeArray(in));
  CHECK(cudaFreeArray(out));
  bool right = true;
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      const uchar4 is = shifted[y * width + x];
      const int edge = pixels[y * width + std::min(x + 5, width - 1)].x;
      right &= is.x == (x + 5 < width ? edge : 0) && is.y == edge && is.z == y && is.w == 255;
    }
  }
  return right;
}

bool volume_is_sampled() {
  const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(width, height, depth);
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &one, extent, cudaArraySurfaceLoadStore));
  std::vector<float> values(width * height * depth), back(values.size());
  for (size_t i = 0; i < values.size(); i++) values[i] = i * 37 % 101 / 50.f;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), width * sizeof(float), width, height);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const cudaSurfaceObject_t surface = surface_of(array);
  fill_volume<<<dim3(2, height), 32>>>(surface);
  CHECK(cudaGetLastError());
  copy = {};
  copy.srcArray = array;
  copy.dstPtr = make_cudaPitchedPtr(back.data(), width * sizeof(float), width, height);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  bool right = true;
  for (size_t i = 0; i < values.size(); i++) right &= back[i] == 2 * values[i] + i % width;

  const cudaTextureObject_t texture = texture_of(array, cudaFilterModeLinear);
  float* d_out;
  std::vector<float> out(width * height);
  CHECK(cudaMalloc(&d_out, out.size() * sizeof(float)));
  sample<<<dim3(2, height), 32>>>(texture, d_out, 0.75f);
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  const auto at = [&](int x, int y, int z) {
    x = std::clamp(x, 0, width - 1), y = std::clamp(y, 0, height - 1), z = std::clamp(z, 0, depth - 1);
    return back[(z * height + y) * width + x];
  };
  double worst = 0;
  for (int i = 0; i < width * height; i++) {
    const double x = i % width * 0.75 - 0.5, y = i / width * 0.75 - 0.5, z = (i % width + i / width) * 0.1 - 0.5;
    const int x0 = std::floor(x), y0 = std::floor(y), z0 = std::floor(z);
    double sum = 0;
    for (int k = 0; k < 8; k++)
      sum += (k & 1 ? x - x0 : 1 - (x - x0)) * (k & 2 ? y - y0 : 1 - (y - y0)) * (k & 4 ? z - z0 : 1 - (z - z0)) *
             at(x0 + (k & 1), y0 + (k >> 1 & 1), z0 + (k >> 2));
    worst = std::max(worst, std::fabs(sum - out[i]));
  }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
  if (worst > 0.05) std::printf("volume: off by %g\n", worst);  // weights have 8 bits
  return right && worst < 0.05;
}

bool layers_are_apart() {
  const cudaChannelFormatDesc one = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t images, line;
  CHECK(cudaMalloc3DArray(&images, &one, make_cudaExtent(width, 4, 3), cudaArrayLayered));
  CHECK(cudaMallocArray(&line, &one, width, 0, cudaArraySurfaceLoadStore));
  std::vector<float> values(width * 4 * 3), sums(width), written(width);
  for (size_t i = 0; i < values.size(); i++) values[i] = i;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), width * sizeof(float), width, 4);
  copy.dstArray = images;
  copy.extent = make_cudaExtent(width, 4, 3);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaExtent extent;
  cudaChannelFormatDesc format;
  unsigned flags;
  CHECK(cudaArrayGetInfo(&format, &extent, &flags, images));
  float* d_sums;
  CHECK(cudaMalloc(&d_sums, width * sizeof(float)));
  layers<<<1, width>>>(texture_of(images, cudaFilterModePoint), surface_of(line), d_sums);
  CHECK(cudaMemcpy(sums.data(), d_sums, width * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2DFromArray(written.data(), width * 4, line, 0, 0, width * 4, 1, cudaMemcpyDeviceToHost));
  bool right = flags == cudaArrayLayered && extent.depth == 3 && format.x == 32;
  for (int x = 0; x < width; x++) right &= sums[x] == 3 * (width + x) + 3 * 4 * width && written[x] == sums[x];
  return right;
}

int main() {
  const bool image = image_is_shifted(), volume = volume_is_sampled(), layered = layers_are_apart();
  std::printf("image %d, volume %d, layers %d\n%s\n", image, volume, layered,
              image && volume && layered ? "PASS" : "FAIL");
  return !(image && volume && layered);
}
