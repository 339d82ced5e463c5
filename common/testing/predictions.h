// Predict first: a starter begins with a few numbers to fill in before there is a kernel (TODO 0, RUNG_PREDICT). A
// lab's test.cpp says what each stands for (Lab::predictions).
//
// What is right is counted, not typed in: the lab's solution, instrumented, runs on the executor at the shape of the
// question. So a prediction can be checked before the student's file has a kernel. A prediction of time is held against
// what was measured of the solution on a GPU (plots/results), and need only be near; one of what limits a kernel,
// against the model of that GPU (common/simt/timing).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "moves.h"
#include "types.h"

namespace testing_ {

// What is read from the counts of a call.
using Figure = std::function<double(const Count&)>;

// ---- The vocabulary ------------------------------------------------------------------------------

// 32-byte sectors that one load instruction of a warp requests, the mean over all loads; and over those of the line
// that loads most often.
Figure sectors_per_load();
Figure sectors_of_the_commonest_load();
// Instructions of warps, in all passes over a row.
Figure loads_per_row();
Figure stores_per_row();
// Sector bytes: whole sectors, though the lanes may not want all of their bytes.
Figure bytes_read_per_row();
// Bytes of the distinct sectors among those read.
Figure distinct_bytes_read_per_row();
// Requested bytes: those that lanes write, not whole sectors.
Figure bytes_written_per_row();
// How often an element is loaded.
Figure reads_of_an_element();
// Of a kernel with one block per row: barriers that a thread comes to; shuffles, votes and the like that a warp
// executes.
Figure barriers_per_row();
Figure warp_operations_per_row();

// Kernels and library calls.
Figure launches();

// Of time: a variant at one shape, as it was measured on a GPU. Top-K: K = 50.
struct Timed {
  std::string lab, variant;
  rung::Dtype dtype;
  int rows, cols;
};

// ---- A prediction --------------------------------------------------------------------------------

struct Prediction {
  std::string name;  // as in RUNG_PREDICT: "tree_barriers"; its case is "predict-tree-barriers"
  std::string question;
  // What is counted: a variant of the lab's solution, at this shape.
  std::string variant;
  rung::Dtype dtype;
  Shape shape;
  Figure figure;
  std::string lesson;  // how one gets there; shown with a wrong prediction
  // Of time, in place of shape and figure: the microseconds of the first, or how many times longer it takes than the
  // second. Right within this factor.
  std::vector<Timed> timed = {};
  double within = 1;
  // In place of a number: what limits the first of `timed` (rung::limit), as the model of the GPU has it.
  bool asks_limit = false;

  std::string case_name() const;
};

// A prediction of the lab, as the rung under test makes it.
struct Predicted {
  const Prediction* prediction;
  bool made;     // the rung's table has it
  double value;  // NaN: not filled in
};

// Counts, unless nothing was predicted, and compares. Returns "" or the failure.
std::string check_prediction(const Predicted& predicted);

}  // namespace testing_
