// CASES=huge: every variant on a matrix of more than 2^31 elements, where an index that is an int overflows. For a GPU;
// float32 takes 45 GB of the host's memory and half a minute a variant.
//
// Eight different rows are repeated all the way down. The first eight results are held against the reference, all the
// others against the first eight, bit by bit: equal rows at equal alignment must give equal results.
#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "catch2_any.h"
#include "check.h"
#include "compare.h"
#include "formats.h"
#include "reference.h"
#include "session.h"

namespace testing_ {
namespace {

using rung::Op;
using rung::Outcome;

constexpr int period = 8;
constexpr int cols = 608;      // rows of all types begin on 32 bytes
constexpr int rows = 3532160;  // rows * cols = 2^31 + 69,632
static_assert(static_cast<size_t>(rows) * cols > size_t{1} << 31 && rows % period == 0);

std::vector<unsigned char> repeated(const std::vector<unsigned char>& block) {
  std::vector<unsigned char> all(block.size() * (rows / period));
  for (size_t at = 0; at < all.size(); at += block.size()) memcpy(all.data() + at, block.data(), block.size());
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
  c.rows = c.buffer_rows = period;
  c.cols = c.buffer_cols = cols;
  c.k = c.buffer_k = lab.op == Op::softmax_topk ? 5 : 0;
  const std::vector<unsigned char> block = reference::encode(logits(c, session().seed), info.dtype);
  const std::vector<unsigned char> input = repeated(block);

  rung::Job job;
  job.variant = variant;
  job.rows = rows;
  job.cols = cols;
  job.k = c.k;
  job.input = input.data();
  job.input_bytes = input.size();
  const size_t softmax_bytes = static_cast<size_t>(rung::bytes_of(info.dtype)) * cols, topk_bytes = size_t{4} * 5;
  job.output_bytes[0] = rows * (lab.op == Op::softmax ? softmax_bytes : topk_bytes);
  job.output_bytes[1] = lab.op == Op::softmax ? 0 : rows * topk_bytes;
  job.time_limit = 300;
  const Outcome outcome = session().client->run(job);
  if (outcome.kind != Outcome::Kind::returned) return outcome.message;
  if (outcome.error) return "returned " + rung::error_text(outcome);
  for (const std::string& sentence : outcome.damage) return sentence;

  const std::vector<double> x = reference::decode(block.data(), c.input_size(), info.dtype);
  const unsigned char* first = outcome.output[0].data();
  const Comparison comparison =
      lab.op == Op::softmax
          ? compare_softmax(x, reference::softmax(x, period, cols), first, period, cols, info.dtype)
          : compare_topk(x, reference::softmax_topk(x, period, cols, c.k), reinterpret_cast<const int*>(first),
                         reinterpret_cast<const float*>(outcome.output[1].data()), period, cols, c.k, info.dtype);
  if (!comparison.right()) return comparison.explanation;
  const std::string first_output = not_repeated(outcome.output[0]);
  return first_output.empty() && lab.op == Op::softmax_topk ? not_repeated(outcome.output[1]) : first_output;
}

}  // namespace

TEST_CASE("every variant takes a matrix of more than 2^31 elements") {
  const char* cases = getenv("LADDER_CASES");
  if (!cases || strcmp(cases, "huge") != 0 || lab.op == Op::swap_ffn) return;
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
