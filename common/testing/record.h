// The record of a run for the judge (common/grade): JSON, one object per line, in the file that LADDER_RECORD names.
// The judge believes this file and nothing that is printed; it is written by this process alone, which is trusted.
//
//     {"type": "plan", "variant": "tree f32", "group": "widths", "case": "normal-7x33", "checked": true}
//                                                         for each step, first of all; checked: it is small
//     {"type": "missing", "variant": "tree f32"}            not exported
//     {"type": "problem", "text": "..."}                    nothing could be run
//     {"type": "check", ..., "verdict": "clean|found|wrong", "text": "..."}   a small case under the checks
//     {"type": "case", ..., "ok": true, "text": ""}         a section that has run; plan and case go together
//     {"type": "end"}                                       the run is complete
//
// The texts hold no input and no expected value, and of a hidden case not its shape either.
#pragma once

#include <string>

#include "check.h"

namespace testing_ {

// Whether LADDER_RECORD is set. A run for the judge tests the variants that the lab expects and no others, adds hidden
// cases (hidden.h) and looks at every variant's own loads and stores (integrity.h).
bool recording();

void record_plan();  // of session().steps and session().missing
void record_problem(const std::string& text);
void record_check(const Step& step, const Finding& finding);
void record_case(const std::string& variant, const std::string& group, const std::string& name, bool ok,
                 const std::string& text);
void record_end();

// Of a case whose shape is hidden: without any figure, since a file can see to it that a figure is the width.
std::string told_of_hidden(const Finding& finding);

// What the judge may tell about the finding.
std::string told(const Step& step, const Finding& finding);

}  // namespace testing_
