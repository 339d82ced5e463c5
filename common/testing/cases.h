// The shared test cases: which shapes and values every variant of every lab is tried with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client.h"

namespace testing_ {

enum class Values {
  normal,     // standard deviation 3
  uniform,    // -5 to 5
  constant,   // every entry 1.5
  one_above,  // every entry 0, one 5: a long plain sum in single precision drifts
  ascending,  // -10 to 10: in an online softmax every entry is a new maximum
  descending,
  signed_zeros,  // -0.0 and 0.0, which are equal, and a few -1
  one_huge,      // normal, one entry of 5000 in each row
  extreme,       // uniform, -1e4 to 1e4
  plus_1e4,      // normal + 1e4
  minus_1e4,     // normal - 1e4
  masked,        // normal, every other entry or so -inf
  masked_tail,   // normal, the last third of each row -inf
  masked_head,   // normal, the first two thirds of each row -inf
  masked_rows,   // normal, every third row all -inf
  masked_all,    // every entry -inf
  inf,           // normal, +inf once in the middle row
  nan,           // normal, NaN once in the middle row
  nan_first,     // normal, NaN in the first column of the middle row
  nan_last,      // normal, NaN in the last column of the middle row
};

struct Shape {
  int rows, cols, k = 0;          // k only for softmax_topk
  rung::SwapFfnSizes sizes = {};  // only for swap_ffn: shape_of (swap_ffn_cases.h)
};

struct Move;

struct Case {
  std::string name;   // "normal-64x1024", "normal-7x600-k5", "cols-zero": stable, for CASE=name
  std::string group;  // "widths", "rows", "values", "masks", "nan", "k", "contract", "move", "predict"
  Values values = Values::normal;
  int rows = 0, cols = 0, k = 0;  // what the variant is called with
  // Contract cases only: what the buffers are sized for, and the null pointer that is passed.
  bool must_refuse = false;  // expects cudaErrorInvalidValue, nothing written
  int buffer_rows = 0, buffer_cols = 0, buffer_k = 0;
  rung::Job::Null null_argument = rung::Job::Null::none;
  // Lab 07's operator: the sizes of its data, and what it is called with, which in contract cases may be nonsense.
  rung::SwapFfnSizes sizes = {}, called_with = {};
  const Move* move = nullptr;  // only of the group "move": not whether the result is right, but how it came about

  size_t input_size() const { return static_cast<size_t>(buffer_rows) * static_cast<size_t>(buffer_cols); }
  size_t output_size(rung::Op op) const {
    return static_cast<size_t>(buffer_rows) * static_cast<size_t>(op == rung::Op::softmax ? buffer_cols : buffer_k);
  }
  // Elements that a linear variant works on; times cols for a variant whose every thread reads the whole row. A hundred
  // multiplications cost as much as an element.
  double cost(bool quadratic) const {
    if (sizes.cores) {
      const double ffn = 3.0 * sizes.ffn_steps * sizes.d_ff + sizes.d_router;
      return 0.01 * sizes.d_model * (sizes.cores * (sizes.events * ffn + 10.0) + sizes.collapse_k * sizes.collapse_r);
    }
    const double elements = static_cast<double>(input_size());
    return quadratic ? elements * buffer_cols : elements;
  }
};

// All cases of an operation, from the smallest up within each group.
std::vector<Case> all_cases(rung::Op op);

// What a variant of this type is called with on a case: logits, or the inputs of lab 07's operator. The same for the
// same name and seed.
std::vector<unsigned char> input_of(const Case& c, rung::Dtype dtype, uint64_t seed);

// The logits of a case, row-major, before they are rounded to the element type. The same for the same name and seed.
std::vector<float> logits(const Case& c, uint64_t seed);

// Names most like `name`, best first, at most three.
std::vector<std::string> similar_names(const std::vector<Case>& cases, const std::string& name);

}  // namespace testing_
