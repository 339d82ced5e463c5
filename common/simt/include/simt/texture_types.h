// Texture objects, as the host sees them: channels, arrays, and what a texture is made of. Values are CUDA's own.
#pragma once

#include <type_traits>

#include "runtime_api.h"

using cudaTextureObject_t = unsigned long long;  // 0 is none

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
// Bits of each channel: 8, 16 or 32, in 1, 2 or 4 channels of one size.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

namespace simt {

// A type that texels have: its channels, and the type of one.
template <typename T>
struct TexelType {
  using Channel = T;
  static constexpr int channels = std::is_arithmetic<T>::value && sizeof(T) <= 4 ? 1 : 0;  // 0: no texel's
};
#define SIMT_TEXEL(type, channel, count)   \
  template <>                              \
  struct TexelType<type> {                 \
    using Channel = channel;               \
    static constexpr int channels = count; \
  };
#define SIMT_TEXELS(name, channel) \
  SIMT_TEXEL(name##1, channel, 1) SIMT_TEXEL(name##2, channel, 2) SIMT_TEXEL(name##4, channel, 4)
SIMT_TEXELS(char, signed char)
SIMT_TEXELS(uchar, unsigned char)
SIMT_TEXELS(short, short)
SIMT_TEXELS(ushort, unsigned short)
SIMT_TEXELS(int, int)
SIMT_TEXELS(uint, unsigned)
SIMT_TEXELS(float, float)
#undef SIMT_TEXELS
#undef SIMT_TEXEL

template <typename Channel>
constexpr cudaChannelFormatKind texel_kind() {
  return std::is_floating_point<Channel>::value ? cudaChannelFormatKindFloat
         : std::is_signed<Channel>::value       ? cudaChannelFormatKindSigned
                                                : cudaChannelFormatKindUnsigned;
}

}  // namespace simt

template <typename T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Texel = simt::TexelType<T>;
  static_assert(Texel::channels > 0, "a texel has 1, 2 or 4 channels of char, short, int or float");
  const int bits = 8 * static_cast<int>(sizeof(typename Texel::Channel));
  return {bits, Texel::channels > 1 ? bits : 0, Texel::channels > 2 ? bits : 0, Texel::channels > 2 ? bits : 0,
          simt::texel_kind<typename Texel::Channel>()};
}

// One to three dimensions, row after row in device memory. Widths of copies are in bytes, those of arrays in elements.
struct cudaArray;
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;
struct cudaMipmappedArray;
using cudaMipmappedArray_t = cudaMipmappedArray*;
constexpr unsigned cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4,
                   cudaArrayTextureGather = 8;

// Width, height and depth: of linear memory the width is in bytes, else all are in elements.
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width, size_t height) {
  return {pointer, pitch, width, height};
}

// Flags: cudaArraySurfaceLoadStore and, in cudaMalloc3DArray, cudaArrayLayered, by which the depth counts layers. With
// others the answer is cudaErrorNotSupported.
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags = 0);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array);
inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height = 0,
                            unsigned flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
namespace simt {
// Its bytes: where a copy begins. An error if it does not end in the array.
void* array_at(cudaArray_const_t array, size_t at_byte, size_t at_row);
size_t array_pitch(cudaArray_const_t array);
// Where a copy of the extent, in elements, begins; xsize: bytes of an element. An error if it does not end in the
// array.
cudaError_t array_slices(cudaArray_const_t array, const cudaPos& at, const cudaExtent& extent, cudaPitchedPtr* slices);
cudaError_t test_array_copy(cudaArray_const_t array, size_t at_byte, size_t at_row, size_t width_bytes, size_t height,
                            const char* function = __builtin_FUNCTION());
}  // namespace simt

inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t at_byte, size_t at_row, const void* from, size_t pitch,
                                       size_t width_bytes, size_t height, cudaMemcpyKind kind) {
  const cudaError_t error = simt::test_array_copy(to, at_byte, at_row, width_bytes, height);
  return error != cudaSuccess ? error
                              : cudaMemcpy2D(simt::array_at(to, at_byte, at_row), simt::array_pitch(to), from, pitch,
                                             width_bytes, height, kind);
}
inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t at_byte, size_t at_row, const void* from,
                                            size_t pitch, size_t width_bytes, size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream = nullptr) {
  const cudaError_t error = simt::test_array_copy(to, at_byte, at_row, width_bytes, height);
  return error != cudaSuccess ? error
                              : cudaMemcpy2DAsync(simt::array_at(to, at_byte, at_row), simt::array_pitch(to), from,
                                                  pitch, width_bytes, height, kind, stream);
}
inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t at_byte, size_t at_row,
                                         size_t width_bytes, size_t height, cudaMemcpyKind kind) {
  const cudaError_t error = simt::test_array_copy(from, at_byte, at_row, width_bytes, height);
  return error != cudaSuccess ? error
                              : cudaMemcpy2D(to, pitch, simt::array_at(from, at_byte, at_row), simt::array_pitch(from),
                                             width_bytes, height, kind);
}
// `bytes` of the array in the order of its rows, from a place on: the older functions, which CUDA 13 does not have.
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t at_byte, size_t at_row, const void* from, size_t bytes,
                              cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t at_byte, size_t at_row, size_t bytes,
                                cudaMemcpyKind kind);
inline cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t at_byte, size_t at_row, const void* from, size_t bytes,
                                          cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  const auto copy = [=] { return cudaMemcpyToArray(to, at_byte, at_row, from, bytes, kind); };
  return simt::after_copy(stream, nullptr, from, simt::do_or_capture(stream, copy, cudaGraphNodeTypeMemcpy));
}
inline cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t at_byte, size_t at_row,
                                            size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  const auto copy = [=] { return cudaMemcpyFromArray(to, from, at_byte, at_row, bytes, kind); };
  return simt::after_copy(stream, to, nullptr, simt::do_or_capture(stream, copy, cudaGraphNodeTypeMemcpy));
}
inline cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t at_byte,
                                              size_t at_row, size_t width_bytes, size_t height, cudaMemcpyKind kind,
                                              cudaStream_t stream = nullptr) {
  const cudaError_t error = simt::test_array_copy(from, at_byte, at_row, width_bytes, height);
  return error != cudaSuccess ? error
                              : cudaMemcpy2DAsync(to, pitch, simt::array_at(from, at_byte, at_row),
                                                  simt::array_pitch(from), width_bytes, height, kind, stream);
}
inline cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t at_byte, size_t at_row, cudaArray_const_t from,
                                            size_t from_byte, size_t from_row, size_t width_bytes, size_t height,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToDevice) {
  const cudaError_t error = simt::test_array_copy(from, from_byte, from_row, width_bytes, height);
  return error != cudaSuccess ? error
                              : cudaMemcpy2DToArray(to, at_byte, at_row, simt::array_at(from, from_byte, from_row),
                                                    simt::array_pitch(from), width_bytes, height, kind);
}

enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height;  // in elements
      size_t pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned flags;
};

enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;

// Mipmaps, sRGB and views of a resource are not supported: cudaErrorNotSupported.
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);

using cudaSurfaceObject_t = unsigned long long;  // 0 is none

// Beyond the array: loads give 0 and stores do nothing; the nearest place; the kernel fails.
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

// Only of an array with cudaArraySurfaceLoadStore.
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
