// The Catch2 tests that every lab's program has: what was predicted is counted, each expected variant is there, and
// each variant passes the shared cases. The names of the sections are what reporter.cpp prints: "variant / group /
// case".
#include "catch2_any.h"
#include "check.h"
#include "integrity.h"
#include "offsets.h"
#include "events.h"
#include "request.h"
#include "session.h"
#include "times.h"

namespace testing_ {
namespace {

// A variant that gets four of its first cases wrong and at most one right is not near to working: the rest would only
// repeat the message. One that hangs costs seconds per case: one such case is enough if nothing was right before it.
// The judge waits for a second one, since a busy machine may have been the reason.
constexpr int first_cases = 8, most_wrong = 4, most_time_outs = 2;

struct Record {
  int run = 0, wrong = 0, timed_out = 0;
  std::string remark;  // told once
  bool hopeless() const {
    if (timed_out >= most_time_outs || (timed_out == run && run > 0 && !judged())) return true;
    return run <= first_cases && wrong >= most_wrong && run - wrong <= 1;
  }
};

}  // namespace

TEST_CASE("what was predicted is what is counted") {
  for (const Predicted& predicted : session().predicted) {
    DYNAMIC_SECTION("predictions / predict / " << predicted.prediction->case_name()) {
      const std::string failure = check_prediction(predicted);
      if (!failure.empty()) FAIL_CHECK(failure);
      SUCCEED();
    }
  }
}

TEST_CASE("the expected variants are exported") {
  for (const std::string& label : session().missing) {
    DYNAMIC_SECTION(label << " / exported / RUNG_EXPORT") {
      const std::string name = label.substr(0, label.find(' '));
      FAIL_CHECK("no such variant in " << session().source << ": is it in the RUNG_EXPORT line, by the name \"" << name
                                       << "\"?");
    }
  }
}

TEST_CASE("every variant passes the shared cases") {
  static std::map<std::string, Record> records;
  if (session().steps.empty()) return;
  const Step& step = session().steps[GENERATE(range(size_t{0}, session().steps.size()))];
  Record& record = records[step.label];
  if (record.hopeless()) return;
  // How a wrong result came about is of no interest. The judge has its own rule for that.
  if (step.test_case.move && record.wrong > 0 && !judged()) return;
  if (is_offsets_case(step.test_case) && record.wrong > 0) return;
  DYNAMIC_SECTION(step.label << " / " << step.test_case.group << " / " << step.test_case.name) {
    if (step.test_case.move) {
      std::string remark;
      const bool beside_solution = step.test_case.group == "time";
      const std::string failure = !beside_solution     ? check_move(step, &remark)
                                  : request().launched ? note_kernels(step)
                                                       : check_time(step);
      if (!failure.empty()) FAIL_CHECK(failure);
      if (!remark.empty()) WARN(remark);
      SUCCEED();
      return;
    }
    if (is_offsets_case(step.test_case)) {
      const std::string failure = check_offsets(step);
      if (!failure.empty()) FAIL_CHECK(failure);
      SUCCEED();
      return;
    }
    if (step.test_case.group == "integrity") {
      const std::string failure = check_integrity(step);
      if (!failure.empty()) FAIL_CHECK(failure);
      SUCCEED();
      return;
    }
    const Finding finding = check(step);
    record.run++;
    record.wrong += finding.kind != Finding::Kind::right;
    record.timed_out += finding.kind == Finding::Kind::timed_out;
    if (finding.kind == Finding::Kind::right) {
      if (record.remark.empty() && !finding.remark.empty()) {
        record.remark = finding.remark;
        WARN(record.remark);
      }
      SUCCEED();
    } else {
      FAIL_CHECK(finding.text);
    }
  }
}

}  // namespace testing_
