// The time that is predicted for a variant, beside that of the lab's solution: for the judge.
#pragma once

#include <string>

#include "moves.h"

namespace testing_ {

// Predicts the time of the step's variant (Move::stands_for) and of the solution's, at one shape and by one model, and
// notes both (events.h). Returns "" if the move's demand is met, or the failure.
std::string check_time(const Step& step);

// Notes the kernels that the step's variant launches there, by their symbols, and predicts nothing. Returns "" or why
// they are not known.
std::string note_kernels(const Step& step);

}  // namespace testing_
