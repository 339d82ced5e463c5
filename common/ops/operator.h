// What the judge knows about an operator: its cases, their inputs, whether a result is right, and the cost of a
// problem. The other half, arguments.h, is also known to the process that runs a rung.
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
  // Where the tensors of a problem lie. All zero if the sizes are not valid for this operator.
  rung::Plan plan(const rung::Sizes& sizes, rung::Dtype dtype) const;

  // ---- Cases: from the smallest up within each group -----------------------------------------------
  virtual std::vector<Case> cases() const = 0;
  // Cases that only the judge runs: shapes drawn near the public ones, so that a kernel that is tuned to the public
  // shapes gains nothing. Their names are always the same and say what is special ("hidden-above-1024"); shapes and
  // values follow from the seed. A shape is drawn from a family of similar shapes (odd widths, just above 1024,
  // multiples of 8), so that a kernel with a typical mistake fails whatever was drawn.
  virtual std::vector<Case> hidden_cases(uint64_t seed) const = 0;
  // The case on which a variant's own loads and stores are examined (integrity.h).
  virtual Case integrity_case(uint64_t seed) const = 0;

  // ---- Values --------------------------------------------------------------------------------------
  // Case::values of rows whose first and last elements decide their results; 0: the operator has none.
  virtual int heavy_ends() const { return 0; }
  // Case::values of rows about half of which is masked; 0: the operator knows no masks.
  virtual int masked() const { return 0; }
  // The bytes of the input buffer that a variant is called with. The same for the same name and seed.
  virtual std::vector<unsigned char> input(const Case& c, rung::Dtype dtype, uint64_t seed) const = 0;
  // The same when no verdict is needed: the reference is not computed.
  virtual std::vector<unsigned char> input_without_result(const Case& c, rung::Dtype dtype, uint64_t seed) const {
    return input(c, dtype, seed);
  }
  // Computes the expected result for `input`, which is input(c, dtype, seed). The verdict can be used for several
  // outputs.
  virtual Verdict expect(const Case& c, uint64_t seed, const std::vector<unsigned char>& input,
                         rung::Dtype dtype) const = 0;

  // ---- Cost ----------------------------------------------------------------------------------------
  // The least number of bytes that any kernel must move: every input read once, every result written once.
  virtual double bytes(const rung::Sizes& sizes, rung::Dtype dtype) const;
  virtual double flops(const rung::Sizes& sizes) const = 0;
  // The cost that decides how long a case may take: the number of elements; times the width if every thread of the
  // variant reads the whole row (quadratic). A hundred multiplications count as one element.
  virtual double cost(const rung::Sizes& sizes, bool quadratic) const;
  // Additional cost under the checks, in the same unit, which does not depend on the width: all threads of a block run
  // and reach its barriers, also those for which a narrow row has no element.
  virtual double cost_of_rows(const rung::Sizes&) const { return 0; }

  // ---- Properties ----------------------------------------------------------------------------------
  // "7 x 33": the problem in a message.
  virtual std::string name(const rung::Sizes& sizes) const;
  // Results per row where the problem's sizes decide it: k of top-K. Else 0.
  virtual int results(const rung::Sizes&) const { return 0; }
  // Whether any numbers of rows and columns near those of a valid problem are valid, too.
  virtual bool takes_any_shape() const { return true; }
  // Where they need not be: a valid problem beside this one, on which the judge counts moves; by any number.
  virtual rung::Sizes beside(const rung::Sizes& sizes, uint64_t number) const;
  // Whether a library call may read the input instead of a kernel.
  virtual bool has_library_calls() const { return false; }

 private:
  const rung::Op op_;
};

// Throws std::logic_error if this program is not linked with the operator's folder.
const Operator& operator_of(rung::Op op);

// To be called once for each operator, before main. Returns true.
bool add_operator(const Operator& added);

}  // namespace testing_
