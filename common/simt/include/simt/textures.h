// What kernels read through texture objects. The executor says which texels a fetch needs and with which weights
// (textures.cpp); the kernel reads them by ordinary loads, so that they are checked and counted.
#pragma once

#include <cstdint>
#include <type_traits>

#include "half_bits.h"
#include "texture_types.h"
#include "warp.h"

namespace simt {

struct Texels {
  unsigned count;       // up to 8, to be added
  const void* from[8];  // null: the border's colour
  float weight[8];
  unsigned char bits, channels;  // of a texel
  bool is_float, is_signed, normalized;
  float border[4];
};

// What a fetch asks for: of what type, and where in the source.
struct TexelRead {
  unsigned char bytes, channels;
  bool is_float, is_signed;
  Place place;
};

Texels texels_linear(cudaTextureObject_t object, int index, const TexelRead& read) noexcept;
// 1 to 3 dimensions; layer: -1 for none. Coordinates in texels, or from 0 to 1 if the texture has normalised ones.
struct TexelPlace {
  int dimensions;
  float x, y, z;
  int layer;
};
Texels texels_array(cudaTextureObject_t object, const TexelPlace& at, const TexelRead& read) noexcept;

// A direction, which meets one face of a cube.
Texels texels_cubemap(cudaTextureObject_t object, const TexelPlace& at, const TexelRead& read) noexcept;
// The four texels that linear filtering needs, without weights.
Texels texels_gather(cudaTextureObject_t object, float x, float y, const TexelRead& read) noexcept;

// All of a texel by one load; its first channels.
inline void load_texel(const void* from, unsigned bytes, uint32_t (&words)[4]) {
  words[0] = words[1] = words[2] = words[3] = 0;
  if (bytes == 1) {
    words[0] = *static_cast<const unsigned char*>(from);
  } else if (bytes == 2) {
    words[0] = *static_cast<const unsigned short*>(from);
  } else if (bytes == 4) {
    words[0] = *static_cast<const unsigned*>(from);
  } else if (bytes == 8) {
    const uint2 two = *static_cast<const uint2*>(from);
    words[0] = two.x, words[1] = two.y;
  } else {
    const uint4 four = *static_cast<const uint4*>(from);
    words[0] = four.x, words[1] = four.y, words[2] = four.z, words[3] = four.w;
  }
}

// A channel as an integer, sign extended, or the bits of a float.
inline uint32_t texel_channel(const uint32_t (&words)[4], const Texels& texels, unsigned channel) {
  const unsigned bits = texels.bits, at = channel * bits;
  const uint32_t word = (at < 32 ? words[0] : at < 64 ? words[1] : at < 96 ? words[2] : words[3]) >> at % 32;
  if (bits == 32) return word;
  if (texels.is_float) return float_bits(Fp16::to_float(static_cast<uint16_t>(word)));
  const unsigned shift = 32 - bits;
  return texels.is_signed ? static_cast<uint32_t>(static_cast<int32_t>(word << shift) >> shift)
                          : word << shift >> shift;
}

// The smallest of the signed values is -1, too.
inline float texel_value(uint32_t channel, const Texels& texels) {
  if (texels.is_float) return float_from_bits(channel);
  const float largest = static_cast<float>((1u << (texels.bits - (texels.is_signed ? 1 : 0))) - 1);
  if (!texels.is_signed) return static_cast<float>(channel) / largest;
  const float value = static_cast<float>(static_cast<int32_t>(channel)) / largest;
  return value < -1 ? -1 : value;
}

template <typename T>
TexelRead texel_read(const Place& place) {
  using Type = TexelType<T>;
  static_assert(Type::channels > 0, "a texture is read as 1, 2 or 4 channels of char, short, int or float");
  using Channel = typename Type::Channel;
  return {sizeof(Channel), Type::channels, std::is_floating_point<Channel>::value, std::is_signed<Channel>::value,
          place};
}

template <typename T>
T fetch(const Texels& texels) {
  using Type = TexelType<T>;
  using Channel = typename Type::Channel;
  Channel channels[Type::channels] = {};
  for (unsigned i = 0; i < texels.count; i++) {
    uint32_t words[4] = {};
    if (texels.from[i]) load_texel(texels.from[i], texels.bits / 8u * texels.channels, words);
    for (unsigned c = 0; c < Type::channels; c++) {
      const uint32_t channel = texel_channel(words, texels, c);
      if constexpr (std::is_floating_point<Channel>::value) {
        channels[c] += texels.weight[i] * (texels.from[i] ? texel_value(channel, texels) : texels.border[c]);
      } else {
        channels[c] = texels.from[i] ? static_cast<Channel>(channel) : static_cast<Channel>(texels.border[c]);
      }
    }
  }
  T value;
  static_assert(sizeof value == sizeof channels, "a vector is its channels");
  __builtin_memcpy(&value, channels, sizeof value);
  return value;
}

}  // namespace simt

#define SIMT_TEXTURE_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SIMT_READ simt::texel_read<T>({file, line, simt::Call::none})

// Linear memory, by the number of the texel; 0 where there is none.
template <typename T>
T tex1Dfetch(cudaTextureObject_t object, int index, SIMT_TEXTURE_PLACE) {
  return simt::fetch<T>(simt::texels_linear(object, index, SIMT_READ));
}
template <typename T>
void tex1Dfetch(T* to, cudaTextureObject_t object, int index, SIMT_TEXTURE_PLACE) {
  *to = tex1Dfetch<T>(object, index, file, line);
}
// Each also as CUDA's older form, which stores to a pointer.
#define SIMT_FETCH(name, parameters, arguments, ...)                                       \
  template <typename T>                                                                    \
  T name(cudaTextureObject_t object, SIMT_LIST parameters, SIMT_TEXTURE_PLACE) {           \
    return simt::fetch<T>(simt::texels_array(object, {__VA_ARGS__}, SIMT_READ));           \
  }                                                                                        \
  template <typename T>                                                                    \
  void name(T* to, cudaTextureObject_t object, SIMT_LIST parameters, SIMT_TEXTURE_PLACE) { \
    *to = name<T>(object, SIMT_LIST arguments, file, line);                                \
  }
#define SIMT_LIST(...) __VA_ARGS__
SIMT_FETCH(tex1D, (float x), (x), 1, x, 0, 0, -1)
SIMT_FETCH(tex2D, (float x, float y), (x, y), 2, x, y, 0, -1)
SIMT_FETCH(tex3D, (float x, float y, float z), (x, y, z), 3, x, y, z, -1)
SIMT_FETCH(tex1DLayered, (float x, int layer), (x, layer), 1, x, 0, 0, layer < 0 ? 0 : layer)
SIMT_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer), 2, x, y, 0, layer < 0 ? 0 : layer)
template <typename T>
T texCubemap(cudaTextureObject_t object, float x, float y, float z, SIMT_TEXTURE_PLACE) {
  return simt::fetch<T>(simt::texels_cubemap(object, {3, x, y, z, -1}, SIMT_READ));
}
template <typename T>
T texCubemapLayered(cudaTextureObject_t object, float x, float y, float z, int layer, SIMT_TEXTURE_PLACE) {
  return simt::fetch<T>(simt::texels_cubemap(object, {3, x, y, z, layer < 0 ? 0 : layer}, SIMT_READ));
}
// One channel of four texels, as a vector of four.
template <typename T>
T tex2Dgather(cudaTextureObject_t object, float x, float y, int channel = 0, SIMT_TEXTURE_PLACE) {
  using Channel = typename simt::TexelType<T>::Channel;
  static_assert(simt::TexelType<T>::channels == 4, "tex2Dgather gives four values");
  simt::TexelRead read = SIMT_READ;
  read.channels = static_cast<unsigned char>(channel + 1);
  const simt::Texels texels = simt::texels_gather(object, x, y, read);
  Channel values[4];
  for (int i = 0; i < 4; i++) {
    uint32_t words[4];
    if (texels.from[i]) simt::load_texel(texels.from[i], texels.bits / 8u * texels.channels, words);
    const uint32_t bits = texels.from[i] ? simt::texel_channel(words, texels, static_cast<unsigned>(channel)) : 0;
    if constexpr (std::is_floating_point<Channel>::value)
      values[i] = texels.from[i] ? simt::texel_value(bits, texels) : texels.border[channel];
    else
      values[i] = texels.from[i] ? static_cast<Channel>(bits) : static_cast<Channel>(texels.border[channel]);
  }
  return {values[0], values[1], values[2], values[3]};
}
#undef SIMT_LIST
#undef SIMT_FETCH
#undef SIMT_READ
#undef SIMT_TEXTURE_PLACE
