// Shared by the normalisations: weights behind the matrix, rows in which eps matters, and a reference per row.
#pragma once

#include "matrix.h"

namespace testing_ {

// The factors, and the numbers that are added: the tensors of the input behind the matrix, in the plan's order, cols
// numbers each.
using Weights = std::vector<std::vector<double>>;

class NormOperator : public MatrixOperator {
 public:
  using MatrixOperator::MatrixOperator;

  // The matrix, and behind it the plan's other tensors: numbers of 0.5 to 1.5, of either sign. A kernel that leaves
  // them out, or takes those of another column, is wrong everywhere.
  std::vector<unsigned char> input(const Case& c, rung::Dtype dtype, uint64_t seed) const override;
  Verdict expect(const Case& c, uint64_t, const std::vector<unsigned char>& input, rung::Dtype dtype) const override;
  std::vector<Case> hidden_cases(uint64_t seed) const override;
  int masked() const override { return 0; }

 protected:
  // Replaces a row of sizes.cols numbers by their result, and writes to `allowed` the permitted error of each one that
  // is finite.
  virtual void normalise(double* row, double* allowed, const rung::Sizes& sizes, const Weights& weights) const = 0;

  std::vector<Case> more_cases() const override;
};

}  // namespace testing_
