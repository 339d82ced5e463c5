// The results of a run for the student's own record (common/commands/progress.py): one JSON object, written at the end
// of the run into the file that LADDER_RESULTS names. Without LADDER_RESULTS nothing is noted.
//
//     {"lab": "lab02_smem", "backend": "cpu", "checked": true, "whole": true,     whole: no CASE, no VARIANT
//      "passed": 248, "failed": 0, "not_run": 0,
//      "first_failure": "tree f32 / widths / normal-7x33",                        "" if there is none
//      "variants": {"tree f32": {"passed": 81, "failed": 0}},
//      "predictions": {"tree_barriers": "right"},                                 or "wrong", "open", "missing"
//      "counts": {"tree f32": {"rows": 8, "cols": 4096, "k": 0, "yours": TRAFFIC, "solution": TRAFFIC}}}
//
// TRAFFIC: {"load_requests", "load_sectors", "store_requests", "store_sectors"}, as the executor counts them on the
// shape of the variant's first move; atomics are among the stores. Only the variants whose moves were counted are
// there, and "solution" only where the lab's solution is at hand.
#pragma once

#include <string>

#include "session.h"

namespace testing_ {

// A section that has run.
void note_case(const std::string& variant, const std::string& group, const std::string& name, bool ok);

// What was counted for one of the variant's moves. The first call for a variant is the one that is kept.
void note_count(const Step& step, const Count& count);

// Writes the file; a word on standard error if it cannot be written.
void write_progress(int passed, int failed, int not_run);

}  // namespace testing_
