// `worker RUNG.so far VARIANT`: a matrix of more than 2^31 elements, where an index that is an int overflows, on a
// machine that has no room for one. The input is a tile of rows that is mapped again and again, with weights or targets
// behind it; of the result only what is written takes memory; and of each launch only the blocks at both ends of the
// grid run. On both sides of input and result lies more than 2^31 elements of nothing, so that an offset that has
// overflowed is an invalid address.
//
// Only what was written is looked at. Prints what is wrong, with status 1; status 2: nothing behind 2^31 was written.
// Included by worker.cpp alone, and for the executor only.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "memory.h"
#include "refusal.h"
#include "rung_calls.h"
#include "simt.h"

namespace rung {

namespace {

constexpr size_t far_cols = 608, far_tile_rows = 1024;  // a tile is whole pages, whatever the type

// Some 14,000 rows begin past the limit: more than a grid that strides over the rows has blocks.
struct FarShape {
  size_t limit, tiles;
  constexpr size_t rows() const { return tiles * far_tile_rows; }
};
constexpr FarShape far_shapes[] = {{size_t{1} << 31, 3464}, {size_t{1} << 32, 6912}};
static_assert(far_shapes[0].rows() * far_cols > far_shapes[0].limit + 8000 * far_cols);
static_assert(far_shapes[1].rows() * far_cols > far_shapes[1].limit + 8000 * far_cols);

[[noreturn]] void end_far(int status, const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(nullptr);
  _exit(status);
}

// A range of addresses with nothing around it, and nothing in it yet.
unsigned char* reserve_far(size_t bytes) {
  constexpr size_t around = (size_t{1} << 31) * sizeof(float);
  void* const all = mmap(nullptr, bytes + 2 * around, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) end_far(2, "no address space for such a matrix");
  return static_cast<unsigned char*>(all) + around;
}

class FarInput {
 public:
  FarInput(Dtype dtype, size_t tiles, const Plan& plan) : dtype_(dtype), values_(far_tile_rows * far_cols) {
    const size_t element = static_cast<size_t>(bytes_of(dtype)), tile = values_.size() * element;
    std::vector<unsigned char> encoded(tile);
    uint32_t random = 1;
    for (size_t i = 0; i < values_.size(); i++) {
      random = random * 1664525u + 1013904223u;
      const float value = static_cast<float>(random >> 8) / (1 << 21) - 4;
      values_[i] = encode(value, encoded.data() + i * element);
    }
    const int file = memfd_create("far", MFD_CLOEXEC);
    if (file < 0 || write(file, encoded.data(), tile) != static_cast<ssize_t>(tile)) end_far(2, "no memory file");
    begin_ = reserve_far(plan.bytes[0]);
    for (size_t i = 0; i < tiles; i++) {
      if (mmap(begin_ + i * tile, tile, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        end_far(2, "no address space for the input");
    }
    if (plan.bytes[0] > tile * tiles) map_behind(tile * tiles, plan);
  }

  void* begin() const { return begin_; }
  const float* row(size_t number) const { return &values_[number % far_tile_rows * far_cols]; }

  // Writes it; returns what is then there.
  float encode(float value, void* to) const {
    if (dtype_ == Dtype::f32) return std::memcpy(to, &value, sizeof value), value;
    if (dtype_ == Dtype::f16) {
      const __half narrow = __float2half(value);
      return std::memcpy(to, &narrow, sizeof narrow), __half2float(narrow);
    }
    const __nv_bfloat16 narrow = __float2bfloat16(value);
    return std::memcpy(to, &narrow, sizeof narrow), __bfloat162float(narrow);
  }
  float decode(const void* from) const {
    if (dtype_ == Dtype::f32) return *static_cast<const float*>(from);
    if (dtype_ == Dtype::f16) return __half2float(*static_cast<const __half*>(from));
    return __bfloat162float(*static_cast<const __nv_bfloat16*>(from));
  }

 private:
  // What lies behind the matrix: 1 in tensors of its type, so that a result shows what it was multiplied by; 0 in
  // others, which takes no memory.
  void map_behind(size_t matrix, const Plan& plan) {
    const size_t bytes = plan.bytes[0] - matrix;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(begin_ + matrix, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
      end_far(2, "no address space for what lies behind the matrix");
    const size_t element = static_cast<size_t>(bytes_of(dtype_));
    for (int i = 0; i < plan.count; i++) {
      const Tensor& tensor = plan.tensors[i];
      if (tensor.buffer != 0 || tensor.offset < matrix || tensor.element_bytes != element) continue;
      for (size_t at = 0; at < tensor.bytes(); at += element) encode(1, begin_ + tensor.offset + at);
    }
    mprotect(begin_ + matrix, bytes, PROT_READ);
  }

  Dtype dtype_;
  std::vector<float> values_;
  unsigned char* begin_ = nullptr;
};

class FarOutput {
 public:
  FarOutput(size_t count, size_t element) : count_(count), element_(element), begin_(reserve_far(count * element)) {
    mmap(begin_, count * element, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
  }
  void* begin() const { return begin_; }

  // Calls visit(number, address) for every element in a page that was touched and that is not 0.
  template <typename Visit>
  void for_each_written(Visit visit) const {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> touched((count_ * element_ + page - 1) / page);
    if (mincore(begin_, count_ * element_, touched.data()) != 0) end_far(2, "the system does not say what was written");
    for (size_t p = 0; p < touched.size(); p++) {
      if (!(touched[p] & 1)) continue;
      for (size_t i = p * page / element_; i < std::min(count_, (p + 1) * page / element_); i++) {
        const unsigned char* const at = begin_ + i * element_;
        if (std::any_of(at, at + element_, [](unsigned char byte) { return byte != 0; })) visit(i, at);
      }
    }
  }

 private:
  size_t count_, element_;
  unsigned char* begin_;
};

// Half the distance of two f16 numbers near 0 is more than some results.
bool far_equal(double value, double expected, double absolute, bool f16) {
  return std::abs(value - expected) <= 0.02 * std::abs(expected) + absolute + (f16 ? 3.1e-8 : 0);
}

// How many elements past the limit were written. tensor: of a plan, in the memory that `output` has.
size_t judge_far(const FarShape& shape, const FarRows& far, const Sizes& sizes, Dtype dtype, const FarInput& input,
                 const FarOutput& output, const Tensor& tensor) {
  const size_t per_row = tensor.cols;
  const bool is_float = tensor.element_bytes == sizeof(float), f16 = !is_float && dtype == Dtype::f16;
  size_t beyond = 0, last_row = ~size_t{0};
  std::vector<double> expected(per_row);
  output.for_each_written([&](size_t i, const unsigned char* at) {
    const size_t row = i / per_row, col = i % per_row;
    if (row != last_row) far.expected(input.row(row), sizes, expected.data()), last_row = row;
    const double value = is_float ? *reinterpret_cast<const float*>(at) : input.decode(at);
    if (!far_equal(value, expected[col], far.absolute, f16)) {
      char text[200];
      std::snprintf(text, sizeof text, "row %zu, column %zu of %s[%zu x %zu]: expected %.6g, got %.6g", row, col,
                    tensor.name, shape.rows(), per_row, expected[col], value);
      end_far(1, text);
    }
    beyond += row * far_cols >= shape.limit;
  });
  return beyond;
}

[[noreturn]] void run_far(const char* path, int number, int bits) {
  const FarShape& shape = far_shapes[bits == 32];
  std::string problem;
  const Tables tables = load_tables(path, &problem);
  if (!problem.empty()) end_far(2, problem);
  if (number < 0 || number >= tables.count) end_far(2, "there is no such variant");
  const Variant& variant = tables.table[number];
  const Arguments& known = arguments_of(variant.op);
  if (!known.far) end_far(2, std::string("rows of ") + known.name + " cannot be tested by themselves");
  Request request{};
  request.sizes = {static_cast<int32_t>(shape.rows()), static_cast<int32_t>(far_cols), {}};
  std::copy(std::begin(known.far->more), std::end(known.far->more), request.sizes.more);
  Plan plan;
  if (!known.plan(request.sizes, variant.dtype, &plan)) end_far(2, "the operator knows no such shape");
  const FarInput input(variant.dtype, shape.tiles, plan);
  void* argument[buffer_count] = {input.begin()};
  std::unique_ptr<FarOutput> outputs[buffer_count];
  for (int i = 1; i < workspace_buffer; i++) {
    const Tensor* const tensor = plan.first_of(i);
    if (!tensor) continue;
    outputs[i] = std::make_unique<FarOutput>(tensor->rows * tensor->cols, tensor->element_bytes);
    argument[i] = outputs[i]->begin();
  }
  simt::run_ends_of_grids();
  simt::forget_refusal();
  simt::test_for_host_memory([](uintptr_t) { return false; });  // what lies around the matrix is nobody's
  cudaError_t error = call(variant, argument, request, nullptr);
  if (error == cudaSuccess) error = cudaGetLastError();
  if (error != cudaSuccess)
    end_far(1, std::string("returned ") + cudaGetErrorName(error) + " for " + std::to_string(shape.rows()) + " x " +
                   std::to_string(far_cols) + ": " + simt::last_refusal().text);
  size_t written = 0;  // of the output that comes first
  for (const FarRows* far = known.far; far; far = far->also) {
    const Tensor* const tensor = plan.first_of(far->buffer);
    if (!tensor) end_far(2, "the operator has no such output");
    const size_t beyond = judge_far(shape, *far, request.sizes, variant.dtype, input, *outputs[far->buffer], *tensor);
    if (far == known.far) written = beyond;
  }
  if (written == 0) end_far(2, "no row that begins past the limit was written by the blocks at the ends of the grid");
  end_far(0, "right: " + std::to_string(written) + " elements past the limit");
}

}  // namespace

}  // namespace rung
