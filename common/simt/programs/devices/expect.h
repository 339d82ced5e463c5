// For these programs: ends them with status 1 and the line where a call fails or a condition does not hold.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void print_failure(int line, cudaError_t error) {
  std::printf("FAIL line %d: %s\n", line, cudaGetErrorName(error));
}
inline void print_failure(int line, int result) { std::printf("FAIL line %d: %d\n", line, result); }

#define OK(call)                       \
  do {                                 \
    const auto result = (call);        \
    if (result != 0) {                 \
      print_failure(__LINE__, result); \
      std::exit(1);                    \
    }                                  \
  } while (0)
#define EXPECT(condition)                                      \
  do {                                                         \
    if (!(condition)) {                                        \
      std::printf("FAIL line %d: %s\n", __LINE__, #condition); \
      std::exit(1);                                            \
    }                                                          \
  } while (0)
