#include "measure.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "clocks.h"
#include "error.h"

namespace bench {

namespace {

constexpr double budget_seconds = 0.5;
constexpr double slow_seconds = 0.35;
constexpr int most_launches = 25;
constexpr double time_limit = 300;  // for one job; the slowest takes 30 s on two quiet cores
// On a GPU: what the buffers that launches rotate over hold together, several times the largest cache of any GPU yet
// (126 MB); how long a sample lasts, long beside the resolution of the device's clock (under 1 us); and from where on a
// launch is so long that finding the cache full could not make it 1 % shorter.
constexpr double rotated_bytes = 600e6;
constexpr double sample_seconds = 1e-3;
constexpr double long_launch_seconds = 5e-3;

constexpr int error_invalid_value = 1;  // cudaErrorInvalidValue; CUDA's headers are not included here

// What a GPU is to do for a variant whose single launch took `once` seconds. `calls` is a multiple of `sets`, so that
// the next sample goes on where this one ends, with the buffers that were used longest ago.
rung::Job::Rotation rotation_for(double once, const rung::Job& job) {
  if (once > long_launch_seconds) return {1, 1};
  const double set_bytes = static_cast<double>(job.input_bytes + job.output_bytes[0] + job.output_bytes[1]);
  const int sets = static_cast<int>(std::clamp(std::ceil(rotated_bytes / set_bytes), 2.0, 500.0));
  const int rounds = static_cast<int>(std::clamp(std::ceil(sample_seconds / std::max(once, 1e-6) / sets), 1.0, 500.0));
  return {sets * std::min(rounds, std::max(1, 1000 / sets)), sets};
}

// What kept the variant from returning a result that can be compared; "" if nothing did.
std::string failure(const rung::Outcome& outcome) {
  if (outcome.kind != rung::Outcome::Kind::returned) {
    const std::string place = outcome.file.empty() ? "" : outcome.file + ":" + std::to_string(outcome.line) + ": ";
    return place + outcome.message;
  }
  if (outcome.error) return "it returned " + rung::error_text(outcome);
  std::string damage;
  for (const std::string& sentence : outcome.damage) damage += (damage.empty() ? "" : "\n") + sentence;
  return damage;
}

void write_bytes(const std::string& path, const std::vector<unsigned char>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw Error(path + ": cannot be written: " + std::strerror(errno));
}

}  // namespace

Workload::Workload(std::vector<float> logits, int rows, int cols, int k)
    : logits_(std::move(logits)), rows_(rows), cols_(cols), k_(k) {}

rung::Sizes Workload::sizes(const rung::VariantInfo& variant) const {
  return rung::arguments_of(variant.op).sizes_of(rows_, cols_, k_);
}

testing_::Case Workload::problem(const rung::VariantInfo& variant) const {
  testing_::Case c;
  c.name = "measured";
  c.matrix = &logits_;
  c.sizes = c.called_with = sizes(variant);
  return c;
}

const std::vector<unsigned char>& Workload::input(const rung::VariantInfo& variant) {
  const Key key = {variant.op, variant.dtype};
  if (const auto found = inputs_.find(key); found != inputs_.end()) return found->second;
  return inputs_[key] = testing_::operator_of(variant.op).input_without_result(problem(variant), variant.dtype, 1);
}

std::string Workload::verdict(const rung::VariantInfo& variant, const std::vector<unsigned char> (&output)[2]) {
  testing_::Verdict& verdict = verdicts_[{variant.op, variant.dtype}];
  if (!verdict) verdict = testing_::operator_of(variant.op).expect(problem(variant), 1, input(variant), variant.dtype);
  return verdict(output).explanation;
}

bool is_topk_output(const rung::VariantInfo& variant) {
  return variant.name == "online" && variant.op == rung::Op::softmax_topk && variant.dtype == rung::Dtype::f32;
}

void write_topk_output(const std::string& path, const std::vector<unsigned char> output[2]) {
  write_bytes(path + ".i32", output[0]);
  write_bytes(path + ".f32", output[1]);
}

rung::Job job_of(const rung::VariantInfo& variant, int index, Workload& workload, int launches) {
  const rung::Sizes sizes = workload.sizes(variant);
  const rung::Plan plan = testing_::operator_of(variant.op).plan(sizes, variant.dtype);
  rung::Job job;
  job.variant = index;
  job.sizes = sizes;
  job.input = workload.input(variant).data();
  job.input_bytes = plan.bytes[0];
  for (int i = 0; i < 2; i++) job.output_bytes[i] = plan.bytes[i + 1];
  job.workspace_bytes = plan.bytes[rung::workspace_buffer];
  job.launches = launches;
  job.time_limit = time_limit;
  return job;
}

Measurement measure(rung::Client& client, int index, Workload& workload, const std::string& backend) {
  const rung::VariantInfo variant = client.variants()[static_cast<size_t>(index)];
  Measurement result;

  const auto run_and_check = [&](int launches, rung::Job::Rotation rotation = {}) {
    rung::Job job = job_of(variant, index, workload, launches);
    job.rotation = rotation;
    rung::Outcome outcome = client.run(job);
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

  const bool gpu = backend == "cuda";
  rung::Outcome outcome = run_and_check(gpu ? 2 : 1);  // the first on a GPU loads the kernel's code, too
  if (result.kind != Measurement::Kind::measured) return result;
  const double once = outcome.seconds.back();
  Watched watched;
  if (gpu) {
    const rung::Job::Rotation rotation = rotation_for(once, job_of(variant, index, workload, 1));
    const double sample = 2 * rotation.calls * once;  // the worker queues one more before it
    const int samples = static_cast<int>(std::clamp(budget_seconds / sample, 3.0, 25.0));
    static const ClockReader reader = nvml_reader();
    watched = unthrottled(reader, [&] {
      outcome = run_and_check(samples, rotation);
      return result.kind == Measurement::Kind::measured;
    });
    if (result.kind != Measurement::Kind::measured) return result;
  } else if (once <= slow_seconds) {
    const int launches = static_cast<int>(std::min<double>(budget_seconds / std::max(once, 1e-9), most_launches));
    outcome = run_and_check(1 + launches);
    if (result.kind != Measurement::Kind::measured) return result;
    outcome.seconds.erase(outcome.seconds.begin());
  }
  result.timing = summarise(outcome.seconds);
  result.timing.min_mhz = watched.clocks.min_mhz;
  result.timing.max_mhz = watched.clocks.max_mhz;
  result.timing.thrown_away = watched.thrown_away;
  result.timing.throttled = watched.clocks.throttled;
  for (int i = 0; i < 2; i++) result.output[i] = std::move(outcome.output[i]);
  return result;
}

}  // namespace bench
