// Counts one call of a variant on the executor, and says in words a student can use what the counts should have been.
#include "moves.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "check.h"
#include "events.h"
#include "operator.h"
#include "pace.h"
#include "request.h"
#include "session.h"
#include "words.h"

namespace testing_ {
namespace {

using rung::Outcome;

// ---- Words ---------------------------------------------------------------------------------------

std::string code_at(const std::string& path, int number) {
  // The worker says which file. For the judge it is not to be believed: nothing but the submission may be quoted.
  if (judged() && shortened(path) != session().source) return "";
  std::ifstream file(judged() ? session().source_copy : path);
  std::string line;
  for (int i = 0; i < number && std::getline(file, line); i++) continue;
  if (!file) return "";
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  line = line.substr(first);
  return line.size() > 80 ? line.substr(0, 77) + "..." : line;
}

// Threads that are one row too many may load another's: in a launch for many rows, and not of many of them.
double loaded_by_idle(const Count& count) { return count.rows / 32 * (count.matrix_bytes() / count.rows); }

double sectors_of_pass(const Count& count) { return std::ceil(count.matrix_bytes() / 32); }

}  // namespace

std::string by_copies(double bytes) {
  return bytes ? "\nof these, " + whole(bytes) + " bytes by cudaMemcpy within device memory, cudaMemset or the like"
               : "";
}

std::string worst_line(const Count& count, const std::function<double(const LineCount&)>& weight) {
  // A line that several kernels of the call run counts once for all of them.
  std::map<std::pair<std::string, int>, double> weights;
  for (const LineCount& line : count.lines) weights[{line.file, line.line}] += weight(line);
  auto worst = weights.end();
  for (auto line = weights.begin(); line != weights.end(); ++line) {
    // Of equals the later one: the line that reads again is to blame, not the one that reads first.
    if (line->second > 0 && (worst == weights.end() || line->second >= worst->second)) worst = line;
  }
  if (worst == weights.end() || worst->first.second == 0) return "";
  const std::string code = code_at(worst->first.first, worst->first.second);
  return "\nworst line " + shortened(worst->first.first) + ":" + std::to_string(worst->first.second) +
         (code.empty() ? "" : ": " + code);
}

Judgement unmet(const std::string& counted) { return {false, counted}; }

double partial_results(const Count& count) {
  constexpr double part = 1.0 / 16, narrow_part = 1.0 / 4, bytes_of_row = 128;
  return std::max(part * count.matrix_bytes(), std::min(narrow_part * count.matrix_bytes(), bytes_of_row * count.rows));
}
double written_besides(const Count& count) {
  return count.store.bytes + count.atomic.bytes + count.copies(count.copied_written) - count.result_bytes;
}
bool keeps_a_copy(const Count& count) { return written_besides(count) > partial_results(count); }

// ---- The vocabulary ------------------------------------------------------------------------------

Demand read_at_most(int times) {
  return [times](const Count& count) -> Judgement {
    // An atomic reads, too. Those of a counter or a flag do not go over the matrix.
    const Traffic none, &atomic = count.atomic.bytes > count.matrix_bytes() / 8 ? count.atomic : none;
    const double copied = count.copies(count.copied_read), bytes = count.load.bytes + atomic.bytes + copied;
    // Of a row's K best those of its parts are merged, or a second kernel has the K results and a factor for each. So
    // of x itself, which is watched, no more may be read. What the parts of a row have found may be read by all
    // threads, if it is too little to be a copy of x.
    const double most = times * count.matrix_bytes() + loaded_by_idle(count);
    const double again = count.results ? std::max(count.matrix_bytes() / 4, count.result_bytes) : 0;
    if (bytes <= most + again && (!count.results || count.watched_bytes <= most)) return {};
    const bool watched = count.watched_bytes >= count.matrix_bytes();  // not of all operators
    if (watched && count.watched_bytes + atomic.bytes <= most && !keeps_a_copy(count)) return {};
    const double sectors = count.load.sectors + atomic.sectors + std::ceil(copied / 32);
    // Bytes are counted per lane, sectors per request.
    const bool same_bytes = sectors < 1.5 * times * sectors_of_pass(count);
    return unmet(
        "read " + times_of(bytes / count.matrix_bytes()) + ": " + whole(sectors) + " sectors; one pass needs " +
        whole(sectors_of_pass(count)) + by_copies(copied) +
        (same_bytes ? "; several lanes load the same bytes: a lane that has no element left loads nothing" : "") +
        worst_line(count, [](const LineCount& line) { return line.load.bytes + line.atomic.bytes; }));
  };
}

Demand watched_once(int spare) {
  return [spare](const Count& count) -> Judgement {
    // What is read from a copy of x, in memory of the kernels' own or in the result's, nobody watches.
    if (keeps_a_copy(count))
      return unmet(whole(written_besides(count)) + " bytes are written besides the result; x has " +
                   whole(count.matrix_bytes()) + ": is it read again from a copy?" +
                   worst_line(count, [](const LineCount& line) { return line.store.bytes + line.atomic.bytes; }));
    const double most = count.matrix_bytes() + static_cast<double>(spare) * count.rows + loaded_by_idle(count);
    if (count.watched_bytes <= most) return {};
    return unmet("x has " + whole(count.matrix_bytes()) + " bytes; " + whole(count.watched_bytes) + " were requested");
  };
}

Demand written_once() {
  return [](const Count& count) -> Judgement {
    const double copied = count.copies(count.copied_written), bytes = count.store.bytes + count.atomic.bytes + copied;
    const double besides = bytes - count.result_bytes, few_values = 64 + 16.0 * count.rows;
    // Of a loss or two per row there are no parts to merge that would be larger.
    const double partial = std::min(partial_results(count), count.result_bytes / 4);
    if (besides >= 0 && besides <= std::max(few_values, partial) && copied == 0) return {};
    return unmet("written " + times_of(bytes / count.result_bytes) + ": " +
                 whole(count.store.sectors + count.atomic.sectors + std::ceil(copied / 32)) +
                 " sectors; the result has " + whole(std::ceil(count.result_bytes / 32)) + by_copies(copied) +
                 worst_line(count, [](const LineCount& line) { return line.store.bytes + line.atomic.bytes; }));
  };
}

namespace {

// Microseconds on top for rows that are more than those of a budget, since they are narrower: each has its beginning,
// its barriers and its end. Where the row's largest are wanted, each of them takes some more.
double for_rows(const Count& count, double rows_of_budget, double a_row) {
  constexpr double a_selection = 0.12, a_result = 0.012;
  const double rows = static_cast<double>(count.rows) * count.stands_for, more = std::max(0.0, rows - rows_of_budget);
  return count.results ? a_selection * more + a_result * (count.results - 1) * rows : a_row * more;
}

Demand predicted_for_bytes(double microseconds, int rows, int cols, bool by_bytes, Apart apart) {
  return [=](const Count& count) -> Judgement {
    const std::string unpredicted = "its time cannot be predicted: " + count.predicted_words;
    // Or a kernel that nothing is known of would keep every budget.
    if (std::isnan(count.at_least)) return unmet(unpredicted);
    const double share = count.elements() * count.stands_for / (static_cast<double>(rows) * cols);
    const double budget =
        microseconds * share * (by_bytes ? count.element_bytes / 4.0 : 1) * (count.cols > 2 * cols ? apart.wide : 1) +
        for_rows(count, rows * share, apart.a_row);
    const bool in_part = std::isnan(count.predicted);
    const double predicted = (in_part ? count.at_least : count.predicted) * 1e6;
    if (predicted <= budget) return {true, in_part ? unpredicted : ""};
    const std::string of_what =
        in_part ? "without what cannot be"
                : std::to_string(count.rows * count.stands_for) + " x " + std::to_string(count.cols);
    Judgement judgement =
        unmet("predicted for an H200, " + of_what + ": " + format("%.3g", predicted) + " us; the budget is " +
              format("%.3g", budget) + " us\n" + (in_part ? unpredicted : count.predicted_words));
    judgement.over = predicted / budget;
    return judgement;
  };
}

}  // namespace

Demand predicted_within(double microseconds, int rows, int cols) {
  return predicted_for_bytes(microseconds, rows, cols, true, {});
}

Demand keeps_pace(double microseconds, int rows, int cols, bool by_bytes, Apart apart) {
  return [within = predicted_for_bytes(microseconds, rows, cols, by_bytes, apart)](const Count& count) -> Judgement {
    if (!std::isnan(count.at_least)) return within(count);
    Count known = count;
    known.at_least = count.rest;
    return within(known);
  };
}

Demand launched_at_most(int times) {
  return [times](const Count& count) -> Judgement {
    const double launches = count.launches + count.library_calls;
    if (launches <= times) return {};
    return unmet(whole(launches) + " launches; " + std::to_string(times) + " are enough");
  };
}

Demand launched_by_graphs() {
  return [](const Count& count) -> Judgement {
    const double launches = count.launches + count.library_calls;
    if (count.by_graphs >= launches) return {};
    return unmet(whole(launches - count.by_graphs) + " of " + whole(launches) +
                 " launches are made one by one; a recorded graph would make all of them");
  };
}

// ---- A move --------------------------------------------------------------------------------------

namespace {

std::string count_once(rung::Client& client, const Step& step, uint64_t more_seed, bool in_turns, Count* count) {
  const std::vector<unsigned char> input =
      operator_of(lab.op).input(step.test_case, step.dtype, session().seed + more_seed);
  rung::Job job = job_for(step, input);
  job.count = true;
  job.in_turns = in_turns;
  job.stands_for = step.test_case.move ? step.test_case.move->stands_for : 0;
  job.time_limit = 30 * times_longer();  // a hundred times what the course's own solutions need
  const Outcome outcome = client.run(job);
  std::string problem = read_counters(step, outcome, count);
  // The judge does not use a count if the result is wrong.
  if (problem.empty() && judged() && judge(step, input, outcome, more_seed).kind != Finding::Kind::right) {
    problem = "not right on the shape that is counted";
  }
  return problem;
}

}  // namespace

std::string count_call(rung::Client& client, const Step& step, Count* count, uint64_t more_seed) {
  static std::set<std::pair<const rung::Client*, int>> with_atomics;
  const std::pair<const rung::Client*, int> variant = {&client, step.variant};
  const bool known = with_atomics.count(variant);
  const std::string problem = count_once(client, step, more_seed, known, count);
  if (known || !problem.empty() || count->atomic.requests == 0) return problem;
  with_atomics.insert(variant);
  return count_once(client, step, more_seed, true, count);
}

namespace {

// Several moves may ask about one call.
struct Counted {
  std::string problem;
  Count count;
  int calls = 0;
  bool with_table = false;
};

// On the build that has a table of its instructions, or on the one that is there sooner.
void count_first(const Step& step, bool with_table, Counted* counted) {
  counted->with_table = with_table || request().counting.empty();
  rung::Client& client = counted->with_table ? counting_client() : *session().checked;
  counted->problem = count_call(client, step, &counted->count);
  counted->calls = 1;
}

Counted& counted_at(const Step& step) {
  static std::map<std::pair<int, std::string>, Counted> all;
  const Shape& sizes = step.test_case.sizes;
  std::string key = std::to_string(sizes.rows) + " " + std::to_string(sizes.cols);
  for (const int more : sizes.more) key += " " + std::to_string(more);
  if (step.test_case.move->stands_for) key += " x" + std::to_string(step.test_case.move->stands_for);
  Counted& counted = all[{step.variant, key}];
  if (counted.calls == 0) count_first(step, step.test_case.move->stands_for > 0, &counted);
  return counted;
}

std::string check_at(const Step& step, const Demand& demand, std::string* remark) {
  const std::string title = "\nthe move: " + step.test_case.move->title;
  Counted& counted = counted_at(step);
  auto& [problem, count, calls, with_table] = counted;
  if (!problem.empty()) return problem + title;
  note_count(step, count);
  Judgement judgement = demand(count);
  // Without the table no loads of shared memory are joined, which only makes them more. Where that is enough, so are
  // fewer.
  if (!judgement.met && !with_table) {
    count_first(step, true, &counted);
    if (!problem.empty()) return problem + title;
    judgement = demand(count);
  }
  // The first call at a shape may try several kernels to keep the quickest. Those that follow have other inputs, so
  // that nothing of the first is left; and all must make the move, or it could be every other call that does.
  if (!judgement.met && calls == 1) {
    constexpr int most_calls = 5;
    Count again;
    Judgement later;
    for (; later.met && calls < most_calls; calls++) {
      const bool is_counted = count_call(counting_client(), step, &again, static_cast<uint64_t>(calls)).empty();
      later = is_counted ? demand(again) : unmet("");
    }
    if (later.met) count = again, judgement = later;
  }
  if (!judgement.met && judgement.rows > step.test_case.sizes.rows) {
    Step there = step;
    there.test_case.sizes.rows = there.test_case.called_with.rows = judgement.rows;
    const std::string failure = check_at(there, demand, remark);
    // Met there because rows share a block; where each has blocks of its own, few rows are no excuse.
    if (!failure.empty() || counted_at(there).count.working_blocks <= judgement.rows / 4.0) return failure;
  }
  if (!judgement.met)
    return judgement.counted + title + " (counted on " + std::to_string(count.rows) + " x " +
           std::to_string(count.cols) + ")";
  *remark = judgement.counted;
  return "";
}

}  // namespace

// Rows that begin anywhere: who leaves out what is before and after their packs has
// a wrong result. Of the others about every fourth has masks, for who does something else there: it follows from the
// class's secret which. So few are asked for that no mask is among a row's largest.
int values_at(const Shape& shape, int otherwise) {
  constexpr int rest_a_result = 16;
  const Operator& op = operator_of(lab.op);
  if (shape.cols % 2) return op.heavy_ends();
  const uint64_t drawn = (session().seed + static_cast<uint64_t>(shape.cols)) * 0x9e3779b97f4a7c15ull;
  const bool masks = op.masked() && drawn >> 62 == 0 && op.results(shape) * rest_a_result <= shape.cols;
  return masks ? op.masked() : otherwise;
}

Move Move::of(std::vector<std::string> names) const {
  Move other = *this;
  other.variants = std::move(names);
  return other;
}

Move Move::and_no_others() const {
  Move other = *this;
  other.others_too = false;
  return other;
}

Move Move::at(Widths others) const {
  Move other = *this;
  other.widths = others;
  return other;
}

Move Move::standing_for(int times) const {
  Move other = *this;
  other.stands_for = times;
  return other;
}

Move Move::paced() const { return at(Widths::paced).standing_for(128); }

Move Move::also_at(std::vector<Also> shapes) const {
  Move other = *this;
  other.also = std::move(shapes);
  return other;
}

Move shares_evenly(Shape wide, std::vector<Move::Also> also) {
  return Move{"move-even-shares", "no thread does the work of others", wide, even_shares()}
      .at(Widths::wider)
      .also_at(std::move(also));
}

Move works_on_many_rows(Shape narrow, Shape odd) {
  return Move{"move-rows-at-once", "many rows are worked on at once", narrow, rows_at_once()}
      .at(Widths::any)
      .also_at({{odd}});
}

std::string check_move(const Step& step, std::string* remark) {
  const Move& move = *step.test_case.move;
  std::string failure = check_at(step, move.demand, remark), no_remark;
  const auto also_at = [&](const Shape& shape, const Demand& demand) {
    if (!failure.empty()) return;
    Step there = step;
    there.test_case.sizes = there.test_case.called_with = shape;
    if (judged()) there.test_case.values = values_at(shape, there.test_case.values);
    failure = check_at(there, demand, &no_remark);
  };
  const std::vector<Shape> shapes = counted_shapes(move.shape, move.widths, &step);
  for (size_t i = 1; i < shapes.size(); i++) also_at(shapes[i], move.demand);
  const Move::Widths widths = move.widths == Move::Widths::wider ? Move::Widths::wider : Move::Widths::any;
  for (const Move::Also& also : move.also) {
    for (const Shape& shape : counted_shapes(also.shape, widths, &step))
      also_at(shape, also.demand ? also.demand : move.demand);
  }
  return failure;
}

}  // namespace testing_
