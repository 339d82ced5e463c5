#include "times.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "check.h"
#include "events.h"
#include "operator.h"
#include "session.h"
#include "solution_figures.h"

namespace testing_ {

namespace {

// Of one of the few shapes that a class meets. NaN if there is none.
double seconds_of_solution(const Step& step) {
  const Shape& sizes = step.test_case.sizes;
  std::string name = "time-" + step.label + "-" + std::to_string(sizes.rows) + "x" + std::to_string(sizes.cols);
  std::replace(name.begin(), name.end(), ' ', '-');
  double seconds = 0;
  const std::string problem = kept_figure(name, &seconds, [&](double* predicted) -> std::string {
    Count count;
    if (!count_on_solution(step, &count) || !(count.predicted > 0)) return "no prediction";
    *predicted = count.predicted;
    return "";
  });
  return problem.empty() ? seconds : std::numeric_limits<double>::quiet_NaN();
}

// Of the move at other shapes: each stands for as much work as the move's own, and for enough rows that blocks of 256
// threads would fill the GPU. Calls `at` for each until that returns something else than "".
std::string at_other_shapes(const Step& step, const std::function<std::string(const Step&)>& at) {
  constexpr int filling = 1056;  // rows: eight for each multiprocessor of an H200
  const Move& move = *step.test_case.move;
  const Shape& own = step.test_case.sizes;
  const double elements = static_cast<double>(own.rows) * own.cols * move.stands_for;
  for (const Shape& shape : timed_shapes(step)) {
    Move there = move;
    there.stands_for = std::max(filling / shape.rows, static_cast<int>(elements / shape.rows / shape.cols));
    Step other = step;
    other.test_case.sizes = other.test_case.called_with = shape;
    other.test_case.move = &there;
    other.test_case.values = values_at(shape, step.test_case.values);
    const std::string problem = at(other);
    if (!problem.empty()) return problem;
  }
  return "";
}

// Predicts once more where the first call does not meet the move: as for every move, it may try several kernels.
std::string predicted(const Step& step, Count* count, Judgement* judgement) {
  const Move& move = *step.test_case.move;
  const std::string problem = count_call(counting_client(), step, count);
  if (!problem.empty()) return problem;
  *judgement = move.demand(*count);
  if (judgement->met) return "";
  Count again;
  if (count_call(counting_client(), step, &again, 1).empty() && !(again.at_least > count->at_least))
    *count = again, *judgement = move.demand(*count);
  return "";
}

}  // namespace

std::string check_time(const Step& step) {
  const std::string title = "\nthe move: " + step.test_case.move->title;
  Count count;
  Judgement judgement;
  const std::string problem = predicted(step, &count, &judgement);
  if (!problem.empty()) return problem + title;
  note_time(step, count, seconds_of_solution(step));
  if (!judgement.met) {
    note_over(step, judgement.over);
    return judgement.counted + title;
  }
  const std::string elsewhere = at_other_shapes(step, [&](const Step& other) {
    const std::string not_counted = predicted(other, &count, &judgement);
    if (not_counted.empty() && judgement.met) return std::string();
    if (not_counted.empty()) note_over(step, judgement.over);
    return not_counted + judgement.counted;
  });
  return elsewhere.empty() ? "" : elsewhere + title;
}

std::string note_kernels(const Step& step) {
  std::set<std::string> symbols;
  const auto note = [&](const Step& at) -> std::string {
    // Twice: the first call may try several kernels.
    for (const uint64_t more_seed : {0, 1}) {
      const std::vector<unsigned char> input =
          operator_of(lab.op).input(at.test_case, at.dtype, session().seed + more_seed);
      rung::Job job = job_for(at, input);
      job.count = true;
      job.stands_for = at.test_case.move->stands_for;
      job.quiet = true;
      const rung::Outcome outcome = session().client->run(job);
      const nlohmann::json report = nlohmann::json::parse(outcome.counters, nullptr, false);
      if (!report.is_object()) return "not run";
      for (const nlohmann::json& launch : report.at("launches")) symbols.insert(launch.value("symbol", ""));
    }
    return "";
  };
  std::string problem = note(step);
  if (problem.empty()) problem = at_other_shapes(step, note);
  if (problem.empty()) note_launched(step, symbols);
  return problem;
}

}  // namespace testing_
