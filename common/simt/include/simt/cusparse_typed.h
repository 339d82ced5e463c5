// Of cuSPARSE's older interface what CUDA 13 still has and programs use: conversions, and systems with three diagonals.
#pragma once

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int count, int rows, int* row_of,
                                  cusparseIndexBase_t base);
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* row_of, int count, int rows, int* offsets,
                                  cusparseIndexBase_t base);
SIMT_SPARSE_BUFFER(cusparseCsr2cscEx2_bufferSize, int, int, int, const void*, const int*, const int*, void*, int*, int*,
                   cudaDataType, cusparseAction_t, cusparseIndexBase_t, cusparseCsr2CscAlg_t)
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int columns, int count, const void* values,
                                    const int* offsets, const int* column_of, void* turned, int* turned_offsets,
                                    int* row_of, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t base,
                                    cusparseCsr2CscAlg_t algorithm, void* buffer);

namespace simt::sparse {
cusparseStatus_t nnz(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int columns, cudaDataType type,
                     const void* a, int lda, int* each, int* total);
// Each system has n equations; `systems` follow each other, `apart` elements of a diagonal or of the unknowns between.
cusparseStatus_t gtsv(cusparseHandle_t handle, const char* name, int n, cudaDataType type, const void* lower,
                      const void* diagonal, const void* upper, void* x, int systems, int apart, bool shared_diagonals);
}  // namespace simt::sparse

#define SIMT_SPARSE(P, T, type)                                                                                        \
  inline cusparseStatus_t cusparse##P##nnz(cusparseHandle_t handle, cusparseDirection_t direction, int rows,           \
                                           int columns, const cusparseMatDescr*, const T* a, int lda, int* each,       \
                                           int* total) {                                                               \
    return simt::sparse::nnz(handle, direction, rows, columns, type, a, lda, each, total);                             \
  }                                                                                                                    \
  SIMT_SPARSE_BUFFER(cusparse##P##gtsv2_bufferSizeExt, int, int, const T*, const T*, const T*, const T*, int)          \
  inline cusparseStatus_t cusparse##P##gtsv2(cusparseHandle_t handle, int n, int columns, const T* lower,              \
                                             const T* diagonal, const T* upper, T* x, int ldx, void*) {                \
    return simt::sparse::gtsv(handle, "cusparse" #P "gtsv2", n, type, lower, diagonal, upper, x, columns, ldx, true);  \
  }                                                                                                                    \
  SIMT_SPARSE_BUFFER(cusparse##P##gtsv2_nopivot_bufferSizeExt, int, int, const T*, const T*, const T*, const T*, int)  \
  inline cusparseStatus_t cusparse##P##gtsv2_nopivot(cusparseHandle_t handle, int n, int columns, const T* lower,      \
                                                     const T* diagonal, const T* upper, T* x, int ldx, void*) {        \
    return simt::sparse::gtsv(handle, "cusparse" #P "gtsv2_nopivot", n, type, lower, diagonal, upper, x, columns, ldx, \
                              true);                                                                                   \
  }                                                                                                                    \
  SIMT_SPARSE_BUFFER(cusparse##P##gtsv2StridedBatch_bufferSizeExt, int, const T*, const T*, const T*, const T*, int,   \
                     int)                                                                                              \
  inline cusparseStatus_t cusparse##P##gtsv2StridedBatch(cusparseHandle_t handle, int n, const T* lower,               \
                                                         const T* diagonal, const T* upper, T* x, int systems,         \
                                                         int apart, void*) {                                           \
    return simt::sparse::gtsv(handle, "cusparse" #P "gtsv2StridedBatch", n, type, lower, diagonal, upper, x, systems,  \
                              apart, false);                                                                           \
  }
SIMT_SPARSE(S, float, CUDA_R_32F)
SIMT_SPARSE(D, double, CUDA_R_64F)
#undef SIMT_SPARSE
#undef SIMT_SPARSE_BUFFER
#undef SIMT_SPARSE_NOTHING
