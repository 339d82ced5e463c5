#include "integrity.h"

#include "check.h"
#include "formats.h"
#include "moves.h"
#include "record.h"

namespace testing_ {

std::string check_integrity(const Step& step) {
  const Case& c = step.test_case;
  const std::vector<unsigned char> input = reference::encode(logits(c, session().seed), step.dtype);
  rung::Job job = job_for(step, input);
  job.count = true;
  const rung::Outcome outcome = session().checked->run(job);
  const Finding finding = judge(step, input, outcome);
  if (finding.kind != Finding::Kind::right) return "not right in the instrumented build: " + told(step, finding);
  Count count;
  const std::string unread = read_counters(step, outcome, &count);
  if (!unread.empty()) return unread;
  // The matrix begins at a multiple of 32 bytes.
  const double loaded = count.footprint_read * 32;
  const double stored = count.store.bytes + count.atomic.bytes;
  const double result = static_cast<double>(job.output_bytes[0] + job.output_bytes[1]);
  if (loaded < count.matrix_bytes()) {
    return "the result is right, but the kernels' own loads cover only part of the matrix: is it computed elsewhere?";
  }
  if (stored < result) {
    return "the result is right, but the kernels' own stores cover only part of it: is it written elsewhere?";
  }
  return "";
}

}  // namespace testing_
