// The tests of a lab's program: suites, which report cases. No test framework: it would be a tenth of the time until a
// student's first verdict.
#pragma once

#include <functional>
#include <string>

namespace testing_ {

struct CaseResult {
  std::string failure;  // "": passed
  std::string note;     // shown to the student either way
};

// Runs one case, and has it printed and remembered (reporter.cpp). An exception is a failure.
void report_case(const std::string& variant, const std::string& group, const std::string& name,
                 const std::function<CaseResult()>& run);

// A function that reports cases. Suites are static objects, and run in the order in which their files are linked.
struct Suite {
  Suite(const char* name, void (*run)());
};

// Runs every suite and prints the verdict. Whether all cases passed.
bool run_suites();

}  // namespace testing_
