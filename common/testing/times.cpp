#include "times.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "events.h"
#include "lab.h"
#include "request.h"
#include "session.h"
#include "words.h"

namespace testing_ {

bool count_on_solution(Step step, Count* count) {
  rung::Client* solution = session().solution.get();
  if (!solution) return false;
  const auto& variants = solution->variants();
  const std::string name = step.label.substr(0, step.label.find(' '));
  const auto same = std::find_if(variants.begin(), variants.end(), [&](const rung::VariantInfo& v) {
    return v.name == name && v.dtype == step.dtype && v.op == lab.op;
  });
  if (same == variants.end()) return false;
  step.variant = static_cast<int>(same - variants.begin());
  return count_call(*solution, step, count).empty();
}

namespace {

// Of one of the few shapes that a class meets; kept in the file Request::counted, as what predictions are about.
double seconds_of_solution(const Step& step) {
  const std::string& kept = request().counted;
  const Shape& sizes = step.test_case.sizes;
  std::string name = "time-" + step.label + "-" + std::to_string(sizes.rows) + "x" + std::to_string(sizes.cols);
  std::replace(name.begin(), name.end(), ' ', '-');
  if (!kept.empty()) {
    std::ifstream file(kept);
    std::string known;
    for (double seconds; file >> known >> seconds;) {
      if (known == name) return seconds;
    }
  }
  Count count;
  if (!count_on_solution(step, &count) || !(count.predicted > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (!kept.empty())
    std::ofstream(kept, std::ios::app) << name + " " + format("%.17g", count.predicted) + "\n" << std::flush;
  return count.predicted;
}

}  // namespace

std::string check_time(const Step& step) {
  const Move& move = *step.test_case.move;
  Count count;
  const std::string problem = count_call(*session().checked, step, &count);
  if (!problem.empty()) return problem + "\nthe move: " + move.title;
  Judgement judgement = move.demand(count);
  // As for every move: the first call may try several kernels (moves.cpp).
  if (!judgement.met) {
    Count again;
    if (count_call(*session().checked, step, &again, 1).empty() && !(again.at_least > count.at_least))
      count = again, judgement = move.demand(count);
  }
  note_time(step, count, seconds_of_solution(step));
  return judgement.met ? "" : judgement.counted + "\nthe move: " + move.title;
}

}  // namespace testing_
