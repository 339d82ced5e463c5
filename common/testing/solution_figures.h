// What is counted on the lab's solution, beside which a file's figures stand.
#pragma once

#include <functional>
#include <string>

#include "moves.h"

namespace testing_ {

// Counts the call of the step on the same variant of the lab's solution. False if there is none, or it did not work.
bool count_on_solution(Step step, Count* count);

// A figure that is the same for a whole class: the judge keeps it in the file Request::counted, "name figure" a line.
// What is not there yet `find` computes. Returns what went wrong there, "" if nothing.
std::string kept_figure(const std::string& name, double* figure, const std::function<std::string(double*)>& find);

}  // namespace testing_
