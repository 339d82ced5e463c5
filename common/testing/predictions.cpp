// Counts what a prediction is about on the lab's solution, and says in words how far off the prediction is.
#include "predictions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "events.h"
#include "operator.h"
#include "recorded.h"
#include "session.h"
#include "solution_figures.h"
#include "words.h"

namespace testing_ {
namespace {

constexpr double sector_bytes = 32;

double per_warp(const Count& count, double once_per_warp) {
  const double warps = std::ceil(count.block_threads / 32.0);
  return once_per_warp / (std::max(1.0, warps) * count.rows);
}

double sectors_per_request(const Traffic& all) { return all.sectors / std::max(1.0, all.requests); }

// A predicted number may be anything: 1e300, -5, infinity.
std::string number(double value) {
  const bool usual = value >= 0 && value < 1e15;
  return usual && value == std::floor(value) ? whole(value) : format("%g", value);
}

// "too low", "too high by a factor of 8". Not the count: who is told it has no reason left to find it.
std::string comparison(double predicted, double counted) {
  const bool high = predicted > counted;
  std::string text = high ? "too high" : "too low";
  const double factor = high ? predicted / counted : counted / predicted;
  if (factor >= 2 && factor < 1e6 && factor == std::floor(factor)) text += " by a factor of " + whole(factor);
  return text;
}

}  // namespace

// ---- The vocabulary ------------------------------------------------------------------------------

Figure sectors_per_load() {
  return [](const Count& count) { return sectors_per_request(count.load); };
}

Figure sectors_of_the_commonest_load() {
  return [](const Count& count) {
    const auto rarer = [](const LineCount& a, const LineCount& b) { return a.load.requests < b.load.requests; };
    const auto line = std::max_element(count.lines.begin(), count.lines.end(), rarer);
    return line == count.lines.end() ? 0 : sectors_per_request(line->load);
  };
}

Figure loads_per_row() {
  return [](const Count& count) { return count.load.requests / count.rows; };
}

Figure stores_per_row() {
  return [](const Count& count) { return count.store.requests / count.rows; };
}

Figure bytes_read_per_row() {
  return [](const Count& count) { return count.load.sectors * sector_bytes / count.rows; };
}

Figure bytes_written_per_row() {
  return [](const Count& count) { return (count.store.bytes + count.atomic.bytes) / count.rows; };
}

Figure distinct_bytes_read_per_row() {
  return [](const Count& count) { return count.footprint_read * sector_bytes / count.rows; };
}

Figure reads_of_an_element() {
  return [](const Count& count) { return count.load.bytes / count.matrix_bytes(); };
}

Figure barriers_per_row() {
  return [](const Count& count) { return per_warp(count, count.barriers); };
}

Figure warp_operations_per_row() {
  return [](const Count& count) { return per_warp(count, count.warp_operations); };
}

Figure launches() {
  return [](const Count& count) { return count.launches + count.library_calls; };
}

// ---- A prediction --------------------------------------------------------------------------------

std::string Prediction::case_name() const {
  std::string text = "predict-" + name;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

namespace {

// Of a table of recorded.h: the entry of a variant at a shape; null if there is none.
template <typename Entry, size_t N>
const Entry* find(const Entry (&table)[N], const Timed& timed) {
  for (const Entry& point : table) {
    if (point.lab == timed.lab && point.variant == timed.variant && point.dtype == timed.dtype &&
        point.rows == timed.rows && point.cols == timed.cols && (point.k == 0 || point.k == 50))
      return &point;
  }
  return nullptr;
}

double measured_us(const Timed& timed) {
  const Recorded* point = find(recorded, timed);
  return point ? point->seconds * 1e6 : std::nan("");
}

struct NamedLimit {
  double value;
  const char *name, *words;
};
constexpr NamedLimit limits[] = {
    {rung::limit::dram, "dram", "DRAM"},
    {rung::limit::l2, "l2", "the L2"},
    {rung::limit::lsu, "lsu", "the load and store units"},
    {rung::limit::issue, "issue", "the warp schedulers"},
    {rung::limit::mufu, "mufu", "the unit for exponentials"},
    {rung::limit::latency, "latency", "latency"},
};

std::string check_limit(const Prediction& p, double value, const std::string& label) {
  const RecordedLimit* point = find(recorded_limits, p.timed[0]);
  if (!point) return "cannot be checked: plots/results has no such point of an NVIDIA H200";
  const char* said = nullptr;
  for (const NamedLimit& limit : limits) {
    if (value == limit.value) said = limit.words;
    if (value == limit.value && point->limit == std::string(limit.name)) return "";
  }
  const std::string question = wrapped("The question: " + label + ": " + p.question);
  if (!said)
    return "predicted " + number(value) + ", which is none of rung::limit::dram, l2, lsu, issue, mufu and latency\n" +
           question;
  if (judged()) return "predicted " + std::string(said) + ", which is not what limits it\n" + question;
  return "predicted " + std::string(said) + "; by " + point->by + " of an " + recorded_machine +
         " it is something else\n" + question + "\n" + wrapped("How to get it: " + p.lesson);
}

std::string check_time(const Prediction& p, double value, const std::string& label) {
  const double first = measured_us(p.timed[0]);
  const double answer = p.timed.size() > 1 ? first / measured_us(p.timed[1]) : first;
  if (!(answer > 0)) return "cannot be checked: plots/results/nvidia-h200.json has no such measurement";
  if (value >= answer / p.within && value <= answer * p.within) return "";
  const std::string question = wrapped("The question: " + label + ": " + p.question);
  if (judged()) return "predicted " + number(value) + ", which is too far from what was measured\n" + question;
  const std::string off = value > answer ? "too high" : "too low";
  return "predicted " + number(value) + ", " + off + " by more than a factor of " + number(p.within) +
         " for what was measured on an " + recorded_machine + "\n" + question + "\n" +
         wrapped("How to get it: " + p.lesson);
}

// Counts the call on the lab's solution. Several predictions may be about one call. Returns what went wrong, "" if
// nothing.
std::string count_on_solution(const Prediction& p, const std::string& label, Count* count) {
  rung::Client& solution = *session().solution;
  Step step;
  step.variant = -1;
  step.dtype = p.dtype;
  step.label = label;
  step.test_case = counted_case(p.case_name(), "predict", p.shape);
  const auto& variants = solution.variants();
  for (size_t i = 0; i < variants.size(); i++) {
    if (variants[i].name == p.variant && variants[i].dtype == p.dtype && variants[i].op == lab.op)
      step.variant = static_cast<int>(i);
  }
  if (!solution.problem().empty()) return solution.problem();
  if (step.variant < 0) return "it has no variant " + label;
  static std::map<std::string, Count> known;
  const std::string call = label + " " + operator_of(lab.op).name(p.shape);
  const auto found = known.find(call);
  if (found != known.end()) {
    *count = found->second;
    return "";
  }
  const std::string problem = count_call(solution, step, count);
  if (problem.empty()) known[call] = *count;
  return problem;
}

// What the solution's count comes to: the same for a whole class, whose inputs are the same.
std::string figure_of_solution(const Prediction& p, const std::string& label, double* figure) {
  return kept_figure(p.case_name(), figure, [&](double* found) {
    Count count;
    const std::string problem = count_on_solution(p, label, &count);
    if (problem.empty()) *found = p.figure(count);
    return problem;
  });
}

}  // namespace

std::string check_prediction(const Predicted& predicted) {
  const Prediction& p = *predicted.prediction;
  const std::string label = p.variant + " " + rung::name_of(p.dtype);
  if (!predicted.made)
    return session().source + " does not predict " + p.name + ": is it in RUNG_PREDICT, by this name?";
  if (std::isnan(predicted.value)) return wrapped("not filled in yet: " + label + ": " + p.question);
  if (p.asks_limit) return check_limit(p, predicted.value, label);
  if (!p.timed.empty()) return check_time(p, predicted.value, label);

  double counted = 0;
  const std::string problem = figure_of_solution(p, label, &counted);
  if (!problem.empty()) return "cannot be checked on " + label + " of the solution: " + problem;

  if (std::abs(predicted.value - counted) <= 1e-9 * std::abs(counted)) return "";
  // What the count is would be worth points when the file is handed in again.
  if (judged()) {
    return "predicted " + number(predicted.value) + ", which is not what is counted\n" +
           wrapped("The question: " + label + ": " + p.question);
  }
  const std::string shape = operator_of(lab.op).name(p.shape);
  return "predicted " + number(predicted.value) + ", " + comparison(predicted.value, counted) + " (" + label +
         " of the solution, " + shape + ")\n" + wrapped("The question: " + label + ": " + p.question) + "\n" +
         wrapped("How to get it: " + p.lesson);
}

}  // namespace testing_
