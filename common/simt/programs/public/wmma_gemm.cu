// Products of matrices with nvcuda::wmma: half with float and half sums, bfloat16, tf32, 8-bit integers, all layouts,
// three shapes, and a bias and a ReLU on the elements of the accumulator. Small integers: every sum is exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>
#include <vector>

using namespace nvcuda;

template <int M, int N, int K, typename In, typename Stored, typename Out, typename LayoutA, typename LayoutB>
__global__ void gemm(const Stored* a, const Stored* b, Out* c, int m, int n, int k) {
  const int tile_m = blockIdx.y, tile_n = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (tile_n * N >= n) return;
  wmma::fragment<wmma::matrix_a, M, N, K, In, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, In, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Out> sum;
  wmma::fill_fragment(sum, Out(0.0f));
  constexpr bool a_rows = std::is_same<LayoutA, wmma::row_major>::value;
  constexpr bool b_rows = std::is_same<LayoutB, wmma::row_major>::value;
  for (int i = 0; i < k; i += K) {
    wmma::load_matrix_sync(fa, a_rows ? a + tile_m * M * k + i : a + i * m + tile_m * M, a_rows ? k : m);
    wmma::load_matrix_sync(fb, b_rows ? b + i * n + tile_n * N : b + tile_n * N * k + i, b_rows ? n : k);
    if (std::is_same<In, wmma::precision::tf32>::value) {
      for (int t = 0; t < fa.num_elements; t++) fa.x[t] = wmma::__float_to_tf32(fa.x[t]);
      for (int t = 0; t < fb.num_elements; t++) fb.x[t] = wmma::__float_to_tf32(fb.x[t]);
    }
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::fragment<wmma::accumulator, M, N, K, Out> bias;
  Out* const at = c + tile_m * M * n + tile_n * N;
  wmma::load_matrix_sync(bias, at, n, wmma::mem_row_major);
  for (int t = 0; t < sum.num_elements; t++) {
    const float value = float(sum.x[t]) + float(bias.x[t]);
    sum.x[t] = Out(value > 0.f ? value : 0.f);
  }
  wmma::store_matrix_sync(at, sum, n, wmma::mem_row_major);
}

int wrong = 0;

template <int M, int N, int K, typename In, typename Stored, typename Out, typename LayoutA, typename LayoutB>
void run(const char* name) {
  const int m = 2 * M, n = 2 * N, k = 3 * K;
  std::vector<Stored> a(m * k), b(k * n);
  std::vector<Out> c(m * n);
  for (int i = 0; i < m * k; i++) a[i] = Stored(float(i * 7 % 5));
  for (int i = 0; i < k * n; i++) b[i] = Stored(float(i * 11 % 4));
  for (int i = 0; i < m * n; i++) c[i] = Out(float(i % 3 * 100 - 250));
  Stored *da, *db;
  Out* dc;
  cudaMalloc(&da, a.size() * sizeof(Stored));
  cudaMalloc(&db, b.size() * sizeof(Stored));
  cudaMalloc(&dc, c.size() * sizeof(Out));
  cudaMemcpy(da, a.data(), a.size() * sizeof(Stored), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(Stored), cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c.data(), c.size() * sizeof(Out), cudaMemcpyHostToDevice);
  gemm<M, N, K, In, Stored, Out, LayoutA, LayoutB><<<dim3(1, m / M), 64>>>(da, db, dc, m, n, k);
  std::vector<Out> out(c.size());
  cudaMemcpy(out.data(), dc, c.size() * sizeof(Out), cudaMemcpyDeviceToHost);
  const bool a_rows = std::is_same<LayoutA, wmma::row_major>::value,
             b_rows = std::is_same<LayoutB, wmma::row_major>::value;
  int here = 0;
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      float sum = float(c[i * n + j]);
      for (int t = 0; t < k; t++)
        sum += float(a[a_rows ? i * k + t : t * m + i]) * float(b[b_rows ? t * n + j : j * k + t]);
      here += float(out[i * n + j]) != (sum > 0 ? sum : 0);
    }
  }
  if (here) std::printf("%s: %d wrong\n", name, here);
  wrong += here;
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
}

int main() {
  using wmma::col_major;
  using wmma::row_major;
  run<16, 16, 16, half, half, float, row_major, row_major>("half, float");
  run<16, 16, 16, half, half, float, col_major, row_major>("half, float, A by columns");
  run<16, 16, 16, half, half, half, row_major, col_major>("half, half");
  run<32, 8, 16, half, half, float, row_major, col_major>("32 x 8");
  run<8, 32, 16, half, half, float, row_major, col_major>("8 x 32");
  run<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, col_major>("bfloat16");
  run<16, 16, 8, wmma::precision::tf32, float, float, row_major, col_major>("tf32");
  run<16, 16, 16, signed char, signed char, int, row_major, col_major>("signed char");
  run<16, 16, 16, unsigned char, unsigned char, int, row_major, row_major>("unsigned char");
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
