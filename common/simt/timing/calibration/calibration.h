// Kernels of many kinds, to hold the model of a GPU's time against a GPU (time_launches.cu) and against the executor's
// own run of them (simtcc --profile). A case is one launch on buffers of its own.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace calibration {

// Memory of one replay. All of it is used by at most one case at a time.
struct Buffers {
  float* in;  // `elements` floats, or twice as many halves
  float* in2;
  float* out;
  int* counters;  // 1 << 20 of them
};
constexpr size_t elements = size_t{1} << 24, counter_count = size_t{1} << 20;

struct Case {
  std::string name, family;
  size_t bytes;  // that it touches, about: how many buffers the caches need not to hold them
  std::function<void(const Buffers&, cudaStream_t)> launch;
  bool held_out = false;                                  // never looked at when the model's constants were chosen
  std::function<void(const Buffers&)> prepare = nullptr;  // writes what the kernel reads and does not change: indices
};

// Appends cases to a list.
struct Add {
  std::vector<Case>& list;
  void operator()(const std::string& name, const char* family, size_t bytes,
                  std::function<void(const Buffers&, cudaStream_t)> launch,
                  std::function<void(const Buffers&)> prepare = nullptr) const {
    list.push_back({name, family, bytes, std::move(launch), false, std::move(prepare)});
  }
};

// A case's `prepare`: in in2 `count` indices below `below` that jump about.
inline std::function<void(const Buffers&)> indices(int count, int below) {
  return [=](const Buffers& b) {
    std::vector<int> index(count);
    unsigned state = 11;
    for (int& i : index) i = static_cast<int>((state = state * 1664525u + 1013904223u) >> 8) % below;
    cudaMemcpy(b.in2, index.data(), index.size() * 4, cudaMemcpyHostToDevice);
  };
}

// What the buffers hold at first: numbers in [0, 1), the same each time.
inline std::vector<float> uniform_values() {
  std::vector<float> values(elements);
  unsigned state = 1;
  for (float& value : values) value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f;
  return values;
}
// For the counters: where a chain of dependent loads goes next.
inline std::vector<int> permutation() {
  std::vector<int> next(counter_count);
  for (size_t i = 0; i < counter_count; i++) next[i] = static_cast<int>((i * 167 + 13) & 1023);
  return next;
}

std::vector<Case> all_cases();  // of the set that is linked: cases.cu, or ../judgement/first.cu or second.cu

inline int ceil_div(size_t a, size_t b) { return static_cast<int>((a + b - 1) / b); }

}  // namespace calibration
