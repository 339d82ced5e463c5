// Measures one variant of a rung, after holding its result against the reference in the same configuration.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client.h"
#include "operator.h"
#include "timing.h"

namespace bench {

// A matrix, row-major (rows, cols), and what the reference makes of it for each operator and element type: computed
// once and kept, since all variants of a rung share them.
class Workload {
 public:
  Workload(std::vector<float> logits, int rows, int cols, int k);

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int k() const { return k_; }

  // The problem of the variant's operator.
  rung::Sizes sizes(const rung::VariantInfo& variant) const;

  // What a variant is called with.
  const std::vector<unsigned char>& input(const rung::VariantInfo& variant);

  // What is wrong with the outputs of a variant; "" if they are right.
  std::string verdict(const rung::VariantInfo& variant, const std::vector<unsigned char> (&output)[2]);

 private:
  using Key = std::pair<rung::Op, rung::Dtype>;
  testing_::Case problem(const rung::VariantInfo& variant) const;

  std::vector<float> logits_;
  int rows_, cols_, k_;
  std::map<Key, std::vector<unsigned char>> inputs_;
  std::map<Key, testing_::Verdict> verdicts_;
};

// A job on the workload, which must outlive it. index: the variant's, in the client's list.
rung::Job job_of(const rung::VariantInfo& variant, int index, Workload& workload, int launches);

// Whether this is the variant whose result --topk-output is about: `online` for f32. And writes that result: the
// indices as PATH.i32, the probabilities as PATH.f32. Throws Error.
bool is_topk_output(const rung::VariantInfo& variant);
void write_topk_output(const std::string& path, const std::vector<unsigned char> output[2]);

struct Measurement {
  enum class Kind {
    measured,  // the result is right: see timing and output
    refused,   // cudaErrorInvalidValue: the variant does not take this shape
    wrong,     // a wrong result, an error, a crash or a timeout: see message
  } kind = Kind::wrong;
  Timing timing;
  std::vector<unsigned char> output[2];
  std::string message;
};

// Launches once, checks the result, then launches again as often as fits half a second (at most 25 times, after one for
// warming up) and checks the last result. A launch that takes longer than 0.35 s is measured by the first one alone.
// variant: index into client.variants(). backend: "cpu" or "cuda".
//
// On a GPU a time is the mean of many launches that rotate over so many inputs and outputs that none is found in the
// cache (rung::Job::Rotation), and there are at most 25 such times; Timing::launches counts them. If the device lowers
// its clock meanwhile, they are thrown away and taken again (clocks.h).
Measurement measure(rung::Client& client, int variant, Workload& workload, const std::string& backend);

}  // namespace bench
