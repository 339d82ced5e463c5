// The client of rungs (common/rung/client.h) with a C interface, for ladder/executor.py: it runs a variant on the
// executor, in a process of its own, so that a kernel that crashes does not take Python with it.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "client.h"

extern "C" {

// worker, rung: paths. Never null; ladder_variant_count is 0 and ladder_problem says why if the rung cannot be loaded.
void* ladder_open(const char* worker, const char* rung) { return new rung::Client(worker, rung); }

const char* ladder_problem(void* client) { return static_cast<rung::Client*>(client)->problem().c_str(); }

int ladder_variant_count(void* client) {
  return static_cast<int>(static_cast<rung::Client*>(client)->variants().size());
}

// Variant i: its name; *op and *dtype as the enumerations of types.h number them.
const char* ladder_variant(void* client, int i, int* op, int* dtype) {
  const rung::VariantInfo& variant = static_cast<rung::Client*>(client)->variants()[static_cast<size_t>(i)];
  *op = static_cast<int>(variant.op);
  *dtype = static_cast<int>(variant.dtype);
  return variant.name.c_str();
}

// Runs a variant once on host memory. Returns its cudaError_t, and copies the outputs if that is 0; -1 if it did not
// return. `message` gets what went wrong, with the source line where it is known.
int ladder_run(void* client, int variant, int rows, int cols, int k, const void* input, size_t input_bytes,
               void* const outputs[2], const size_t output_bytes[2], double time_limit, char* message,
               size_t message_size) {
  rung::Job job;
  job.variant = variant;
  job.sizes = {rows, cols, {k}};
  job.input = input;
  job.input_bytes = input_bytes;
  for (int i = 0; i < 2; i++) job.output_bytes[i] = output_bytes[i];
  job.time_limit = time_limit;
  rung::Outcome outcome;
  try {
    outcome = static_cast<rung::Client*>(client)->run(job);
  } catch (const std::exception& error) {  // no memory for the outputs, say; Python must not be ended by it
    outcome.message = error.what();
  }
  std::string text = rung::place_text(outcome) + outcome.message;
  if (outcome.kind == rung::Outcome::Kind::returned && outcome.error) text = rung::error_text(outcome);
  for (const std::string& sentence : outcome.damage) text += (text.empty() ? "" : "; ") + sentence;
  if (text.empty()) text = outcome.error_name;
  std::snprintf(message, message_size, "%s", text.c_str());
  if (outcome.kind != rung::Outcome::Kind::returned || !outcome.damage.empty()) return -1;
  if (outcome.error) return outcome.error;
  for (int i = 0; i < 2; i++) {
    if (output_bytes[i]) std::memcpy(outputs[i], outcome.output[i].data(), output_bytes[i]);
  }
  return 0;
}
}
