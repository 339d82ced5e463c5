// Entry: 48
// Expect: fail
// Reason: compile
//
// Templates that take the compiler exponential time.

#include "rung.h"

template <int depth, int path>
struct Bomb {
  static constexpr long long value = Bomb<depth - 1, 2 * path>::value + Bomb<depth - 1, 2 * path + 1>::value;
};
template <int path>
struct Bomb<0, path> {
  static constexpr long long value = path;
};

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  if (Bomb<26, 1>::value == rows) return cudaErrorUnknown;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
