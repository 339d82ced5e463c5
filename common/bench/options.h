// The command line of bench.
#pragma once

#include <map>
#include <set>
#include <string>

namespace bench {

struct Options {
  std::string worker, rung;      // programs: the worker of a backend, the rung's shared object
  std::string lab, source;       // as the results file names them
  std::string backend = "cpu";   // "cpu" or "cuda"
  std::string machine;           // of the results file; empty: this machine's processor and cores
  std::string input = "normal";  // name of the input; anything but "normal" comes from `matrix`
  std::string matrix;            // raw little-endian float32, row-major
  int matrix_rows = 0, matrix_cols = 0;
  int rows = 0, cols = 0;                // of the measurement; with a matrix: its own
  int k = 50;                            // for top-K
  std::map<std::string, int> quadratic;  // variant -> rows that it is measured on
  std::set<std::string> wrong;           // variants that are wrong on purpose, and are not measured
  std::string results, roofs, command;
  std::string topk_output;
  std::string checked, counter;  // the rung's instrumented build; the executor's worker, which counts with it
};

extern const char* const usage;

// Throws Error for an option or a value that it does not understand; the text says which.
Options parse_options(int argc, char** argv);

}  // namespace bench
