// What a run of a lab's test program is asked for: one JSON object, in the file that its first argument names. The
// commands write it (request.py). A name that is missing means what stands here; one that is not known is an error.
//
//     {"rung": "build/cpu/labs/lab02_smem/softmax_smem.so", "file": "labs/lab02_smem/softmax_smem.cu", "case":
//     "normal-7x*"}
//
// The variable BACKEND (auto, cuda or cpu) is the user's, and is read as everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace testing_ {

struct Request {
  std::string rung;      // the built file, a shared object; the only one that is needed
  std::string checked;   // its instrumented build, for the checks (small cases) and the lab's moves; "": neither
  std::string counting;  // the same with the table of its instructions, while "checked" has none: for moves that are
                         // not met without, and for predicted times; "": "checked" itself
  std::string made;      // a pipe: opening it has "counting" built, and then it ends; "": it is built
  std::string solution;  // the instrumented build of the lab's solution, on which predictions are counted; "": they
                         // are not checked
  std::string counter = "build/cpu/worker";  // the worker program that counts it
  std::string file;                          // the source, as the student knows it; "": labs/<lab>/<file>
  std::string worker;                        // the worker program; "": that of the backend
  std::string wanted;                        // "case": run only this one; * and ? match as in a shell
  std::string variant;                       // test only this one, "tree" or "online f16"; * and ? as in a shell
  std::string cases;  // "all": also those that are left out because they take long; "small": only those that are small
                      // enough for the checks; "huge": matrices of more than 2^31 elements, on a GPU
  std::string todo;   // what is tested is this TODO of the file alone, in the solution; "4"
  std::vector<int> open_todos;  // the lines of the file's open TODOs (next_step.h)
  std::string as;      // "tree f32=serial f32": the second is taken for the first, and nothing else is run; for the
                       // tests of the moves
  uint64_t seed = 0;   // of the random values
  std::string events;  // a file for what happens in the run (events.h); "": it is not noted
  bool backend_shown = false;     // the command has said already on what is run
  bool ends_with_parent = false;  // SIGTERM when whoever started it dies

  // By the judge (common/grade).
  bool judged = false;               // hidden cases are added, and texts give nothing away (events.h)
  bool timed = false;                // "checked" has a table of its instructions, from which times are predicted
  bool launched = false;             // no time is predicted yet: noted is which kernels need such a table (events.h)
  std::vector<std::string> without;  // variants that are not run, since there are no points for them: "unfused f32"
  std::string source;                // where the source can be read; "": file
  std::string course;                // where the course lies for compiler and worker; "": the current folder
  std::string counted;               // a file that keeps what was counted on the solution, for the next submission
};

// The request of this process, empty until read_request().
const Request& request();

// Reads it. "", or what is wrong with the file or with what it holds.
std::string read_request(const std::string& path);

}  // namespace testing_
