// One run of a lab's test program: which file is tested, on which backend, and which cases are to be run.
//
// From the environment, set by the Makefile:
//     LADDER_RUNG      the built rung, a shared object (needed)
//     LADDER_CHECKED   its instrumented build, for the checks (small cases) and the lab's moves; none: neither
//     LADDER_SOLUTION  the instrumented build of the lab's solution, on which predictions are counted; none: they are
//                      not checked
//     LADDER_COUNTER   the worker program that counts it; default build/cpu/worker
//     LADDER_FILE      its source, as the student knows it; default labs/<lab>/<file>
//     LADDER_WORKER    the worker program; default that of the backend
//     LADDER_CASE      run only this case; * and ? match as in a shell
//     LADDER_VARIANT   test only this variant, "tree" or "online f16"; * and ? as in a shell
//     LADDER_CASES     "all": also those that are left out because they take long; "small": only those that are small
//                      enough for the checks
//     LADDER_TODO      what is tested is this TODO of the file alone, in the solution; "4"
//     LADDER_TODOS     the lines of the file's open TODOs (next_step.h)
//     LADDER_AS        "tree f32=serial f32": the second is taken for the first, and nothing else is run; for the tests
//     of the moves LADDER_SEED      other random values BACKEND          auto, cuda or cpu
// and by the judge:
//     LADDER_RECORD    a file for the results (record.h); hidden cases are added
//     LADDER_WITHOUT   variants that the judge has no points for and that are not run: "unfused f32,unfused bf16"
//     LADDER_SOURCE    where the source can be read; default LADDER_FILE
//     LADDER_ROOT      where the course lies for compiler and worker; default the current folder
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "client.h"
#include "lab.h"

namespace testing_ {

// One case of one variant.
struct Step {
  int variant;  // index into Client::variants()
  rung::Dtype dtype;
  std::string label;  // of the variant: "tree f32"
  Case test_case;
  bool may_refuse = false;  // the row is wider, or gives more results, than this variant claims to take
  double cost = 0;          // elements touched
};

// Cases of a variant that were left out because its time grows with cols^2.
struct LeftOut {
  int cases = 0;
  double cost = 0;  // as Step::cost
};

struct Session {
  std::string backend;  // "cpu" or "cuda"
  std::string backend_line;
  std::string source;  // LADDER_FILE
  std::string source_copy;
  std::string todo;            // LADDER_TODO
  bool own_file = true;        // source is this lab's starter or solution, so that all its variants must be there
  std::string wanted;          // LADDER_CASE
  std::string wanted_variant;  // LADDER_VARIANT
  uint64_t seed = 0;
  std::unique_ptr<rung::Client> client;
  std::unique_ptr<rung::Client> checked;   // the rung's instrumented build; null if the checks are off
  std::unique_ptr<rung::Client> solution;  // of the lab, instrumented, on the executor; null if nothing is predicted
  std::vector<Predicted> predicted;
  std::vector<Step> steps;
  std::vector<std::string> missing;         // "tree f32": expected, not exported
  std::map<std::string, LeftOut> left_out;  // by label

  // "make lab02 SOLUTION=1": how this run was started, without CASE.
  std::string command() const;
  // The same for one case of one variant: "make lab02 VARIANT=tree CASE=normal-7x33".
  std::string command(const std::string& label, const std::string& case_name) const;
  // Whether LADDER_VARIANT asks for this variant, "tree f32": it does for all if it is not set.
  bool wants_variant(const std::string& label) const;
  // Whether all of the lab's cases are run: neither CASE nor VARIANT.
  bool whole() const { return wanted.empty() && wanted_variant.empty(); }
  // Whether LADDER_CASE asks for this case: it does for all if it is not set.
  bool wants(const std::string& case_name) const;
  // Index into Client::variants(), -1 if it is not exported.
  int find(const std::string& name, rung::Dtype dtype) const;
};

// The session of this process, empty until prepare().
Session& session();

// A case that is counted and not compared: shape, normal values, no checks of its own.
Case counted_case(const std::string& name, const std::string& group, Shape shape);

// Reads the environment, loads the rung and lists the steps. Returns 0, or the exit status after printing one error.
int prepare();

// "labs/lab02_smem/softmax_smem.cu:12" -> relative to the current folder if it lies below it.
std::string shortened(const std::string& path);

}  // namespace testing_
