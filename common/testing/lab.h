// What a lab's test.cpp says about the lab. Everything else is shared: the cases (cases.h), how one is run (check.h),
// what is printed (reporter.cpp).
#pragma once

#include <string>
#include <vector>

#include "moves.h"
#include "predictions.h"
#include "types.h"

namespace testing_ {

// Which rows a variant takes.
enum class Width {
  any,
  // It keeps the row in shared memory and refuses one that does not fit. Every device has 48 KB, 12,288 floats; the CPU
  // executor must take 50,257 columns.
  shared_memory,
};

enum class Cost {
  linear,
  quadratic,  // every thread reads the whole row: the widest cases are left out unless CASES=all
};

struct Expected {
  const char* name;
  rung::Dtype dtype = rung::Dtype::f32;
  Width width = Width::any;
  Cost cost = Cost::linear;
  // A row's results, where a problem leaves their number open. A call for more it may refuse. 0: it takes any number.
  int most_k = 0;
};

struct Lab {
  std::string name;  // "lab02_smem"
  // As in its commands: "02", "08b".
  std::string number() const { return name.substr(3, name.find('_') - 3); }
  std::string file;  // "softmax_smem.cu", in labs/<name> and solutions/<name>
  rung::Op op;
  std::vector<Expected> variants;
  // Variants that the shared cases leave out because test.cpp has a test of its own for them.
  std::vector<std::string> tested_apart;
  // What the lab teaches, held against the counters once a variant is right.
  std::vector<Move> moves = {};
  // What a student predicts before writing code.
  std::vector<Prediction> predictions = {};
};

// Defined by labs/<name>/test.cpp.
extern const Lab lab;

}  // namespace testing_
