// What happens in a run: JSON, one object per line, in the file that Request::events names. The judge (common/grade),
// the student's own record (common/commands/progress.py) and the shelf of wrong kernels read this file and nothing that
// is printed. It is written by this process alone, which is trusted. Without such a file nothing is noted.
//
//     {"type": "begin", "lab": "lab02_smem", "backend": "cpu", "checked": true, "whole": true}   whole: no CASE, no
//     VARIANT
//     {"type": "plan", "variant": "tree f32", "group": "widths", "case": "normal-7x33", "checked": true}
//                                                         for each step, first of all; checked: it is small
//     {"type": "missing", "variant": "tree f32"}            not exported
//     {"type": "problem", "text": "..."}                    nothing could be run
//     {"type": "case", ..., "ok": true, "text": ""}         a section that has run; plan and case go together
//     {"type": "end", "passed": 248, "failed": 0, "not_run": 0}   the run is complete
// for the judge
//     {"type": "check", ..., "verdict": "clean|found|wrong", "text": "..."}   a small case under the checks
//     {"type": "time", ..., "rows": 4096, "cols": 4352, "seconds": 3.6e-5, "at_least": 3.6e-5, "solution": 3.5e-5,
//     "words": "..."}   predicted for an H200, of the variant and of the lab's solution; null: there is no prediction
//     {"type": "over", ..., "times": 1.4}   so many times as long as the move allows is what was predicted
//     {"type": "launched", ..., "symbols": ["_Z..."]}   instead of it, if asked for: kernels whose time is to be
//     predicted
// and for a student, before the end
//     {"type": "prediction", "name": "tree_barriers", "outcome": "right|wrong|open|missing"}
//     {"type": "count", "variant": "tree f32", "rows": 8, "cols": 4096, "k": 0, "yours": TRAFFIC, "solution": TRAFFIC}
//
// TRAFFIC: {"load_requests", "load_sectors", "store_requests", "store_sectors"}, as the executor counts them on the
// shape of the variant's first move; atomics are among the stores. Only the variants whose moves were counted are
// there, and "solution" only where the lab's solution is at hand.
//
// For the judge texts hold no input and no expected value, and of a hidden case not its shape either.
#pragma once

#include <set>
#include <string>

#include "check.h"

namespace testing_ {

// Whether the judge has asked for this run. It tests the variants that the lab expects and no others, adds hidden cases
// (hidden.h) and looks at every variant's own loads and stores (integrity.h).
bool judged();

void note_begin();  // with session().steps and session().missing
void note_problem(const std::string& text);
void note_check(const Step& step, const Finding& finding);
// A section that has run.
void note_case(const std::string& variant, const std::string& group, const std::string& name, bool ok,
               const std::string& text);
// What was counted for one of the variant's moves. The first call for a variant is the one that is kept.
void note_count(const Step& step, const Count& count);
// What was predicted for the step's variant, and for the solution's in seconds (NaN: nothing).
void note_time(const Step& step, const Count& count, double solution);
void note_over(const Step& step, double times);
void note_launched(const Step& step, const std::set<std::string>& symbols);
// A word on standard error if the file cannot be written.
void note_end(int passed, int failed, int not_run);

// Of a case whose shape is hidden: without any figure, since a file can see to it that a figure is the width.
std::string told_of_hidden(const Finding& finding);

// What the judge may tell about the finding.
std::string told(const Step& step, const Finding& finding);

}  // namespace testing_
