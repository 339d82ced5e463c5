// What the tests of the checks share: kernels are run under the checks in a process of their own, which a finding ends.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <string>
#include <vector>

#include "checks/checks.h"
#include "simt.h"
#include "testing_child.h"

constexpr int n = 64;  // threads of most kernels, and elements of most arrays

// What a process prints that does `body` under the checks; "" if it found nothing.
[[gnu::noinline]] inline std::string finding(const std::function<void()>& body) {
  const ChildResult child = run_in_child([&] {
    simt::install_signal_handlers();
    simt::checks::start();
    body();
    _exit(cudaGetLastError() == cudaSuccess ? 0 : 3);
  });
  INFO(child.text);
  REQUIRE(child.status == (child.text.empty() ? 0 : 134));
  return child.text;
}

template <typename T>
T* device(const std::vector<T>& host) {
  T* data = nullptr;
  cudaMalloc(&data, host.size() * sizeof(T));
  cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return data;
}
inline float* floats(int count = n) { return device(std::vector<float>(count, 1.0f)); }

#define HAS(text, part) check_has(text, part, __FILE__, __LINE__)
[[gnu::noinline]] inline void check_has(const std::string& text, const std::string& part, const char* file, int line) {
  INFO(text);
  INFO(file << ":" << line << " should hold: " << part);
  CHECK(text.find(part) != std::string::npos);
}

// "test_memcheck.cu:42": where the file that says it has `code` first.
#define AT(code) place_of(__FILE__, code)
[[gnu::noinline]] inline std::string place_of(const std::string& file, const std::string& code) {
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(line_with(file.c_str(), code));
}
