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
};

// The step as a job for a worker; input: encoded logits, which must outlive the job.
rung::Job job_for(const Step& step, const std::vector<unsigned char>& input);

// Whether a step is small enough for the checks of the executor and for compute-sanitizer.
bool is_small(const Step& step);

// Calls the variant twice with the output poisoned, compares every element with the reference, checks the guard zones
// and the input, and that both results are the same to the bit.
Finding check(const Step& step);

}  // namespace testing_
