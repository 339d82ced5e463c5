// Attention of one head with tensor cores, a warp per 16 queries: cp.async, ldmatrix with and without .trans,
// mma.m16n8k16, an online softmax in registers by shfl.sync and ex2.approx, as flash attention kernels do.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int head = 64, keys_per_tile = 16, stride = head + 8;  // halves; the 8 keep ldmatrix free of conflicts

#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))
#define CP_ASYNC_CG(dst, src, bytes) \
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(dst), "l"(src), "n"(bytes))
#define LDMATRIX_X4(R0, R1, R2, R3, addr)                                           \
  asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n" \
               : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3)                             \
               : "r"(addr))
#define LDMATRIX_X2(R0, R1, addr) \
  asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0, %1}, [%2];\n" : "=r"(R0), "=r"(R1) : "r"(addr))
#define LDMATRIX_X2_T(R0, R1, addr) \
  asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n" : "=r"(R0), "=r"(R1) : "r"(addr))
#define HMMA16816F32(D, A, B)                                                                            \
  asm volatile(                                                                                          \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
      "{%0, %1, %2, %3};\n"                                                                              \
      : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])                                                   \
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]))

__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float from_neighbour(float x, int by) {
  float y;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(y) : "f"(x), "r"(by));
  return y;
}
__device__ __forceinline__ uint32_t two_halves(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

__global__ void __launch_bounds__(32)
    attention(const half* q, const half* k, const half* v, half* out, int keys, float scale) {
  __shared__ __align__(16) half sq[16 * stride];
  __shared__ __align__(16) half sk[keys_per_tile * stride], sv[keys_per_tile * stride];
  const int lane = threadIdx.x;
  const auto fetch = [&](half* to, const half* from) {
    for (int i = lane; i < 16 * head / 8; i += 32) {
      const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(to + i / 8 * stride + i % 8 * 8));
      CP_ASYNC_CG(at, from + i / 8 * head + i % 8 * 8, 16);
    }
  };
  fetch(sq, q + blockIdx.x * 16 * head);
  CP_ASYNC_COMMIT_GROUP();
  CP_ASYNC_WAIT_GROUP(0);
  __syncthreads();
  uint32_t fq[head / 16][4];
  for (int i = 0; i < head / 16; i++) {
    const uint32_t at =
        static_cast<uint32_t>(__cvta_generic_to_shared(sq + lane % 16 * stride + i * 16 + lane / 16 * 8));
    LDMATRIX_X4(fq[i][0], fq[i][1], fq[i][2], fq[i][3], at);
  }
  float sums[head / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {0.f, 0.f};
  for (int first = 0; first < keys; first += keys_per_tile) {
    __syncthreads();
    fetch(sk, k + first * head);
    CP_ASYNC_COMMIT_GROUP();
    fetch(sv, v + first * head);
    CP_ASYNC_COMMIT_GROUP();
    CP_ASYNC_WAIT_GROUP(0);
    __syncthreads();
    float scores[2][4] = {};  // 16 queries x 16 keys
    for (int n = 0; n < 2; n++) {
      for (int i = 0; i < head / 16; i++) {
        uint32_t fk[2];
        const uint32_t at = static_cast<uint32_t>(
            __cvta_generic_to_shared(sk + (n * 8 + lane % 8) * stride + i * 16 + lane / 8 % 2 * 8));
        LDMATRIX_X2(fk[0], fk[1], at);
        HMMA16816F32(scores[n], fq[i], fk);
      }
    }
    for (int row = 0; row < 2; row++) {
      float largest = most[row];
      for (int n = 0; n < 2; n++)
        for (int e = 0; e < 2; e++) largest = fmaxf(largest, scores[n][2 * row + e] * scale);
      for (int by = 1; by < 4; by *= 2) largest = fmaxf(largest, from_neighbour(largest, by));
      const float correction = exp2_approx(most[row] - largest);
      most[row] = largest;
      float sum = 0.f;
      for (int n = 0; n < 2; n++) {
        for (int e = 0; e < 2; e++) {
          scores[n][2 * row + e] = exp2_approx(scores[n][2 * row + e] * scale - largest);
          sum += scores[n][2 * row + e];
        }
      }
      for (int by = 1; by < 4; by *= 2) sum += from_neighbour(sum, by);
      total[row] = total[row] * correction + sum;
      for (int d = 0; d < head / 8; d++)
        for (int e = 0; e < 2; e++) sums[d][2 * row + e] *= correction;
    }
    const uint32_t weights[4] = {two_halves(scores[0][0], scores[0][1]), two_halves(scores[0][2], scores[0][3]),
                                 two_halves(scores[1][0], scores[1][1]), two_halves(scores[1][2], scores[1][3])};
    for (int d = 0; d < head / 8; d++) {
      uint32_t fv[2];
      LDMATRIX_X2_T(fv[0], fv[1], static_cast<uint32_t>(__cvta_generic_to_shared(sv + lane % 16 * stride + d * 8)));
      HMMA16816F32(sums[d], weights, fv);
    }
  }
  for (int row = 0; row < 2; row++) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(total[row]));
    for (int d = 0; d < head / 8; d++) {
      half* const to = out + (blockIdx.x * 16 + lane / 4 + row * 8) * head + d * 8 + lane % 4 * 2;
      *reinterpret_cast<half2*>(to) = __floats2half2_rn(sums[d][2 * row] * inverse, sums[d][2 * row + 1] * inverse);
    }
  }
}

int main() {
  const int queries = 32, keys = 48;
  std::vector<half> q(queries * head), k(keys * head), v(keys * head), out(queries * head);
  unsigned state = 1;
  const auto random = [&] {
    return __float2half(float((state = state * 1664525u + 1013904223u) >> 16) / 32768.f - 1.f);
  };
  for (half& x : q) x = random();
  for (half& x : k) x = random();
  for (half& x : v) x = random();
  half *dq, *dk, *dv, *dout;
  cudaMalloc(&dq, q.size() * sizeof(half));
  cudaMalloc(&dk, k.size() * sizeof(half));
  cudaMalloc(&dv, v.size() * sizeof(half));
  cudaMalloc(&dout, out.size() * sizeof(half));
  cudaMemcpy(dq, q.data(), q.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(dk, k.data(), k.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(dv, v.data(), v.size() * sizeof(half), cudaMemcpyHostToDevice);
  const float scale = 1.44269504f / std::sqrt(float(head));  // times log2 e
  attention<<<queries / 16, 32>>>(dq, dk, dv, dout, keys, scale);
  cudaMemcpy(out.data(), dout, out.size() * sizeof(half), cudaMemcpyDeviceToHost);
  int wrong = cudaGetLastError() != cudaSuccess;
  for (int i = 0; i < queries; i++) {
    std::vector<double> weight(keys);
    double total = 0;
    for (int j = 0; j < keys; j++) {
      double dot = 0;
      for (int d = 0; d < head; d++)
        dot += double(__half2float(q[i * head + d])) * double(__half2float(k[j * head + d]));
      total += weight[j] = std::exp(dot / std::sqrt(double(head)));
    }
    for (int d = 0; d < head; d++) {
      double expected = 0;
      for (int j = 0; j < keys; j++) expected += weight[j] / total * double(__half2float(v[j * head + d]));
      wrong += !(std::fabs(double(__half2float(out[i * head + d])) - expected) < 2e-3);
    }
  }
  if (wrong) std::printf("%d wrong\n", wrong);
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
