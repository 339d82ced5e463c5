// Runs one case of one variant and says what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "session.h"

namespace testing_ {

struct Finding {
  enum class Kind {
    right,
    wrong,          // ran, but the result or its side effects are not right
    never_written,  // ran and wrote nothing
    crashed,
    timed_out,
  } kind = Kind::right;
  std::string text;  // a few lines for the student; empty if right
  // What the judge may tell: of a case that everybody knows, and of a hidden one. Neither has an input or an expected
  // value in it. Empty: as text.
  std::string open = {}, brief = {};
  bool by_checks = false;  // memcheck, racecheck, initcheck or synccheck ended it
  // For the student, where the result is right: what the checks saw that is no mistake by itself.
  std::string remark = {};
};

// The step as a job for a worker; input: encoded logits, which must outlive the job.
rung::Job job_for(const Step& step, const std::vector<unsigned char>& input);

// Whether a step is small enough for the checks of the executor and for compute-sanitizer.
bool is_small(const Step& step);

// What is wrong with the outcome of a step that ran on `input`: how it ended, error code, every element, guard zones.
// more_seed: of an input that is not the session's, but of this seed more.
Finding judge(const Step& step, const std::vector<unsigned char>& input, const rung::Outcome& outcome,
              uint64_t more_seed = 0);

// Calls the variant twice with the output poisoned, compares every element with the reference, checks the guard zones
// and the input, and that both results are the same to the bit. For a small case the checks come first, and what they
// find is the verdict; for the judge they are a matter of their own, which is recorded (events.h), and the text says
// what may be told.
Finding check(const Step& step);

}  // namespace testing_
