#include "count.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "error.h"

namespace bench {

namespace {

constexpr int sector_bytes = 32;
constexpr int warp_rows = 32;
constexpr int64_t small_shape = 1 << 20;  // elements; counting them takes a second or so

// The number of rows of `bytes` after which a row begins at the same place in its sector again.
int alignment_period(int64_t bytes) { return static_cast<int>(sector_bytes / std::gcd<int64_t>(sector_bytes, bytes)); }

}  // namespace

int rows_to_count(const rung::VariantInfo& variant, int rows, int cols, int k, int most) {
  const rung::Arguments& known = rung::arguments_of(variant.op);
  rung::Plan plan;
  known.plan(known.sizes_of(rows, cols, k), variant.dtype, &plan);
  // Periods are powers of two: the largest is a multiple of the others.
  int period = 1;
  for (int i = 0; i < plan.count; i++) {
    const rung::Tensor& tensor = plan.tensors[i];
    if (tensor.rows == static_cast<size_t>(rows))
      period = std::max(period, alignment_period(static_cast<int64_t>(tensor.cols * tensor.element_bytes)));
  }
  if (rows <= most && static_cast<int64_t>(rows) * cols <= small_shape) return rows;
  const int part = most < std::max(period, warp_rows) ? std::max(period, most) : std::max(period, warp_rows);
  return rows > part && rows % part == 0 && part % period == 0 ? part : rows;
}

Traffic traffic_of(const std::string& report) {
  try {
    Traffic traffic;
    const auto json = nlohmann::json::parse(report);
    for (const auto& launch : json.at("launches")) {
      for (const char* op : {"ld", "st", "atom"}) {
        const std::string name = std::string("l1tex__t_sectors_pipe_lsu_mem_global_op_") + op + ".sum";
        traffic.l1_bytes += launch.at("total").at(name).get<int64_t>() * sector_bytes;
      }
      for (const char* direction : {"sectors_read", "sectors_written"}) {
        traffic.footprint_bytes += launch.at("footprint").at(direction).get<int64_t>() * sector_bytes;
      }
    }
    return traffic;
  } catch (const nlohmann::json::exception& error) {
    throw Error(std::string("the executor's report of its counts cannot be read: ") + error.what());
  }
}

Traffic count(rung::Client& client, const rung::VariantInfo& like, Workload& part, int rows, std::string* problem) {
  const auto& variants = client.variants();
  const auto found = std::find_if(variants.begin(), variants.end(), [&](const rung::VariantInfo& variant) {
    return variant.name == like.name && variant.op == like.op && variant.dtype == like.dtype;
  });
  if (found == variants.end()) {
    *problem = client.problem().empty() ? "the instrumented rung has no such variant" : client.problem();
    return {};
  }
  rung::Job job = job_of(like, static_cast<int>(found - variants.begin()), part, 1);
  job.count = true;
  job.time_limit = count_time_limit;
  const rung::Outcome outcome = client.run(job);
  if (outcome.kind == rung::Outcome::Kind::timed_out) {
    *problem = "it takes longer than " + std::to_string(static_cast<int>(count_time_limit)) + " s";
    return {};
  }
  if (outcome.kind != rung::Outcome::Kind::returned || outcome.error || outcome.counters.empty()) {
    *problem = !outcome.message.empty() ? outcome.message : outcome.error ? outcome.error_name : "no counts came";
    *problem = problem->substr(0, problem->find('\n'));
    return {};
  }
  Traffic traffic = traffic_of(outcome.counters);
  if (traffic.l1_bytes == 0 || traffic.footprint_bytes == 0) {
    *problem = "no global memory access was counted; is the rung built with instrumentation?";
    return {};
  }
  traffic.l1_bytes = traffic.l1_bytes * rows / part.rows();
  traffic.footprint_bytes = traffic.footprint_bytes * rows / part.rows();
  traffic.counted_rows = part.rows();
  return traffic;
}

}  // namespace bench
