// cuSPARSE as programs use it: sparse times vector, dense and sparse in every format, triangular systems, conversions,
// and systems with three diagonals. Results are held against the host's, from the dense matrix.
#include <cuda_runtime.h>
#include <cusparse.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                 \
  do {                                                                              \
    const int status = int(call);                                                   \
    if (status != 0) printf("line %d: %s: %d\n", __LINE__, #call, status), wrong++; \
  } while (0)

int wrong = 0;
void near(double found, double right, const char* what) {
  if (!(std::fabs(found - right) <= 1e-4 * (1 + std::fabs(right))))
    printf("%s: %g, not %g\n", what, found, right), wrong++;
}

template <typename T>
T* up(const std::vector<T>& values) {
  T* device;
  cudaMalloc(&device, (values.size() + 1) * sizeof(T));
  cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <typename T>
std::vector<T> down(const T* device, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

const int rows = 5, columns = 7;
double entry(int row, int column) { return (row * 3 + column * 5) % 4 == 0 ? row + 2 * column + 1 : 0; }

template <typename T, typename Index>
struct Sparse {
  std::vector<Index> offsets{0}, lines, others;
  std::vector<T> values;
  Index *d_offsets, *d_lines, *d_others;
  T* d_values;
  Sparse(bool by_column, int base) {
    for (int line = 0; line < (by_column ? columns : rows); line++) {
      for (int other = 0; other < (by_column ? rows : columns); other++) {
        const double value = by_column ? entry(other, line) : entry(line, other);
        if (value != 0) lines.push_back(line + base), others.push_back(other + base), values.push_back(T(value));
      }
      offsets.push_back(Index(values.size()));
    }
    for (Index& one : offsets) one += base;
    d_offsets = up(offsets), d_lines = up(lines), d_others = up(others), d_values = up(values);
  }
};

template <typename T, typename Index>
void multiply(cusparseHandle_t handle, cudaDataType type, cusparseIndexType_t index, int base) {
  const cusparseIndexBase_t from = base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  const Sparse<T, Index> by_row(false, base), by_column(true, base);
  const int64_t count = int64_t(by_row.values.size());
  cusparseSpMatDescr_t matrices[3];
  CHECK(cusparseCreateCsr(&matrices[0], rows, columns, count, by_row.d_offsets, by_row.d_others, by_row.d_values, index,
                          index, from, type));
  CHECK(cusparseCreateCsc(&matrices[1], rows, columns, count, by_column.d_offsets, by_column.d_others,
                          by_column.d_values, index, index, from, type));
  CHECK(cusparseCreateCoo(&matrices[2], rows, columns, count, by_row.d_lines, by_row.d_others, by_row.d_values, index,
                          from, type));
  const T alpha = 2, beta = T(0.5), zero = 0;
  for (cusparseSpMatDescr_t matrix : matrices) {
    for (int transposed = 0; transposed < 2; transposed++) {
      const int in = transposed ? rows : columns, out = transposed ? columns : rows;
      const cusparseOperation_t op = transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
      std::vector<T> x(in), y(out);
      for (int i = 0; i < in; i++) x[i] = T(i - 2);
      for (int i = 0; i < out; i++) y[i] = T(10 * i);
      T *d_x = up(x), *d_y = up(y);
      cusparseDnVecDescr_t of_x, of_y;
      CHECK(cusparseCreateDnVec(&of_x, in, d_x, type));
      CHECK(cusparseCreateDnVec(&of_y, out, d_y, type));
      size_t bytes;
      void* buffer;
      CHECK(cusparseSpMV_bufferSize(handle, op, &alpha, matrix, of_x, &beta, of_y, type, CUSPARSE_SPMV_ALG_DEFAULT,
                                    &bytes));
      cudaMalloc(&buffer, bytes);
      CHECK(cusparseSpMV(handle, op, &alpha, matrix, of_x, &beta, of_y, type, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
      const std::vector<T> found = down(d_y, out);
      for (int i = 0; i < out; i++) {
        double sum = 0;
        for (int k = 0; k < in; k++) sum += (transposed ? entry(k, i) : entry(i, k)) * x[k];
        near(found[i], 2 * sum + 0.5 * y[i], "SpMV");
      }
      // Two right-hand sides, B column by column, C row by row with a gap.
      std::vector<T> b(in * 2), c(out * 3, T(7));
      for (int i = 0; i < in * 2; i++) b[i] = T(i % 5);
      T *d_b = up(b), *d_c = up(c);
      cusparseDnMatDescr_t of_b, of_c;
      CHECK(cusparseCreateDnMat(&of_b, in, 2, in, d_b, type, CUSPARSE_ORDER_COL));
      CHECK(cusparseCreateDnMat(&of_c, out, 2, 3, d_c, type, CUSPARSE_ORDER_ROW));
      CHECK(cusparseSpMM(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, of_b, &zero, of_c, type,
                         CUSPARSE_SPMM_ALG_DEFAULT, buffer));
      const std::vector<T> product = down(d_c, out * 3);
      for (int i = 0; i < out; i++) {
        for (int j = 0; j < 2; j++) {
          double sum = 0;
          for (int k = 0; k < in; k++) sum += (transposed ? entry(k, i) : entry(i, k)) * b[j * in + k];
          near(product[i * 3 + j], 2 * sum, "SpMM");
        }
        near(product[i * 3 + 2], 7, "SpMM, between the rows");
      }
      CHECK(cusparseDestroyDnVec(of_x));
      CHECK(cusparseDestroyDnVec(of_y));
      CHECK(cusparseDestroyDnMat(of_b));
      CHECK(cusparseDestroyDnMat(of_c));
    }
    // To dense and back.
    T* d_dense = up(std::vector<T>(rows * columns, T(-1)));
    cusparseDnMatDescr_t dense;
    CHECK(cusparseCreateDnMat(&dense, rows, columns, rows, d_dense, type, CUSPARSE_ORDER_COL));
    CHECK(cusparseSparseToDense(handle, matrix, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
    const std::vector<T> all = down(d_dense, rows * columns);
    for (int i = 0; i < rows * columns; i++) near(all[i], entry(i % rows, i / rows), "SparseToDense");
    cusparseSpMatDescr_t again;
    Index* d_offsets = up(std::vector<Index>(rows + 1));
    CHECK(cusparseCreateCsr(&again, rows, columns, 0, d_offsets, nullptr, nullptr, index, index, from, type));
    CHECK(cusparseDenseToSparse_analysis(handle, dense, again, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
    int64_t r, c, found;
    CHECK(cusparseSpMatGetSize(again, &r, &c, &found));
    near(double(found), double(count), "DenseToSparse's elements");
    Index* d_others = up(std::vector<Index>(found));
    T* d_values = up(std::vector<T>(found));
    CHECK(cusparseCsrSetPointers(again, d_offsets, d_others, d_values));
    CHECK(cusparseDenseToSparse_convert(handle, dense, again, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
    if (down(d_offsets, rows + 1) != by_row.offsets || down(d_others, found) != by_row.others ||
        down(d_values, found) != by_row.values)
      printf("DenseToSparse: another matrix\n"), wrong++;
    CHECK(cusparseDestroySpMat(again));
    CHECK(cusparseDestroyDnMat(dense));
  }
  for (cusparseSpMatDescr_t matrix : matrices) CHECK(cusparseDestroySpMat(matrix));
}

// A A^T's lower triangle solves a system; A times A^T is sparse again.
void products_and_systems(cusparseHandle_t handle) {
  const Sparse<double, int> a(false, 0), turned(true, 0);
  const int64_t count = int64_t(a.values.size());
  cusparseSpMatDescr_t one, other, product;
  CHECK(cusparseCreateCsr(&one, rows, columns, count, a.d_offsets, a.d_others, a.d_values, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  // A's columns are A^T's rows.
  CHECK(cusparseCreateCsr(&other, columns, rows, count, turned.d_offsets, turned.d_others, turned.d_values,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  int* d_offsets = up(std::vector<int>(rows + 1));
  CHECK(cusparseCreateCsr(&product, rows, rows, 0, d_offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  cusparseSpGEMMDescr_t work;
  CHECK(cusparseSpGEMM_createDescr(&work));
  const double alpha = 1, beta = 0;
  const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
  size_t bytes;
  void* buffer;
  CHECK(cusparseSpGEMM_workEstimation(handle, as_is, as_is, &alpha, one, other, &beta, product, CUDA_R_64F,
                                      CUSPARSE_SPGEMM_DEFAULT, work, &bytes, nullptr));
  CHECK(cusparseSpGEMM_compute(handle, as_is, as_is, &alpha, one, other, &beta, product, CUDA_R_64F,
                               CUSPARSE_SPGEMM_DEFAULT, work, &bytes, nullptr));
  cudaMalloc(&buffer, bytes);
  CHECK(cusparseSpGEMM_compute(handle, as_is, as_is, &alpha, one, other, &beta, product, CUDA_R_64F,
                               CUSPARSE_SPGEMM_DEFAULT, work, &bytes, buffer));
  int64_t r, c, elements;
  CHECK(cusparseSpMatGetSize(product, &r, &c, &elements));
  int* d_others = up(std::vector<int>(elements));
  double* d_values = up(std::vector<double>(elements));
  CHECK(cusparseCsrSetPointers(product, d_offsets, d_others, d_values));
  CHECK(cusparseSpGEMM_copy(handle, as_is, as_is, &alpha, one, other, &beta, product, CUDA_R_64F,
                            CUSPARSE_SPGEMM_DEFAULT, work));
  CHECK(cusparseSpGEMM_destroyDescr(work));
  const std::vector<int> offsets = down(d_offsets, rows + 1), others = down(d_others, elements);
  std::vector<double> values = down(d_values, elements), square(rows * rows, 0);
  for (int row = 0; row < rows; row++) {
    for (int i = offsets[row]; i < offsets[row + 1]; i++) square[row * rows + others[i]] = values[i];
  }
  for (int row = 0; row < rows; row++) {
    for (int column = 0; column < rows; column++) {
      double sum = 0;
      for (int k = 0; k < columns; k++) sum += entry(row, k) * entry(column, k);
      near(square[row * rows + column], sum, "SpGEMM");
    }
  }
  for (int row = 0; row < rows; row++) {
    for (int i = offsets[row]; i < offsets[row + 1]; i++) values[i] += others[i] == row ? 1000 : 0;
    square[row * rows + row] += 1000;
  }
  cudaMemcpy(d_values, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice);
  double *d_x = up(std::vector<double>(rows)), *d_y = up(std::vector<double>(rows));
  cusparseDnVecDescr_t x, y;
  CHECK(cusparseCreateDnVec(&x, rows, d_x, CUDA_R_64F));
  CHECK(cusparseCreateDnVec(&y, rows, d_y, CUDA_R_64F));
  for (int upper = 0; upper < 2; upper++) {
    for (int transposed = 0; transposed < 2; transposed++) {
      for (int unit = 0; unit < 2; unit++) {
        const cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
        const cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
        CHECK(cusparseSpMatSetAttribute(product, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
        CHECK(cusparseSpMatSetAttribute(product, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
        std::vector<double> right(rows, 0);
        for (int row = 0; row < rows; row++) {
          for (int column = 0; column < rows; column++) {
            const int from = transposed ? column : row, to = transposed ? row : column;
            if (from == to)
              right[row] += (unit ? 1 : square[from * rows + to]) * (column + 1);
            else if ((to > from) == bool(upper))
              right[row] += square[from * rows + to] * (column + 1);
          }
        }
        cudaMemcpy(d_x, right.data(), rows * sizeof(double), cudaMemcpyHostToDevice);
        const cusparseOperation_t op = transposed ? CUSPARSE_OPERATION_TRANSPOSE : as_is;
        cusparseSpSVDescr_t how;
        CHECK(cusparseSpSV_createDescr(&how));
        CHECK(cusparseSpSV_bufferSize(handle, op, &alpha, product, x, y, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, how,
                                      &bytes));
        CHECK(cusparseSpSV_analysis(handle, op, &alpha, product, x, y, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, how,
                                    buffer));
        CHECK(cusparseSpSV_solve(handle, op, &alpha, product, x, y, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, how));
        CHECK(cusparseSpSV_destroyDescr(how));
        const std::vector<double> found = down(d_y, rows);
        for (int row = 0; row < rows; row++) near(found[row], row + 1, "SpSV");
      }
    }
  }
}

void older_interface(cusparseHandle_t handle) {
  for (int base = 0; base < 2; base++) {
    const cusparseIndexBase_t from = base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
    const Sparse<float, int> a(false, base), turned(true, base);
    const int count = int(a.values.size());
    int *lines = up(std::vector<int>(count)), *offsets = up(std::vector<int>(columns + 1)),
        *others = up(lines ? std::vector<int>(count) : std::vector<int>());
    float* values = up(std::vector<float>(count));
    CHECK(cusparseXcsr2coo(handle, a.d_offsets, count, rows, lines, from));
    if (down(lines, count) != a.lines) printf("csr2coo\n"), wrong++;
    CHECK(cusparseXcoo2csr(handle, a.d_lines, count, rows, offsets, from));
    if (down(offsets, rows + 1) != a.offsets) printf("coo2csr\n"), wrong++;
    CHECK(cusparseCsr2cscEx2(handle, rows, columns, count, a.d_values, a.d_offsets, a.d_others, values, offsets, others,
                             CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, from, CUSPARSE_CSR2CSC_ALG1, nullptr));
    if (down(offsets, columns + 1) != turned.offsets || down(others, count) != turned.others ||
        down(values, count) != turned.values)
      printf("csr2csc\n"), wrong++;
  }
  // Four equations with three diagonals, some of which need a swap, for two right-hand sides; then two systems.
  const int n = 4;
  const std::vector<float> lower{0, 5, 1, 3}, middle{1, 2, 0, 4}, upper{2, 1, 3, 0};
  std::vector<float> sides(2 * 5, 9);
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < n; i++) {
      const auto x = [&](int at) { return at >= 0 && at < n ? float(at + 1 + side) : 0; };
      sides[side * 5 + i] = lower[i] * x(i - 1) + middle[i] * x(i) + upper[i] * x(i + 1);
    }
  }
  float *l = up(lower), *m = up(middle), *u = up(upper), *x = up(sides);
  size_t bytes;
  CHECK(cusparseSgtsv2_bufferSizeExt(handle, n, 2, l, m, u, x, 5, &bytes));
  CHECK(cusparseSgtsv2(handle, n, 2, l, m, u, x, 5, nullptr));
  std::vector<float> found = down(x, 10);
  for (int i = 0; i < n; i++) near(found[i], i + 1, "gtsv2"), near(found[5 + i], i + 2, "gtsv2");
  near(found[4], 9, "gtsv2, between");
  std::vector<double> both[4];
  for (int system = 0; system < 2; system++) {
    for (int i = 0; i < n; i++) {
      both[0].push_back(lower[i]), both[1].push_back(middle[i] + 6), both[2].push_back(upper[i] * (system + 1));
      both[3].push_back(lower[i] * i + (middle[i] + 6) * (i + 1) + (i + 1 < n ? upper[i] * (system + 1) * (i + 2) : 0));
    }
  }
  double *d_l = up(both[0]), *d_m = up(both[1]), *d_u = up(both[2]), *d_x = up(both[3]);
  CHECK(cusparseDgtsv2StridedBatch(handle, n, d_l, d_m, d_u, d_x, 2, n, nullptr));
  const std::vector<double> solved = down(d_x, 2 * n);
  for (int i = 0; i < 2 * n; i++) near(solved[i], i % n + 1, "gtsv2StridedBatch");
  int total, *each = up(std::vector<int>(2));
  cusparseMatDescr_t general;
  CHECK(cusparseCreateMatDescr(&general));
  CHECK(cusparseSnnz(handle, CUSPARSE_DIRECTION_COLUMN, 2, 2, general, m, 2, each, &total));
  near(total * 100 + down(each, 2)[0] * 10 + down(each, 2)[1], 321, "nnz");
  CHECK(cusparseDestroyMatDescr(general));
}

int main() {
  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  multiply<float, int>(handle, CUDA_R_32F, CUSPARSE_INDEX_32I, 0);
  multiply<double, int64_t>(handle, CUDA_R_64F, CUSPARSE_INDEX_64I, 1);
  products_and_systems(handle);
  older_interface(handle);
  CHECK(cusparseDestroy(handle));
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
