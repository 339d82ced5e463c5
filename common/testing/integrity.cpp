#include "integrity.h"

#include "check.h"
#include "formats.h"
#include "moves.h"
#include "record.h"

namespace testing_ {

namespace {

// The bytes that are results: lab 07's RAM and lanes have a gap between them.
double output_elements_bytes(const Step& step, const rung::Job& job) {
  const rung::SwapFfnSizes& sizes = step.test_case.sizes;
  if (!sizes.cores) return static_cast<double>(job.output_bytes[0] + job.output_bytes[1]);
  const rung::SwapFfnLayout layout = layout_of(sizes, static_cast<size_t>(rung::bytes_of(step.dtype)));
  return static_cast<double>(layout.delta.bytes() + layout.ram.bytes() + layout.lanes.bytes());
}

}  // namespace

std::string check_integrity(const Step& step) {
  const Case& c = step.test_case;
  const std::vector<unsigned char> input = input_of(c, step.dtype, session().seed);
  rung::Job job = job_for(step, input);
  job.count = true;
  const rung::Outcome outcome = session().checked->run(job);
  const Finding finding = judge(step, input, outcome);
  if (finding.kind != Finding::Kind::right)
    return "not right in the instrumented build: " + (finding.brief.empty() ? finding.text : finding.brief);
  Count count;
  const std::string unread = read_counters(step, outcome, &count);
  if (!unread.empty()) return unread;
  // The matrix begins at a multiple of 32 bytes.
  const double loaded = count.footprint_read * 32;
  const double stored = count.store.bytes + count.atomic.bytes;
  const double result = output_elements_bytes(step, job);
  // What lab 07's GEMMs read, which are a library's, no kernel loads.
  if (step.test_case.sizes.cores == 0 && loaded < count.matrix_bytes()) {
    return "the result is right, but the kernels' own loads cover only part of the matrix: is it computed elsewhere?";
  }
  if (stored < result) {
    return "the result is right, but the kernels' own stores cover only part of it: is it written elsewhere?";
  }
  return "";
}

}  // namespace testing_
