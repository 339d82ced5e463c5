// A test case: a problem of an operator that every variant of it is tried with. Which there are, each operator says
// (common/ops/operator.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client.h"

namespace testing_ {

using Shape = rung::Sizes;

struct Move;

struct Case {
  std::string name;   // "normal-20x1024", "normal-7x600-k5", "cols-zero": stable, for CASE=name
  std::string group;  // "widths", "rows", "values", "masks", "nan", "k", "contract", "move", "predict"
  int values = 0;     // what the numbers are like, as the operator knows it
  std::string about;  // what is special about them, for who gets them wrong: "every logit is near -10,000"; or empty
  // In place of those numbers: a matrix, row-major, which somebody else keeps. For operators on the rows of one.
  const std::vector<float>* matrix = nullptr;
  rung::Sizes sizes;  // of the data
  // What the variant is called with; in contract cases it may be nonsense.
  rung::Sizes called_with;
  bool must_refuse = false;  // contract cases: expects cudaErrorInvalidValue, nothing written
  rung::Job::Null null_argument = rung::Job::Null::none;
  const Move* move = nullptr;  // only of the group "move": not whether the result is right, but how it came about
};

// Names most like `name`, best first, at most three.
std::vector<std::string> similar_names(const std::vector<Case>& cases, const std::string& name);

}  // namespace testing_
