// Whether the result is the work of the variant's own kernels, judged by what the executor counted.
#pragma once

#include <string>

#include "session.h"

namespace testing_ {

// Runs the instrumented build on the step's shape: kernels must have been launched, what they load must cover the
// matrix, what they store the result, and the result must be right. "" or what is not so.
std::string check_integrity(const Step& step);

}  // namespace testing_
