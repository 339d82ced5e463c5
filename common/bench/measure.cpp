#include "measure.h"

#include <algorithm>

#include "compare.h"
#include "formats.h"

namespace bench {

namespace {

constexpr double budget_seconds = 0.5;
constexpr double slow_seconds = 0.35;
constexpr int most_launches = 25;
constexpr double time_limit = 60;       // for one job
constexpr int error_invalid_value = 1;  // cudaErrorInvalidValue; CUDA's headers are not included here

rung::Job job_of(const rung::VariantInfo& variant, int index, Workload& workload, int launches) {
  const size_t rows = static_cast<size_t>(workload.rows()), cols = static_cast<size_t>(workload.cols());
  rung::Job job;
  job.variant = index;
  job.rows = workload.rows();
  job.cols = workload.cols();
  job.input = workload.input(variant.dtype).data();
  job.input_bytes = workload.input(variant.dtype).size();
  if (variant.op == rung::Op::softmax) {
    job.output_bytes[0] = rows * cols * rung::bytes_of(variant.dtype);
  } else {
    job.k = workload.k();
    job.output_bytes[0] = job.output_bytes[1] = rows * static_cast<size_t>(workload.k()) * 4;
  }
  job.launches = launches;
  job.time_limit = time_limit;
  return job;
}

// What kept the variant from returning a result that can be compared; "" if nothing did.
std::string failure(const rung::Outcome& outcome) {
  if (outcome.kind != rung::Outcome::Kind::returned) {
    const std::string place = outcome.file.empty() ? "" : outcome.file + ":" + std::to_string(outcome.line) + ": ";
    return place + outcome.message;
  }
  if (outcome.error) return "it returned " + outcome.error_name;
  std::string damage;
  for (const std::string& sentence : outcome.damage) damage += (damage.empty() ? "" : "\n") + sentence;
  return damage;
}

}  // namespace

Workload::Workload(std::vector<float> logits, int rows, int cols, int k)
    : logits_(std::move(logits)), rows_(rows), cols_(cols), k_(k) {}

const std::vector<unsigned char>& Workload::input(rung::Dtype dtype) {
  const auto found = inputs_.find(dtype);
  return found != inputs_.end() ? found->second : inputs_[dtype] = reference::encode(logits_, dtype);
}

std::string Workload::verdict(const rung::VariantInfo& variant, const std::vector<unsigned char> output[2]) {
  const auto key = std::make_pair(variant.op, variant.dtype);
  if (!references_.count(key)) {
    Reference& reference = references_[key];
    reference.logits = reference::decode(input(variant.dtype).data(), logits_.size(), variant.dtype);
    if (variant.op == rung::Op::softmax) {
      reference.softmax = reference::softmax(reference.logits, rows_, cols_);
    } else {
      reference.topk = reference::softmax_topk(reference.logits, rows_, cols_, k_);
    }
  }
  const Reference& reference = references_.at(key);
  if (variant.op == rung::Op::softmax) {
    return testing_::compare_softmax(reference.logits, reference.softmax, output[0].data(), rows_, cols_, variant.dtype)
        .explanation;
  }
  const int* index = reinterpret_cast<const int*>(output[0].data());
  const float* prob = reinterpret_cast<const float*>(output[1].data());
  return testing_::compare_topk(reference.logits, reference.topk, index, prob, rows_, cols_, k_, variant.dtype)
      .explanation;
}

Measurement measure(rung::Client& client, int index, Workload& workload) {
  const rung::VariantInfo variant = client.variants()[static_cast<size_t>(index)];
  Measurement result;

  const auto run_and_check = [&](int launches) {
    rung::Outcome outcome = client.run(job_of(variant, index, workload, launches));
    if (outcome.kind == rung::Outcome::Kind::returned && outcome.error == error_invalid_value) {
      result.kind = Measurement::Kind::refused;
      return outcome;
    }
    result.message = failure(outcome);
    if (result.message.empty()) result.message = workload.verdict(variant, outcome.output);
    if (result.message.empty() && outcome.seconds.size() != static_cast<size_t>(launches)) {
      result.message = "the worker sent " + std::to_string(outcome.seconds.size()) + " times for " +
                       std::to_string(launches) + " launches";
    }
    result.kind = result.message.empty() ? Measurement::Kind::measured : Measurement::Kind::wrong;
    return outcome;
  };

  rung::Outcome outcome = run_and_check(1);
  if (result.kind != Measurement::Kind::measured) return result;
  const double once = outcome.seconds[0];
  if (once <= slow_seconds) {
    const int launches = static_cast<int>(std::min<double>(budget_seconds / std::max(once, 1e-9), most_launches));
    outcome = run_and_check(1 + launches);
    if (result.kind != Measurement::Kind::measured) return result;
    outcome.seconds.erase(outcome.seconds.begin());
  }
  result.timing = summarise(outcome.seconds);
  for (int i = 0; i < 2; i++) result.output[i] = std::move(outcome.output[i]);
  return result;
}

}  // namespace bench
