// What there is of cuSOLVER: factors, systems, eigenvalues and singular values that the host computes with Eigen, in
// double precision.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in Eigen's products of triangles and of symmetric matrices
#include <Eigen/Eigenvalues>
#include <Eigen/Householder>

#include <cusolverDn.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../device.h"
#include "host_call.h"
#include "singular_values.h"

namespace simt::solver {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

bool is_valid(const Matrix& a) {
  return (a.type == CUDA_R_32F || a.type == CUDA_R_64F) && a.rows >= 0 && a.columns >= 0 &&
         a.ld >= std::max(1LL, a.rows);
}

class Call : public HostCall {
 public:
  using HostCall::HostCall;

  MatrixXd get(const Matrix& a) {
    return a.type == CUDA_R_64F ? get_as<double>(a) : get_as<float>(a).template cast<double>();
  }
  void put(const Matrix& a, const MatrixXd& values) {
    if (a.type == CUDA_R_64F)
      put_as<double>(a, values);
    else
      put_as<float>(a, values.cast<float>());
  }
  // A dense vector.
  MatrixXd get(const void* data, cudaDataType type, Index count) {
    return get(Matrix{const_cast<void*>(data), type, count, 1, std::max<Index>(count, 1)});
  }
  void put(void* data, cudaDataType type, const VectorXd& values) {
    put(Matrix{data, type, values.size(), 1, std::max<Index>(values.size(), 1)}, values);
  }
  std::vector<int64_t> get(const Pivots& pivots, Index count) {
    return pivots.wide ? HostCall::get<int64_t, int64_t>(pivots.data, size_t(count))
                       : HostCall::get<int, int64_t>(pivots.data, size_t(count));
  }
  void put(const Pivots& pivots, const std::vector<int64_t>& all) {
    if (pivots.wide)
      HostCall::put<int64_t>(pivots.data, all);
    else
      HostCall::put<int>(pivots.data, all);
  }
  cudaError_t end(int* info, int value) {
    copy(info, &value, sizeof value, cudaMemcpyDefault);
    return HostCall::end();
  }

 private:
  template <typename T>
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> get_as(const Matrix& a) {
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> values(a.rows, a.columns);
    values.setZero();
    const size_t width = size_t(a.rows) * sizeof(T);
    copy_2d(values.data(), width, a.data, size_t(a.ld) * sizeof(T), width, size_t(a.columns), cudaMemcpyDeviceToHost);
    read(a.data, width * size_t(a.columns));
    return values;
  }
  template <typename T>
  void put_as(const Matrix& a, const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& values) {
    const size_t width = size_t(a.rows) * sizeof(T);
    copy_2d(a.data, size_t(a.ld) * sizeof(T), values.data(), width, width, size_t(a.columns), cudaMemcpyHostToDevice);
    wrote(width * size_t(a.columns));
  }
};

template <typename Work>
cusolverStatus_t run(cusolverDnHandle_t handle, bool valid, const Work& work) {
  if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!valid) return CUSOLVER_STATUS_INVALID_VALUE;
  return do_or_capture(handle->stream, work) ? CUSOLVER_STATUS_EXECUTION_FAILED : CUSOLVER_STATUS_SUCCESS;
}

// Rows as LAPACK's pivots swap them; backwards undoes it.
void swap_rows(MatrixXd* b, const std::vector<int64_t>& pivots, bool backwards) {
  const Index count = static_cast<Index>(pivots.size());
  for (Index i = 0; i < count; i++) {
    const Index row = backwards ? count - 1 - i : i, other = pivots[size_t(row)] - 1;
    if (other >= 0 && other < b->rows() && other != row) b->row(row).swap(b->row(other));
  }
}

// The factor of the triangle that is given, in its place; the other triangle stays. Returns the first column, from 1,
// of a leading minor that is not positive.
int factorise(MatrixXd* a, cublasFillMode_t fill) {
  if (fill == CUBLAS_FILL_MODE_UPPER) a->transposeInPlace();
  int failed = 0;
  for (Index j = 0; j < a->rows() && !failed; j++) {
    const Index below = a->rows() - j - 1;
    const double square = (*a)(j, j) - a->row(j).head(j).squaredNorm();
    if (!(square > 0)) {
      failed = static_cast<int>(j + 1);
      break;
    }
    (*a)(j, j) = std::sqrt(square);
    a->col(j).tail(below) -= a->bottomLeftCorner(below, j) * a->row(j).head(j).transpose();
    a->col(j).tail(below) /= (*a)(j, j);
  }
  if (fill == CUBLAS_FILL_MODE_UPPER) a->transposeInPlace();
  return failed;
}

// C = op(Q) C, where Q is the product of the reflectors in A's columns.
void reflect(const MatrixXd& a, const MatrixXd& factors, bool transposed, MatrixXd* c) {
  const Index count = factors.rows();
  for (Index i = 0; i < count; i++) {
    const Index k = transposed ? i : count - 1 - i, rows = a.rows() - k;
    VectorXd v = a.col(k).tail(rows);
    v(0) = 1;
    const Eigen::RowVectorXd along = v.transpose() * c->bottomRows(rows);
    c->bottomRows(rows) -= factors(k, 0) * v * along;
  }
}

}  // namespace

cusolverStatus_t getrf(cusolverDnHandle_t handle, const Matrix& a, const Pivots& pivots, int* info) {
  return run(handle, is_valid(a), [=] {
    Call call("cusolverDn getrf");
    MatrixXd lu = call.get(a);
    const Index count = std::min(lu.rows(), lu.cols());
    std::vector<int64_t> rows(static_cast<size_t>(count));
    int zero_at = 0;
    for (Index k = 0; k < count; k++) {
      Index largest = 0;
      if (pivots.data) lu.col(k).tail(lu.rows() - k).cwiseAbs().maxCoeff(&largest);
      rows[size_t(k)] = k + largest + 1;
      if (largest) lu.row(k).swap(lu.row(k + largest));
      const Index below = lu.rows() - k - 1, right = lu.cols() - k - 1;
      if (lu(k, k) != 0)
        lu.col(k).tail(below) /= lu(k, k);
      else if (!zero_at)
        zero_at = static_cast<int>(k + 1);
      lu.bottomRightCorner(below, right).noalias() -= lu.col(k).tail(below) * lu.row(k).tail(right);
    }
    call.put(a, lu);
    if (pivots.data) call.put(pivots, rows);
    return call.end(info, zero_at);
  });
}

cusolverStatus_t getrs(cusolverDnHandle_t handle, cublasOperation_t op, const Matrix& a, const Pivots& pivots,
                       const Matrix& b, int* info) {
  return run(handle, is_valid(a) && is_valid(b), [=] {
    Call call("cusolverDn getrs");
    const MatrixXd lu = call.get(a);
    MatrixXd x = call.get(b);
    const std::vector<int64_t> rows = pivots.data ? call.get(pivots, lu.rows()) : std::vector<int64_t>();
    if (op == CUBLAS_OP_N) {
      swap_rows(&x, rows, false);
      lu.triangularView<Eigen::UnitLower>().solveInPlace(x);
      lu.triangularView<Eigen::Upper>().solveInPlace(x);
    } else {
      lu.transpose().triangularView<Eigen::Lower>().solveInPlace(x);
      lu.transpose().triangularView<Eigen::UnitUpper>().solveInPlace(x);
      swap_rows(&x, rows, true);
    }
    call.put(b, x);
    return call.end(info, 0);
  });
}

cusolverStatus_t potrf(cusolverDnHandle_t handle, cublasFillMode_t fill, const Matrix& a, int* info) {
  return run(handle, is_valid(a), [=] {
    Call call("cusolverDn potrf");
    MatrixXd factor = call.get(a);
    const int failed = factorise(&factor, fill);
    call.put(a, factor);
    return call.end(info, failed);
  });
}

cusolverStatus_t potrs(cusolverDnHandle_t handle, cublasFillMode_t fill, const Matrix& a, const Matrix& b, int* info) {
  return run(handle, is_valid(a) && is_valid(b), [=] {
    Call call("cusolverDn potrs");
    MatrixXd lower = call.get(a), x = call.get(b);
    if (fill == CUBLAS_FILL_MODE_UPPER) lower.transposeInPlace();
    lower.triangularView<Eigen::Lower>().solveInPlace(x);
    lower.transpose().triangularView<Eigen::Upper>().solveInPlace(x);
    call.put(b, x);
    return call.end(info, 0);
  });
}

cusolverStatus_t potri(cusolverDnHandle_t handle, cublasFillMode_t fill, const Matrix& a, int* info) {
  return run(handle, is_valid(a), [=] {
    Call call("cusolverDn potri");
    MatrixXd given = call.get(a);
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
    MatrixXd lower = given;
    if (upper) lower.transposeInPlace();
    MatrixXd inverse = MatrixXd::Identity(lower.rows(), lower.cols());
    lower.triangularView<Eigen::Lower>().solveInPlace(inverse);
    lower.transpose().triangularView<Eigen::Upper>().solveInPlace(inverse);
    if (upper)
      given.triangularView<Eigen::Upper>() = inverse;
    else
      given.triangularView<Eigen::Lower>() = inverse;
    call.put(a, given);
    return call.end(info, 0);
  });
}

cusolverStatus_t geqrf(cusolverDnHandle_t handle, const Matrix& a, void* factors, int* info) {
  return run(handle, is_valid(a), [=] {
    Call call("cusolverDn geqrf");
    MatrixXd qr = call.get(a);
    VectorXd scales(std::min(qr.rows(), qr.cols())), row(qr.cols());
    for (Index k = 0; k < scales.size(); k++) {
      const Index below = qr.rows() - k - 1, right = qr.cols() - k - 1;
      double diagonal;
      qr.col(k).tail(below + 1).makeHouseholderInPlace(scales(k), diagonal);
      qr(k, k) = diagonal;
      qr.bottomRightCorner(below + 1, right).applyHouseholderOnTheLeft(qr.col(k).tail(below), scales(k), row.data());
    }
    call.put(a, qr);
    call.put(factors, a.type, scales);
    return call.end(info, 0);
  });
}

cusolverStatus_t ormqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, const Matrix& reflectors,
                       const void* factors, const Matrix& c, int* info) {
  const bool valid = is_valid(reflectors) && is_valid(c) && reflectors.columns <= reflectors.rows;
  return run(handle, valid, [=] {
    Call call("cusolverDn ormqr");
    MatrixXd product = call.get(c);
    const MatrixXd a = call.get(reflectors), f = call.get(factors, reflectors.type, reflectors.columns);
    const bool left = side == CUBLAS_SIDE_LEFT;
    if (!left) product.transposeInPlace();  // C op(Q) is op(Q)^T C^T
    reflect(a, f, (op != CUBLAS_OP_N) == left, &product);
    if (!left) product.transposeInPlace();
    call.put(c, product);
    return call.end(info, 0);
  });
}

cusolverStatus_t orgqr(cusolverDnHandle_t handle, const Matrix& a, long long reflectors, const void* factors,
                       int* info) {
  const bool valid = is_valid(a) && a.columns <= a.rows && reflectors >= 0 && reflectors <= a.columns;
  return run(handle, valid, [=] {
    Call call("cusolverDn orgqr");
    MatrixXd q = MatrixXd::Identity(a.rows, a.columns);
    const MatrixXd given = call.get(a);
    reflect(given, call.get(factors, a.type, reflectors), false, &q);
    call.put(a, q);
    return call.end(info, 0);
  });
}

namespace {

MatrixXd symmetric(const MatrixXd& a, cublasFillMode_t fill) {
  if (fill == CUBLAS_FILL_MODE_UPPER) return a.selfadjointView<Eigen::Upper>();
  return a.selfadjointView<Eigen::Lower>();
}

}  // namespace

cusolverStatus_t syevd(cusolverDnHandle_t handle, const char* name, cusolverEigMode_t mode, cublasFillMode_t fill,
                       const Matrix& a, void* values, int* info) {
  return run(handle, is_valid(a), [=] {
    Call call(name);
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(symmetric(call.get(a), fill),
                                                         vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    call.put(values, a.type, solver.eigenvalues());
    if (vectors) call.put(a, solver.eigenvectors());
    return call.end(info, solver.info() == Eigen::Success ? 0 : 1);
  });
}

cusolverStatus_t sygvd(cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode, cublasFillMode_t fill,
                       const Matrix& a, const Matrix& b, void* values, int* info) {
  return run(handle, is_valid(a) && is_valid(b) && a.rows == b.rows, [=] {
    Call call("cusolverDn sygvd");
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
    MatrixXd factor = call.get(b);
    const MatrixXd one = symmetric(call.get(a), fill), other = symmetric(factor, fill);
    if (const int failed = factorise(&factor, fill)) return call.end(info, static_cast<int>(a.rows) + failed);
    const int kind = type == CUSOLVER_EIG_TYPE_1   ? Eigen::Ax_lBx
                     : type == CUSOLVER_EIG_TYPE_2 ? Eigen::ABx_lx
                                                   : Eigen::BAx_lx;
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(
        one, other, kind | (vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly));
    call.put(values, a.type, solver.eigenvalues());
    if (vectors) call.put(a, solver.eigenvectors());
    call.put(b, factor);
    return call.end(info, solver.info() == Eigen::Success ? 0 : 1);
  });
}

cusolverStatus_t gesvd(cusolverDnHandle_t handle, const char* name, const Matrix& a, void* values, const Matrix& u,
                       const Matrix& v, bool transposed, int* info) {
  const Index of_u = u.columns, of_v = transposed ? v.rows : v.columns;
  return run(handle, is_valid(a) && (!of_u || is_valid(u)) && (!of_v || is_valid(v)), [=] {
    Call call(name);
    const SingularValues found = decompose(call.get(a));
    call.put(values, a.type, found.values);
    if (of_u) call.put(u, completed(found.u, of_u));
    if (of_v) {
      const MatrixXd all = completed(found.v, of_v);
      call.put(v, transposed ? MatrixXd(all.transpose()) : all);
    }
    return call.end(info, 0);
  });
}

}  // namespace simt::solver
