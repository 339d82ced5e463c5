// cuSOLVER's dense part for float and double: LU, Cholesky and QR factors and their systems, eigenvalues of symmetric
// matrices, singular values. The host computes in double precision and rounds once (../cusolver.cpp). A call is not a
// kernel: its accesses are neither counted nor checked; a count names it with the bytes that it reads and writes, and a
// captured stream keeps it for the graph. Matrices are column-major. No work area is needed.
#pragma once
#define CUSOLVERDN_H_  // which other headers test

#include "cusolver_common.h"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};
typedef cusolverDnContext* cusolverDnHandle_t;

inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}

// How far Jacobi's methods go: here always to the end.
struct simtJacobi {
  double tolerance = 0;
  int sweeps = 100;
};
typedef simtJacobi* syevjInfo_t;
typedef simtJacobi* gesvdjInfo_t;
#define SIMT_JACOBI(Name, name, Type)                                                    \
  inline cusolverStatus_t cusolverDnCreate##Name##Info(Type* made) {                     \
    *made = new simtJacobi;                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                      \
  }                                                                                      \
  inline cusolverStatus_t cusolverDnDestroy##Name##Info(Type info) {                     \
    delete info;                                                                         \
    return CUSOLVER_STATUS_SUCCESS;                                                      \
  }                                                                                      \
  inline cusolverStatus_t cusolverDnX##name##SetTolerance(Type info, double tolerance) { \
    info->tolerance = tolerance;                                                         \
    return CUSOLVER_STATUS_SUCCESS;                                                      \
  }                                                                                      \
  inline cusolverStatus_t cusolverDnX##name##SetMaxSweeps(Type info, int sweeps) {       \
    info->sweeps = sweeps;                                                               \
    return CUSOLVER_STATUS_SUCCESS;                                                      \
  }                                                                                      \
  inline cusolverStatus_t cusolverDnX##name##SetSortEig(Type, int) { return CUSOLVER_STATUS_SUCCESS; }
SIMT_JACOBI(Syevj, syevj, syevjInfo_t)
SIMT_JACOBI(Gesvdj, gesvdj, gesvdjInfo_t)
#undef SIMT_JACOBI

namespace simt::solver {

// In device memory. For the sizes and types that there are, else CUSOLVER_STATUS_INVALID_VALUE.
struct Matrix {
  void* data;
  cudaDataType type;  // CUDA_R_32F or CUDA_R_64F
  long long rows, columns, ld;
};
// Pivots count from 1; without them, rows stay where they are. Their type is int, or int64_t for the functions whose
// name has an X.
struct Pivots {
  void* data;
  bool wide;
};

cusolverStatus_t getrf(cusolverDnHandle_t handle, const Matrix& a, const Pivots& pivots, int* info);
cusolverStatus_t getrs(cusolverDnHandle_t handle, cublasOperation_t op, const Matrix& a, const Pivots& pivots,
                       const Matrix& b, int* info);
cusolverStatus_t potrf(cusolverDnHandle_t handle, cublasFillMode_t fill, const Matrix& a, int* info);
cusolverStatus_t potrs(cusolverDnHandle_t handle, cublasFillMode_t fill, const Matrix& a, const Matrix& b, int* info);
cusolverStatus_t potri(cusolverDnHandle_t handle, cublasFillMode_t fill, const Matrix& a, int* info);
cusolverStatus_t geqrf(cusolverDnHandle_t handle, const Matrix& a, void* factors, int* info);
cusolverStatus_t ormqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, const Matrix& reflectors,
                       const void* factors, const Matrix& c, int* info);
cusolverStatus_t orgqr(cusolverDnHandle_t handle, const Matrix& a, long long reflectors, const void* factors,
                       int* info);
cusolverStatus_t syevd(cusolverDnHandle_t handle, const char* name, cusolverEigMode_t mode, cublasFillMode_t fill,
                       const Matrix& a, void* values, int* info);
cusolverStatus_t sygvd(cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode, cublasFillMode_t fill,
                       const Matrix& a, const Matrix& b, void* values, int* info);
// u and v may have no data. transposed: v is V^T.
cusolverStatus_t gesvd(cusolverDnHandle_t handle, const char* name, const Matrix& a, void* values, const Matrix& u,
                       const Matrix& v, bool transposed, int* info);

inline long long least(long long a, long long b) { return a < b ? a : b; }
// As LAPACK's letters ask for it: all, as many as singular values, none.
inline long long columns_of(signed char job, long long all, long long some) {
  return job == 'A' ? all : job == 'S' ? some : 0;
}

}  // namespace simt::solver

#include "simt/cusolver_typed.h"
