// Of cuSPARSE's older interface: conversions, the number of elements, and systems with three diagonals.
#include <cusparse.h>

#include <algorithm>
#include <cmath>

#include "../device.h"
#include "host_call.h"

namespace {

using simt::HostCall;
using std::vector;

template <typename Work>
cusparseStatus_t run(cusparseHandle_t handle, const char* name, const Work& work) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto whole = [=] {
    HostCall call(name);
    work(&call);
    return call.end();
  };
  return simt::do_or_capture(handle->stream, whole) ? CUSPARSE_STATUS_EXECUTION_FAILED : CUSPARSE_STATUS_SUCCESS;
}

// The line of each element, from the offsets of `lines` lines; both count from `base`.
vector<int> expanded(const vector<int>& offsets, int base, int count) {
  vector<int> line_of(static_cast<size_t>(count), base);
  for (size_t line = 0; line + 1 < offsets.size(); line++) {
    for (int i = std::max(offsets[line] - base, 0); i < std::min(offsets[line + 1] - base, count); i++)
      line_of[size_t(i)] = static_cast<int>(line) + base;
  }
  return line_of;
}
vector<int> compressed(const vector<int>& line_of, int base, int lines) {
  vector<int> offsets(static_cast<size_t>(lines) + 1, 0);
  for (const int line : line_of) {
    if (line >= base && line < lines + base) offsets[size_t(line - base) + 1]++;
  }
  for (size_t i = 1; i < offsets.size(); i++) offsets[i] += offsets[i - 1];
  for (int& one : offsets) one += base;
  return offsets;
}

vector<double> get(HostCall* call, const void* data, cudaDataType type, size_t count) {
  return type == CUDA_R_64F ? call->get<double, double>(data, count) : call->get<float, double>(data, count);
}
void put(HostCall* call, void* data, cudaDataType type, const vector<double>& values) {
  if (type == CUDA_R_64F)
    call->put<double>(data, values);
  else
    call->put<float>(data, values);
}

// With the larger of two rows first, as LAPACK's gtsv. lower's first element and upper's last are not used.
void solve(vector<double> lower, vector<double> diagonal, vector<double> upper, double* x) {
  const size_t n = diagonal.size();
  vector<double> beyond(n, 0);  // what a swap brings into the second diagonal above
  for (size_t i = 0; i + 1 < n; i++) {
    if (std::fabs(lower[i + 1]) > std::fabs(diagonal[i])) {
      std::swap(diagonal[i], lower[i + 1]);
      std::swap(upper[i], diagonal[i + 1]);
      if (i + 2 < n) std::swap(beyond[i], upper[i + 1]);
      std::swap(x[i], x[i + 1]);
    }
    const double factor = lower[i + 1] / diagonal[i];
    diagonal[i + 1] -= factor * upper[i];
    if (i + 2 < n) upper[i + 1] -= factor * beyond[i];
    x[i + 1] -= factor * x[i];
  }
  for (size_t step = 0; step < n; step++) {
    const size_t i = n - 1 - step;
    if (i + 1 < n) x[i] -= upper[i] * x[i + 1];
    if (i + 2 < n) x[i] -= beyond[i] * x[i + 2];
    x[i] /= diagonal[i];
  }
}

}  // namespace

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int count, int rows, int* row_of,
                                  cusparseIndexBase_t base) {
  return run(handle, "cusparseXcsr2coo", [=](HostCall* call) {
    call->put<int>(row_of, expanded(call->get<int, int>(offsets, size_t(rows) + 1), base, count));
  });
}
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* row_of, int count, int rows, int* offsets,
                                  cusparseIndexBase_t base) {
  return run(handle, "cusparseXcoo2csr", [=](HostCall* call) {
    call->put<int>(offsets, compressed(call->get<int, int>(row_of, size_t(count)), base, rows));
  });
}

cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int columns, int count, const void* values,
                                    const int* offsets, const int* column_of, void* turned, int* turned_offsets,
                                    int* row_of, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t base,
                                    cusparseCsr2CscAlg_t, void*) {
  if (type != CUDA_R_32F && type != CUDA_R_64F) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return run(handle, "cusparseCsr2cscEx2", [=](HostCall* call) {
    const vector<int> of_rows = expanded(call->get<int, int>(offsets, size_t(rows) + 1), base, count);
    const vector<int> of_columns = call->get<int, int>(column_of, size_t(count));
    vector<size_t> order(static_cast<size_t>(count));
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t one, size_t other) { return of_columns[one] < of_columns[other]; });
    vector<int> sorted;
    for (const size_t from : order) sorted.push_back(of_rows[from]);
    call->put<int>(turned_offsets, compressed(of_columns, base, columns));
    call->put<int>(row_of, sorted);
    if (action != CUSPARSE_ACTION_NUMERIC) return;
    const vector<double> given = get(call, values, type, size_t(count));
    vector<double> moved;
    for (const size_t from : order) moved.push_back(given[from]);
    put(call, turned, type, moved);
  });
}

namespace simt::sparse {

cusparseStatus_t nnz(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int columns, cudaDataType type,
                     const void* a, int lda, int* each, int* total) {
  if (rows < 0 || columns < 0 || lda < rows) return CUSPARSE_STATUS_INVALID_VALUE;
  return run(handle, "cusparse nnz", [=](HostCall* call) {
    const bool by_row = direction == CUSPARSE_DIRECTION_ROW;
    const vector<double> all = get(call, a, type, columns ? size_t(columns - 1) * size_t(lda) + size_t(rows) : 0);
    vector<int> counts(static_cast<size_t>(by_row ? rows : columns), 0);
    int sum = 0;
    for (int column = 0; column < columns; column++) {
      for (int row = 0; row < rows; row++) {
        const bool counted = all[size_t(column) * size_t(lda) + size_t(row)] != 0;
        counts[size_t(by_row ? row : column)] += counted;
        sum += counted;
      }
    }
    call->put<int>(each, counts);
    call->copy(total, &sum, sizeof sum, cudaMemcpyDefault);
  });
}

cusparseStatus_t gtsv(cusparseHandle_t handle, const char* name, int n, cudaDataType type, const void* lower,
                      const void* diagonal, const void* upper, void* x, int systems, int apart, bool shared_diagonals) {
  if (n < 3 || systems < 0 || apart < n) return CUSPARSE_STATUS_INVALID_VALUE;
  return run(handle, name, [=](HostCall* call) {
    const auto reach = [&](int count) { return count ? size_t(count - 1) * size_t(apart) + size_t(n) : 0; };
    const int sets = shared_diagonals ? 1 : systems;
    const vector<double> below = get(call, lower, type, reach(sets)), middle = get(call, diagonal, type, reach(sets)),
                         above = get(call, upper, type, reach(sets));
    vector<double> unknown = get(call, x, type, reach(systems));
    for (int i = 0; i < systems; i++) {
      const auto part = [&](const vector<double>& from) {
        const auto begin = from.begin() + (shared_diagonals ? 0 : ptrdiff_t(i) * apart);
        return vector<double>(begin, begin + n);
      };
      solve(part(below), part(middle), part(above), unknown.data() + size_t(i) * size_t(apart));
    }
    put(call, x, type, unknown);
  });
}

}  // namespace simt::sparse

const char* cusparseGetErrorName(cusparseStatus_t status) {
  switch (status) {
#define SIMT_STATUS(name) \
  case name: return #name;
    SIMT_STATUS(CUSPARSE_STATUS_SUCCESS)
    SIMT_STATUS(CUSPARSE_STATUS_NOT_INITIALIZED)
    SIMT_STATUS(CUSPARSE_STATUS_ALLOC_FAILED)
    SIMT_STATUS(CUSPARSE_STATUS_INVALID_VALUE)
    SIMT_STATUS(CUSPARSE_STATUS_ARCH_MISMATCH)
    SIMT_STATUS(CUSPARSE_STATUS_MAPPING_ERROR)
    SIMT_STATUS(CUSPARSE_STATUS_EXECUTION_FAILED)
    SIMT_STATUS(CUSPARSE_STATUS_INTERNAL_ERROR)
    SIMT_STATUS(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED)
    SIMT_STATUS(CUSPARSE_STATUS_ZERO_PIVOT)
    SIMT_STATUS(CUSPARSE_STATUS_NOT_SUPPORTED)
    SIMT_STATUS(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
#undef SIMT_STATUS
  }
  return "an unknown status";
}
const char* cusparseGetErrorString(cusparseStatus_t status) { return cusparseGetErrorName(status); }
