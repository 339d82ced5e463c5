#include <algorithm>
#include <array>

#include "formats.h"
#include "matrix.h"
#include "reference.h"

namespace testing_ {
namespace {

using rung::Sizes;
using rung::softmax_topk_operator::k_of;

class SoftmaxTopk : public MatrixOperator {
 public:
  SoftmaxTopk() : MatrixOperator(rung::Op::softmax_topk) {}

  Verdict expect(const Case& c, uint64_t, const std::vector<unsigned char>& input, rung::Dtype dtype) const override {
    const int rows = c.sizes.rows, cols = c.sizes.cols, k = k_of(c.sizes);
    const size_t count = static_cast<size_t>(rows) * static_cast<size_t>(cols);
    const std::vector<double> x = reference::decode(input.data(), count, dtype);
    return [=, expected = reference::softmax_topk(x, rows, cols, k)](const Outputs& output) {
      return compare_topk(x, expected, reinterpret_cast<const int*>(output[0].data()),
                          reinterpret_cast<const float*>(output[1].data()), rows, cols, k, dtype);
    };
  }

  std::string name(const Sizes& sizes) const override {
    return MatrixOperator::name(sizes) + ", k = " + std::to_string(k_of(sizes));
  }
  int results(const Sizes& sizes) const override { return k_of(sizes); }
  double cost_of_rows(const Sizes& sizes) const override { return 4096.0 * sizes.rows; }

 protected:
  // A k for each shape that operators on rows share; cases in which k varies are in more_cases().
  Sizes sized(int rows, int cols) const override {
    return {rows, cols, {std::min(cols, rows >= 20 || cols < 100 ? 5 : 50)}};
  }
  bool has_choice_of_results() const override { return true; }
  void choose_results(Sizes* sizes, int k) const override { sizes->more[0] = std::min(sizes->cols, k); }
  std::string suffix(const Sizes& sizes) const override { return "-k" + std::to_string(k_of(sizes)); }

  std::vector<Case> more_cases() const override {
    std::vector<Case> cases;
    for (const Sizes& sizes : std::initializer_list<Sizes>{{7, 33, {33}},
                                                           {7, 600, {1}},
                                                           {7, 600, {256}},
                                                           {7, 600, {600}},
                                                           {7, 1023, {1023}},
                                                           {7, 1024, {1024}},
                                                           {1, 4096, {1}},
                                                           {1, 4096, {256}},
                                                           {1, 4096, {1024}},
                                                           {1, 50257, {1}},
                                                           {1, 50257, {256}},
                                                           {1, 50257, {1024}},
                                                           {64, 33, {1}}}) {
      cases.push_back(make("k", "normal", Values::normal, sizes));
    }
    cases.push_back(make("k", "constant", Values::constant, {7, 1025, {256}}));  // ties only
    cases.push_back(make("k", "constant", Values::constant, {1, 4096, {1024}}));
    cases.push_back(make("k", "ascending", Values::ascending, {7, 1025, {1024}}));  // the best come last
    // A threshold guessed from what comes first is too high.
    cases.push_back(make("k", "descending", Values::descending, {1, 20000, {200}}));
    cases.push_back(make("k", "front_loaded", Values::front_loaded, {1, 5000, {200}}));
    cases.push_back(make("k", "constant", Values::constant, {1, 20000, {50}}));  // long, and ties only
    // One thread, with whatever part of the row, may have all of the result.
    cases.push_back(make("k", "strided", Values::strided, {1, 200003, {49}}));
    cases.push_back(make("k", "masked", Values::masked, {7, 600, {500}}));  // fewer finite entries than k
    return cases;
  }

  std::vector<Case> more_contract_cases() const override {
    std::vector<Case> cases;
    for (const auto& [name, k] : {std::pair("k-zero", 0), {"k-negative", -1}, {"k-above-cols", 34}}) {
      cases.push_back(refused(name));
      cases.back().called_with.more[0] = k;
    }
    cases.push_back(refused("k-above-1024"));
    cases.back().sizes = cases.back().called_with = {7, 2000, {1025}};
    return cases;
  }
};

const SoftmaxTopk softmax_topk;
[[maybe_unused]] const bool added = add_operator(softmax_topk);

}  // namespace
}  // namespace testing_
