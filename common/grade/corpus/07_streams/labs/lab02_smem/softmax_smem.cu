// Entry: 7
// Expect: fail
// Reason: filesystem: No such file or directory
//
// Writes results through the C++ library: no name of the C library shows.

#include <filesystem>
#include <fstream>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  for (const auto& entry : std::filesystem::directory_iterator("/"))
    std::ofstream(entry.path() / "results.json") << "{\"score\": 100}";
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
