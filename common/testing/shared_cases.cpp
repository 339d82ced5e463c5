// The tests that every lab's program has: what was predicted is counted, each expected variant is there, and each
// variant passes the shared cases.
#include <map>

#include "check.h"
#include "integrity.h"
#include "offsets.h"
#include "record.h"
#include "session.h"
#include "suite.h"

namespace testing_ {
namespace {

// A variant that gets four of its first cases wrong and at most one right is not near to working: the rest would only
// repeat the message. One that hangs costs seconds per case.
constexpr int first_cases = 8, most_wrong = 4, most_time_outs = 2;

struct Record {
  int run = 0, wrong = 0, timed_out = 0;
  bool hopeless() const {
    return (run <= first_cases && wrong >= most_wrong && run - wrong <= 1) || timed_out >= most_time_outs;
  }
};

CaseResult run(const Step& step, Record* record) {
  CaseResult verdict;
  if (step.test_case.move) {
    verdict.failure = check_move(step, &verdict.note);
  } else if (is_offsets_case(step.test_case)) {
    verdict.failure = check_offsets(step);
  } else if (step.test_case.group == "integrity") {
    verdict.failure = check_integrity(step);
  } else {
    const Finding finding = check(step);
    record->run++;
    record->wrong += finding.kind != Finding::Kind::right;
    record->timed_out += finding.kind == Finding::Kind::timed_out;
    if (finding.kind != Finding::Kind::right) verdict.failure = finding.text;
  }
  return verdict;
}

const Suite predictions("what was predicted is what is counted", [] {
  for (const Predicted& predicted : session().predicted) {
    report_case("predictions", "predict", predicted.prediction->case_name(), [&] {
      return CaseResult{check_prediction(predicted), ""};
    });
  }
});

const Suite exported("the expected variants are exported", [] {
  for (const std::string& label : session().missing) {
    report_case(label, "exported", "RUNG_EXPORT", [&] {
      return CaseResult{"no such variant in " + session().source + ": is it in the RUNG_EXPORT line, by the name \"" +
                            label.substr(0, label.find(' ')) + "\"?",
                        ""};
    });
  }
});

const Suite shared("every variant passes the shared cases", [] {
  std::map<std::string, Record> records;
  for (const Step& step : session().steps) {
    Record& record = records[step.label];
    if (record.hopeless()) continue;
    // How a wrong result came about is of no interest. The judge has its own rule for that.
    if (step.test_case.move && record.wrong > 0 && !recording()) continue;
    if (is_offsets_case(step.test_case) && record.wrong > 0) continue;
    report_case(step.label, step.test_case.group, step.test_case.name, [&] { return run(step, &record); });
  }
});

}  // namespace
}  // namespace testing_
