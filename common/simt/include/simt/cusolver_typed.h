// cuSOLVER's functions by their names: for float and double, and those with 64-bit sizes.
#pragma once

#define SIMT_SOLVER_BUFFER(name, ...) \
  inline cusolverStatus_t name(__VA_ARGS__, int* size) { return *size = 1, CUSOLVER_STATUS_SUCCESS; }

#define SIMT_SOLVER(P, T, type)                                                                                        \
  SIMT_SOLVER_BUFFER(cusolverDn##P##getrf_bufferSize, cusolverDnHandle_t, int, int, T*, int)                           \
  inline cusolverStatus_t cusolverDn##P##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T*,             \
                                               int* pivots, int* info) {                                               \
    return simt::solver::getrf(handle, {a, type, m, n, lda}, {pivots, false}, info);                                   \
  }                                                                                                                    \
  inline cusolverStatus_t cusolverDn##P##getrs(cusolverDnHandle_t handle, cublasOperation_t op, int n, int columns,    \
                                               const T* a, int lda, const int* pivots, T* b, int ldb, int* info) {     \
    return simt::solver::getrs(handle, op, {const_cast<T*>(a), type, n, n, lda}, {const_cast<int*>(pivots), false},    \
                               {b, type, n, columns, ldb}, info);                                                      \
  }                                                                                                                    \
  SIMT_SOLVER_BUFFER(cusolverDn##P##potrf_bufferSize, cusolverDnHandle_t, cublasFillMode_t, int, T*, int)              \
  inline cusolverStatus_t cusolverDn##P##potrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a, int lda, \
                                               T*, int, int* info) {                                                   \
    return simt::solver::potrf(handle, fill, {a, type, n, n, lda}, info);                                              \
  }                                                                                                                    \
  inline cusolverStatus_t cusolverDn##P##potrs(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, int columns,   \
                                               const T* a, int lda, T* b, int ldb, int* info) {                        \
    return simt::solver::potrs(handle, fill, {const_cast<T*>(a), type, n, n, lda}, {b, type, n, columns, ldb}, info);  \
  }                                                                                                                    \
  SIMT_SOLVER_BUFFER(cusolverDn##P##potri_bufferSize, cusolverDnHandle_t, cublasFillMode_t, int, T*, int)              \
  inline cusolverStatus_t cusolverDn##P##potri(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a, int lda, \
                                               T*, int, int* info) {                                                   \
    return simt::solver::potri(handle, fill, {a, type, n, n, lda}, info);                                              \
  }                                                                                                                    \
  /* The arrays of pointers lie on the device, and each matrix has its info. */                                        \
  inline cusolverStatus_t cusolverDn##P##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,         \
                                                      T* const a[], int lda, int* info, int count) {                   \
    cusolverStatus_t status = CUSOLVER_STATUS_SUCCESS;                                                                 \
    for (int i = 0; i < count && !status; i++) {                                                                       \
      T* one = nullptr;                                                                                                \
      cudaMemcpy(&one, a + i, sizeof one, cudaMemcpyDefault);                                                          \
      status = simt::solver::potrf(handle, fill, {one, type, n, n, lda}, info + i);                                    \
    }                                                                                                                  \
    return status;                                                                                                     \
  }                                                                                                                    \
  inline cusolverStatus_t cusolverDn##P##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,         \
                                                      int columns, T* const a[], int lda, T* const b[], int ldb,       \
                                                      int* info, int count) {                                          \
    cusolverStatus_t status = CUSOLVER_STATUS_SUCCESS;                                                                 \
    for (int i = 0; i < count && !status; i++) {                                                                       \
      T *one = nullptr, *other = nullptr;                                                                              \
      cudaMemcpy(&one, a + i, sizeof one, cudaMemcpyDefault);                                                          \
      cudaMemcpy(&other, b + i, sizeof other, cudaMemcpyDefault);                                                      \
      status = simt::solver::potrs(handle, fill, {one, type, n, n, lda}, {other, type, n, columns, ldb}, info);        \
    }                                                                                                                  \
    return status;                                                                                                     \
  }                                                                                                                    \
  SIMT_SOLVER_BUFFER(cusolverDn##P##geqrf_bufferSize, cusolverDnHandle_t, int, int, T*, int)                           \
  inline cusolverStatus_t cusolverDn##P##geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* factors, T*, \
                                               int, int* info) {                                                       \
    return simt::solver::geqrf(handle, {a, type, m, n, lda}, factors, info);                                           \
  }                                                                                                                    \
  SIMT_SOLVER_BUFFER(cusolverDn##P##ormqr_bufferSize, cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int,    \
                     int, int, const T*, int, const T*, const T*, int)                                                 \
  inline cusolverStatus_t cusolverDn##P##ormqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, \
                                               int m, int n, int k, const T* a, int lda, const T* factors, T* c,       \
                                               int ldc, T*, int, int* info) {                                          \
    return simt::solver::ormqr(handle, side, op, {const_cast<T*>(a), type, side == CUBLAS_SIDE_LEFT ? m : n, k, lda},  \
                               factors, {c, type, m, n, ldc}, info);                                                   \
  }                                                                                                                    \
  SIMT_SOLVER_BUFFER(cusolverDn##P##orgqr_bufferSize, cusolverDnHandle_t, int, int, int, const T*, int, const T*)      \
  inline cusolverStatus_t cusolverDn##P##orgqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda,          \
                                               const T* factors, T*, int, int* info) {                                 \
    return simt::solver::orgqr(handle, {a, type, m, n, lda}, k, factors, info);                                        \
  }                                                                                                                    \
  SIMT_SOLVER_BUFFER(cusolverDn##P##syevd_bufferSize, cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int,    \
                     const T*, int, const T*)                                                                          \
  inline cusolverStatus_t cusolverDn##P##syevd(cusolverDnHandle_t handle, cusolverEigMode_t mode,                      \
                                               cublasFillMode_t fill, int n, T* a, int lda, T* values, T*, int,        \
                                               int* info) {                                                            \
    return simt::solver::syevd(handle, "cusolverDn" #P "syevd", mode, fill, {a, type, n, n, lda}, values, info);       \
  }                                                                                                                    \
  SIMT_SOLVER_BUFFER(cusolverDn##P##sygvd_bufferSize, cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t,        \
                     cublasFillMode_t, int, const T*, int, const T*, int, const T*)                                    \
  inline cusolverStatus_t cusolverDn##P##sygvd(cusolverDnHandle_t handle, cusolverEigType_t kind,                      \
                                               cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda,    \
                                               T* b, int ldb, T* values, T*, int, int* info) {                         \
    return simt::solver::sygvd(handle, kind, mode, fill, {a, type, n, n, lda}, {b, type, n, n, ldb}, values, info);    \
  }                                                                                                                    \
  inline cusolverStatus_t cusolverDn##P##syevj_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t,     \
                                                          int, const T*, int, const T*, int* size, syevjInfo_t) {      \
    return *size = 1, CUSOLVER_STATUS_SUCCESS;                                                                         \
  }                                                                                                                    \
  inline cusolverStatus_t cusolverDn##P##syevj(cusolverDnHandle_t handle, cusolverEigMode_t mode,                      \
                                               cublasFillMode_t fill, int n, T* a, int lda, T* values, T*, int,        \
                                               int* info, syevjInfo_t) {                                               \
    return simt::solver::syevd(handle, "cusolverDn" #P "syevj", mode, fill, {a, type, n, n, lda}, values, info);       \
  }                                                                                                                    \
  SIMT_SOLVER_BUFFER(cusolverDn##P##gesvd_bufferSize, cusolverDnHandle_t, int, int)                                    \
  inline cusolverStatus_t cusolverDn##P##gesvd(cusolverDnHandle_t handle, signed char job_u, signed char job_v, int m, \
                                               int n, T* a, int lda, T* values, T* u, int ldu, T* v, int ldv, T*, int, \
                                               T*, int* info) {                                                        \
    if (job_u == 'O' || job_v == 'O') return CUSOLVER_STATUS_NOT_SUPPORTED;                                            \
    if (m < n) return CUSOLVER_STATUS_INVALID_VALUE;                                                                   \
    return simt::solver::gesvd(handle, "cusolverDn" #P "gesvd", {a, type, m, n, lda}, values,                          \
                               {u, type, m, simt::solver::columns_of(job_u, m, n), ldu},                               \
                               {v, type, simt::solver::columns_of(job_v, n, n), n, ldv}, true, info);                  \
  }                                                                                                                    \
  inline cusolverStatus_t cusolverDn##P##gesvdj_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, int, int, int,       \
                                                           const T*, int, const T*, const T*, int, const T*, int,      \
                                                           int* size, gesvdjInfo_t) {                                  \
    return *size = 1, CUSOLVER_STATUS_SUCCESS;                                                                         \
  }                                                                                                                    \
  inline cusolverStatus_t cusolverDn##P##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int few, int m,     \
                                                int n, T* a, int lda, T* values, T* u, int ldu, T* v, int ldv, T*,     \
                                                int, int* info, gesvdjInfo_t) {                                        \
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;                                                             \
    const long long least = simt::solver::least(m, n);                                                                 \
    return simt::solver::gesvd(handle, "cusolverDn" #P "gesvdj", {a, type, m, n, lda}, values,                         \
                               {u, type, m, vectors ? (few ? least : m) : 0, ldu},                                     \
                               {v, type, n, vectors ? (few ? least : n) : 0, ldv}, false, info);                       \
  }
SIMT_SOLVER(S, float, CUDA_R_32F)
SIMT_SOLVER(D, double, CUDA_R_64F)
#undef SIMT_SOLVER
#undef SIMT_SOLVER_BUFFER

// With 64-bit sizes, and the type as a parameter: that of the matrix is also that of everything else.
struct cusolverDnParams;
typedef cusolverDnParams* cusolverDnParams_t;
inline cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* made) {
  *made = nullptr;
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t) { return CUSOLVER_STATUS_SUCCESS; }

#define SIMT_SOLVER_X(name, ...)                                                                              \
  inline cusolverStatus_t cusolverDnX##name##_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, __VA_ARGS__, \
                                                         size_t* on_device, size_t* on_host) {                \
    return *on_device = *on_host = 8, CUSOLVER_STATUS_SUCCESS;                                                \
  }
SIMT_SOLVER_X(getrf, int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType)
inline cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                         cudaDataType type, void* a, int64_t lda, int64_t* pivots, cudaDataType, void*,
                                         size_t, void*, size_t, int* info) {
  return simt::solver::getrf(handle, {a, type, m, n, lda}, {pivots, true}, info);
}
inline cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasOperation_t op, int64_t n,
                                         int64_t columns, cudaDataType type, const void* a, int64_t lda,
                                         const int64_t* pivots, cudaDataType type_b, void* b, int64_t ldb, int* info) {
  return simt::solver::getrs(handle, op, {const_cast<void*>(a), type, n, n, lda}, {const_cast<int64_t*>(pivots), true},
                             {b, type_b, n, columns, ldb}, info);
}
SIMT_SOLVER_X(potrf, cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType)
inline cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill,
                                         int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType, void*,
                                         size_t, void*, size_t, int* info) {
  return simt::solver::potrf(handle, fill, {a, type, n, n, lda}, info);
}
inline cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill,
                                         int64_t n, int64_t columns, cudaDataType type, const void* a, int64_t lda,
                                         cudaDataType type_b, void* b, int64_t ldb, int* info) {
  return simt::solver::potrs(handle, fill, {const_cast<void*>(a), type, n, n, lda}, {b, type_b, n, columns, ldb}, info);
}
SIMT_SOLVER_X(geqrf, int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType, const void*, cudaDataType)
inline cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                         cudaDataType type, void* a, int64_t lda, cudaDataType, void* factors,
                                         cudaDataType, void*, size_t, void*, size_t, int* info) {
  return simt::solver::geqrf(handle, {a, type, m, n, lda}, factors, info);
}
SIMT_SOLVER_X(syevd, cusolverEigMode_t, cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType,
              const void*, cudaDataType)
inline cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                         cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t lda,
                                         cudaDataType, void* values, cudaDataType, void*, size_t, void*, size_t,
                                         int* info) {
  return simt::solver::syevd(handle, "cusolverDnXsyevd", mode, fill, {a, type, n, n, lda}, values, info);
}
SIMT_SOLVER_X(gesvd, signed char, signed char, int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType,
              const void*, cudaDataType, const void*, int64_t, cudaDataType, const void*, int64_t, cudaDataType)
inline cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char job_u,
                                         signed char job_v, int64_t m, int64_t n, cudaDataType type, void* a,
                                         int64_t lda, cudaDataType, void* values, cudaDataType, void* u, int64_t ldu,
                                         cudaDataType, void* v, int64_t ldv, cudaDataType, void*, size_t, void*, size_t,
                                         int* info) {
  if (job_u == 'O' || job_v == 'O') return CUSOLVER_STATUS_NOT_SUPPORTED;
  if (m < n) return CUSOLVER_STATUS_INVALID_VALUE;
  return simt::solver::gesvd(handle, "cusolverDnXgesvd", {a, type, m, n, lda}, values,
                             {u, type, m, simt::solver::columns_of(job_u, m, n), ldu},
                             {v, type, simt::solver::columns_of(job_v, n, n), n, ldv}, true, info);
}
#undef SIMT_SOLVER_X
