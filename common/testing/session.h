// One run of a lab's test program: which file is tested, on which backend, and which cases are to be run. What it is
// asked for is in request.h.
#pragma once

#include <fstream>
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
  std::string source;  // Request::file
  std::string source_copy;
  std::string todo;            // Request::todo
  bool has_solution = false;   // of this lab, in which a TODO can be tested alone
  bool own_file = true;        // source is this lab's starter or solution, so that all its variants must be there
  std::string wanted;          // Request::wanted
  std::string wanted_variant;  // Request::variant
  uint64_t seed = 0;
  std::unique_ptr<rung::Client> client;
  std::unique_ptr<rung::Client> checked;   // the rung's instrumented build; null if the checks are off
  std::ifstream made;                      // Request::made, once it is asked for
  std::unique_ptr<rung::Client> counting;  // the same with its table; null until counting_client() has been asked
  std::unique_ptr<rung::Client> solution;  // of the lab, instrumented, on the executor; null if nothing is predicted
  std::vector<Predicted> predicted;
  std::vector<Step> steps;
  std::vector<std::string> missing;         // "tree f32": expected, not exported
  std::map<std::string, LeftOut> left_out;  // by label

  // "make lab02 SOLUTION=1": how this run was started, without CASE.
  std::string command() const;
  // The same for one case of one variant: "make lab02 VARIANT=tree CASE=normal-7x33".
  std::string command(const std::string& label, const std::string& case_name) const;
  // Whether Request::variant asks for this variant, "tree f32": it does for all if it is not set.
  bool wants_variant(const std::string& label) const;
  // Whether all of the lab's cases are run: neither CASE nor VARIANT.
  bool whole() const { return wanted.empty() && wanted_variant.empty(); }
  // Whether Request::wanted asks for this case: it does for all if it is not set.
  bool wants(const std::string& case_name) const;
  // Index into Client::variants(), -1 if it is not exported.
  int find(const std::string& name, rung::Dtype dtype) const;
};

// The session of this process, empty until prepare().
Session& session();

// The instrumented build that counts, with the table of its instructions. The first who asks waits until it is built
// (Request::made).
rung::Client& counting_client();

// A case that is counted and not compared: shape, normal values, no checks of its own.
Case counted_case(const std::string& name, const std::string& group, Shape shape);

// What the lab says about a variant. One that the lab does not know may refuse wide rows, as any variant of a lab may
// that says so.
Expected expectation(const rung::VariantInfo& info);

// Columns that a variant which keeps a row in shared memory takes.
int widest_in_shared_memory();

// Where a move of this shape is counted: there, or for the judge beside it, and in several places (drawn_shapes.h).
// step: one of the variant's; nullptr: the first of the shapes is enough, which is the same for all.
std::vector<Shape> counted_shapes(const Shape& shape, Move::Widths widths, const Step* step);

// At which shapes besides its own the time of the step's move is predicted, too: by the judge.
std::vector<Shape> timed_shapes(const Step& step);

// Takes the request, loads the rung and lists the steps. Returns 0, or the exit status after printing one error.
int prepare();

// A path that lies below the course's folder, or each in a text: from there on.
std::string shortened(std::string text);

}  // namespace testing_
