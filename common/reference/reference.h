// The reference: softmax and top-K in double precision, with the semantics that every rung promises.
//
//     -inf entries                  probability exactly 0
//     a row all -inf                zeros; top-K: indices 0..k-1, probabilities 0
//     +inf or NaN in a row          the whole row is NaN; top-K: probabilities NaN, indices 0..k-1
//     equal logits in top-K         the lower index first
#pragma once

#include <cstddef>
#include <vector>

namespace reference {

// x: row-major (rows, cols). Returns the probabilities in the same shape.
std::vector<double> softmax(const std::vector<double>& x, int rows, int cols);

// index, probability: row-major (rows, k), sorted by falling probability.
struct TopK {
  std::vector<int> index;
  std::vector<double> probability;
};

TopK softmax_topk(const std::vector<double>& x, int rows, int cols, int k);

}  // namespace reference
