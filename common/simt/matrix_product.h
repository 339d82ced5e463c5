// A matrix product as cuBLAS is asked for it: C = alpha op(A) op(B) + beta C, column-major; op(A) is m x k, op(B) k x
// n.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "simt/cublas_types.h"

namespace simt {

struct MatrixProduct {
  const char* name;  // of the library's function
  cublasOperation_t of_a, of_b;
  int m, n, k;  // >= 0
  double alpha, beta;
  const void* a;
  cudaDataType_t type_a;
  int lda;  // elements from one column to the next
  const void* b;
  cudaDataType_t type_b;
  int ldb;
  void* c;
  cudaDataType_t type_c;
  int ldc;
};

// Sizes and strides that cuBLAS accepts, and types that there are.
bool is_well_formed(const MatrixProduct& product);

// Whether all three matrices lie in device memory.
bool is_on_device(const MatrixProduct& product);

// Computed by the host, in double precision. The operands are memory that it may touch.
void compute(const MatrixProduct& product);

}  // namespace simt
