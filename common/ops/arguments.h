// What both processes that run a rung know about an operator: how a problem is described, where its tensors lie in the
// worker's buffers, and how a variant is called with them. Each operator's folder has an arguments.h, and operators.h
// lists them. Reference, cases and comparison are the judge's alone (operator.h).
//
// Plain C++, except for the last part of an operator's header, which needs CUDA's or the executor's headers.
#pragma once

#include <cstddef>
#include <cstdint>

#if __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>
#define LADDER_HAS_CUDA 1
#endif

namespace rung {

enum class Dtype : int { f32, f16, bf16 };

constexpr int bytes_of(Dtype dtype) { return dtype == Dtype::f32 ? 4 : 2; }

constexpr const char* name_of(Dtype dtype) {
  return dtype == Dtype::f32 ? "f32" : dtype == Dtype::f16 ? "f16" : "bf16";
}

// The sizes of an operator's problem. The first two mean the same for all operators: the number of rows and the width
// of a row; "per row" refers to them. The others are the operator's own.
struct Sizes {
  int32_t rows = 0, cols = 0;
  int32_t more[6] = {};
};
inline bool operator==(const Sizes& a, const Sizes& b) {
  for (int i = 0; i < 6; i++) {
    if (a.more[i] != b.more[i]) return false;
  }
  return a.rows == b.rows && a.cols == b.cols;
}

// The eps of a norm: 2e-5 to 0.7e-5. It differs from width to width: a kernel must take the one that it is given.
constexpr float eps_of(const Sizes& sizes) { return 2e-5f / (1.0f + static_cast<float>(sizes.cols % 3)); }

// The next offset at which a tensor may begin: a multiple of 256 bytes, the alignment of cudaMalloc.
constexpr size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

// The offset, in bytes, of the first tensor behind a matrix of all rows and columns in the same buffer.
constexpr size_t behind_matrix(const Sizes& sizes, Dtype dtype) {
  return aligned(static_cast<size_t>(sizes.rows) * static_cast<size_t>(sizes.cols) *
                 static_cast<size_t>(bytes_of(dtype)));
}

constexpr int buffer_count = 4;  // input, first output, second output, workspace
constexpr int workspace_buffer = 3;

// A row-major tensor in one of the buffers.
struct Tensor {
  const char* name = nullptr;
  int buffer = 0;
  size_t rows = 0, cols = 0, element_bytes = 0;
  size_t offset = 0;
  size_t bytes() const { return rows * cols * element_bytes; }
};

// The position of every tensor in the buffers.
struct Plan {
  static constexpr int most = 24;
  Tensor tensors[most];
  int count = 0;
  size_t bytes[buffer_count] = {};
  // Of the input: a part whose requested bytes are counted by themselves (simt/counters/counters.h, watch); 0 bytes:
  // none.
  size_t watched_offset = 0, watched_bytes = 0;

  // Adds a tensor, and extends its buffer to the tensor's end. Ignores tensors beyond `most`.
  void add(const Tensor& tensor) {
    if (count == most) return;
    tensors[count++] = tensor;
    const size_t end = tensor.offset + tensor.bytes();
    if (bytes[tensor.buffer] < end) bytes[tensor.buffer] = end;
  }
  // The first tensor of a buffer; null if it has none.
  const Tensor* first_of(int buffer) const {
    for (int i = 0; i < count; i++) {
      if (tensors[i].buffer == buffer) return &tensors[i];
    }
    return nullptr;
  }
};

// For an operator whose rows are independent: single rows of a matrix too large for the judge's memory can be verified
// (rung/far_rows.h).
struct FarRows {
  int32_t more[6];  // of the sizes
  int buffer;       // the output that is compared
  double absolute;  // the permitted error of a number near 0
  // Computes the row's part of that output from the row's numbers. Tensors behind the matrix hold 1 if they have its
  // type, else 0.
  void (*expected)(const float* row, const Sizes& sizes, double* to);
  const FarRows* also = nullptr;  // a second output, whose numbers depend on the number of rows
};

struct Arguments {
  const char* name;                   // as its folder
  bool has_k;                         // the first of `more` is k: how many results are chosen from a row
  const char* buffers[buffer_count];  // in words, for messages: "the indices"; null: a variant gets no such buffer
  // Fills *plan. Returns false if the sizes are not valid for this operator.
  bool (*plan)(const Sizes& sizes, Dtype dtype, Plan* plan);
  // For commands that know only rows, columns and `k`, which most operators ignore: all sizes of a problem.
  Sizes (*sizes_of)(int rows, int cols, int k);
  // Whether a call makes many launches, whose cost on the host is part of its time.
  bool many_launches;
  const FarRows* far;  // null: its rows depend on each other
};

}  // namespace rung
