// cuSPARSE's generic interface: descriptors of matrices and vectors, and what is done with them.
#pragma once

// Rows' offsets (of CSC, columns'; of COO, each element's row), the other index and the values lie in device memory.
struct cusparseSpMatDescr {
  cusparseFormat_t format;
  int64_t rows, columns, count;
  void *offsets, *indices, *values;
  cusparseIndexType_t offset_type, index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};
struct cusparseDnVecDescr {
  int64_t size;
  void* values;
  cudaDataType type;
};
struct cusparseDnMatDescr {
  int64_t rows, columns, ld;
  void* values;
  cudaDataType type;
  cusparseOrder_t order;
};
typedef cusparseSpMatDescr* cusparseSpMatDescr_t;
typedef cusparseDnVecDescr* cusparseDnVecDescr_t;
typedef cusparseDnMatDescr* cusparseDnMatDescr_t;
typedef const cusparseSpMatDescr* cusparseConstSpMatDescr_t;
typedef const cusparseDnVecDescr* cusparseConstDnVecDescr_t;
typedef const cusparseDnMatDescr* cusparseConstDnMatDescr_t;

// Each with its form for arrays that are only read.
#define SIMT_SPARSE_COMPRESSED(Name, format)                                                                     \
  inline cusparseStatus_t cusparseCreate##Name(cusparseSpMatDescr_t* made, int64_t rows, int64_t columns,        \
                                               int64_t count, void* offsets, void* indices, void* values,        \
                                               cusparseIndexType_t offset_type, cusparseIndexType_t index_type,  \
                                               cusparseIndexBase_t base, cudaDataType type) {                    \
    if (rows < 0 || columns < 0 || count < 0) return CUSPARSE_STATUS_INVALID_VALUE;                              \
    *made = new cusparseSpMatDescr{format, rows,        columns,    count, offsets, indices,                     \
                                   values, offset_type, index_type, base,  type};                                \
    return CUSPARSE_STATUS_SUCCESS;                                                                              \
  }                                                                                                              \
  inline cusparseStatus_t cusparseCreateConst##Name(                                                             \
      cusparseConstSpMatDescr_t* made, int64_t rows, int64_t columns, int64_t count, const void* offsets,        \
      const void* indices, const void* values, cusparseIndexType_t offset_type, cusparseIndexType_t index_type,  \
      cusparseIndexBase_t base, cudaDataType type) {                                                             \
    cusparseSpMatDescr_t one = nullptr;                                                                          \
    const cusparseStatus_t status =                                                                              \
        cusparseCreate##Name(&one, rows, columns, count, const_cast<void*>(offsets), const_cast<void*>(indices), \
                             const_cast<void*>(values), offset_type, index_type, base, type);                    \
    *made = one;                                                                                                 \
    return status;                                                                                               \
  }                                                                                                              \
  inline cusparseStatus_t cusparse##Name##SetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices, \
                                                      void* values) {                                            \
    matrix->offsets = offsets, matrix->indices = indices, matrix->values = values;                               \
    return CUSPARSE_STATUS_SUCCESS;                                                                              \
  }
SIMT_SPARSE_COMPRESSED(Csr, CUSPARSE_FORMAT_CSR)
SIMT_SPARSE_COMPRESSED(Csc, CUSPARSE_FORMAT_CSC)
#undef SIMT_SPARSE_COMPRESSED
inline cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* made, int64_t rows, int64_t columns, int64_t count,
                                          void* row_of, void* column_of, void* values, cusparseIndexType_t index_type,
                                          cusparseIndexBase_t base, cudaDataType type) {
  if (rows < 0 || columns < 0 || count < 0) return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new cusparseSpMatDescr{CUSPARSE_FORMAT_COO, rows,       columns, count, row_of, column_of, values,
                                 index_type,          index_type, base,    type};
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void* row_of, void* column_of,
                                               void* values) {
  return cusparseCsrSetPointers(matrix, row_of, column_of, values);
}
inline cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* columns,
                                             int64_t* count) {
  *rows = matrix->rows, *columns = matrix->columns, *count = matrix->count;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix, cusparseFormat_t* format) {
  *format = matrix->format;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values) {
  *values = matrix->values;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) {
  matrix->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute,
                                                  const void* data, size_t) {
  if (attribute == CUSPARSE_SPMAT_FILL_MODE)
    matrix->fill = *static_cast<const cusparseFillMode_t*>(data);
  else
    matrix->diagonal = *static_cast<const cusparseDiagType_t*>(data);
  return CUSPARSE_STATUS_SUCCESS;
}

inline cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* made, int64_t size, void* values, cudaDataType type) {
  *made = new cusparseDnVecDescr{size, values, type};
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* made, int64_t size, const void* values,
                                                 cudaDataType type) {
  *made = new cusparseDnVecDescr{size, const_cast<void*>(values), type};
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
  delete vector;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values) {
  *values = vector->values;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) {
  vector->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

inline cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* made, int64_t rows, int64_t columns, int64_t ld,
                                            void* values, cudaDataType type, cusparseOrder_t order) {
  if (rows < 0 || columns < 0 || ld < (order == CUSPARSE_ORDER_COL ? rows : columns))
    return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new cusparseDnMatDescr{rows, columns, ld, values, type, order};
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* made, int64_t rows, int64_t columns,
                                                 int64_t ld, const void* values, cudaDataType type,
                                                 cusparseOrder_t order) {
  cusparseDnMatDescr_t one = nullptr;
  const cusparseStatus_t status = cusparseCreateDnMat(&one, rows, columns, ld, const_cast<void*>(values), type, order);
  *made = one;
  return status;
}
inline cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t matrix, void** values) {
  *values = matrix->values;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values) {
  matrix->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

// A bufferSize asks for little: no work area is needed. preprocess and analysis do nothing.
#define SIMT_SPARSE_BUFFER(name, ...)                                          \
  inline cusparseStatus_t name(cusparseHandle_t, __VA_ARGS__, size_t* bytes) { \
    return *bytes = 8, CUSPARSE_STATUS_SUCCESS;                                \
  }
#define SIMT_SPARSE_NOTHING(name, ...) \
  inline cusparseStatus_t name(cusparseHandle_t, __VA_ARGS__, void*) { return CUSPARSE_STATUS_SUCCESS; }
#define SIMT_SPMV                                                                                      \
  cusparseOperation_t, const void*, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void*, \
      cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t
SIMT_SPARSE_BUFFER(cusparseSpMV_bufferSize, SIMT_SPMV)
SIMT_SPARSE_NOTHING(cusparseSpMV_preprocess, SIMT_SPMV)
#undef SIMT_SPMV
// y = alpha op(A) x + beta y
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t algorithm, void* buffer);
#define SIMT_SPMM                                                                                              \
  cusparseOperation_t, cusparseOperation_t, const void*, cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, \
      const void*, cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t
SIMT_SPARSE_BUFFER(cusparseSpMM_bufferSize, SIMT_SPMM)
SIMT_SPARSE_NOTHING(cusparseSpMM_preprocess, SIMT_SPMM)
#undef SIMT_SPMM
// C = alpha op(A) op(B) + beta C
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t of_a, cusparseOperation_t of_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType type, cusparseSpMMAlg_t algorithm,
                              void* buffer);

// op(A) y = alpha x, where A is the triangle that the matrix's attributes say.
struct cusparseSpSVDescr {};
typedef cusparseSpSVDescr* cusparseSpSVDescr_t;
inline cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* made) {
  *made = new cusparseSpSVDescr;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
#define SIMT_SPSV                                                                                               \
  cusparseOperation_t, const void*, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, cusparseDnVecDescr_t, \
      cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t
SIMT_SPARSE_BUFFER(cusparseSpSV_bufferSize, SIMT_SPSV)
SIMT_SPARSE_NOTHING(cusparseSpSV_analysis, SIMT_SPSV)
#undef SIMT_SPSV
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType type, cusparseSpSVAlg_t algorithm, cusparseSpSVDescr_t descriptor);

// C = alpha A B, three matrices in CSR. compute, called with a buffer, knows how many elements C has; copy stores them.
struct cusparseSpGEMMDescr;
typedef cusparseSpGEMMDescr* cusparseSpGEMMDescr_t;
cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* made);
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor);
inline cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t,
                                                      const void*, cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t,
                                                      const void*, cusparseSpMatDescr_t, cudaDataType,
                                                      cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t, size_t* bytes,
                                                      void*) {
  return *bytes = 8, CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t of_a, cusparseOperation_t of_b,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void* beta, cusparseSpMatDescr_t c, cudaDataType type,
                                        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor, size_t* bytes,
                                        void* buffer);
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t of_a, cusparseOperation_t of_b,
                                     const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType type,
                                     cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor);

SIMT_SPARSE_BUFFER(cusparseSparseToDense_bufferSize, cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
                   cusparseSparseToDenseAlg_t)
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t algorithm, void* buffer);
// analysis writes the offsets and says how many elements there are; convert stores the indices and values.
SIMT_SPARSE_BUFFER(cusparseDenseToSparse_bufferSize, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
                   cusparseDenseToSparseAlg_t)
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                                void* buffer);
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                               void* buffer);
