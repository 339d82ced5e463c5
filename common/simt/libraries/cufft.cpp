// What there is of cuFFT: transforms that the host computes, in double precision, for any size.
#include <cufft.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "../counters/counters.h"
#include "../device.h"

namespace {

using Complex = std::complex<double>;

// Where the elements of one side lie: counted in elements, real or complex.
struct Layout {
  bool given = false;  // false: densely
  size_t embed[3] = {1, 1, 1}, stride = 1, distance = 0;
  size_t at(size_t batch, const size_t (&i)[3]) const {
    return batch * distance + ((i[0] * embed[1] + i[1]) * embed[2] + i[2]) * stride;
  }
};

struct Plan {
  bool is_made = false;
  int rank = 0;
  size_t n[3] = {1, 1, 1}, batch = 1;  // one-dimensional transforms have n[2] only
  cufftType type = CUFFT_C2C;
  Layout in, out;
  cudaStream_t stream = nullptr;

  bool from_real() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool to_real() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
  size_t half() const { return n[2] / 2 + 1; }  // columns of complex numbers where the others are real
};

std::mutex mutex;
std::map<cufftHandle, Plan>& plans() {
  static auto* const map = new std::map<cufftHandle, Plan>;
  return *map;
}

// Cooley and Tukey by the smallest prime factor of n. roots: of all `size` numbers, of which each `step`th is one of n.
void transform(const Complex* in, size_t stride, Complex* out, size_t n, const std::vector<Complex>& roots,
               size_t step) {
  if (n == 1) {
    *out = *in;
    return;
  }
  size_t factor = 2;
  while (n % factor && factor * factor <= n) factor++;
  if (n % factor) factor = n;
  const size_t part = n / factor, size = roots.size();
  for (size_t r = 0; r < factor; r++)
    transform(in + r * stride, stride * factor, out + r * part, part, roots, step * factor);
  std::vector<Complex> terms(factor);
  for (size_t k = 0; k < part; k++) {
    for (size_t r = 0; r < factor; r++) terms[r] = out[r * part + k] * roots[r * k * step % size];
    for (size_t q = 0; q < factor; q++) {
      Complex sum = terms[0];
      for (size_t r = 1; r < factor; r++) sum += terms[r] * roots[r * q % factor * (part * step) % size];
      out[q * part + k] = sum;
    }
  }
}

// All lines along one dimension.
void transform_lines(std::vector<Complex>* data, const size_t (&n)[3], int dimension, int direction) {
  const size_t size = n[dimension];
  if (size == 1) return;
  std::vector<Complex> roots(size), line(size);
  for (size_t i = 0; i < size; i++)
    roots[i] = std::polar(1.0, direction * 2 * M_PI * static_cast<double>(i) / static_cast<double>(size));
  size_t between = 1;
  for (int d = dimension + 1; d < 3; d++) between *= n[d];
  for (size_t first = 0; first < data->size(); first++) {
    if (first / between % size) continue;
    transform(&(*data)[first], between, line.data(), size, roots, 1);
    for (size_t i = 0; i < size; i++) (*data)[first + i * between] = line[i];
  }
}

// Calls with each element's number in the dense array of `columns` columns, and where it lies.
template <typename Each>
void for_each(const Plan& plan, const Layout& layout, size_t batch, size_t columns, const Each& each) {
  size_t i[3], number = 0;
  for (i[0] = 0; i[0] < plan.n[0]; i[0]++) {
    for (i[1] = 0; i[1] < plan.n[1]; i[1]++) {
      for (i[2] = 0; i[2] < columns; i[2]++) each(number++, layout.at(batch, i));
    }
  }
}

Complex load(const char* data, size_t at, bool real, bool in_double) {
  const size_t each = real ? 1 : 2;
  double parts[2] = {};
  for (size_t i = 0; i < each; i++) {
    if (in_double) {
      std::memcpy(&parts[i], data + (at * each + i) * sizeof(double), sizeof(double));
    } else {
      float part;
      std::memcpy(&part, data + (at * each + i) * sizeof(float), sizeof part);
      parts[i] = part;
    }
  }
  return {parts[0], parts[1]};
}
void store(char* data, size_t at, bool real, bool in_double, Complex value) {
  const size_t each = real ? 1 : 2;
  const double parts[2] = {value.real(), value.imag()};
  for (size_t i = 0; i < each; i++) {
    const float part = static_cast<float>(parts[i]);
    if (in_double)
      std::memcpy(data + (at * each + i) * sizeof(double), &parts[i], sizeof(double));
    else
      std::memcpy(data + (at * each + i) * sizeof(float), &part, sizeof part);
  }
}

// One of the plan's transforms: `values` are the columns of its input, then those of its output.
void compute(const Plan& plan, std::vector<Complex>* values, int direction) {
  const size_t rows = plan.n[0] * plan.n[1], columns = plan.n[2], half = plan.half();
  if (plan.to_real()) {
    // The other half of a spectrum of real numbers: conjugated, at the negative indices.
    std::vector<Complex> whole(rows * columns);
    for (size_t row = 0; row < rows; row++) {
      const size_t i = row / plan.n[1], j = row % plan.n[1];
      const size_t opposite = (plan.n[0] - i) % plan.n[0] * plan.n[1] + (plan.n[1] - j) % plan.n[1];
      for (size_t k = 0; k < columns; k++)
        whole[row * columns + k] =
            k < half ? (*values)[row * half + k] : std::conj((*values)[opposite * half + columns - k]);
    }
    *values = whole;
  }
  for (int dimension = 0; dimension < 3; dimension++) transform_lines(values, plan.n, dimension, direction);
  if (plan.from_real()) {
    for (size_t row = 0; row < rows; row++) {
      for (size_t k = 0; k < half; k++) (*values)[row * half + k] = (*values)[row * columns + k];
    }
    values->resize(rows * half);
  }
}

// A dense layout, in which the rows of a real side are longer in place.
Layout densely(const Plan& plan, bool real, bool other_is_real, bool in_place) {
  Layout layout;
  layout.embed[0] = plan.n[0];
  layout.embed[1] = plan.n[1];
  layout.embed[2] = other_is_real ? plan.half() : real && in_place ? 2 * plan.half() : plan.n[2];
  layout.distance = layout.embed[0] * layout.embed[1] * layout.embed[2];
  return layout;
}

cudaError_t run(const Plan& plan, const void* in, void* out, int direction, const char* name) {
  const bool in_place = in == out;
  const Layout from = plan.in.given ? plan.in : densely(plan, plan.from_real(), plan.to_real(), in_place);
  const Layout to = plan.out.given ? plan.out : densely(plan, plan.to_real(), plan.from_real(), in_place);
  const size_t columns_in = plan.to_real() ? plan.half() : plan.n[2];
  const size_t columns_out = plan.from_real() ? plan.half() : plan.n[2];
  const size_t number = plan.is_double() ? sizeof(double) : sizeof(float);
  const size_t bytes_in = number * (plan.from_real() ? 1 : 2), bytes_out = number * (plan.to_real() ? 1 : 2);
  const auto extent = [&](const Layout& layout, size_t columns) {
    return layout.at(plan.batch - 1, {plan.n[0] - 1, plan.n[1] - 1, columns - 1}) + 1;
  };
  std::vector<char> source(extent(from, columns_in) * bytes_in), target(extent(to, columns_out) * bytes_out);
  if (const cudaError_t error = cudaMemcpy(source.data(), in, source.size(), cudaMemcpyDeviceToHost)) return error;
  const size_t rows = plan.n[0] * plan.n[1];
  // What lies between the results stays as it is.
  if (target.size() != plan.batch * rows * columns_out * bytes_out) {
    if (const cudaError_t error = cudaMemcpy(target.data(), out, target.size(), cudaMemcpyDeviceToHost)) return error;
  }
  for (size_t batch = 0; batch < plan.batch; batch++) {
    std::vector<Complex> values(rows * columns_in);
    for_each(plan, from, batch, columns_in,
             [&](size_t i, size_t at) { values[i] = load(source.data(), at, plan.from_real(), plan.is_double()); });
    compute(plan, &values, direction);
    for_each(plan, to, batch, columns_out,
             [&](size_t i, size_t at) { store(target.data(), at, plan.to_real(), plan.is_double(), values[i]); });
  }
  simt::counters::LibraryCall call;
  call.name = name;
  call.bytes_read = plan.batch * rows * columns_in * bytes_in;
  call.bytes_written = plan.batch * rows * columns_out * bytes_out;
  if (simt::counters::is_watched(in)) call.watched_bytes_read += call.bytes_read;
  simt::counters::note_library_call(call);
  return cudaMemcpy(out, target.data(), target.size(), cudaMemcpyHostToDevice);
}

cufftResult execute(cufftHandle handle, cufftType type, const void* in, void* out, int direction, const char* name) {
  Plan plan;
  {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = plans().find(handle);
    if (found == plans().end() || !found->second.is_made) return CUFFT_INVALID_PLAN;
    plan = found->second;
  }
  if (plan.type != type) return CUFFT_INVALID_TYPE;
  if (!in || !out || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)) return CUFFT_INVALID_VALUE;
  const auto work = [=] { return run(plan, in, out, direction, name); };
  return simt::do_or_capture(plan.stream, work) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

// Number is int or long long.
template <typename Number>
cufftResult make(cufftHandle handle, int rank, const Number* n, const Number* in_embed, Number in_stride,
                 Number in_distance, const Number* out_embed, Number out_stride, Number out_distance, cufftType type,
                 Number batch, size_t* work_bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = plans().find(handle);
  if (found == plans().end() || found->second.is_made) return CUFFT_INVALID_PLAN;
  if (rank < 1 || rank > 3 || !n) return CUFFT_INVALID_VALUE;
  if (type != CUFFT_C2C && type != CUFFT_R2C && type != CUFFT_C2R && type != CUFFT_Z2Z && type != CUFFT_D2Z &&
      type != CUFFT_Z2D)
    return CUFFT_INVALID_TYPE;
  Plan made = found->second;
  made.rank = rank;
  made.type = type;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  made.batch = static_cast<size_t>(batch);
  for (int i = 0; i < rank; i++) {
    if (n[i] < 1) return CUFFT_INVALID_SIZE;
    made.n[3 - rank + i] = static_cast<size_t>(n[i]);
  }
  const auto lay_out = [&](Layout* layout, const Number* embed, Number stride, Number distance) {
    layout->given = true;
    layout->stride = static_cast<size_t>(stride);
    layout->distance = static_cast<size_t>(distance);
    for (int i = 0; i < rank; i++) layout->embed[3 - rank + i] = static_cast<size_t>(embed[i]);
  };
  // One alone is ignored, as the documentation says.
  if (in_embed && out_embed) {
    if (in_stride < 1 || out_stride < 1 || in_distance < 0 || out_distance < 0) return CUFFT_INVALID_VALUE;
    lay_out(&made.in, in_embed, in_stride, in_distance);
    lay_out(&made.out, out_embed, out_stride, out_distance);
  }
  made.is_made = true;
  found->second = made;
  if (work_bytes) *work_bytes = 0;
  return CUFFT_SUCCESS;
}
cufftResult make(cufftHandle plan, int rank, const int* n, cufftType type, int batch, size_t* work_bytes) {
  return make<int>(plan, rank, n, nullptr, 1, 0, nullptr, 1, 0, type, batch, work_bytes);
}

template <typename Make>
cufftResult create(cufftHandle* plan, const Make& made) {
  if (const cufftResult error = cufftCreate(plan)) return error;
  const cufftResult error = made(*plan);
  if (error) cufftDestroy(*plan);
  return error;
}

template <typename Change>
cufftResult change(cufftHandle plan, const Change& what) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = plans().find(plan);
  if (found == plans().end()) return CUFFT_INVALID_PLAN;
  what(&found->second);
  return CUFFT_SUCCESS;
}

}  // namespace

cufftResult cufftCreate(cufftHandle* plan) {
  if (!plan) return CUFFT_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(mutex);
  *plan = plans().empty() ? 1 : plans().rbegin()->first + 1;
  plans()[*plan] = Plan();
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) {
  std::lock_guard<std::mutex> lock(mutex);
  return plans().erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftMakePlan1d(cufftHandle plan, int n, cufftType type, int batch, size_t* work_bytes) {
  return make(plan, 1, &n, type, batch, work_bytes);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int rows, int columns, cufftType type, size_t* work_bytes) {
  const int n[] = {rows, columns};
  return make(plan, 2, n, type, 1, work_bytes);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int slices, int rows, int columns, cufftType type, size_t* work_bytes) {
  const int n[] = {slices, rows, columns};
  return make(plan, 3, n, type, 1, work_bytes);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                              int* out_embed, int out_stride, int out_distance, cufftType type, int batch,
                              size_t* work_bytes) {
  return make(plan, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type, batch,
              work_bytes);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* in_embed, long long in_stride,
                                long long in_distance, long long* out_embed, long long out_stride,
                                long long out_distance, cufftType type, long long batch, size_t* work_bytes) {
  return make(plan, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type, batch,
              work_bytes);
}
cufftResult cufftPlan1d(cufftHandle* plan, int n, cufftType type, int batch) {
  return create(plan, [=](cufftHandle made) { return cufftMakePlan1d(made, n, type, batch, nullptr); });
}
cufftResult cufftPlan2d(cufftHandle* plan, int rows, int columns, cufftType type) {
  return create(plan, [=](cufftHandle made) { return cufftMakePlan2d(made, rows, columns, type, nullptr); });
}
cufftResult cufftPlan3d(cufftHandle* plan, int slices, int rows, int columns, cufftType type) {
  return create(plan, [=](cufftHandle made) { return cufftMakePlan3d(made, slices, rows, columns, type, nullptr); });
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                          int* out_embed, int out_stride, int out_distance, cufftType type, int batch) {
  return create(plan, [=](cufftHandle made) {
    return cufftMakePlanMany(made, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type,
                             batch, nullptr);
  });
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return change(plan, [=](Plan* changed) { changed->stream = stream; });
}
cufftResult cufftGetSize(cufftHandle plan, size_t* work_bytes) {
  return change(plan, [=](Plan*) { *work_bytes = 0; });
}
cufftResult cufftSetWorkArea(cufftHandle plan, void*) {
  return change(plan, [](Plan*) {});
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int) {
  return change(plan, [](Plan*) {});
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute(plan, CUFFT_C2C, in, out, direction, __func__);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute(plan, CUFFT_R2C, in, out, CUFFT_FORWARD, __func__);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute(plan, CUFFT_C2R, in, out, CUFFT_INVERSE, __func__);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return execute(plan, CUFFT_Z2Z, in, out, direction, __func__);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD, __func__);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE, __func__);
}
