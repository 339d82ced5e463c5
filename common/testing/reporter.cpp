// What students read: a line for each variant and group of cases, failures explained below it, a verdict at the end.
//
//     tree f32        widths      12 cases  ok    0.21 s
//
// A Catch2 streaming reporter. It expects sections named "variant / group / case" (shared_cases.cpp).
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "catch2_any.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <regex>
#include <set>
#include <sstream>

#include "check.h"
#include "events.h"
#include "next_step.h"
#include "pace.h"
#include "request.h"
#include "session.h"
#include "words.h"

namespace testing_ {
namespace {

constexpr int spelled_out = 3;  // failures of a variant that are explained in full; predictions are few and short: all

struct Failure {
  std::string name, text;
};

// Cases of one variant and group that have run.
struct Group {
  std::string variant, name;
  int cases = 0;
  double seconds = 0;
  std::vector<Failure> failures;
  std::string notes;  // of WARN
};

std::string coloured(const char* text, const char* colour) {
  static const bool on = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
  return on ? std::string("\033[") + colour + "m" + text + "\033[0m" : text;
}

// On a terminal, a line that would be too wide is wrapped to it.
void print_indented(const std::string& text, const std::string& indent) {
  static const size_t columns = terminal_columns();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool too_wide = columns > 0 && indent.size() + line.size() > columns;
    std::istringstream parts(too_wide ? wrapped(line, columns - indent.size()) : line);
    for (std::string part; std::getline(parts, part);) printf("%s%s\n", indent.c_str(), part.c_str());
  }
}

// "tree f32 / widths / normal-7x33". The section that Catch2 itself opens for a test case has no such name; a failure
// outside of every section is reported by testCaseEnded().
bool parts_of(const std::string& section, std::string* variant, std::string* group, std::string* test_case) {
  const size_t first = section.find(" / "), second = section.find(" / ", first + 3);
  if (first == std::string::npos || second == std::string::npos) return false;
  *variant = section.substr(0, first);
  *group = section.substr(first + 3, second - first - 3);
  *test_case = section.substr(second + 3);
  return true;
}

std::vector<Planned> planned_cases() {
  std::vector<Planned> planned;
  for (const Step& step : session().steps) {
    const Case& c = step.test_case;
    planned.push_back(
        {step.label + " / " + c.group + " / " + c.name, step.label, step.cost, !c.move && !is_small(step)});
  }
  return planned;
}

}  // namespace

// Catch2 3 made the base class a plain class and assertionEnded() void.
#ifdef CATCH2_VERSION_3
using StreamingBase = Catch::StreamingReporterBase;
using Ended = void;
#else
class LadderReporter;
using StreamingBase = Catch::StreamingReporterBase<LadderReporter>;
using Ended = bool;
#endif

class LadderReporter : public StreamingBase {
 public:
  using StreamingBase::StreamingBase;

  static std::string getDescription() { return "a line for each variant and group of cases, failures explained"; }

#ifndef CATCH2_VERSION_3
  void assertionStarting(const Catch::AssertionInfo&) override {}
#endif

  Ended assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    std::string& text = result.isOk() ? note_ : failure_;
    if (!result.isOk() && result.hasExpression()) {
      text += result.getExpressionInMacro() + ", that is " + result.getExpandedExpression() + "\n";
    }
    if (!result.isOk() || result.getResultType() == Catch::ResultWas::Warning) {
      for (const auto& info : stats.infoMessages) text += info.message + "\n";
    }
#ifndef CATCH2_VERSION_3
    return true;
#endif
  }

  void testRunStarting(const Catch::TestRunInfo& info) override {
    pace_.plan(planned_cases());
    StreamingBase::testRunStarting(info);
  }

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    test_case_ = info.name;
    StreamingBase::testCaseStarting(info);
  }

  void sectionStarting(const Catch::SectionInfo& info) override {
    StreamingBase::sectionStarting(info);
    std::string variant, group, test_case;
    if (!parts_of(info.name, &variant, &group, &test_case)) return;
    if (variant != group_.variant || group != group_.name) print_group();  // before a long case begins
    pace_.show(info.name);
  }

  void sectionEnded(const Catch::SectionStats& stats) override {
    std::string variant, group, test_case;
    if (!parts_of(stats.sectionInfo.name, &variant, &group, &test_case)) return;
    pace_.ended(stats.sectionInfo.name, stats.durationInSeconds);
    add(variant, group, test_case, stats.durationInSeconds);
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (!failure_.empty()) add(test_case_, "", "", 0);
    StreamingBase::testCaseEnded(stats);
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    print_group();
    print_variant_notes();
    print_verdict();
    note_end(passed_, failed_, not_run_);
    StreamingBase::testRunEnded(stats);
  }

 private:
  void add(const std::string& variant, const std::string& group, const std::string& test_case, double seconds) {
    if (variant != group_.variant || group != group_.name) {
      print_group();
      if (variant != group_.variant) print_variant_notes();
      group_ = {variant, group, 0, 0, {}, ""};
    }
    note_case(variant, group, test_case, failure_.empty(), failure_);
    group_.cases++;
    group_.seconds += seconds;
    ran_[variant]++;
    if (failure_.empty()) {
      passed_++;
    } else {
      group_.failures.push_back({test_case, failure_});
      failed_++;
      if (group == "predict") {
        first_prediction_ = first_prediction_.empty() ? test_case : first_prediction_;
        predictions_wrong_++;
      } else if (group != "exported") {
        const Failing failing = {variant, test_case, failure_};
        // A line helps; but that of a move, which is counted where results are wrong, too, not before those are right.
        const bool helps =
            !names_line(failing_) && names_line(failing) && (group != "move" || failing_group_ == "move");
        if (failing_.name.empty() || helps) {
          failing_ = failing;
          failing_group_ = group;
        }
      }
    }
    group_.notes += note_;
    failure_.clear();
    note_.clear();
  }

  void print_group() {
    pace_.hide();
    if (group_.cases == 0) return;
    const bool good = group_.failures.empty();
    printf("%-16s  %-9s %3d case%s  %s %7.2f s", group_.variant.c_str(), group_.name.c_str(), group_.cases,
           group_.cases == 1 ? " " : "s", good ? coloured("ok  ", "32").c_str() : coloured("FAIL", "31").c_str(),
           group_.seconds);
    if (!good) printf("   %zu wrong", group_.failures.size());
    printf("\n");
    const std::string other = told_like(group_);  // another variant, word for word
    if (!other.empty()) {
      printf("    the same cases fail as in %s, with the same messages\n", other.c_str());
      group_.failures.clear();
      repeats_ = true;
    }
    // Questions are asked in full until there is something else to read.
    const bool folds = group_.name == "predict" && request().wanted.empty() && is_begun(session().source);
    std::string open;
    for (const Failure& failure : group_.failures) {
      if (folds && failure.text.rfind("not filled in yet: ", 0) == 0) {
        open += (open.empty() ? "not filled in yet: " : ", ") + failure.name;
        continue;
      }
      // The same first line again would not help.
      const std::string first_line = failure.text.substr(0, failure.text.find('\n'));
      if ((explained_ < spelled_out || group_.name == "predict") && first_line != last_explained_) {
        explained_++;
        last_explained_ = first_line;
        printf("    %s\n", failure.name.c_str());
        print_indented(failure.text, "      ");
      } else {
        not_explained_.push_back(failure.name);
      }
    }
    if (!open.empty())
      print_indented(open + " (" + session().command() + " CASE='predict-*' asks the questions)", "    ");
    print_indented(group_.notes, "    ");
    group_.cases = 0;
    group_.failures.clear();
    group_.notes.clear();
    fflush(stdout);
  }

  // Of a file with variants of its own; or is a name misspelled? In a student's own file that is an error.
  static void print_unknown() {
    if (session().own_file || judged() || !request().as.empty()) return;
    std::set<std::string> told;
    for (const rung::VariantInfo& v : session().client->variants()) {
      const auto is_it = [&](const Expected& e) { return e.name == v.name; };
      const bool known = v.op != lab.op || std::any_of(lab.variants.begin(), lab.variants.end(), is_it);
      if (!known && told.insert(v.name).second)
        printf("No variant of this lab is called %s: its moves were not tested.\n", v.name.c_str());
    }
  }

  static bool names_line(const Failing& failing) { return line_in(failing.text, session().source) > 0; }

  // "two_kernels f32", if all that this group of another variant has to say was said there; and remembers what it says.
  // Values, which have a point, differ from type to type.
  std::string told_like(const Group& group) {
    if (group.failures.empty()) return "";
    static const std::regex value("[-+]?[0-9]+\\.[0-9]+(e[-+]?[0-9]+)?");
    std::string text = group.name;
    for (const Failure& failure : group.failures)
      text += "\n" + failure.name + "\n" + std::regex_replace(failure.text, value, "#");
    return told_.emplace(text, group.variant).first->second == group.variant ? "" : told_[text];
  }

  // What there is to say at the end of a variant: how much was not explained, not run, or left out.
  void print_variant_notes() {
    const Session& s = session();
    const std::string& variant = group_.variant;
    if (!not_explained_.empty()) {
      const size_t count = not_explained_.size();
      std::string more = std::to_string(count) + " more case" + (count == 1 ? " of " : "s of ") + variant +
                         (count == 1 ? " is wrong: " : " are wrong: ");
      for (size_t i = 0; i < count && i < 4; i++) more += (i ? ", " : "") + not_explained_[i];
      more += std::string(count > 4 ? ", ..." : "") + " (" + s.command(variant, not_explained_[0]) + ")";
      print_indented(more, "    ");
    }
    const auto planned =
        std::count_if(s.steps.begin(), s.steps.end(), [&](const Step& t) { return t.label == variant; });
    const auto moves = std::count_if(s.steps.begin(), s.steps.end(),
                                     [&](const Step& t) { return t.label == variant && t.test_case.move; });
    if (planned > ran_[variant] && planned == ran_[variant] + moves) {
      printf("    memory checks run once the results are correct: %d cases were not run\n", static_cast<int>(moves));
      not_run_ += static_cast<int>(moves);
    } else if (planned > ran_[variant]) {
      if (!repeats_)  // how many were not run in all stands at the end
        printf("    stopped here: the other %d cases of %s were not run\n", static_cast<int>(planned) - ran_[variant],
               variant.c_str());
      not_run_ += static_cast<int>(planned) - ran_[variant];
    }
    if (auto left_out = s.left_out.find(variant); left_out != s.left_out.end()) {
      const double seconds = pace_.estimate(variant, left_out->second.cost);
      printf("    %d wide cases left out: its time grows with cols^2. %s CASES=all runs them%s\n",
             left_out->second.cases, s.command().c_str(), seconds > 0 ? (", in " + about(seconds)).c_str() : "");
    }
    not_explained_.clear();
    explained_ = 0;
    repeats_ = false;
    last_explained_.clear();
    fflush(stdout);
  }

  void print_verdict() {
    const Session& s = session();
    printf("\n");
    const std::string tested = s.todo.empty() ? s.source : "TODO " + s.todo + " of " + s.source;
    if (failed_ > 0) {
      printf("%s in %s.\n", coloured("Not right yet", "31").c_str(), tested.c_str());
      printf("Next: edit %s\n", s.source.c_str());
      const std::string alone = print_next_step(s.source, s.todo, failing_);
      if (failed_ == predictions_wrong_)
        printf("  Only predictions are wrong: TODO 0. The report above says how to get each number.\n");
      const std::string one = !failing_.name.empty()       ? s.command(failing_.variant, failing_.name)
                              : !first_prediction_.empty() ? s.command() + " CASE=" + first_prediction_
                                                           : "";
      if (!one.empty()) printf("One case alone: %s\n", one.c_str());
      if (!alone.empty() && s.has_solution)
        printf("One TODO alone, in the solution: %s TODO=%s\n", s.command().c_str(), alone.c_str());
      if (s.own_file)
        printf("A hint: make hint%s\n", (lab.number() + (s.todo.empty() ? "" : " TODO=" + s.todo)).c_str());
    } else {
      printf("%s: %s passes every case that was run.\n", coloured("Right", "32").c_str(), tested.c_str());
      print_unknown();
    }
    if (not_run_ > 0) printf("%d cases were not run.\n", not_run_);
    printf("%d passed, %d failed\n", passed_, failed_);
    fflush(stdout);
  }

  std::string test_case_;
  std::string failure_, note_;  // of the section that runs now
  Group group_;
  Pace pace_;
  std::map<std::string, int> ran_;
  std::vector<std::string> not_explained_;  // failures of this variant
  int explained_ = 0;                       // of this variant
  bool repeats_ = false;                    // this variant has failed as another has
  std::string last_explained_;
  std::map<std::string, std::string> told_;  // a group's failures -> the variant that had them first
  int passed_ = 0, failed_ = 0, not_run_ = 0, predictions_wrong_ = 0;
  std::string first_prediction_;
  Failing failing_;  // the first failure that names a line; if none does, the first
  std::string failing_group_;
};

CATCH_REGISTER_REPORTER("ladder", LadderReporter)

}  // namespace testing_
