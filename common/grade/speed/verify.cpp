#include "verify.h"

#include <algorithm>
#include <cstring>

#include "compare.h"
#include "formats.h"
#include "reference.h"
#include "timed_inputs.h"

namespace speed {

using rung::Pick;

std::vector<Pick> draw(std::mt19937_64& random, int rows, int sets) {
  constexpr int of_every = 2, of_one = 32;
  const auto below = [&](int end) { return static_cast<int32_t>(random() % static_cast<uint64_t>(end)); };
  std::vector<Pick> picks;
  const int32_t one = below(sets);
  picks.push_back({one, 0});
  picks.push_back({one, rows - 1});
  for (int i = 0; i < of_one; i++) picks.push_back({one, below(rows)});
  for (int32_t set = 0; set < sets && picks.size() + of_every <= rung::max_picks; set++) {
    for (int i = 0; i < of_every; i++) picks.push_back({set, below(rows)});
  }
  return picks;
}

std::string verify(const std::vector<Pick>& picks, const std::vector<unsigned char>& rows, uint64_t seed, rung::Op op,
                   rung::Dtype dtype, const rung::Sizes& sizes) {
  const int count = static_cast<int>(picks.size()), cols = sizes.cols, k = sizes.more[0];
  std::vector<float> logits;
  logits.reserve(picks.size() * static_cast<size_t>(cols));
  for (const Pick& pick : picks) {
    const timed::RowKey key = timed::row_key(seed, pick.set, pick.row);
    for (int col = 0; col < cols; col++) logits.push_back(timed::logit(key, col));
  }
  const std::vector<unsigned char> input = reference::encode(logits, dtype);
  const std::vector<double> x = reference::decode(input.data(), logits.size(), dtype);
  testing_::Comparison comparison;
  if (op == rung::Op::softmax) {
    const std::vector<double> expected = reference::softmax(x, count, cols);
    comparison = testing_::compare_softmax(x, expected, rows.data(), count, cols, dtype);
  } else {
    // A picked row is its indices, then its probabilities; compared are all indices and all probabilities.
    const size_t n = static_cast<size_t>(count) * static_cast<size_t>(k), bytes = static_cast<size_t>(k) * 4;
    std::vector<int> index(n);
    std::vector<float> probability(n);
    for (size_t i = 0; i < picks.size(); i++) {
      memcpy(index.data() + i * static_cast<size_t>(k), rows.data() + 2 * i * bytes, bytes);
      memcpy(probability.data() + i * static_cast<size_t>(k), rows.data() + (2 * i + 1) * bytes, bytes);
    }
    const reference::TopK expected = reference::softmax_topk(x, count, cols, k);
    comparison = testing_::compare_topk(x, expected, index.data(), probability.data(), count, cols, k, dtype);
  }
  if (comparison.right()) return "";
  if (comparison.unwritten > 0) return "rows were never written";
  return comparison.kinds.empty() ? "wrong" : comparison.kinds;
}

}  // namespace speed
