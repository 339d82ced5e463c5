// CASES=huge: every variant on a matrix of more than 2^31 elements, where an index that is an int overflows. For a GPU;
// float32 takes 45 GB of the host's memory and half a minute per variant.
//
// Eight different rows are repeated all the way down. The first eight results are held against the reference, all the
// others against the first eight, bit by bit: equal rows at equal alignment must give equal results.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "catch2_any.h"
#include "check.h"
#include "operator.h"
#include "request.h"
#include "session.h"

namespace testing_ {
namespace {

using rung::Outcome;

constexpr int period = 8;
constexpr int cols = 608;      // rows of all types begin on 32 bytes
constexpr int rows = 3532160;  // rows * cols = 2^31 + 69,632
static_assert(static_cast<size_t>(rows) * cols > size_t{1} << 31 && rows % period == 0);

// The input buffer of `large`, from that of `small`: what has a row for each row is repeated, weights are not.
std::vector<unsigned char> repeated(const std::vector<unsigned char>& input, const rung::Plan& small,
                                    const rung::Plan& large) {
  std::vector<unsigned char> all(large.bytes[0]);
  for (int i = 0; i < small.count; i++) {
    const rung::Tensor &from = small.tensors[i], &to = large.tensors[i];
    if (from.buffer != 0) continue;
    for (size_t at = 0; at < to.bytes(); at += from.bytes())
      memcpy(all.data() + to.offset + at, input.data() + from.offset, from.bytes());
  }
  return all;
}

// "" or where the block of the first eight results is not repeated.
std::string not_repeated(const std::vector<unsigned char>& all) {
  const size_t block = all.size() / (rows / period), row_bytes = block / period;
  for (size_t at = block; at < all.size(); at += block) {
    if (memcmp(all.data() + at, all.data(), block) == 0) continue;
    const size_t byte = static_cast<size_t>(
        std::mismatch(all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(at + block), all.begin())
            .first -
        all.begin());
    return "row " + std::to_string(byte / row_bytes) + " differs from an equal row among the first eight";
  }
  return "";
}

std::string problem_of(int variant, const rung::VariantInfo& info) {
  Case c;
  c.name = "huge";
  const Operator& op = operator_of(lab.op);
  c.sizes = {period, cols, {}};
  std::copy(std::begin(op.arguments().far->more), std::end(op.arguments().far->more), c.sizes.more);
  c.called_with = c.sizes;
  const std::vector<unsigned char> block = op.input(c, info.dtype, session().seed);

  rung::Job job;
  job.variant = variant;
  job.sizes = c.sizes;
  job.sizes.rows = rows;
  const rung::Plan plan = op.plan(job.sizes, info.dtype);
  const std::vector<unsigned char> input = repeated(block, op.plan(c.sizes, info.dtype), plan);
  job.input = input.data();
  job.input_bytes = input.size();
  for (int i = 0; i < 2; i++) job.output_bytes[i] = plan.bytes[i + 1];
  job.time_limit = 300;
  const Outcome outcome = session().client->run(job);
  if (outcome.kind != Outcome::Kind::returned) return outcome.message;
  if (outcome.error) return "returned " + rung::error_text(outcome);
  for (const std::string& sentence : outcome.damage) return sentence;

  std::vector<unsigned char> first[2];
  for (int i = 0; i < 2; i++) {
    const auto begin = outcome.output[i].begin();
    first[i].assign(begin, begin + static_cast<long>(outcome.output[i].size() / (rows / period)));
  }
  // What depends on the number of rows is only held against itself: the reference is of eight.
  if (const rung::FarRows* also = op.arguments().far->also) first[also->buffer - 1].clear();
  const Comparison comparison = op.expect(c, session().seed, block, info.dtype)(first);
  if (!comparison.right()) return comparison.explanation;
  std::string problem;
  for (int i = 0; i < 2 && problem.empty(); i++) {
    if (!outcome.output[i].empty()) problem = not_repeated(outcome.output[i]);
  }
  return problem;
}

}  // namespace

TEST_CASE("every variant takes a matrix of more than 2^31 elements") {
  if (request().cases != "huge" || !rung::arguments_of(lab.op).far) return;
  const auto& variants = session().client->variants();
  const size_t i = GENERATE(range(size_t{0}, session().client->variants().size()));
  const auto& apart = lab.tested_apart;
  if (variants[i].op != lab.op || std::find(apart.begin(), apart.end(), variants[i].name) != apart.end()) return;
  DYNAMIC_SECTION(variants[i].name << " " << rung::name_of(variants[i].dtype) << " / huge / " << rows << "x" << cols) {
    const std::string problem = session().backend == "cuda" ? problem_of(static_cast<int>(i), variants[i])
                                                            : "CASES=huge is for a GPU; this run is on the CPU";
    if (problem.empty()) {
      SUCCEED();
    } else {
      FAIL_CHECK(problem);
    }
  }
}

}  // namespace testing_
