// Shapes, values and cases shared by operators on the rows of a matrix, such as softmax and top-K.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator.h"

namespace testing_ {

// How the values of a matrix are distributed.
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
  // Only for operators that use them (more_cases):
  zeros,         // every entry 0
  small,         // standard deviation 0.003: an epsilon under a root changes the results
  front_loaded,  // normal, the first quarter of each row 8 higher
  strided,       // normal, 100 more in every 4096th column: however threads stride over a row, one meets them all
  mixed,       // each row like one of: normal, masked, masked all over, with +inf, with NaN, normal + 1e4, normal - 1e4
  heavy_ends,  // normal, the first and the last 16 columns 10 higher: most of a wide row's sum, and of its largest
};

// What is special about them, as the end of a sentence; "" of ordinary ones.
const char* special_of(Values values);

// The matrix of a case, row-major, before it is rounded to the element type. The same for the same name and seed.
std::vector<float> logits(const Case& c, uint64_t seed);

// What else a case draws is its own, too: or what one call has of another, of as many columns, would be right.
uint64_t hash_of(const std::string& name);

inline Values values_of(const Case& c) { return static_cast<Values>(c.values); }

struct Family;

class MatrixOperator : public Operator {
 public:
  using Operator::Operator;

  std::vector<Case> cases() const override;
  std::vector<Case> hidden_cases(uint64_t seed) const override;
  Case integrity_case(uint64_t seed) const override;
  std::vector<unsigned char> input(const Case& c, rung::Dtype dtype, uint64_t seed) const override;
  int heavy_ends() const override { return static_cast<int>(Values::heavy_ends); }
  int masked() const override { return static_cast<int>(Values::masked); }
  // FLOP of softmax, five per element: max, subtract, exp, add, multiply.
  double flops(const rung::Sizes& sizes) const override { return 5.0 * sizes.rows * sizes.cols; }
  double cost_of_rows(const rung::Sizes& sizes) const override { return 300.0 * sizes.rows; }

 protected:
  // The sizes of a problem with these rows and columns.
  virtual rung::Sizes sized(int rows, int cols) const { return {rows, cols, {}}; }
  // Whether the number of results per row can be chosen (k of top-K); and then sets it.
  virtual bool has_choice_of_results() const { return false; }
  virtual void choose_results(rung::Sizes*, int) const {}
  // The suffix of a case's name: "-k5".
  virtual std::string suffix(const rung::Sizes&) const { return ""; }
  // Cases in addition to the shared shapes and values.
  virtual std::vector<Case> more_cases() const { return {}; }
  // Calls that must be refused, in addition to null pointers and invalid numbers of rows and columns.
  virtual std::vector<Case> more_contract_cases() const { return {}; }

  // A call that must be refused, with good buffers for 7 x 33.
  Case refused(const std::string& name) const;
  Case make(const std::string& group, const std::string& name, Values values, const rung::Sizes& sizes) const;

 private:
  std::vector<Case> null_outputs() const;
  Case draw(const Family& family, const std::string& group, uint64_t seed) const;
};

}  // namespace testing_
