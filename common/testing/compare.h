// The verdict on one output: right or wrong, and if wrong, in words that help to find out why.
//
// Tolerances, with e the exact value:
//     f32         |got - e| <= 1e-4 |e| + 1e-30
//     f16, bf16   the same plus half the distance between two numbers of the format at e: one rounding
// An entry whose logit is -inf must be exactly 0. Where NaN is expected only NaN will do, and nowhere else. Row sums of
// f32 must be 1 within 5e-5. Written so that a NaN in the output fails: !(difference <= tolerance).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "reference.h"
#include "types.h"

namespace testing_ {

constexpr double relative_tolerance = 1e-4;
constexpr double absolute_tolerance = 1e-30;  // exp() may flush to zero in single precision
constexpr double row_sum_tolerance = 5e-5;

// What is wrong with one element of the output.
enum class Fault : unsigned char {
  none,
  unwritten,       // still the poison
  not_zero,        // its logit is -inf
  nan_missing,     // a number where NaN must spread
  nan_unexpected,  // NaN where a number is expected
  slightly_off,    // within 1 %, or within a few roundings
  far_off,
  // Top-K only:
  index_range,     // not a column of the matrix
  index_repeated,  // a column that the row has already
  tie_order,       // its logit is as good, but a lower index has it too
  wrong_index,     // a smaller or larger logit than the one that belongs here
  count
};

struct Comparison {
  size_t total = 0, wrong = 0, unwritten = 0;
  std::string explanation;     // a few lines, the first one about the first wrong element; empty if all is right
  std::string without_values;  // the same without what was expected and what came
  std::string kinds;           // the kinds of mistake alone: "far off (logic?)"

  bool right() const { return explanation.empty(); }
  bool never_written() const { return total > 0 && unwritten == total; }
};

// Elements that the operator treats in another way: its folder knows which they are. words: "targets".
struct Special {
  const char* words;
  std::function<bool(size_t)> holds;  // of an element's number
};

// Of rows x cols elements: how many are wrong, of which kinds, and where they lie. first: what is said of the first
// that is wrong, by its number ("row 2, column 5: expected 1, got 2"); not asked if none is. name: of the output, if
// there are several ("loss"). row_bytes, column_word: as describe_patterns() has them. If all wrong elements are of one
// special kind, that is said in place of where they lie.
Comparison explained(const std::vector<Fault>& faults, const std::string& name,
                     const std::function<std::string(size_t)>& first, int rows, int cols, size_t row_bytes,
                     const char* column_word, const std::vector<Special>& special = {});

// A number as messages have it: 7 digits, and NaN without a sign.
std::string value_text(double value);

// What stands behind "got" for the element of a fault.
std::string got_text(Fault fault, double value);

// x: logits as the variant saw them. expected: of reference::softmax. got: rows x cols elements of type dtype.
Comparison compare_softmax(const std::vector<double>& x, const std::vector<double>& expected, const void* got, int rows,
                           int cols, rung::Dtype dtype);

// index, prob: rows x k. dtype: that of the logits. relative: the tolerance of a probability.
Comparison compare_topk(const std::vector<double>& x, const reference::TopK& expected, const int* index,
                        const float* prob, int rows, int cols, int k, rung::Dtype dtype,
                        double relative = relative_tolerance);

}  // namespace testing_
