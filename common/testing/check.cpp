#include "check.h"

#include <algorithm>

#include "compare.h"
#include "formats.h"
#include "record.h"
#include "reference.h"
#include "step_operator.h"

namespace testing_ {
namespace {

using Kind = Finding::Kind;
using rung::Job;
using rung::Op;
using rung::Outcome;

// The checks are some fifty times slower, so only small cases run under them. In elements touched; top-K works on its
// candidates besides, whatever the width of the row.
constexpr double most_checked = 30000, candidates_of_a_row = 4096;

constexpr int success = 0, invalid_value = 1;  // cudaSuccess, cudaErrorInvalidValue

bool untouched(const std::vector<unsigned char>& output) {
  return std::all_of(output.begin(), output.end(), [](unsigned char b) { return b == rung::poison; });
}

std::string place(const Outcome& outcome) {
  if (outcome.file.empty()) return "";
  return shortened(outcome.file) + (outcome.line ? ":" + std::to_string(outcome.line) : "");
}

// Did memcheck, racecheck, initcheck or synccheck end the run?
bool is_check(const std::string& message) {
  const size_t colon = message.find(':');
  return colon != std::string::npos && colon >= 5 && message.compare(colon - 5, 5, "check") == 0;
}

// "memcheck" of "memcheck: read of 4 bytes ..."; the first line of anything else.
std::string without_details(const std::string& message) {
  return message.substr(0, message.find(is_check(message) ? ':' : '\n'));
}

// What can be said without looking at the output. `right` if nothing.
Finding check_ending(const Outcome& outcome) {
  const std::string at = place(outcome);
  const auto finding = [&](Kind kind, const std::string& word, const std::string& colon) {
    const std::string start = word + (at.empty() ? "" : (word.empty() ? "" : " at ") + at);
    const std::string first = start.empty() ? "" : start + colon;
    return Finding{kind, first + outcome.message, "", first + without_details(outcome.message),
                   is_check(outcome.message)};
  };
  switch (outcome.kind) {
    case Outcome::Kind::no_worker: return {Kind::crashed, outcome.message, "", "", false};
    case Outcome::Kind::crashed:
      return is_check(outcome.message) ? finding(Kind::wrong, "", ": ") : finding(Kind::crashed, "crashed", ": ");
    case Outcome::Kind::timed_out: return finding(Kind::timed_out, "timed out", ": ");
    case Outcome::Kind::returned: break;
  }
  return {};
}

// What of the runtime an error came from, in further lines; in the first of them is no figure of the case.
std::string reason(const Outcome& outcome) {
  if (outcome.message.empty()) return "";
  const std::string at = place(outcome);
  return "\n" + (at.empty() ? "" : at + ": ") + outcome.message;
}

Finding returned(const std::string& what, const Outcome& outcome) {
  const std::string why = reason(outcome);
  const std::string brief = why.empty() ? "" : what + why.substr(0, why.find('\n', 1));
  return {Kind::wrong, what + why, brief, brief};
}

// The error code and, where nothing may be written, that nothing was. Sets done if the output need not be looked at.
Finding check_error(const Step& step, const Outcome& outcome, bool* done) {
  const Case& c = step.test_case;
  const bool nothing_written = untouched(outcome.output[0]) && untouched(outcome.output[1]);
  if (c.group == "contract") {
    *done = true;
    const int wanted = c.must_refuse ? invalid_value : success;
    if (outcome.error != wanted) {
      const char* const expected = c.must_refuse ? "cudaErrorInvalidValue" : "cudaSuccess";
      return returned("returned " + outcome.error_name + ", expected " + expected, outcome);
    }
    if (!nothing_written) return {Kind::wrong, "wrote to its output, which must stay as it was"};
    return {};
  }
  if (step.may_refuse && outcome.error == invalid_value) {
    *done = true;
    if (!nothing_written) return {Kind::wrong, "returned cudaErrorInvalidValue, but has written to its output"};
    return {};
  }
  if (outcome.error != success) {
    *done = true;
    return returned("returned " + outcome.error_name + " for a shape that it must take", outcome);
  }
  return {};
}

Finding check_output(const Step& step, const std::vector<unsigned char>& input, const Outcome& outcome) {
  const Case& c = step.test_case;
  Comparison comparison;
  std::vector<double> x;
  if (lab.op != Op::swap_ffn) x = reference::decode(input.data(), c.input_size(), step.dtype);
  if (lab.op == Op::swap_ffn) {
    comparison = step_operator().compare(c, session().seed, outcome.output[0], outcome.output[1], step.dtype);
  } else if (lab.op == Op::softmax) {
    const std::vector<double> expected = reference::softmax(x, c.rows, c.cols);
    comparison = compare_softmax(x, expected, outcome.output[0].data(), c.rows, c.cols, step.dtype);
  } else {
    const reference::TopK expected = reference::softmax_topk(x, c.rows, c.cols, c.k);
    comparison =
        compare_topk(x, expected, reinterpret_cast<const int*>(outcome.output[0].data()),
                     reinterpret_cast<const float*>(outcome.output[1].data()), c.rows, c.cols, c.k, step.dtype);
  }
  if (comparison.right()) return {};
  if (comparison.never_written()) return {Kind::never_written, "never written: the whole output is still the poison\n"};
  return {Kind::wrong, comparison.explanation, comparison.without_values, comparison.kinds};
}

Finding check_damage(const Outcome& outcome) {
  Finding finding;
  for (const std::string& sentence : outcome.damage) {
    finding.kind = Kind::wrong;
    finding.text += sentence + "\n";
  }
  return finding;
}

}  // namespace

bool is_small(const Step& step) {
  const double candidates = lab.op == Op::softmax_topk ? candidates_of_a_row * step.test_case.rows : 0;
  return step.cost + candidates <= most_checked;
}

Job job_for(const Step& step, const std::vector<unsigned char>& input) {
  const Case& c = step.test_case;
  Job job;
  job.variant = step.variant;
  job.rows = c.rows;
  job.cols = c.cols;
  job.k = c.k;
  job.input = input.data();
  job.input_bytes = input.size();
  const size_t count = c.output_size(lab.op);
  if (lab.op == Op::swap_ffn) {
    const rung::SwapFfnLayout layout = layout_of(c.sizes, static_cast<size_t>(rung::bytes_of(step.dtype)));
    job.sizes = c.called_with;
    job.output_bytes[0] = layout.output_bytes[0];
    job.output_bytes[1] = layout.output_bytes[1];
    job.workspace_bytes = layout.workspace_bytes;
  } else if (lab.op == Op::softmax) {
    job.output_bytes[0] = count * static_cast<size_t>(rung::bytes_of(step.dtype));
  } else {
    job.output_bytes[0] = count * sizeof(int);
    job.output_bytes[1] = count * sizeof(float);
  }
  job.null_argument = c.null_argument;
  // For an endless loop; a hundred times what the CPU executor needs on a slow core.
  job.time_limit = 5 + 1e-6 * step.cost;
  return job;
}

Finding judge(const Step& step, const std::vector<unsigned char>& input, const Outcome& outcome) {
  Finding finding = check_ending(outcome);
  if (finding.kind != Kind::right) return finding;
  bool done = false;
  finding = check_error(step, outcome, &done);
  if (finding.kind == Kind::right && !done) finding = check_output(step, input, outcome);
  const Finding damage = check_damage(outcome);
  for (std::string Finding::*text : {&Finding::text, &Finding::open, &Finding::brief}) {
    if (text == &Finding::text || !(finding.*text).empty()) finding.*text += damage.text;
  }
  if (finding.kind == Kind::right) finding.kind = damage.kind;
  return finding;
}

namespace {

Finding check_twice(const Step& step, const std::vector<unsigned char>& input, const Job& job) {
  const Outcome first = session().client->run(job);
  Finding finding = judge(step, input, first);
  // A grader has a class to get through: there only small cases are run twice, which are most of them.
  if (finding.kind != Kind::right || (recording() && !is_small(step))) return finding;

  const Outcome second = session().client->run(job);
  finding = check_ending(second);
  if (finding.kind != Kind::right) return {finding.kind, "in the second of two equal runs: " + finding.text};
  if (second.error != first.error) {
    return {Kind::wrong, "two equal runs returned " + first.error_name + " and " + second.error_name};
  }
  const size_t element = static_cast<size_t>(rung::bytes_of(step.dtype));
  const size_t sizes[] = {lab.op == Op::softmax ? element : sizeof(int),
                          lab.op == Op::swap_ffn ? element : sizeof(float)};
  for (int i = 0; i < 2; i++) {
    const auto &a = first.output[i], &b = second.output[i];
    if (a == b) continue;
    if (std::all_of(b.begin(), b.end(), [](unsigned char byte) { return byte == rung::poison; }))
      return {Kind::wrong,
              "the first of two equal runs was right, the second wrote nothing: what is done only once? (A graph, say, "
              "that holds no launch)",
              "", "the second of two equal runs wrote nothing"};
    const size_t at = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
    return {Kind::wrong,
            "two equal runs gave different results, first at element " + std::to_string(at / sizes[i]) +
                ": is a barrier missing?",
            "", "two equal runs gave different results: is a barrier missing?"};
  }
  return check_damage(second);
}

}  // namespace

Finding check(const Step& step) {
  const std::vector<unsigned char> input = input_of(step.test_case, step.dtype, session().seed);
  const Job job = job_for(step, input);

  // The checks come first: a race explains a wrong result better than the result does.
  if (session().checked && is_small(step)) {
    const Outcome outcome = session().checked->run(job);
    if (recording()) {
      // Both builds must be right, or one could be made for the checks and the other for the results.
      Finding found = judge(step, input, outcome);
      record_check(step, found);
      if (found.kind == Kind::timed_out) {  // once is enough
        found.text = told(step, found);
        return found;
      }
    } else {
      const Finding found = check_ending(outcome);
      if (found.kind != Kind::right) return found;
    }
  }
  Finding finding = check_twice(step, input, job);
  if (recording()) finding.text = told(step, finding);
  return finding;
}

}  // namespace testing_
