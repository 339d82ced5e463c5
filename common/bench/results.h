// The results file of one machine: plots/results/<machine>.json. It holds the machine's roofs and one point per
// measured variant. Whatever goes wrong, an existing file keeps its contents: a new version is written beside it and
// renamed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "count.h"
#include "timing.h"
#include "types.h"

namespace bench {

using Json = nlohmann::ordered_json;

// One variant measured in one configuration.
struct Point {
  std::string source;  // "solution", "student" or the path of a file
  std::string lab, variant;
  rung::Op op = rung::Op::softmax;
  rung::Dtype dtype = rung::Dtype::f32;
  std::string input;              // "normal" or "bigrams"
  int rows = 0, cols = 0, k = 0;  // k: 0 for softmax
  Timing timing;
  Traffic traffic;
  std::string note;
};

// The object that the program `roofs` printed into `path`. Throws Error if it is none, or if it was measured on another
// machine.
Json read_roofs(const std::string& path, const std::string& machine);

class Results {
 public:
  // Reads the file at `path`; if there is none, begins a new one. Throws Error if the file is not a results file,
  // belongs to another machine or backend, or if its folder cannot be written.
  Results(std::string path, const std::string& machine, const std::string& backend);

  // "command" of the file: how its points were measured.
  void set_command(const std::string& command);
  void set_roofs(const Json& roofs);

  // Why a count cannot be that of a run on a GPU which took so many seconds: its footprint is more than the memory
  // delivers in the time. So it is where a variant takes another path on that GPU than on the executor. Empty if
  // nothing is wrong, and always for a CPU, whose caches are warm.
  std::string contradiction(const Traffic& traffic, double seconds) const;

  // Replaces the point of the same source, lab, variant, dtype, input, rows, cols and k, or appends the new one. Dates
  // the file today.
  void put(const Point& point);

  // Writes the file. Throws Error if it cannot; the file is then as it was.
  void save();

 private:
  std::string path_;
  Json file_;
};

}  // namespace bench
