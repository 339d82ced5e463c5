// cuda::std::mdspan: matrices of every layout as arguments of kernels, extents known when compiling, parts of a matrix,
// and an accessor of the program's own.
#include <cuda/mdspan>
#include <cuda/std/array>
#include <cuda/std/mdspan>
#include <cuda/std/tuple>
#include <cuda_runtime.h>

#include <cstdio>

namespace cs = cuda::std;

constexpr int rows = 6, columns = 8;
template <typename T, typename Layout = cs::layout_right>
using Matrix = cs::mdspan<T, cs::dextents<int, 2>, Layout>;
using Small = cs::extents<int, 4, cs::dynamic_extent>;

template <typename In, typename Out>
__global__ void transpose(In in, Out out) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < in.extent(0) && j < in.extent(1)) out(j, i) = in(i, j);
}

// A tile in shared memory, of a size known when compiling; the second column of each row by a part of the matrix.
__global__ void tiled(Matrix<const float> in, cs::mdspan<float, Small> out, float* column) {
  __shared__ float raw[4 * 4];
  cs::mdspan<float, cs::extents<int, 4, 4>> tile(raw);
  static_assert(tile.static_extent(0) == 4 && decltype(tile)::rank_dynamic() == 0, "known when compiling");
  const int i = threadIdx.y, j = threadIdx.x;
  for (int first = 0; first < columns; first += 4) {
    __syncthreads();
    tile(i, j) = in(i, first + j);
    __syncthreads();
    out(i, first + j) = 2 * tile(i, 3 - j);
  }
  auto second = cs::submdspan(in, cs::full_extent, 1);
  auto middle = cs::submdspan(in, cs::pair<int, int>{1, 3}, cs::strided_slice<int, int, int>{1, 6, 2});
  if (i == 0 && j == 0) {
    for (int r = 0; r < second.extent(0); r++) column[r] = second(r);
    column[rows] = middle(1, 2) + 100 * middle.extent(0) + 10 * middle.extent(1);
  }
}

// Adds up in whole numbers what is kept in tenths.
struct Tenths {
  using element_type = int;
  using reference = float;
  using data_handle_type = int*;
  using offset_policy = Tenths;
  __host__ __device__ float access(int* from, size_t i) const { return from[i] * 0.1f; }
  __host__ __device__ int* offset(int* from, size_t i) const { return from + i; }
};
__global__ void add_up(cs::mdspan<int, cs::dextents<int, 1>, cs::layout_right, Tenths> of, float* sum) {
  for (int i = 0; i < of.extent(0); i++) *sum += of(i);
}

int main() {
  float *in, *out, *column;
  int* tenths;
  cudaMallocManaged(&in, rows * columns * sizeof(float));
  cudaMallocManaged(&out, rows * columns * sizeof(float));
  cudaMallocManaged(&column, (rows + 2) * sizeof(float));
  cudaMallocManaged(&tenths, 4 * sizeof(int));
  for (int i = 0; i < rows * columns; i++) in[i] = static_cast<float>(i);
  for (int i = 0; i < 4; i++) tenths[i] = 10 * i;
  column[rows + 1] = 0;
  const dim3 grid(2, 2), block(4, 4);
  int wrong = 0;

  const Matrix<const float> a(in, rows, columns);
  transpose<<<grid, block>>>(a, Matrix<float>(out, columns, rows));
  cudaDeviceSynchronize();
  for (int i = 0; i < rows * columns; i++) wrong += out[i] != in[i % rows * columns + i / rows];

  // By columns, the transposed matrix lies as the matrix does.
  transpose<<<grid, block>>>(a, Matrix<float, cs::layout_left>(out, columns, rows));
  cudaDeviceSynchronize();
  for (int i = 0; i < rows * columns; i++) wrong += out[i] != in[i];

  // Every second column, and the rows from the last to the first.
  using Strided = Matrix<float, cs::layout_stride>;
  const cs::array<int, 2> strides{columns, 2};
  const Strided every_second(in, Strided::mapping_type(cs::dextents<int, 2>(rows, columns / 2), strides));
  wrong += every_second.is_exhaustive() || every_second.mapping().required_span_size() != rows * columns - 1;
  transpose<<<grid, block>>>(every_second, Matrix<float>(out, columns / 2, rows));
  cudaDeviceSynchronize();
  for (int i = 0; i < rows * columns / 2; i++) wrong += out[i] != in[i % rows * columns + i / rows * 2];

  tiled<<<1, block>>>(a, cs::mdspan<float, Small>(out, columns), column);
  add_up<<<1, 1>>>({tenths, cs::dextents<int, 1>(4), Tenths()}, column + rows + 1);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < columns; j++) wrong += out[i * columns + j] != 2 * in[i * columns + j / 4 * 4 + 3 - j % 4];
  for (int r = 0; r < rows; r++) wrong += column[r] != in[r * columns + 1];
  wrong += column[rows] != in[2 * columns + 5] + 230 || column[rows + 1] != 6;

  // What the host asks of them.
  const cs::mdspan guessed(in, rows, columns);
  static_assert(cs::is_same<decltype(guessed)::extents_type, cs::dextents<size_t, 2>>::value, "guessed");
  const cs::array<int, 2> at{2, 3};
  const Matrix<const float> same(guessed);
  cuda::restrict_mdspan<float, cs::dims<2>> restricted(in, rows, columns);
  wrong += guessed.size() != rows * columns || guessed.stride(0) != columns || guessed[at] != in[2 * columns + 3] ||
           same(5, 7) != 47 || restricted(1, 1) != columns + 1 || guessed.extents() != same.extents() ||
           sizeof(Matrix<float>) != 16 || sizeof(cs::mdspan<float, cs::extents<int, 4, 4>>) != 8;
  printf("%s\n", wrong ? "FAIL" : "PASS");
}
