#include "reference.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Row = Eigen::Map<const Eigen::ArrayXd>;

void softmax_row(const Row& x, double* result) {
  Eigen::Map<Eigen::ArrayXd> y(result, x.size());
  if (x.isNaN().any() || (x == infinity).any()) {
    y.setConstant(nan);
    return;
  }
  const double max = x.maxCoeff();
  if (max == -infinity) {
    y.setZero();
    return;
  }
  // By std::exp, not Eigen's array exp: that one is clamped and does not return exactly 0 for -inf in every version.
  y = (x - max).unaryExpr([](double d) { return std::exp(d); });
  y /= y.sum();
}

}  // namespace

std::vector<double> softmax(const std::vector<double>& x, int rows, int cols) {
  std::vector<double> y(x.size());
  for (int r = 0; r < rows; r++) {
    const size_t start = static_cast<size_t>(r) * static_cast<size_t>(cols);
    softmax_row(Row(x.data() + start, cols), y.data() + start);
  }
  return y;
}

TopK softmax_topk(const std::vector<double>& x, int rows, int cols, int k) {
  TopK top;
  std::vector<double> y(static_cast<size_t>(cols));
  std::vector<int> order(static_cast<size_t>(cols));
  for (int r = 0; r < rows; r++) {
    const double* row = x.data() + static_cast<size_t>(r) * static_cast<size_t>(cols);
    softmax_row(Row(row, cols), y.data());
    std::iota(order.begin(), order.end(), 0);
    if (!std::isnan(y[0])) {
      // By the logits, not by the probabilities: different logits may have the same probability in any precision.
      std::partial_sort(order.begin(), order.begin() + k, order.end(),
                        [row](int a, int b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    }
    for (int i = 0; i < k; i++) {
      top.index.push_back(order[static_cast<size_t>(i)]);
      top.probability.push_back(y[static_cast<size_t>(order[static_cast<size_t>(i)])]);
    }
  }
  return top;
}

}  // namespace reference
