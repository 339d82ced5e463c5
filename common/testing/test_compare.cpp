// The comparison: passes what is right, fails what is wrong, and says what kind of wrong it is.
#include "catch2_any.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "compare.h"
#include "formats.h"
#include "matrix.h"

using namespace testing_;
using rung::Dtype;
using rung::Op;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A matrix of logits and its softmax; `got` begins as the right answer, rounded to the type.
struct Matrix {
  int rows, cols;
  Dtype dtype;
  std::vector<double> x, expected;
  std::vector<float> got;

  Matrix(int rows, int cols, Dtype dtype = Dtype::f32, Values values = Values::normal)
      : rows(rows), cols(cols), dtype(dtype) {
    Case c;
    c.name = "test";
    c.values = static_cast<int>(values);
    c.sizes = {rows, cols, {}};
    const std::vector<float> drawn = logits(c, 1);
    x = reference::decode(reference::encode(drawn, dtype).data(), drawn.size(), dtype);
    expected = reference::softmax(x, rows, cols);
    got.assign(expected.begin(), expected.end());
  }
  float& at(int row, int col) {
    return got[static_cast<size_t>(row) * static_cast<size_t>(cols) + static_cast<size_t>(col)];
  }
  Comparison compare() const {
    return compare_softmax(x, expected, reference::encode(got, dtype).data(), rows, cols, dtype);
  }
};

// One element whose softmax is exactly e, compared with `got`.
bool accepts(double e, double got, Dtype dtype) {
  const auto bytes = reference::encode({static_cast<float>(got)}, dtype);
  return compare_softmax({0}, {e}, bytes.data(), 1, 1, dtype).wrong == 0;
}

}  // namespace

TEST_CASE("right results pass", "[compare]") {
  const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16);
  const Values values = GENERATE(Values::normal, Values::constant, Values::one_huge, Values::extreme, Values::masked,
                                 Values::masked_rows, Values::masked_all, Values::inf, Values::nan);
  const Comparison c = Matrix(7, 601, dtype, values).compare();
  CHECK(c.explanation == "");
  CHECK(c.total == 7 * 601);
}

TEST_CASE("NaN fails, whatever the tolerance", "[compare]") {
  Matrix m(7, 33);
  m.at(3, 17) = not_a_number;
  CHECK(m.compare().wrong == 1);
  CHECK(contains(m.compare().explanation, "row 3, column 17"));
  CHECK(contains(m.compare().explanation, "NaN where a number is expected"));
}

TEST_CASE("all zeros fail, also where every probability is small", "[compare]") {
  for (Values values : {Values::normal, Values::uniform, Values::constant}) {
    Matrix m(1, 50257, Dtype::f32, values);
    std::fill(m.got.begin(), m.got.end(), 0.0f);
    CHECK(m.compare().wrong == m.got.size());
  }
}

TEST_CASE("swapped rows and shifted columns fail", "[compare]") {
  Matrix rows(4, 100);
  std::swap_ranges(&rows.at(1, 0), &rows.at(2, 0), &rows.at(2, 0));
  CHECK(contains(rows.compare().explanation, "wrong only in rows 1, 2"));
  Matrix columns(4, 100);
  std::rotate(columns.got.begin(), columns.got.begin() + 1, columns.got.end());
  CHECK(columns.compare().wrong > 350);
  CHECK(contains(columns.compare().explanation, "far off"));
}

TEST_CASE("the f32 tolerance is relative down to 1e-30", "[compare]") {
  for (double e : {1.0, 1e-3, 1e-10, 1e-20}) {
    CHECK(accepts(e, e * (1 + 0.9e-4), Dtype::f32));
    CHECK_FALSE(accepts(e, e * (1 + 1.1e-4), Dtype::f32));
    CHECK_FALSE(accepts(e, 0, Dtype::f32));
  }
  CHECK(accepts(1e-31, 0, Dtype::f32));
  CHECK(accepts(1e-300, 0, Dtype::f32));
  CHECK_FALSE(accepts(0, 1e-20, Dtype::f32));
}

TEST_CASE("f16 and bf16 may round once", "[compare]") {
  // Of two neighbours, only the ones that the exact value may round to pass.
  const double ulp = std::ldexp(1, -11);  // of f16 in [0.5, 1)
  CHECK(accepts(0.5 + 0.3 * ulp, 0.5, Dtype::f16));
  CHECK_FALSE(accepts(0.5 + 0.3 * ulp, 0.5 + ulp, Dtype::f16));
  CHECK(accepts(0.5 + 0.5 * ulp, 0.5, Dtype::f16));
  CHECK(accepts(0.5 + 0.5 * ulp, 0.5 + ulp, Dtype::f16));
  CHECK_FALSE(accepts(0.5, 0.5 + ulp, Dtype::f16));
  // Subnormal in f16: their distance is 2^-24.
  CHECK(accepts(std::ldexp(3.4, -24), std::ldexp(3, -24), Dtype::f16));
  CHECK_FALSE(accepts(std::ldexp(3.4, -24), std::ldexp(4, -24), Dtype::f16));
  CHECK_FALSE(accepts(std::ldexp(1, -24), 0, Dtype::f16));
  CHECK(accepts(std::ldexp(0.4, -24), 0, Dtype::f16));
  const double wide = std::ldexp(1, -8);  // of bf16 in [0.5, 1)
  CHECK(accepts(0.5 + 0.4 * wide, 0.5, Dtype::bf16));
  CHECK_FALSE(accepts(0.5, 0.5 + wide, Dtype::bf16));
}

TEST_CASE("row sums find a bias that every element hides", "[compare]") {
  Matrix m(3, 1000);
  for (int c = 0; c < 1000; c++) m.at(1, c) *= 1 + 8e-5f;
  const Comparison comparison = m.compare();
  CHECK(comparison.wrong == 0);
  CHECK_FALSE(comparison.right());
  CHECK(contains(comparison.explanation, "row 1 sums to 1.00008"));
}

TEST_CASE("the explanation names the kind", "[compare]") {
  Matrix m(5, 1025);
  SECTION("never written") {
    memset(m.got.data(), 0xFF, m.got.size() * sizeof(float));
    // Past encode(), which would make the poison an ordinary NaN.
    const Comparison c = compare_softmax(m.x, m.expected, m.got.data(), m.rows, m.cols, m.dtype);
    CHECK(c.never_written());
    CHECK(contains(c.explanation, "never written"));
  }
  SECTION("never written past a column") {
    for (int r = 0; r < 5; r++) memset(static_cast<void*>(&m.at(r, 1024)), 0xFF, sizeof(float));
    const Comparison c = compare_softmax(m.x, m.expected, m.got.data(), m.rows, m.cols, m.dtype);
    CHECK_FALSE(c.never_written());
    CHECK(contains(c.explanation, "5 of 5125 elements wrong: never written"));
    CHECK(contains(c.explanation, "wrong only in column 1024, the last one"));
  }
  SECTION("a tail") {
    for (int r = 0; r < 5; r++) {
      for (int c = 1000; c < 1025; c++) m.at(r, c) = 7;
    }
    CHECK(contains(m.compare().explanation, "wrong only past column 999: is the tail handled?"));
  }
  SECTION("slightly off") {
    for (float& y : m.got) y *= 1.001f;
    CHECK(contains(m.compare().explanation, "slightly off"));
    CHECK(contains(m.compare().explanation, "sums to 1.001"));
  }
  SECTION("misaligned rows") {
    for (int r = 1; r < 4; r++) {
      for (int c = 0; c < 1025; c++) m.at(r, c) = 7;
    }
    CHECK(contains(m.compare().explanation, "rows 1, 2, 3: exactly those that do not start at a multiple of 16 bytes"));
  }
  SECTION("rows that no block works on, though they do not start at a multiple of 16 bytes either") {
    Matrix four(4, 1025, Dtype::f32);
    memset(static_cast<void*>(&four.at(1, 0)), 0xFF, 3 * 1025 * sizeof(float));
    const auto said = [&] {
      return compare_softmax(four.x, four.expected, four.got.data(), 4, 1025, Dtype::f32).explanation;
    };
    CHECK(contains(said(), "rows 1, 2, 3: all rows from 1 on. Has the launch as many blocks as the rows need?"));
    four.at(2, 0) = 7;  // something is there
    CHECK(contains(said(), "rows 1, 2, 3: exactly those that do not start at a multiple of 16 bytes"));
  }
  SECTION("the last row") {
    for (int c = 0; c < 1025; c++) m.at(4, c) = 7;
    CHECK(contains(m.compare().explanation, "wrong only in row 4, the last one"));
  }
  SECTION("everywhere: no pattern is invented") {
    for (float& y : m.got) y = 7;
    CHECK_FALSE(contains(m.compare().explanation, "wrong only"));
  }
}

TEST_CASE("masks and NaN rows", "[compare]") {
  Matrix masked(3, 64, Dtype::f32, Values::masked);
  const auto at = static_cast<size_t>(std::find(masked.x.begin(), masked.x.end(), -inf) - masked.x.begin());
  masked.got[at] = 1e-38f;  // within the tolerance of 0, but a masked entry must be 0
  CHECK(contains(masked.compare().explanation, "not zero where masked"));

  Matrix nan(3, 64, Dtype::f32, Values::nan);
  nan.at(1, 20) = 0.5f;
  CHECK(contains(nan.compare().explanation, "NaN not spread over the whole row"));
  // The poison is a NaN; that must not pass for a result.
  memset(static_cast<void*>(&nan.at(1, 20)), 0xFF, sizeof(float));
  CHECK(contains(compare_softmax(nan.x, nan.expected, nan.got.data(), 3, 64, Dtype::f32).explanation, "never written"));
}

TEST_CASE("top-K", "[compare]") {
  const std::vector<double> x = {1, 3, 3, 2, 0, -inf, 5, std::nan(""), 1, 1, 1, 1};
  const auto expected = reference::softmax_topk(x, 2, 6, 4);
  std::vector<int> index = expected.index;
  std::vector<float> prob(expected.probability.begin(), expected.probability.end());
  auto explanation = [&] {
    return compare_topk(x, expected, index.data(), prob.data(), 2, 6, 4, Dtype::f32).explanation;
  };

  CHECK(explanation() == "");
  SECTION("any order will do in a NaN row") {
    std::swap(index[4], index[6]);
    CHECK(explanation() == "");
  }
  SECTION("ties") {
    std::swap(index[0], index[1]);
    CHECK(contains(explanation(), "the lower index comes first"));
  }
  SECTION("order") {
    std::swap(index[2], index[3]);
    std::swap(prob[2], prob[3]);
    CHECK(contains(explanation(), "wrong index"));
    CHECK(contains(explanation(), "row 0, rank 2"));
  }
  SECTION("probability") {
    prob[3] *= 1.01f;
    CHECK(contains(explanation(), "slightly off"));
  }
  SECTION("probability NaN") {
    prob[3] = not_a_number;
    CHECK(contains(explanation(), "NaN where a number is expected"));
  }
  SECTION("a number in a NaN row") {
    prob[5] = 0.25f;
    CHECK(contains(explanation(), "NaN not spread"));
  }
  SECTION("out of range") {
    const int bad = GENERATE(6, -2, 2147483647);
    index[5] = bad;
    CHECK(contains(explanation(), "out of range"));
  }
  SECTION("repeated") {
    index[5] = index[4];
    CHECK(contains(explanation(), "index repeated"));
  }
  SECTION("never written") {
    memset(index.data(), 0xFF, index.size() * sizeof(int));
    memset(prob.data(), 0xFF, prob.size() * sizeof(float));
    CHECK(compare_topk(x, expected, index.data(), prob.data(), 2, 6, 4, Dtype::f32).never_written());
  }
}

TEST_CASE("the cases cover what the contract and the widths ask for", "[cases]") {
  const Op op = GENERATE(Op::softmax, Op::softmax_topk);
  const std::vector<Case> cases = operator_of(op).cases();
  std::set<std::string> names;
  std::set<int> widths, rows, ks;
  std::set<Values> values;
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(names.insert(c.name).second);
    widths.insert(c.called_with.cols);
    rows.insert(c.called_with.rows);
    ks.insert(c.called_with.more[0]);
    values.insert(values_of(c));
    if (op == Op::softmax_topk && c.group != "contract") {
      const int k = c.sizes.more[0];
      CHECK((k >= 1 && k <= c.sizes.cols && k <= rung::max_k));
    }
  }
  for (int w : {1, 2, 31, 32, 33, 600, 1023, 1024, 1025, 4096, 50257, 200003, 0, -33}) CHECK(widths.count(w) == 1);
  for (int r : {0, 1, 7, 64, 1000, -1}) CHECK(rows.count(r) == 1);
  if (op == Op::softmax_topk) {
    for (int k : {0, -1, 1, 5, 50, 256, 1024, 1025}) CHECK(ks.count(k) == 1);
  }
  // All values, but for those that only some operators use.
  size_t common = 0;
  for (const Values v : values) common += v <= Values::nan_last;
  CHECK(common == static_cast<size_t>(Values::nan_last) + 1);
}

TEST_CASE("values are the same for the same name and seed only", "[cases]") {
  const std::vector<Case> cases = operator_of(Op::softmax).cases();
  CHECK(logits(cases[0], 0) == logits(cases[0], 0));
  CHECK(logits(cases[0], 0) != logits(cases[0], 1));
  // They are kept: another case gets its own, and the same ones come again once there is no more room.
  Case other = cases[0];
  const std::vector<float> first = logits(other, 0);
  other.values = static_cast<int>(Values::ascending);
  CHECK(logits(other, 0) != first);
  other = cases[0];
  other.sizes.cols++;
  CHECK(logits(other, 0).size() > first.size());
  other.sizes.rows = 1 << 12;
  other.sizes.cols = 1 << 13;
  CHECK(logits(other, 0) == logits(other, 0));
  CHECK(logits(cases[0], 0) == first);
  CHECK(similar_names(cases, "nan7x600")[0] == "nan-20x600");
  CHECK(similar_names(cases, "normal-7x1042")[0].rfind("normal-7x10", 0) == 0);
}
