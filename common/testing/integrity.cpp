#include "integrity.h"

#include "check.h"
#include "moves.h"
#include "operator.h"
#include "events.h"

namespace testing_ {

namespace {

// The bytes that are results: between tensors there may be gaps.
double result_bytes(const Step& step) {
  const rung::Plan plan = operator_of(lab.op).plan(step.test_case.sizes, step.dtype);
  double sum = 0;
  for (int i = 0; i < plan.count; i++) {
    const rung::Tensor& tensor = plan.tensors[i];
    if (tensor.buffer != 0 && tensor.buffer != rung::workspace_buffer) sum += static_cast<double>(tensor.bytes());
  }
  return sum;
}

}  // namespace

std::string check_integrity(const Step& step) {
  const Case& c = step.test_case;
  const std::vector<unsigned char> input = operator_of(lab.op).input(c, step.dtype, session().seed);
  rung::Job job = job_for(step, input);
  job.count = true;
  const rung::Outcome outcome = session().checked->run(job);
  const Finding finding = judge(step, input, outcome);
  if (finding.kind != Finding::Kind::right) return "not right in the instrumented build: " + told_of_hidden(finding);
  Count count;
  const std::string unread = read_counters(step, outcome, &count);
  if (!unread.empty()) return unread;
  // The matrix begins at a multiple of 32 bytes.
  const double loaded = count.footprint_read * 32;
  const double stored = count.store.bytes + count.atomic.bytes;
  const double result = result_bytes(step);
  // What a library reads no kernel loads.
  if (!operator_of(lab.op).has_library_calls() && loaded < count.matrix_bytes()) {
    return "the result is right, but the kernels' own loads cover only part of the matrix: is it computed elsewhere?";
  }
  if (stored < result) {
    return "the result is right, but the kernels' own stores cover only part of it: is it written elsewhere?";
  }
  return "";
}

}  // namespace testing_
