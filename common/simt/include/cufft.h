// cuFFT, for programs whose own kernels are the point: transforms of one to three dimensions, in batches and with
// strides, computed by the host in double precision (../cufft.cpp). A transform is not a kernel: its accesses are
// neither counted nor checked; a count names the call with the bytes that it reads and writes, and a captured stream
// keeps it for the graph. Callbacks and several devices (cufftXt.h) are not supported.
#pragma once
#define _CUFFT_H_  // which other headers test

#include "cuComplex.h"
#include "cuda_runtime.h"

#define CUFFT_VERSION 11000
#define CUFFT_VER_MAJOR 11
#define CUFFT_VER_MINOR 0
#define CUFFT_VER_PATCH 0
#define CUFFT_VER_BUILD 0
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

typedef enum cufftResult_t {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INCOMPLETE_PARAMETER_LIST = 10,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_PARSE_ERROR = 12,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_LICENSE_ERROR = 15,
  CUFFT_NOT_SUPPORTED = 16
} cufftResult;

typedef enum cufftType_t {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
} cufftType;

typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;

// Plans. n: the sizes, the slowest first. Where the embedding is null, elements lie densely; a transform of real
// numbers in place then has rows of 2 (n / 2 + 1) of them.
cufftResult cufftPlan1d(cufftHandle* plan, int n, cufftType type, int batch);
cufftResult cufftPlan2d(cufftHandle* plan, int rows, int columns, cufftType type);
cufftResult cufftPlan3d(cufftHandle* plan, int slices, int rows, int columns, cufftType type);
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                          int* out_embed, int out_stride, int out_distance, cufftType type, int batch);
cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftMakePlan1d(cufftHandle plan, int n, cufftType type, int batch, size_t* work_bytes);
cufftResult cufftMakePlan2d(cufftHandle plan, int rows, int columns, cufftType type, size_t* work_bytes);
cufftResult cufftMakePlan3d(cufftHandle plan, int slices, int rows, int columns, cufftType type, size_t* work_bytes);
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                              int* out_embed, int out_stride, int out_distance, cufftType type, int batch,
                              size_t* work_bytes);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* in_embed, long long in_stride,
                                long long in_distance, long long* out_embed, long long out_stride,
                                long long out_distance, cufftType type, long long batch, size_t* work_bytes);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);

// No work area is needed.
cufftResult cufftGetSize(cufftHandle plan, size_t* work_bytes);
cufftResult cufftSetWorkArea(cufftHandle plan, void* area);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic);
inline cufftResult cufftEstimate1d(int, cufftType, int, size_t* work_bytes) { return *work_bytes = 0, CUFFT_SUCCESS; }
inline cufftResult cufftEstimate2d(int, int, cufftType, size_t* work_bytes) { return *work_bytes = 0, CUFFT_SUCCESS; }
inline cufftResult cufftEstimate3d(int, int, int, cufftType, size_t* work_bytes) {
  return *work_bytes = 0, CUFFT_SUCCESS;
}
inline cufftResult cufftEstimateMany(int, int*, int*, int, int, int*, int, int, cufftType, int, size_t* work_bytes) {
  return *work_bytes = 0, CUFFT_SUCCESS;
}
inline cufftResult cufftGetSize1d(cufftHandle, int, cufftType, int, size_t* work_bytes) {
  return *work_bytes = 0, CUFFT_SUCCESS;
}
inline cufftResult cufftGetSize2d(cufftHandle, int, int, cufftType, size_t* work_bytes) {
  return *work_bytes = 0, CUFFT_SUCCESS;
}
inline cufftResult cufftGetSize3d(cufftHandle, int, int, int, cufftType, size_t* work_bytes) {
  return *work_bytes = 0, CUFFT_SUCCESS;
}
inline cufftResult cufftGetSizeMany(cufftHandle, int, int*, int*, int, int, int*, int, int, cufftType, int,
                                    size_t* work_bytes) {
  return *work_bytes = 0, CUFFT_SUCCESS;
}
inline cufftResult cufftGetVersion(int* version) { return *version = CUFFT_VERSION, CUFFT_SUCCESS; }

// Results are not scaled: forth and back multiplies by the number of elements.
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out);
