// From the worker's counters to a Count, or to why there is none.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "check.h"
#include "moves.h"
#include "operator.h"
#include "session.h"
#include "words.h"

namespace testing_ {
namespace {

using nlohmann::json;
using rung::Outcome;

Traffic traffic(const json& counts, const std::string& op) {
  const std::string of = "_pipe_lsu_mem_global_op_" + op + ".sum";
  return {counts.at("l1tex__t_requests" + of), counts.at("l1tex__t_sectors" + of), counts.at("global_bytes_op_" + op)};
}

void add(Traffic* sum, const Traffic& more) {
  sum->requests += more.requests;
  sum->sectors += more.sectors;
  sum->bytes += more.bytes;
}

void read(const json& launch, Count* count) {
  count->launches++;
  count->watched_bytes += launch.value("watched_bytes_read", 0.0);
  const json& total = launch.at("total");
  add(&count->load, traffic(total, "ld"));
  add(&count->store, traffic(total, "st"));
  add(&count->atomic, traffic(total, "atom"));
  count->barriers += total.at("barriers").get<double>();
  count->warp_operations += total.at("warp_operations").get<double>();
  count->exchanged += launch.at("exchanged_bytes").get<double>();
  count->handed_over += total.at("shared_bytes_handed_over").get<double>();
  count->between_warps += total.at("shared_bytes_between_warps").get<double>();
  const double footprint = launch.at("footprint").at("sectors_read");
  count->footprint_read += footprint;
  count->largest_footprint = std::max(count->largest_footprint, footprint);
  const json& grid = launch.at("grid");
  const double blocks = grid[0].get<double>() * grid[1].get<double>() * grid[2].get<double>();
  const json& block = launch.at("block");
  const int block_threads = block[0].get<int>() * block[1].get<int>() * block[2].get<int>();
  count->blocks = std::max(count->blocks, blocks);
  count->threads = std::max(count->threads, blocks * block_threads);
  const double working = launch.at("blocks").at("working");
  count->working_barriers += launch.at("blocks").at("barriers").get<double>();
  count->working_blocks = std::max(count->working_blocks, working);
  count->working_threads = std::max(count->working_threads, working * block_threads);
  const double longest = launch.at("longest_thread").at("accesses");
  if (longest > count->longest_thread) {
    count->block_threads = block_threads;
    count->longest_thread = longest;
    count->its_share = launch.at("longest_thread").at("block_accesses").get<double>() / count->block_threads;
    count->share_of_all = launch.at("blocks").at("accesses").get<double>() / std::max(1.0, working * block_threads);
  }
  const json& received = launch.at("received");
  count->received.push_back(
      {received.at("bytes"), received.at("share"), traffic(total, "ld").bytes, block_threads, working});
  const json& busiest = launch.at("busiest_warp");
  count->busiest.push_back(
      {busiest.at("bytes"), busiest.at("block_bytes"), busiest.at("warps"), traffic(total, "ld").bytes, working});
  const json& chain = launch.at("one_by_one");
  const double moved = traffic(total, "ld").bytes + traffic(total, "st").bytes;
  count->chains.push_back({chain.at("chain"), chain.at("instructions"), chain.at("warps"), moved, block_threads});
  for (const json& line : launch.at("lines")) {
    const json& counts = line.at("counts");
    double shared = 0;
    for (const char* op : {"ld", "st", "atom"})
      shared += counts.at(std::string("shared_requests_op_") + op).get<double>();
    count->lines.push_back({line.at("file"), line.at("line"), traffic(counts, "ld"), traffic(counts, "st"),
                            traffic(counts, "atom"), shared, counts.at("shared_requests_op_ld"),
                            counts.at("warp_operations"), counts.at("shared_bytes_handed_over")});
  }
}

// The launches run one after the other. What limits the longest is what a student should look at.
void read_prediction(const json& launches, int stands_for, Count* count) {
  double longest = 0;
  count->stands_for = stands_for;
  for (const json& launch : launches) {
    const json& predicted = launch.at("predicted");
    if (predicted.at("seconds").is_null()) {
      const bool was_known = !std::isnan(count->predicted);
      count->predicted = std::nan("");
      count->at_least += predicted.value("at_least", std::nan(""));
      count->rest += predicted.value("rest", predicted.value("at_least", 0.0));
      if (was_known || std::isnan(count->at_least)) count->predicted_words = predicted.at("why");
      continue;
    }
    const double seconds = predicted.at("seconds");
    count->predicted += seconds;
    count->at_least += seconds;
    count->rest += seconds;
    if (seconds > longest && !std::isnan(count->predicted))
      longest = seconds, count->predicted_words = predicted.at("words");
  }
}

}  // namespace

std::string read_counters(const Step& step, const Outcome& outcome, Count* count) {
  const Case& c = step.test_case;
  // Nor is a hidden shape told by the way in which it fails.
  const bool hidden = c.group == "integrity";
  const std::string shape = hidden ? "a hidden shape" : operator_of(lab.op).Operator::name(c.sizes);
  const std::string at =
      outcome.file.empty() || hidden ? "" : shortened(outcome.file) + ":" + std::to_string(outcome.line) + ": ";
  if (outcome.kind != Outcome::Kind::returned)
    return "could not be counted on " + shape + ": " + at +
           (hidden ? outcome.message.substr(0, outcome.message.find('\n')) : outcome.message);
  if (outcome.error)
    return "returned " + (hidden ? "an error" : outcome.error_name) + " for " + shape + ", which it must take" +
           (outcome.message.empty() || hidden ? "" : "\n" + at + outcome.message);

  *count = {};
  count->by_graphs = outcome.work.by_graphs;
  count->rows = c.sizes.rows;
  count->cols = c.sizes.cols;
  count->sizes = c.sizes;
  count->element_bytes = rung::bytes_of(step.dtype);
  const rung::Plan plan = operator_of(lab.op).plan(c.sizes, step.dtype);
  if (const rung::Tensor* const first = plan.first_of(1); first && first->cols < static_cast<size_t>(c.sizes.cols))
    count->results = static_cast<int>(first->cols);
  for (int i = 0; i < plan.count; i++) {
    const int buffer = plan.tensors[i].buffer;
    if (buffer != 0 && buffer != rung::workspace_buffer)
      count->result_bytes += static_cast<double>(plan.tensors[i].bytes());
  }
  try {
    const json report = json::parse(outcome.counters);
    if (report.at("launches").empty()) return "no kernel was launched on " + shape;
    for (const json& launch : report.at("launches")) read(launch, count);
    if (c.move && c.move->stands_for) read_prediction(report.at("launches"), c.move->stands_for, count);
    if (const auto copies = report.find("copies"); copies != report.end()) {
      count->copied_read = copies->at("bytes_read");
      count->copied_written = copies->at("bytes_written");
      // Once more: what was copied is read from the copy, which nobody watches.
      count->watched_bytes += 2 * copies->at("watched_bytes_read").get<double>();
    }
    for (const json& call : report.value("library_calls", json::array())) {
      count->library_calls++;
      count->watched_bytes += call.at("watched_bytes_read").get<double>();
    }
  } catch (const json::exception& error) {
    return std::string("the worker's counters cannot be read: ") + error.what();
  }
  return "";
}

}  // namespace testing_
