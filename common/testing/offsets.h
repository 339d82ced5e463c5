// Offsets beyond 2^31 and 2^32 elements, on a machine that has no room for such a matrix: the worker's own view of one
// (rung/far_rows.h).
#pragma once

#include <string>

#include "session.h"

namespace testing_ {

// The cases of that, for every variant on the executor whose operator says what belongs into a row
// (FarRows, ops/arguments.h).
std::vector<Case> offsets_cases();
inline bool is_offsets_case(const Case& c) { return c.group == "offsets"; }

// "" or what is wrong.
std::string check_offsets(const Step& step);

}  // namespace testing_
