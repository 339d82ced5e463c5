#include "singular_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace simt::solver {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

SingularValues decompose(MatrixXd a) {
  const bool wide = a.cols() > a.rows();
  if (wide) a.transposeInPlace();
  const Index n = a.cols();
  MatrixXd v = MatrixXd::Identity(n, n);
  bool turned = true;
  for (int sweep = 0; sweep < 60 && turned; sweep++) {
    turned = false;
    for (Index p = 0; p < n; p++) {
      for (Index q = p + 1; q < n; q++) {
        const double one = a.col(p).squaredNorm(), other = a.col(q).squaredNorm(), both = a.col(p).dot(a.col(q));
        if (std::fabs(both) <= 1e-15 * std::sqrt(one * other)) continue;
        turned = true;
        const double slope = (other - one) / (2 * both);
        const double tangent = (slope < 0 ? -1 : 1) / (std::fabs(slope) + std::sqrt(1 + slope * slope));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
        for (MatrixXd* columns : {&a, &v}) {
          const VectorXd kept = columns->col(p);
          columns->col(p) = cosine * kept - sine * columns->col(q);
          columns->col(q) = sine * kept + cosine * columns->col(q);
        }
      }
    }
  }
  std::vector<Index> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  const VectorXd norms = a.colwise().norm();
  std::stable_sort(order.begin(), order.end(), [&](Index one, Index other) { return norms(one) > norms(other); });
  SingularValues found{VectorXd(n), MatrixXd::Zero(a.rows(), n), MatrixXd(n, n)};
  for (Index i = 0; i < n; i++) {
    const Index from = order[size_t(i)];
    found.values(i) = norms(from);
    if (norms(from) > 1e-14 * norms(order[0])) found.u.col(i) = a.col(from) / norms(from);
    found.v.col(i) = v.col(from);
  }
  if (wide) found.u.swap(found.v);
  return found;
}

MatrixXd completed(const MatrixXd& columns, Index wanted) {
  MatrixXd all = MatrixXd::Zero(columns.rows(), wanted);
  all.leftCols(std::min(wanted, columns.cols())) = columns.leftCols(std::min(wanted, columns.cols()));
  for (Index i = 0; i < wanted; i++) {
    for (Index unit = 0; unit < all.rows() && all.col(i).squaredNorm() < 0.5; unit++) {
      VectorXd rest = VectorXd::Unit(all.rows(), unit);
      for (int twice = 0; twice < 2; twice++) rest -= all * (all.transpose() * rest);
      if (rest.norm() > 0.5 / std::sqrt(static_cast<double>(all.rows()))) all.col(i) = rest.normalized();
    }
  }
  return all;
}

}  // namespace simt::solver
