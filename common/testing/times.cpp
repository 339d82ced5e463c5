#include "times.h"

#include <algorithm>
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

}  // namespace

std::string check_time(const Step& step) {
  const Move& move = *step.test_case.move;
  Count count;
  const std::string problem = count_call(counting_client(), step, &count);
  if (!problem.empty()) return problem + "\nthe move: " + move.title;
  Judgement judgement = move.demand(count);
  // As for every move: the first call may try several kernels (moves.cpp).
  if (!judgement.met) {
    Count again;
    if (count_call(counting_client(), step, &again, 1).empty() && !(again.at_least > count.at_least))
      count = again, judgement = move.demand(count);
  }
  note_time(step, count, seconds_of_solution(step));
  return judgement.met ? "" : judgement.counted + "\nthe move: " + move.title;
}

std::string note_kernels(const Step& step) {
  std::set<std::string> symbols;
  // Twice: the first call may try several kernels.
  for (const uint64_t more_seed : {0, 1}) {
    const std::vector<unsigned char> input =
        operator_of(lab.op).input(step.test_case, step.dtype, session().seed + more_seed);
    rung::Job job = job_for(step, input);
    job.count = true;
    job.stands_for = step.test_case.move->stands_for;
    job.quiet = true;
    const rung::Outcome outcome = session().client->run(job);
    const nlohmann::json report = nlohmann::json::parse(outcome.counters, nullptr, false);
    if (!report.is_object()) return "not run";
    for (const nlohmann::json& launch : report.at("launches")) symbols.insert(launch.value("symbol", ""));
  }
  note_launched(step, symbols);
  return "";
}

}  // namespace testing_
