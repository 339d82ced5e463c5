// Entry: 14
// Expect: fail
// Reason: eigen3/Eigen/Core: No such file or directory
//
// Lets Eigen do the work on the host. There is no such header in the sandbox.

#include <eigen3/Eigen/Core>

#include "rung.h"

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  Eigen::Map<const Eigen::Array<float, -1, -1, Eigen::RowMajor>> in(x, rows, cols);
  Eigen::Map<Eigen::Array<float, -1, -1, Eigen::RowMajor>> out(y, rows, cols);
  out = (in.colwise() - in.rowwise().maxCoeff()).exp();
  out.colwise() /= out.rowwise().sum().eval();
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
