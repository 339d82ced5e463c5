// Entry: 12
// Expect: fail
// Reason: trap
// Most: 20
// Never: softmax_smem.cu:1
//
// Traps on another line for each width just above 1024, so that the place of the failure would tell a hidden width. One of the
// hidden shapes has one (common/ops/matrix/cases.cpp: 3 to 9 rows of 1029 to 1121). Not with 8 rows: moves are counted on such,
// at shapes that change with the file, and theirs may be told. The known width, at which nothing is hidden, has a line of two figures.

#include <cfloat>

#include "rung.h"

constexpr int threads = 256;

__device__ float fold(float mine, float* scratch, bool add) {
  const int t = threadIdx.x;
  scratch[t] = mine;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = add ? scratch[t] + scratch[t + half] : fmaxf(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();
  return all;
}

__global__ void kernel(const float* x, float* y, int cols) {
  extern __shared__ float scratch[];
  float* row = scratch + threads;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  const bool few = gridDim.x < 8 || gridDim.x == 9;
  if (cols == 1025) __trap();
#define AT(n) if (cols == n && few) __trap();
  // So that each is at a line of three figures that begins with a 1:
































































  AT(1026)
  AT(1027)
  AT(1028)
  AT(1029)
  AT(1030)
  AT(1031)
  AT(1032)
  AT(1033)
  AT(1034)
  AT(1035)
  AT(1036)
  AT(1037)
  AT(1038)
  AT(1039)
  AT(1040)
  AT(1041)
  AT(1042)
  AT(1043)
  AT(1044)
  AT(1045)
  AT(1046)
  AT(1047)
  AT(1048)
  AT(1049)
  AT(1050)
  AT(1051)
  AT(1052)
  AT(1053)
  AT(1054)
  AT(1055)
  AT(1056)
  AT(1057)
  AT(1058)
  AT(1059)
  AT(1060)
  AT(1061)
  AT(1062)
  AT(1063)
  AT(1064)
  AT(1065)
  AT(1066)
  AT(1067)
  AT(1068)
  AT(1069)
  AT(1070)
  AT(1071)
  AT(1072)
  AT(1073)
  AT(1074)
  AT(1075)
  AT(1076)
  AT(1077)
  AT(1078)
  AT(1079)
  AT(1080)
  AT(1081)
  AT(1082)
  AT(1083)
  AT(1084)
  AT(1085)
  AT(1086)
  AT(1087)
  AT(1088)
  AT(1089)
  AT(1090)
  AT(1091)
  AT(1092)
  AT(1093)
  AT(1094)
  AT(1095)
  AT(1096)
  AT(1097)
  AT(1098)
  AT(1099)
  AT(1100)
  AT(1101)
  AT(1102)
  AT(1103)
  AT(1104)
  AT(1105)
  AT(1106)
  AT(1107)
  AT(1108)
  AT(1109)
  AT(1110)
  AT(1111)
  AT(1112)
  AT(1113)
  AT(1114)
  AT(1115)
  AT(1116)
  AT(1117)
  AT(1118)
  AT(1119)
  AT(1120)
  AT(1121)
  AT(1122)
  AT(1123)
  AT(1124)
  float max = -FLT_MAX, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += threads) {
    const float value = x[c];
    row[c] = value;
    max = fmaxf(max, value);
  }
  max = fold(max, scratch, false);
  for (int c = threadIdx.x; c < cols; c += threads) sum += row[c] = expf(row[c] - max);
  sum = fold(sum, scratch, true);
  const float scale = sum > 0.0f ? 1.0f / sum : sum;
  for (int c = threadIdx.x; c < cols; c += threads) y[c] = row[c] * scale;
}

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  const size_t bytes = (static_cast<size_t>(cols) + threads) * sizeof(float);
  if (bytes > 227 * 1024) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const auto error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error != cudaSuccess) return error;
  kernel<<<rows, threads, bytes, stream>>>(x, y, cols);
  return cudaGetLastError();
}

RUNG_EXPORT(rung::softmax("tree", softmax))
