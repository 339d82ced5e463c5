// Of the image helpers of CUDA's samples: binary PGM and PPM files of 8-bit values, and comparisons of arrays.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace simt_samples {

// One number of a header, past blanks and comments.
inline bool read_number(std::FILE* file, unsigned* number) {
  int c = std::fgetc(file);
  while (c == '#' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
    if (c == '#')
      while (c != '\n' && c != EOF) c = std::fgetc(file);
    c = std::fgetc(file);
  }
  *number = 0;
  const bool is_digit = c >= '0' && c <= '9';
  for (; c >= '0' && c <= '9'; c = std::fgetc(file)) *number = *number * 10 + static_cast<unsigned>(c - '0');
  return is_digit;  // the one character after the number has been read
}

inline bool load(const char* path, std::vector<unsigned char>* pixels, unsigned* width, unsigned* height,
                 unsigned* channels) {
  std::FILE* const file = std::fopen(path, "rb");
  if (!file) {
    std::fprintf(stderr, "helper_image.h: cannot open %s\n", path);
    return false;
  }
  char kind[2] = {};
  unsigned largest = 0;
  bool right = std::fread(kind, 1, 2, file) == 2 && kind[0] == 'P' && (kind[1] == '5' || kind[1] == '6') &&
               read_number(file, width) && read_number(file, height) && read_number(file, &largest) && largest <= 255;
  if (right) {
    *channels = kind[1] == '5' ? 1 : 3;
    pixels->resize(size_t{*width} * *height * *channels);
    right = std::fread(pixels->data(), 1, pixels->size(), file) == pixels->size();
  }
  std::fclose(file);
  if (!right) std::fprintf(stderr, "helper_image.h: %s is no binary PGM or PPM image of 8 bits\n", path);
  return right;
}

inline bool save(const char* path, const unsigned char* pixels, unsigned width, unsigned height, unsigned channels) {
  std::FILE* const file = std::fopen(path, "wb");
  if (!file) {
    std::fprintf(stderr, "helper_image.h: cannot write %s\n", path);
    return false;
  }
  std::fprintf(file, "P%c\n%u\n%u\n255\n", channels == 1 ? '5' : '6', width, height);
  const size_t bytes = size_t{width} * height * channels;
  const bool written = std::fwrite(pixels, 1, bytes, file) == bytes;
  return (std::fclose(file) == 0) && written;
}

template <typename T>
T from_byte(unsigned char value) {
  return static_cast<T>(value);
}
template <>
inline float from_byte<float>(unsigned char value) {
  return static_cast<float>(value) / 255.0f;
}
template <typename T>
unsigned char to_byte(T value) {
  return static_cast<unsigned char>(value);
}
template <>
inline unsigned char to_byte<float>(float value) {
  return static_cast<unsigned char>(value * 255.0f);
}

}  // namespace simt_samples

// Memory that is not there yet is allocated by malloc.
template <typename T>
bool sdkLoadPGM(const char* path, T** data, unsigned* width, unsigned* height) {
  std::vector<unsigned char> pixels;
  unsigned channels;
  if (!simt_samples::load(path, &pixels, width, height, &channels)) return false;
  if (!*data) *data = static_cast<T*>(malloc(pixels.size() * sizeof(T)));
  for (size_t i = 0; i < pixels.size(); i++) (*data)[i] = simt_samples::from_byte<T>(pixels[i]);
  return true;
}
template <typename T>
bool sdkSavePGM(const char* path, T* data, unsigned width, unsigned height) {
  std::vector<unsigned char> pixels(size_t{width} * height);
  for (size_t i = 0; i < pixels.size(); i++) pixels[i] = simt_samples::to_byte<T>(data[i]);
  return simt_samples::save(path, pixels.data(), width, height, 1);
}
inline bool sdkLoadPPM4(const char* path, unsigned char** data, unsigned* width, unsigned* height) {
  std::vector<unsigned char> pixels;
  unsigned channels;
  if (!simt_samples::load(path, &pixels, width, height, &channels)) return false;
  const size_t count = size_t{*width} * *height;
  if (!*data) *data = static_cast<unsigned char*>(malloc(count * 4));
  for (size_t i = 0; i < count; i++) {
    for (unsigned c = 0; c < 3; c++) (*data)[4 * i + c] = pixels[channels * i + (channels == 3 ? c : 0)];
    (*data)[4 * i + 3] = 0;
  }
  return true;
}
inline bool sdkSavePPM4ub(const char* path, unsigned char* data, unsigned width, unsigned height) {
  const size_t count = size_t{width} * height;
  std::vector<unsigned char> pixels(count * 3);
  for (size_t i = 0; i < count; i++)
    for (unsigned c = 0; c < 3; c++) pixels[3 * i + c] = data[4 * i + c];
  return simt_samples::save(path, pixels.data(), width, height, 3);
}
inline bool sdkLoadPPM4ub(const char* path, unsigned char** data, unsigned* width, unsigned* height) {
  return sdkLoadPPM4(path, data, width, height);
}

inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned count, float epsilon) {
  float error = 0, size = 0;
  for (unsigned i = 0; i < count; i++) {
    const float difference = reference[i] - data[i];
    error += difference * difference;
    size += reference[i] * reference[i];
  }
  return std::fabs(size) >= 1e-7f && std::sqrt(error) / std::sqrt(size) < epsilon;
}
template <typename T, typename S>
bool compareData(const T* reference, const T* data, unsigned count, S epsilon, float threshold) {
  unsigned wrong = 0;
  for (unsigned i = 0; i < count; i++) {
    const double difference = static_cast<double>(reference[i]) - static_cast<double>(data[i]);
    wrong += !(std::fabs(difference) <= static_cast<double>(epsilon));
  }
  return threshold == 0.0f ? wrong == 0 : static_cast<float>(wrong) < static_cast<float>(count) * threshold;
}
