// What there is of cuSPARSE: the host computes in double precision, on a matrix's elements in any order.
#include <cusparse.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "../device.h"
#include "host_call.h"

namespace {

using simt::HostCall;
using std::vector;

struct Element {
  int64_t row, column;
  double value;
};

bool is_known(cudaDataType type) { return type == CUDA_R_32F || type == CUDA_R_64F; }

vector<double> get(HostCall* call, const void* data, cudaDataType type, int64_t count) {
  return type == CUDA_R_64F ? call->get<double, double>(data, size_t(count))
                            : call->get<float, double>(data, size_t(count));
}
void put(HostCall* call, void* data, cudaDataType type, const vector<double>& values) {
  if (type == CUDA_R_64F)
    call->put<double>(data, values);
  else
    call->put<float>(data, values);
}
vector<int64_t> get(HostCall* call, const void* data, cusparseIndexType_t type, int64_t count) {
  return type == CUSPARSE_INDEX_64I ? call->get<int64_t, int64_t>(data, size_t(count))
                                    : call->get<int, int64_t>(data, size_t(count));
}
void put(HostCall* call, void* data, cusparseIndexType_t type, const vector<int64_t>& values) {
  if (type == CUSPARSE_INDEX_64I)
    call->put<int64_t>(data, values);
  else
    call->put<int>(data, values);
}

// Which line each element is in, from the lines' offsets. What the offsets do not hold of a wrong matrix is left out.
vector<int64_t> lines_of(const vector<int64_t>& offsets, int64_t base, int64_t count) {
  vector<int64_t> lines(static_cast<size_t>(count), -1);
  for (size_t line = 0; line + 1 < offsets.size(); line++) {
    for (int64_t i = std::max<int64_t>(offsets[line] - base, 0); i < std::min(offsets[line + 1] - base, count); i++)
      lines[size_t(i)] = static_cast<int64_t>(line);
  }
  return lines;
}
vector<int64_t> offsets_of(const vector<int64_t>& lines, int64_t size, int64_t base) {
  vector<int64_t> offsets(static_cast<size_t>(size) + 1, 0);
  for (const int64_t line : lines) offsets[size_t(line) + 1]++;
  for (size_t i = 1; i < offsets.size(); i++) offsets[i] += offsets[i - 1];
  for (int64_t& one : offsets) one += base;
  return offsets;
}

// The elements that lie within the matrix.
vector<Element> elements(HostCall* call, const cusparseSpMatDescr& a) {
  const bool by_column = a.format == CUSPARSE_FORMAT_CSC;
  const int64_t base = a.base == CUSPARSE_INDEX_BASE_ONE;
  vector<int64_t> lines;
  if (a.format == CUSPARSE_FORMAT_COO) {
    lines = get(call, a.offsets, a.offset_type, a.count);
    for (int64_t& one : lines) one -= base;
  } else {
    lines = lines_of(get(call, a.offsets, a.offset_type, (by_column ? a.columns : a.rows) + 1), base, a.count);
  }
  const vector<int64_t> others = get(call, a.indices, a.index_type, a.count);
  const vector<double> values = get(call, a.values, a.type, a.count);
  vector<Element> all;
  for (size_t i = 0; i < values.size(); i++) {
    const int64_t other = others[i] - base;
    const Element one{by_column ? other : lines[i], by_column ? lines[i] : other, values[i]};
    if (one.row >= 0 && one.row < a.rows && one.column >= 0 && one.column < a.columns) all.push_back(one);
  }
  return all;
}
vector<Element> elements(HostCall* call, const cusparseSpMatDescr& a, cusparseOperation_t op) {
  vector<Element> all = elements(call, a);
  if (op != CUSPARSE_OPERATION_NON_TRANSPOSE)
    for (Element& one : all) std::swap(one.row, one.column);
  return all;
}

// A dense matrix with all that lies between its lines.
struct Dense {
  const cusparseDnMatDescr& of;
  vector<double> values;
  Dense(HostCall* call, const cusparseDnMatDescr& of) : of(of) {
    const int64_t lines = of.order == CUSPARSE_ORDER_COL ? of.columns : of.rows;
    const int64_t each = of.order == CUSPARSE_ORDER_COL ? of.rows : of.columns;
    values = get(call, of.values, of.type, lines ? (lines - 1) * of.ld + each : 0);
  }
  double& at(int64_t row, int64_t column) {
    return values[size_t(of.order == CUSPARSE_ORDER_COL ? column * of.ld + row : row * of.ld + column)];
  }
};

double scalar(cusparseHandle_t handle, const void* from, cudaDataType type) {
  char bytes[sizeof(double)] = {};
  const size_t size = type == CUDA_R_64F ? sizeof(double) : sizeof(float);
  if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE)
    cudaMemcpy(bytes, from, size, cudaMemcpyDeviceToHost);
  else
    std::memcpy(bytes, from, size);
  if (type == CUDA_R_64F) {
    double value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// work(HostCall*): the copies and the computation.
template <typename Work>
cusparseStatus_t run(cusparseHandle_t handle, const char* name, const Work& work) {
  const auto whole = [=] {
    HostCall call(name);
    work(&call);
    return call.end();
  };
  return simt::do_or_capture(handle->stream, whole) ? CUSPARSE_STATUS_EXECUTION_FAILED : CUSPARSE_STATUS_SUCCESS;
}

// As it is stored: by rows, of CSC by columns.
void sort(vector<Element>* all, cusparseFormat_t format) {
  std::stable_sort(all->begin(), all->end(), [=](const Element& one, const Element& other) {
    return format == CUSPARSE_FORMAT_CSC ? std::pair(one.column, one.row) < std::pair(other.column, other.row)
                                         : std::pair(one.row, one.column) < std::pair(other.row, other.column);
  });
}
vector<int64_t> lines_of(const vector<Element>& all, cusparseFormat_t format) {
  vector<int64_t> lines;
  for (const Element& one : all) lines.push_back(format == CUSPARSE_FORMAT_CSC ? one.column : one.row);
  return lines;
}
void put_offsets(HostCall* call, const cusparseSpMatDescr& a, const vector<Element>& sorted) {
  if (a.format != CUSPARSE_FORMAT_COO)
    put(call, a.offsets, a.offset_type,
        offsets_of(lines_of(sorted, a.format), a.format == CUSPARSE_FORMAT_CSC ? a.columns : a.rows,
                   a.base == CUSPARSE_INDEX_BASE_ONE));
}
void put_elements(HostCall* call, const cusparseSpMatDescr& a, const vector<Element>& sorted) {
  const int64_t base = a.base == CUSPARSE_INDEX_BASE_ONE;
  vector<int64_t> lines, others;
  vector<double> values;
  for (const Element& one : sorted) {
    lines.push_back(one.row + base);
    others.push_back((a.format == CUSPARSE_FORMAT_CSC ? one.row : one.column) + base);
    values.push_back(one.value);
  }
  if (a.format == CUSPARSE_FORMAT_COO) put(call, a.offsets, a.offset_type, lines);
  put(call, a.indices, a.index_type, others);
  put(call, a.values, a.type, values);
}

}  // namespace

struct cusparseSpGEMMDescr {
  vector<Element> product;  // sorted
};

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t, void*) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !x || !y) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(a->type) || !is_known(x->type) || !is_known(y->type) || !is_known(type))
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  const bool as_is = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (x->size != (as_is ? a->columns : a->rows) || y->size != (as_is ? a->rows : a->columns))
    return CUSPARSE_STATUS_INVALID_VALUE;
  const double of_product = scalar(handle, alpha, type), of_y = scalar(handle, beta, type);
  return run(handle, "cusparseSpMV", [=, a = *a, x = *x, y = *y](HostCall* call) {
    const vector<double> factor = get(call, x.values, x.type, x.size);
    vector<double> sums(size_t(y.size), 0);
    for (const Element& one : elements(call, a, op)) sums[size_t(one.row)] += one.value * factor[size_t(one.column)];
    for (double& sum : sums) sum *= of_product;
    if (of_y != 0) {
      const vector<double> before = get(call, y.values, y.type, y.size);
      for (size_t i = 0; i < sums.size(); i++) sums[i] += of_y * before[i];
    }
    put(call, y.values, y.type, sums);
  });
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t of_a, cusparseOperation_t of_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType type, cusparseSpMMAlg_t, void*) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !b || !c) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(a->type) || !is_known(b->type) || !is_known(c->type) || !is_known(type))
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  const bool a_as_is = of_a == CUSPARSE_OPERATION_NON_TRANSPOSE, b_as_is = of_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
  if ((a_as_is ? a->rows : a->columns) != c->rows || (b_as_is ? b->columns : b->rows) != c->columns ||
      (a_as_is ? a->columns : a->rows) != (b_as_is ? b->rows : b->columns))
    return CUSPARSE_STATUS_INVALID_VALUE;
  const double of_product = scalar(handle, alpha, type), of_c = scalar(handle, beta, type);
  return run(handle, "cusparseSpMM", [=, a = *a, b = *b, c = *c](HostCall* call) {
    Dense factor(call, b), result(call, c);
    for (int64_t row = 0; row < c.rows; row++) {
      for (int64_t column = 0; column < c.columns; column++) {
        double& value = result.at(row, column);
        value = of_c == 0 ? 0 : of_c * value;
      }
    }
    for (const Element& one : elements(call, a, of_a)) {
      for (int64_t column = 0; column < c.columns; column++)
        result.at(one.row, column) +=
            of_product * one.value * (b_as_is ? factor.at(one.column, column) : factor.at(column, one.column));
    }
    put(call, c.values, c.type, result.values);
  });
}

cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType type, cusparseSpSVAlg_t, cusparseSpSVDescr_t) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !x || !y || a->rows != a->columns || x->size != a->rows || y->size != a->rows)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(a->type) || !is_known(x->type) || !is_known(y->type) || !is_known(type))
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  const double factor = scalar(handle, alpha, type);
  return run(handle, "cusparseSpSV_solve", [=, a = *a, x = *x, y = *y](HostCall* call) {
    vector<double> unknown = get(call, x.values, x.type, x.size), diagonal(unknown.size(), 0);
    for (double& one : unknown) one *= factor;
    const bool stored_lower = a.fill == CUSPARSE_FILL_MODE_LOWER;
    const bool lower = stored_lower == (op == CUSPARSE_OPERATION_NON_TRANSPOSE);
    vector<vector<Element>> rows(unknown.size());
    for (const Element& one : elements(call, a, op)) {
      if (one.row == one.column)
        diagonal[size_t(one.row)] += one.value;
      else if (lower == (one.column < one.row))
        rows[size_t(one.row)].push_back(one);
    }
    for (size_t step = 0; step < rows.size(); step++) {
      const size_t row = lower ? step : rows.size() - 1 - step;
      for (const Element& one : rows[row]) unknown[row] -= one.value * unknown[size_t(one.column)];
      if (a.diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT) unknown[row] /= diagonal[row];
    }
    put(call, y.values, y.type, unknown);
  });
}

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* made) {
  *made = new cusparseSpGEMMDescr;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t of_a, cusparseOperation_t of_b,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void* beta, cusparseSpMatDescr_t c, cudaDataType type,
                                        cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor, size_t* bytes,
                                        void* buffer) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !b || !c || !descriptor || !bytes || a->columns != b->rows || c->rows != a->rows ||
      c->columns != b->columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  // As CUDA's: neither transposed nor added to what C holds.
  if (of_a != CUSPARSE_OPERATION_NON_TRANSPOSE || of_b != CUSPARSE_OPERATION_NON_TRANSPOSE || !is_known(a->type) ||
      !is_known(b->type) || !is_known(c->type) || !is_known(type) || scalar(handle, beta, type) != 0)
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  *bytes = 8;
  if (!buffer) return CUSPARSE_STATUS_SUCCESS;
  HostCall call("cusparseSpGEMM");
  vector<vector<Element>> rows(static_cast<size_t>(b->rows));
  for (const Element& one : elements(&call, *b)) rows[size_t(one.row)].push_back(one);
  std::map<std::pair<int64_t, int64_t>, double> sums;
  const double factor = scalar(handle, alpha, type);
  for (const Element& one : elements(&call, *a)) {
    for (const Element& other : rows[size_t(one.column)])
      sums[{one.row, other.column}] += factor * one.value * other.value;
  }
  descriptor->product.clear();
  for (const auto& [place, value] : sums) descriptor->product.push_back({place.first, place.second, value});
  c->count = static_cast<int64_t>(sums.size());
  return call.end() ? CUSPARSE_STATUS_EXECUTION_FAILED : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                     cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t, const void*,
                                     cusparseSpMatDescr_t c, cudaDataType, cusparseSpGEMMAlg_t,
                                     cusparseSpGEMMDescr_t descriptor) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return run(handle, "cusparseSpGEMM_copy", [c = *c, product = descriptor->product](HostCall* call) {
    put_offsets(call, c, product);
    put_elements(call, c, product);
  });
}

cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t, void*) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !b || a->rows != b->rows || a->columns != b->columns) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(a->type) || a->type != b->type) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return run(handle, "cusparseSparseToDense", [a = *a, b = *b](HostCall* call) {
    Dense dense(call, b);
    for (int64_t row = 0; row < b.rows; row++) {
      for (int64_t column = 0; column < b.columns; column++) dense.at(row, column) = 0;
    }
    for (const Element& one : elements(call, a)) dense.at(one.row, one.column) = one.value;
    put(call, b.values, b.type, dense.values);
  });
}

namespace {

vector<Element> other_than_zero(HostCall* call, const cusparseDnMatDescr& a, cusparseFormat_t format) {
  Dense dense(call, a);
  vector<Element> found;
  for (int64_t row = 0; row < a.rows; row++) {
    for (int64_t column = 0; column < a.columns; column++) {
      if (dense.at(row, column) != 0) found.push_back({row, column, dense.at(row, column)});
    }
  }
  sort(&found, format);
  return found;
}

}  // namespace

cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !b || a->rows != b->rows || a->columns != b->columns) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(a->type) || a->type != b->type) return CUSPARSE_STATUS_NOT_SUPPORTED;
  HostCall call("cusparseDenseToSparse_analysis");  // the host learns the count: it is done when the call returns
  const vector<Element> found = other_than_zero(&call, *a, b->format);
  b->count = static_cast<int64_t>(found.size());
  put_offsets(&call, *b, found);
  return call.end() ? CUSPARSE_STATUS_EXECUTION_FAILED : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return run(handle, "cusparseDenseToSparse_convert",
             [a = *a, b = *b](HostCall* call) { put_elements(call, b, other_than_zero(call, a, b.format)); });
}
