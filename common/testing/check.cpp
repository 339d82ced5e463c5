#include "check.h"

#include <algorithm>
#include <cmath>

#include "compare.h"
#include "formats.h"
#include "operator.h"
#include "pace.h"
#include "events.h"

namespace testing_ {
namespace {

using Kind = Finding::Kind;
using rung::Job;
using rung::Outcome;

// The checks are some fifty times slower, so only small cases run under them. In elements touched.
constexpr double most_checked = 30000;

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

// Memory that no kernel has: a GPU ends the program there, in whichever build.
bool would_end_on_a_gpu(const Outcome& outcome) {
  for (const char* const what : {"invalid address", "local memory of another thread", "host memory"}) {
    if (outcome.message.rfind(std::string("memcheck: ") + what, 0) == 0) return true;
  }
  return false;
}

// What can be said without looking at the output. `right` if nothing.
Finding ending(const Outcome& outcome) {
  const std::string at = place(outcome);
  const auto finding = [&](Kind kind, const std::string& word, const std::string& colon) {
    const std::string start = word + (at.empty() ? "" : (word.empty() ? "" : " at ") + at);
    const std::string first = start.empty() ? "" : start + colon;
    // Of a hidden case no place: a file could end at another line for every width, and so be told which it is.
    return Finding{kind, first + shortened(outcome.message), "",
                   (word.empty() ? "" : word + ": ") + without_details(outcome.message), is_check(outcome.message)};
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

Finding check_ending(const Step& step, const Outcome& outcome) {
  Finding finding = ending(outcome);
  if (finding.kind != Kind::right && step.test_case.must_refuse)
    finding.text += "\nThe function must refuse these arguments before any launch, and return cudaErrorInvalidValue.";
  return finding;
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
    Finding finding = returned("returned " + outcome.error_name + " for a shape that it must take", outcome);
    finding.brief = "returned an error for a shape that it must take";  // of a hidden case neither which nor where
    return finding;
  }
  return {};
}

Finding check_output(const Step& step, const std::vector<unsigned char>& input, const Outcome& outcome, uint64_t seed) {
  const Case& c = step.test_case;
  const Comparison comparison = operator_of(lab.op).expect(c, seed, input, step.dtype)(outcome.output);
  if (comparison.right()) return {};
  if (comparison.never_written())
    return {Kind::never_written, "never written: the whole output still has what the test put there\n"};
  const std::string about = c.about.empty() ? "" : "in this case " + c.about + "\n";
  return {Kind::wrong, comparison.explanation + about, comparison.without_values, comparison.kinds};
}

// A kernel may raise a flag that the host looks at before it launches the next one; more than that the host has no need
// to know. What it reads and gives nothing back after, such as a copy to print, is no part of the result.
constexpr uint64_t most_to_host = 16;

Finding check_who_works(const Outcome& outcome) {
  if (outcome.work.bytes_to_host <= most_to_host || !outcome.work.used_after) return {};
  const std::string text = "the host reads " + std::to_string(outcome.work.bytes_to_host) +
                           " bytes of device memory and then gives the device more to do: kernels have to do the work";
  const std::string brief =
      "the host reads device memory and then gives the device more to do: kernels have to do the work";
  return {Kind::wrong, text, "", brief};
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
  return step.cost + operator_of(lab.op).cost_of_rows(step.test_case.sizes) <= most_checked;
}

Job job_for(const Step& step, const std::vector<unsigned char>& input) {
  const Case& c = step.test_case;
  Job job;
  job.variant = step.variant;
  job.sizes = c.called_with;
  job.input = input.data();
  job.input_bytes = input.size();
  const rung::Plan plan = operator_of(lab.op).plan(c.sizes, step.dtype);
  for (int i = 0; i < 2; i++) job.output_bytes[i] = plan.bytes[i + 1];
  job.workspace_bytes = plan.bytes[rung::workspace_buffer];
  job.null_argument = c.null_argument;
  // For an endless loop; a hundred times what the CPU executor needs on a slow core.
  job.time_limit = (5 + 1e-6 * step.cost) * times_longer();
  return job;
}

Finding judge(const Step& step, const std::vector<unsigned char>& input, const Outcome& outcome, uint64_t more_seed) {
  Finding finding = check_ending(step, outcome);
  if (finding.kind != Kind::right) return finding;
  bool done = false;
  finding = check_error(step, outcome, &done);
  if (finding.kind == Kind::right && !done) finding = check_output(step, input, outcome, session().seed + more_seed);
  if (finding.kind == Kind::right) finding = check_who_works(outcome);
  const Finding damage = check_damage(outcome);
  for (std::string Finding::*text : {&Finding::text, &Finding::open, &Finding::brief}) {
    if (text == &Finding::text || !(finding.*text).empty()) finding.*text += damage.text;
  }
  if (finding.kind == Kind::right) finding.kind = damage.kind;
  return finding;
}

namespace {

// Of the first tensor in an output.
size_t element_bytes(const Step& step, int output) {
  const rung::Plan plan = operator_of(lab.op).plan(step.test_case.sizes, step.dtype);
  const rung::Tensor* const tensor = plan.first_of(output + 1);
  return tensor ? tensor->element_bytes : 1;
}

// The same numbers? Which NaN a NaN is the compiler decides, which may swap the operands of a sum.
bool same_numbers(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b, size_t element,
                  rung::Dtype dtype) {
  if (a == b) return true;
  if (element == sizeof(float)) dtype = rung::Dtype::f32;
  if (a.size() != b.size() || a.size() % element || element != static_cast<size_t>(rung::bytes_of(dtype))) return false;
  const std::vector<double> x = reference::decode(a.data(), a.size() / element, dtype);
  const std::vector<double> y = reference::decode(b.data(), b.size() / element, dtype);
  for (size_t i = 0; i < x.size(); i++) {
    const bool same_bits =
        std::equal(a.begin() + static_cast<long>(i * element), a.begin() + static_cast<long>((i + 1) * element),
                   b.begin() + static_cast<long>(i * element));
    if (!same_bits && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
  }
  return true;
}

// Both builds are of one text. What is counted and checked in the one must be what runs in the other: the same kernels
// in the same shapes, and the same results. Only the order of atomics may change a sum.
Finding check_one_program(const Step& step, const Outcome& instrumented, const Outcome& plain) {
  const auto is_another = [](const std::string& how) {
    const std::string text = "behaves differently under the checks: " + how;
    return Finding{Kind::wrong, text, "", text};
  };
  const Outcome::Work &a = instrumented.work, &b = plain.work;
  if (a.launches != b.launches || a.shapes != b.shapes) {
    if (step.test_case.group == "hidden") return is_another("it launches other kernels, or in other shapes");
    return is_another("with them it launches " + (a.launches ? a.first_ones : "nothing") + ", without them " +
                      (b.launches ? b.first_ones : "nothing"));
  }
  if (a.atomics || b.atomics) return {};
  for (int i = 0; i < 2; i++) {
    if (!same_numbers(instrumented.output[i], plain.output[i], element_bytes(step, i), step.dtype))
      return is_another("it writes other results (is something read that was not written?)");
  }
  return {};
}

// instrumented: the outcome of the other build, if there is one that is right. What the rung prints is printed once.
Finding check_twice(const Step& step, const std::vector<unsigned char>& input, Job job, const Outcome* instrumented) {
  const Outcome first = session().client->run(job);
  Finding finding = judge(step, input, first);
  if (finding.kind == Kind::right && instrumented) finding = check_one_program(step, *instrumented, first);
  // A grader has a class to get through: there only small cases are run twice, which are most of them.
  if (finding.kind != Kind::right || (judged() && !is_small(step))) return finding;

  job.quiet = true;
  const Outcome second = session().client->run(job);
  finding = check_ending(step, second);
  if (finding.kind != Kind::right) {
    const std::string when = "in the second of two equal runs: ";
    return {finding.kind, when + finding.text, "", when + (finding.brief.empty() ? finding.text : finding.brief)};
  }
  if (second.error != first.error) {
    return {Kind::wrong, "two equal runs returned " + first.error_name + " and " + second.error_name, "",
            "two equal runs returned different errors"};
  }
  for (int i = 0; i < 2; i++) {
    const auto &a = first.output[i], &b = second.output[i];
    if (a == b) continue;
    if (std::all_of(b.begin(), b.end(), [](unsigned char byte) { return byte == rung::poison; }))
      return {
          Kind::wrong,
          "the first of two equal runs was right, the second wrote nothing: what is done only once? (For example, a "
          "graph without launches)",
          "", "the second of two equal runs wrote nothing"};
    const size_t at = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
    return {Kind::wrong,
            "two equal runs gave different results, first at element " + std::to_string(at / element_bytes(step, i)) +
                ": is a barrier missing?",
            "", "two equal runs gave different results: is a barrier missing?"};
  }
  if (first.work.launches > 0 && second.work.launches == 0)
    return {Kind::wrong,
            "the second of two equal runs launched nothing: the result of an earlier call is not that of a new input"};
  return check_damage(second);
}

}  // namespace

Finding check(const Step& step) {
  const std::vector<unsigned char> input = operator_of(lab.op).input(step.test_case, step.dtype, session().seed);
  Job job = job_for(step, input);

  // The checks come first: a race explains a wrong result better than the result does.
  Outcome outcome;
  bool compared = false;
  if (session().checked && is_small(step)) {
    outcome = session().checked->run(job);
    job.quiet = true;
    if (judged()) {
      // Both builds must be right, or one could be made for the checks and the other for the results.
      Finding found = judge(step, input, outcome);
      note_check(step, found);
      if (found.kind == Kind::timed_out || would_end_on_a_gpu(outcome)) {  // once is enough
        found.text = told(step, found);
        return found;
      }
      compared = found.kind == Kind::right;
    } else {
      const Finding found = check_ending(step, outcome);
      if (found.kind != Kind::right) return found;
    }
  }
  Finding finding = check_twice(step, input, job, compared ? &outcome : nullptr);
  if (judged()) {
    finding.text = told(step, finding);
  } else if (const std::string remark = shortened(outcome.work.remark); !remark.empty()) {
    (finding.kind == Finding::Kind::right ? finding.remark : finding.text) += remark + "\n";
  }
  return finding;
}

}  // namespace testing_
