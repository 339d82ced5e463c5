// What the judge knows of an operator: its cases, their inputs, whether a result is right, and what a problem costs.
// The other half, which the process that runs a rung knows too, is arguments.h.
//
// An operator's folder defines one object of a class derived from this and adds it (add_operator). Only programs that
// link the folder's objects have it: the tests of a lab link its own operator.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cases.h"
#include "compare.h"

namespace testing_ {

using Outputs = std::vector<unsigned char>[2];
using Verdict = std::function<Comparison(const Outputs& output)>;

class Operator {
 public:
  explicit Operator(rung::Op op) : op_(op) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;

  rung::Op op() const { return op_; }
  const rung::Arguments& arguments() const { return rung::arguments_of(op_); }
  // Where the tensors of a problem lie. All zero if there is no such problem.
  rung::Plan plan(const rung::Sizes& sizes, rung::Dtype dtype) const;

  // ---- Cases: from the smallest up within each group -----------------------------------------------
  virtual std::vector<Case> cases() const = 0;
  // Those that only the judge runs: shapes drawn near those that everybody knows, so that a kernel which knows the
  // public shapes by heart gains nothing. Their names are always the same and say in which way they are special
  // ("hidden-above-1024"); shapes and values follow from the seed. A shape is drawn from a family whose members are
  // alike (odd widths, just above 1024, multiples of 8), so that a kernel with a typical mistake fails whatever was
  // drawn.
  virtual std::vector<Case> hidden_cases(uint64_t seed) const = 0;
  // The shape on which a variant's own loads and stores are looked at (integrity.h).
  virtual Case integrity_case(uint64_t seed) const = 0;

  // ---- Values --------------------------------------------------------------------------------------
  // What a variant is called with: the input buffer. The same for the same name and seed.
  virtual std::vector<unsigned char> input(const Case& c, rung::Dtype dtype, uint64_t seed) const = 0;
  // Inputs for whoever wants no verdict on what a variant makes of them.
  virtual std::vector<unsigned char> input_without_result(const Case& c, rung::Dtype dtype, uint64_t seed) const {
    return input(c, dtype, seed);
  }
  // Computes what a variant must make of `input`, which is input(c, dtype, seed). The verdict may be asked for several
  // outputs.
  virtual Verdict expect(const Case& c, uint64_t seed, const std::vector<unsigned char>& input,
                         rung::Dtype dtype) const = 0;

  // ---- Cost ----------------------------------------------------------------------------------------
  // The least bytes that any kernel must move: every input read once, every result written once.
  virtual double bytes(const rung::Sizes& sizes, rung::Dtype dtype) const;
  virtual double flops(const rung::Sizes& sizes) const = 0;
  // Elements that a linear variant works on; times the width for a variant whose every thread reads the whole row. A
  // hundred multiplications cost as much as an element. It says how long a case may take.
  virtual double cost(const rung::Sizes& sizes, bool quadratic) const;
  // What a variant works on besides, whatever the width of its rows, when it runs under the checks: all threads of a
  // block run, also those that a narrow row has nothing for, and come to its barriers.
  virtual double cost_of_rows(const rung::Sizes&) const { return 0; }

  // ---- What it is like -----------------------------------------------------------------------------
  // "7 x 33": the problem in a message.
  virtual std::string name(const rung::Sizes& sizes) const;
  // How many results a row gives, where a problem leaves that open: k of top-K. 0 elsewhere.
  virtual int results(const rung::Sizes&) const { return 0; }
  // Any rows and columns near a problem's make another problem.
  virtual bool takes_any_shape() const { return true; }
  // A library may read the input in the kernels' place.
  virtual bool has_library_calls() const { return false; }

 private:
  const rung::Op op_;
};

// Throws std::logic_error if this program is not linked with the operator's folder.
const Operator& operator_of(rung::Op op);

// To be called once for each operator, before main. Returns true.
bool add_operator(const Operator& added);

}  // namespace testing_
