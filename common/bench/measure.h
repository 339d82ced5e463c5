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

// A matrix, row-major (rows, cols), and the reference's result for each operator and element type. Each is computed
// once and kept, since all variants of a rung share it.
class Workload {
 public:
  Workload(std::vector<float> logits, int rows, int cols, int k);

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int k() const { return k_; }

  // Sizes of the problem that the variant's operator solves on this matrix.
  rung::Sizes sizes(const rung::VariantInfo& variant) const;

  // The bytes of the variant's input buffer.
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

// is_topk_output: whether this is the variant whose result --topk-output writes, `online` for f32. write_topk_output
// writes it: the indices as PATH.i32, the probabilities as PATH.f32; throws Error if it cannot.
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

// Launches once, checks the result, then launches again as often as half a second allows (at most 25 times, after one
// warm-up launch) and checks the last result. If a launch takes longer than 0.35 s, the first one alone is the
// measurement.
// variant: index into client.variants(). backend: "cpu" or "cuda".
//
// On a GPU a time is the mean of many launches. They rotate over enough inputs and outputs that none is still in the
// cache (rung::Job::Rotation). At most 25 such times are taken; Timing::launches counts them. If the device lowers its
// clock meanwhile, they are thrown away and taken again (clocks.h).
Measurement measure(rung::Client& client, int variant, Workload& workload, const std::string& backend);

}  // namespace bench
