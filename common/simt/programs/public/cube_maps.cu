// Cubemaps, alone and in layers; the four texels around a place; bytes copied to an array in the order of its rows.
#include <cuda_runtime.h>

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

constexpr int width = 8, faces = 6, layers = 2;

// Looks from the cube's middle at the middle of every texel.
template <bool layered>
__global__ void look_around(cudaTextureObject_t cube, float* out, int layer) {
  const float u = (threadIdx.x + 0.5f) / width * 2 - 1, v = (threadIdx.y + 0.5f) / width * 2 - 1;
  const float3 directions[] = {{1, -v, -u}, {-1, -v, u}, {u, 1, v}, {u, -1, -v}, {u, -v, 1}, {-u, -v, -1}};
  for (int face = 0; face < faces; face++) {
    const float3 at = directions[face];
    const float far = 1 + threadIdx.x;  // how long it is does not matter
    const float found = layered ? texCubemapLayered<float>(cube, at.x * far, at.y * far, at.z * far, layer)
                                : texCubemap<float>(cube, at.x * far, at.y * far, at.z * far);
    out[(face * width + threadIdx.y) * width + threadIdx.x] = found;
  }
}

__global__ void around(cudaTextureObject_t image, float4* floats, int channel) {
  floats[threadIdx.x] = tex2Dgather<float4>(image, threadIdx.x + 1.0f, 3.0f, channel);
}

cudaTextureObject_t texture_of(cudaArray_t array, bool normalized) {
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeArray;
  from.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.normalizedCoords = normalized;
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &from, &how, nullptr));
  return object;
}

bool cubes(bool layered) {
  const int depth = faces * (layered ? layers : 1);
  std::vector<float> texels(depth * width * width), found(faces * width * width);
  for (size_t i = 0; i < texels.size(); i++) texels[i] = i;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, width, depth),
                          cudaArrayCubemap | (layered ? cudaArrayLayered : 0)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), width * sizeof(float), width, width);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(width, width, depth);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const cudaTextureObject_t cube = texture_of(array, true);
  float* out;
  CHECK(cudaMalloc(&out, found.size() * sizeof(float)));
  if (layered)
    look_around<true><<<1, dim3(width, width)>>>(cube, out, 1);
  else
    look_around<false><<<1, dim3(width, width)>>>(cube, out, 0);
  CHECK(cudaMemcpy(found.data(), out, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
  const size_t first = layered ? faces * width * width : 0;
  bool right = true;
  for (size_t i = 0; i < found.size(); i++) right = right && found[i] == texels[first + i];
  CHECK(cudaDestroyTextureObject(cube));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
  return right;
}

bool gather() {
  std::vector<float2> texels(width * width);
  for (size_t i = 0; i < texels.size(); i++) texels[i] = make_float2(i, 1000 + i);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, width, cudaArrayTextureGather));
  // From the middle of a row to the end, then the beginning.
  const size_t bytes = texels.size() * sizeof(float2), part = 3 * sizeof(float2);
  const char* const all = reinterpret_cast<const char*>(texels.data());
  const size_t row = width * sizeof(float2);
  CHECK(cudaMemcpyToArray(array, part, 2, all + 2 * row + part, bytes - 2 * row - part, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToArray(array, 0, 0, all, 2 * row + part, cudaMemcpyHostToDevice));
  if (cudaMemcpyToArray(array, part, 0, all, bytes, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return false;
  std::vector<float2> back(texels.size());
  CHECK(cudaMemcpyFromArray(back.data(), array, 0, 0, bytes, cudaMemcpyDeviceToHost));
  if (std::memcmp(back.data(), all, bytes) != 0) return false;
  const cudaTextureObject_t image = texture_of(array, false);
  float4 *out, found[width];
  CHECK(cudaMalloc(&out, sizeof found));
  bool right = true;
  for (int channel = 0; channel < 2; channel++) {
    around<<<1, width>>>(image, out, channel);
    CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int x = 0; x < width; x++) {
      const auto texel = [&](int column, int line) {
        return line * width + (column < width ? column : width - 1) + 1000.0f * channel;
      };
      right = right && found[x].x == texel(x, 3) && found[x].y == texel(x + 1, 3) && found[x].z == texel(x + 1, 2) &&
              found[x].w == texel(x, 2);
    }
  }
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
  return right;
}

int main() {
  const bool right = cubes(false) && cubes(true) && gather();
  std::puts(right ? "PASS" : "FAIL");
  return !right;
}
