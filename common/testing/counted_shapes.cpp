// At which shapes a variant's moves are counted, and its time is predicted: for the judge other ones than the course's.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "drawn_shapes.h"
#include "events.h"
#include "operator.h"
#include "session.h"

namespace testing_ {

Expected expectation(const rung::VariantInfo& info) {
  for (const Expected& e : lab.variants) {
    if (info.name == e.name && info.dtype == e.dtype) return e;
  }
  Expected own = {info.name.c_str(), info.dtype, Width::shared_memory};
  for (const Expected& e : lab.variants) own.most_k = std::max(own.most_k, e.most_k);
  return own;
}

int widest_in_shared_memory() { return session().backend == "cpu" ? 50257 : 12288; }

namespace {

// FNV-1a, of the file that is judged.
uint64_t hash_of_source() {
  std::ifstream file(session().source_copy, std::ios::binary);
  uint64_t sum = 14695981039346656037ull;
  for (std::istreambuf_iterator<char> at(file), end; at != end; ++at)
    sum = (sum ^ static_cast<unsigned char>(*at)) * 1099511628211ull;
  return sum;
}

// Widths that the lab's files name: of cases, moves and predictions.
const std::set<int>& named_widths() {
  static const std::set<int> all = [] {
    std::set<int> widths;
    for (const Case& c : operator_of(lab.op).cases()) widths.insert(c.sizes.cols);
    for (const Prediction& p : lab.predictions) widths.insert(p.shape.cols);
    for (const Move& move : lab.moves) {
      widths.insert(move.shape.cols);
      for (const Move::Also& also : move.also) widths.insert(also.shape.cols);
    }
    return widths;
  }();
  return all;
}

// Those of the lab that have this name, one for each type, are instances of a kernel, as a rule.
Turn turn_of(const Step& step, const std::string& name) {
  Turn turn = {0, 0, step.variant};
  for (const Expected& e : lab.variants) {
    if (e.name != name) continue;
    if (e.dtype == step.dtype) turn.part = turn.parts;
    turn.parts++;
  }
  turn.parts = std::max(1, turn.parts);
  return turn;
}

// What the draws for a variant depend on, besides the file and the class.
struct Draws {
  Turn turn;
  int widest = std::numeric_limits<int>::max();
  int most_k = std::numeric_limits<int>::max();
};

Draws draws_of(const Step& step) {
  Draws draws;
  const std::string name = step.label.substr(0, step.label.find(' '));
  draws.turn = turn_of(step, name);
  const Expected expected = expectation({name, lab.op, step.dtype});
  if (expected.width != Width::any) draws.widest = widest_in_shared_memory();
  if (expected.most_k) draws.most_k = expected.most_k;
  return draws;
}

uint64_t number_of_draws() {
  static const uint64_t number = hash_of_source() ^ session().seed;
  return number;
}

}  // namespace

std::vector<Shape> counted_shapes(const Shape& shape, Move::Widths widths, const Step* step) {
  // Where the cost grows with cols^2 a shape that is a little wider may be too much.
  const bool quadratic = std::any_of(lab.variants.begin(), lab.variants.end(),
                                     [](const Expected& variant) { return variant.cost == Cost::quadratic; });
  if (!judged() || quadratic) return {shape};
  const uint64_t number = number_of_draws();
  const Operator& op = operator_of(lab.op);
  if (!op.takes_any_shape()) return {op.beside(shape, number)};
  const Draws draws = step ? draws_of(*step) : Draws{{}, widest_in_shared_memory(), 0};
  std::vector<Shape> shapes = drawn_shapes(shape, widths, draws.widest, named_widths(), number, draws.turn);
  if (rung::arguments_of(lab.op).has_k && draws.most_k > 1) {
    // Of two shapes one has another K than the course's own moves: or those would be the only ones that are counted.
    for (size_t i = 1; i < shapes.size(); i += 2) shapes[i].more[0] = drawn_results(shapes[i], draws.most_k, number);
  }
  return shapes;
}

std::vector<Shape> timed_shapes(const Step& step) {
  const Move& move = *step.test_case.move;
  if (!judged() || move.widths != Move::Widths::paced) return {};
  const Draws draws = draws_of(step);
  std::vector<Shape> shapes = paced_shapes(move.shape, draws.widest, named_widths(), number_of_draws(), draws.turn);
  // Each costs three counted runs. So of all steps a few are drawn: whoever is slow beside the known width alone is met
  // at any of them, whoever is slow in a narrow range only in some grades.
  const size_t most = draws.turn.parts > 1 ? 1 : 2;
  const bool many_rows = draws.turn.variant % draws.turn.parts == 0;  // the last of them
  std::mt19937_64 random(number_of_draws() + static_cast<uint64_t>(draws.turn.variant * 64 + draws.turn.part));
  while (shapes.size() > most + many_rows)
    shapes.erase(shapes.begin() + static_cast<std::ptrdiff_t>(random() % (shapes.size() - many_rows)));
  // One of a row's largest, or a few, any selection finds quickly.
  constexpr int few = 16, step_of_few = 4;
  if (rung::arguments_of(lab.op).has_k) {
    for (size_t i = 0; i < shapes.size(); i += 2) {
      const int k = step_of_few * drawn_results(shapes[i], few / step_of_few, number_of_draws());
      shapes[i].more[0] = std::min(k, draws.most_k);
    }
  }
  return shapes;
}

}  // namespace testing_
