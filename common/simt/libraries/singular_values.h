// Singular values by Jacobi's method from one side: columns are turned until each is orthogonal to all others.
#pragma once

#include <Eigen/Core>

namespace simt::solver {

// A = U S V^T.
struct SingularValues {
  Eigen::VectorXd values;  // descending, as many as the shorter side has
  Eigen::MatrixXd u, v;    // as many columns; those of u or v that belong to zero may be zero
};
SingularValues decompose(Eigen::MatrixXd a);

// As many columns as wanted: what is missing, and what is zero, becomes orthogonal to the others.
Eigen::MatrixXd completed(const Eigen::MatrixXd& columns, Eigen::Index wanted);

}  // namespace simt::solver
