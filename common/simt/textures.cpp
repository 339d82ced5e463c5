// Texture objects: arrays, what a texture is made of, and which texels a fetch needs (include/simt/textures.h). As the
// CUDA C++ programming guide defines fetches; a weight of linear filtering is rounded to 1/256. Errors are those of
// CUDA's documentation, which no GPU was asked for.
#include "include/simt/textures.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <string>

#include "block.h"
#include "cube_faces.h"
#include "cuda_array.h"
#include "device.h"
#include "failure.h"
#include "refusal.h"

namespace {

using simt::bytes_of;
using simt::channels_of;
using simt::set_last_error;

struct Texture {
  cudaResourceType from;
  cudaChannelFormatDesc format;
  char* data;
  size_t pitch, width, height, depth;  // height 0: one dimension; depth 0: neither three nor layers
  bool layered, cubemap, gathers;
  cudaTextureDesc texture;
};

constexpr size_t max_width = 131072, max_height = 65536, max_depth = 16384, max_layers = 2048, alignment = 512,
                 pitch_alignment = 32;

// By object, which counts from 1. Kernels look while the host creates others.
std::array<std::atomic<const Texture*>, 65536> textures;

bool is_valid(const cudaChannelFormatDesc& format) {
  const int bits = format.x, channels = channels_of(format);
  if (bits != 8 && bits != 16 && bits != 32) return false;
  if (format.f < cudaChannelFormatKindSigned || format.f > cudaChannelFormatKindFloat) return false;
  if (format.f == cudaChannelFormatKindFloat && bits == 8) return false;
  const int others[] = {format.y, format.z, format.w};
  for (int i = 0; i < 3; i++) {
    if (others[i] != (i + 1 < channels ? bits : 0)) return false;
  }
  return channels != 3;
}

cudaError_t refuse(cudaError_t error, const std::string& what, const char* function = __builtin_FUNCTION()) {
  return simt::refuse_array(error, what, function);
}

// Of an array, what rows of `width_bytes` at this place have room for.
bool is_inside(const cudaArray& array, size_t at_byte, size_t at_row, size_t width_bytes, size_t height) {
  const size_t row = array.width * bytes_of(array.format), rows = std::max<size_t>(array.height, 1);
  return at_byte <= row && width_bytes <= row - at_byte && at_row <= rows && height <= rows - at_row;
}

const char* copy_beyond = "it runs past the end of the array\nOffsets and widths are in bytes, heights in rows.";

[[noreturn]] void fail(const std::string& detail, simt::Place place) {
  simt::fail_in_kernel("a wrong read of a texture", detail, place);
}

std::string type_text(int channels, int bits, bool is_float, bool is_signed) {
  return std::to_string(channels) + (channels > 1 ? " channels of " : " channel of ") + std::to_string(bits) +
         " bits (" +
         (is_float    ? "float"
          : is_signed ? "signed"
                      : "unsigned") +
         ")";
}

// The texture, which fits what is asked of it.
const Texture& find(cudaTextureObject_t object, const simt::TexelRead& read) {
  const Texture* const found = object && object < textures.size() ? textures[object].load() : nullptr;
  if (!found)
    fail("The number is no texture object: it was not created in this process, or it has been destroyed.", read.place);
  const bool normalized = found->texture.readMode == cudaReadModeNormalizedFloat;
  const bool is_float = found->format.f == cudaChannelFormatKindFloat;
  const bool is_signed = found->format.f != cudaChannelFormatKindUnsigned;
  const bool fits = is_float || normalized
                        ? read.is_float
                        : !read.is_float && read.bytes * 8 == found->format.x && read.is_signed == is_signed;
  if (!fits || read.channels > channels_of(found->format))
    fail("It has " + type_text(channels_of(found->format), found->format.x, is_float, is_signed) +
             (normalized && !is_float ? ", read as normalised floats" : "") + ", and the kernel reads " +
             type_text(read.channels, read.bytes * 8, read.is_float, read.is_signed) +
             ". Take the type of the channel description, or float if the texture gives floats.",
         read.place);
  return *found;
}

simt::Texels no_texels(const Texture& texture) {
  simt::Texels texels = {};
  texels.bits = static_cast<unsigned char>(texture.format.x);
  texels.channels = static_cast<unsigned char>(channels_of(texture.format));
  texels.is_float = texture.format.f == cudaChannelFormatKindFloat;
  texels.is_signed = texture.format.f == cudaChannelFormatKindSigned;
  texels.normalized = texture.texture.readMode == cudaReadModeNormalizedFloat;
  return texels;
}

// The texels along one dimension: one, or two with the second one's weight. -1: the border.
struct Along {
  long at[2];
  float weight;
  int count;
};

Along along(float x, size_t size, cudaTextureAddressMode mode, bool normalized, bool filtered) {
  const long n = static_cast<long>(size);
  // Texels repeat only with normalised coordinates.
  if (!normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) mode = cudaAddressModeClamp;
  if (std::isnan(x)) x = 0;
  if (normalized) {
    if (mode == cudaAddressModeWrap) x -= std::floor(x);
    if (mode == cudaAddressModeMirror) {
      const float turn = std::floor(x);
      x = std::fmod(turn, 2.0f) == 0 ? x - turn : 1 - (x - turn);
    }
    x *= static_cast<float>(size);
  }
  x = std::clamp(x, -1e6f, 1e6f);  // beyond any texture
  if (filtered) x -= 0.5f;
  const long first = static_cast<long>(std::floor(x));
  const auto within = [&](long i) {
    if (i >= 0 && i < n) return i;
    if (mode == cudaAddressModeBorder) return -1L;
    if (mode == cudaAddressModeWrap) return (i % n + n) % n;
    return std::clamp(i, 0L, n - 1);
  };
  if (!filtered) return {{within(first), 0}, 0, 1};
  const float weight = std::round((x - static_cast<float>(first)) * 256) / 256;
  return {{within(first), within(first + 1)}, weight, 2};
}

// What the texels of these rows, columns and slices are, with their weights.
simt::Texels texels_at(const Texture& texture, const Along& columns, const Along& rows, const Along& slices) {
  simt::Texels texels = no_texels(texture);
  std::copy(texture.texture.borderColor, texture.texture.borderColor + 4, texels.border);
  const size_t slice_bytes = std::max<size_t>(texture.height, 1) * texture.pitch;
  const auto weight_of = [](const Along& along, int i) { return i ? along.weight : 1 - along.weight; };
  for (int k = 0; k < slices.count; k++) {
    for (int j = 0; j < rows.count; j++) {
      for (int i = 0; i < columns.count; i++) {
        texels.weight[texels.count] = weight_of(columns, i) * weight_of(rows, j) * weight_of(slices, k);
        if (columns.at[i] >= 0 && rows.at[j] >= 0 && slices.at[k] >= 0)
          texels.from[texels.count] = texture.data + static_cast<size_t>(slices.at[k]) * slice_bytes +
                                      static_cast<size_t>(rows.at[j]) * texture.pitch +
                                      static_cast<size_t>(columns.at[i]) * bytes_of(texture.format);
        texels.count++;
      }
    }
  }
  return texels;
}

// "tex2DLayered", and the like.
const char* call_for(int dimensions, bool layered) {
  if (layered) return dimensions == 1 ? "tex1DLayered" : "tex2DLayered";
  return dimensions == 1 ? "tex1D" : dimensions == 2 ? "tex2D" : "tex3D";
}

}  // namespace

namespace simt {

cudaError_t refuse_array(cudaError_t error, const std::string& what, const char* function) {
  set_last_error(error, function);
  refuse_call(error, std::string(function) + " refused: " + what);
  return error;
}

Texels texels_linear(cudaTextureObject_t object, int index, const TexelRead& read) noexcept {
  const Texture& texture = find(object, read);
  if (texture.from != cudaResourceTypeLinear)
    fail("tex1Dfetch is for linear memory; this texture is of an array or of pitched memory: tex1D or tex2D.",
         read.place);
  Texels texels = no_texels(texture);
  texels.count = 1;
  texels.weight[0] = 1;
  if (index >= 0 && static_cast<size_t>(index) < texture.width)
    texels.from[0] = texture.data + static_cast<size_t>(index) * bytes_of(texture.format);
  return texels;
}

Texels texels_array(cudaTextureObject_t object, const TexelPlace& at, const TexelRead& read) noexcept {
  const Texture& texture = find(object, read);
  if (texture.from == cudaResourceTypeLinear)
    fail("This texture is of linear memory: that is read by tex1Dfetch.", read.place);
  if (texture.cubemap) fail("This texture is a cubemap: that is read by texCubemap or texCubemapLayered.", read.place);
  const int dimensions = texture.depth && !texture.layered ? 3 : texture.height ? 2 : 1;
  if (at.dimensions != dimensions || (at.layer >= 0) != texture.layered)
    fail(std::string(call_for(at.dimensions, at.layer >= 0)) + " of a texture with " +
             (dimensions == 3   ? "three dimensions"
              : dimensions == 2 ? "two dimensions"
                                : "one dimension") +
             (texture.layered ? " and layers: " : ": ") + call_for(dimensions, texture.layered) + ".",
         read.place);
  const cudaTextureDesc& how = texture.texture;
  const bool filtered = how.filterMode == cudaFilterModeLinear, normalized = how.normalizedCoords;
  const Along columns = along(at.x, texture.width, how.addressMode[0], normalized, filtered);
  Along rows = {{0, 0}, 0, 1}, slices = {{0, 0}, 0, 1};
  if (texture.height) rows = along(at.y, texture.height, how.addressMode[1], normalized, filtered);
  if (dimensions == 3) slices = along(at.z, texture.depth, how.addressMode[2], normalized, filtered);
  if (texture.layered) slices.at[0] = std::min<long>(at.layer, static_cast<long>(texture.depth) - 1);
  return texels_at(texture, columns, rows, slices);
}

Texels texels_cubemap(cudaTextureObject_t object, const TexelPlace& at, const TexelRead& read) noexcept {
  const Texture& texture = find(object, read);
  if (!texture.cubemap || (at.layer >= 0) != texture.layered)
    fail(std::string("texCubemap") + (at.layer >= 0 ? "Layered" : "") + " of a texture whose array was made without " +
             (texture.cubemap ? "cudaArrayLayered." : "cudaArrayCubemap."),
         read.place);
  const bool filtered = texture.texture.filterMode == cudaFilterModeLinear;
  const simt::OnFace place = on_face(at.x, at.y, at.z);
  const long last_layer = static_cast<long>(texture.depth) / 6 - 1;
  const Along face = {{place.face + (texture.layered ? 6 * std::min<long>(at.layer, last_layer) : 0), 0}, 0, 1};
  // A face's edge repeats: filtering does not go on in the next face.
  const auto within = [&](float x) { return along((x + 1) / 2, texture.width, cudaAddressModeClamp, true, filtered); };
  return texels_at(texture, within(place.s), within(place.t), face);
}

Texels texels_gather(cudaTextureObject_t object, float x, float y, const TexelRead& read) noexcept {
  const Texture& texture = find(object, read);
  if (!texture.gathers)
    fail("tex2Dgather of a texture whose array was made without cudaArrayTextureGather.", read.place);
  const cudaTextureDesc& how = texture.texture;
  const Along columns = along(x, texture.width, how.addressMode[0], how.normalizedCoords, true),
              rows = along(y, texture.height, how.addressMode[1], how.normalizedCoords, true);
  Texels texels = texels_at(texture, columns, rows, {{0, 0}, 0, 1});
  // Counter-clockwise from below on the left.
  const void* const order[] = {texels.from[2], texels.from[3], texels.from[1], texels.from[0]};
  std::copy(order, order + 4, texels.from);
  return texels;
}

void* array_at(cudaArray_const_t array, size_t at_byte, size_t at_row) {
  return array->data + at_row * array->pitch + at_byte;
}
size_t array_pitch(cudaArray_const_t array) { return array->pitch; }

cudaError_t test_array_copy(cudaArray_const_t array, size_t at_byte, size_t at_row, size_t width_bytes, size_t height,
                            const char* function) {
  if (!array) return set_last_error(cudaErrorInvalidResourceHandle, function);
  if (!is_inside(*array, at_byte, at_row, width_bytes, height))
    return refuse(cudaErrorInvalidValue, copy_beyond, function);
  return cudaSuccess;
}

cudaError_t array_slices(cudaArray_const_t array, const cudaPos& at, const cudaExtent& extent, cudaPitchedPtr* slices) {
  const size_t texel = bytes_of(array->format);
  if (!is_inside(*array, at.x * texel, at.y, extent.width * texel, extent.height) || at.z > array->slices() ||
      extent.depth > array->slices() - at.z)
    return refuse(
        cudaErrorInvalidValue,
        "it runs past the end of the array\nPlaces and the extent are in elements if a CUDA array takes part.",
        "cudaMemcpy3D");
  *slices = {array->data + ((at.z * array->rows()) + at.y) * array->pitch + at.x * texel, array->pitch, texel,
             array->rows()};
  return cudaSuccess;
}

}  // namespace simt

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  const bool layered = flags & cudaArrayLayered;
  if (flags & ~(cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather))
    return refuse(cudaErrorNotSupported, "other flags of arrays are not supported");
  if (flags & cudaArrayCubemap) {
    const bool has_faces = layered ? extent.depth && extent.depth % 6 == 0 : extent.depth == 6;
    if (extent.width != extent.height || !has_faces || flags & cudaArrayTextureGather)
      return refuse(cudaErrorInvalidValue,
                    "a cubemap has square faces, and its depth is 6, or with layers a multiple of 6");
  }
  if (flags & cudaArrayTextureGather && (!extent.height || extent.depth))
    return refuse(cudaErrorInvalidValue, "cudaArrayTextureGather is for arrays of two dimensions");
  if (!array || !format || !extent.width || extent.width > max_width || extent.height > max_height ||
      extent.depth > (layered ? max_layers : max_depth) || (layered && !extent.depth) ||
      (!layered && extent.depth && !extent.height))
    return set_last_error(cudaErrorInvalidValue);
  if (!is_valid(*format)) return set_last_error(cudaErrorInvalidChannelDescriptor);
  const size_t rows = std::max<size_t>(extent.height, 1) * std::max<size_t>(extent.depth, 1);
  void* data = nullptr;
  size_t pitch = 0;
  const cudaError_t error = cudaMallocPitch(&data, &pitch, extent.width * bytes_of(*format), rows);
  if (error == cudaSuccess)
    *array = new cudaArray{*format, static_cast<char*>(data), pitch, extent.width, extent.height, extent.depth, flags};
  return error;
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height,
                            unsigned flags) {
  if (flags & ~(cudaArraySurfaceLoadStore | cudaArrayTextureGather))
    return refuse(cudaErrorInvalidValue,
                  "of the flags of arrays it takes cudaArraySurfaceLoadStore and cudaArrayTextureGather");
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  if (!array) return set_last_error(cudaErrorInvalidResourceHandle);
  if (format) *format = array->format;
  if (extent) *extent = {array->width, array->height, array->depth};
  if (flags) *flags = array->flags;
  return cudaSuccess;
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  const cudaError_t error = cudaFree(array->data);
  delete array;
  return error;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  if (!object || !resource || !texture) return set_last_error(cudaErrorInvalidValue);
  if (view || texture->sRGB || resource->resType == cudaResourceTypeMipmappedArray)
    return refuse(cudaErrorNotSupported, "mipmaps, sRGB and views of a resource are not supported");
  Texture made = {};
  made.from = resource->resType;
  made.texture = *texture;
  if (resource->resType == cudaResourceTypeArray) {
    const cudaArray* const array = resource->res.array.array;
    if (!array) return set_last_error(cudaErrorInvalidValue);
    made.format = array->format;
    made.data = array->data;
    made.pitch = array->pitch, made.width = array->width, made.height = array->height, made.depth = array->depth;
    made.layered = array->flags & cudaArrayLayered;
    made.cubemap = array->flags & cudaArrayCubemap;
    made.gathers = array->flags & cudaArrayTextureGather;
    if (made.cubemap && !texture->normalizedCoords)
      return refuse(cudaErrorInvalidValue, "a cubemap takes normalised coordinates");
  } else if (resource->resType == cudaResourceTypeLinear) {
    const auto& linear = resource->res.linear;
    made.format = linear.desc;
    made.data = static_cast<char*>(linear.devPtr);
    if (is_valid(made.format)) made.width = linear.sizeInBytes / bytes_of(made.format);
    made.texture.filterMode = cudaFilterModePoint;
  } else if (resource->resType == cudaResourceTypePitch2D) {
    const auto& pitched = resource->res.pitch2D;
    made.format = pitched.desc;
    made.data = static_cast<char*>(pitched.devPtr);
    made.pitch = pitched.pitchInBytes, made.width = pitched.width, made.height = pitched.height;
    if (made.pitch % pitch_alignment)
      return refuse(cudaErrorInvalidValue, "the pitch must be a multiple of texturePitchAlignment\nIt is " +
                                               std::to_string(made.pitch) + ": cudaMallocPitch gives one that fits.");
    if (!made.height) return set_last_error(cudaErrorInvalidValue);
  } else {
    return set_last_error(cudaErrorInvalidValue);
  }
  if (!is_valid(made.format)) return set_last_error(cudaErrorInvalidChannelDescriptor);
  if (!made.data || !made.width) return set_last_error(cudaErrorInvalidValue);
  if (reinterpret_cast<uintptr_t>(made.data) % alignment)
    return refuse(cudaErrorInvalidValue, "the memory must begin at a multiple of textureAlignment\nThat is " +
                                             std::to_string(alignment) + " bytes: cudaMalloc gives such addresses.");
  const bool gives_floats =
      made.format.f == cudaChannelFormatKindFloat || made.texture.readMode == cudaReadModeNormalizedFloat;
  if (made.texture.readMode == cudaReadModeNormalizedFloat && made.format.f != cudaChannelFormatKindFloat &&
      made.format.x == 32)
    return set_last_error(cudaErrorInvalidNormSetting);
  if (made.texture.filterMode == cudaFilterModeLinear && !gives_floats)
    return refuse(cudaErrorInvalidFilterSetting,
                  "linear filtering needs a texture that gives floats\nTake cudaReadModeNormalizedFloat, or "
                  "cudaFilterModePoint.");
  const auto* const kept = new Texture(made);
  for (size_t i = 1; i < textures.size(); i++) {
    const Texture* none = nullptr;
    if (!textures[i].compare_exchange_strong(none, kept)) continue;
    *object = i;
    return cudaSuccess;
  }
  delete kept;
  return set_last_error(cudaErrorMemoryAllocation);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  if (!object) return cudaSuccess;
  if (object >= textures.size()) return set_last_error(cudaErrorInvalidValue);
  const Texture* const gone = textures[object].exchange(nullptr);
  if (!gone) return set_last_error(cudaErrorInvalidValue);
  delete gone;
  return cudaSuccess;
}
