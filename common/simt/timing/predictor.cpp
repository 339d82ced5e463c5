#include "predictor.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "../loaded_module.h"
#include "../module_symbols.h"
#include "trace_file.h"

namespace simt::timing {

namespace {

constexpr double most_apart = 1.2;  // of requests per block, as a factor

std::mutex mutex;
unsigned multiple = 1;
Clock now;
std::unique_ptr<Machine>& machine() {
  static auto* const chosen = new std::unique_ptr<Machine>;
  return *chosen;
}

// What makes two launches equal, for their time.
using Likeness = std::tuple<const void*, uint64_t, unsigned, size_t, uint64_t, uint64_t, uint64_t, uint64_t>;
std::map<Likeness, Prediction>& earlier() {
  static auto* const predictions = new std::map<Likeness, Prediction>;
  return *predictions;
}

// A launch without a prediction: which kernel, and why.
struct Unknown {
  std::string kernel, why;
  bool said = false;
};
struct Unknowns {
  std::vector<Unknown> kinds;
  std::map<std::pair<std::string, std::string>, uint32_t> numbers;  // of a kernel and a reason, in kinds
  std::vector<uint32_t> launches;                                   // the kind of each, in the order of the clock
};
Unknowns& unknowns() {
  static auto* const all = new Unknowns;
  return *all;
}

void add_unknown(const std::string& kernel, const std::string& why) {
  Unknowns& all = unknowns();
  const auto [entry, is_new] = all.numbers.try_emplace({kernel, why}, static_cast<uint32_t>(all.kinds.size()));
  if (is_new) all.kinds.push_back({kernel, why});
  all.launches.push_back(entry->second);
  now.unknown++;
}

Prediction unknown(const std::string& why) {
  Prediction prediction;
  prediction.gpu = machine()->name;
  prediction.why = why;
  return prediction;
}

// Blocks of so many threads that the GPU can run at one time, whatever registers and shared memory allow.
uint64_t most_at_one_time(unsigned threads, const Machine& gpu) {
  const int warps = static_cast<int>((threads + 31) / 32);
  return static_cast<uint64_t>(gpu.multiprocessors) * static_cast<uint64_t>(std::min(gpu.blocks, gpu.warps / warps));
}

}  // namespace

void predict_for(const std::string& gpu, unsigned times) {
  std::lock_guard<std::mutex> lock(mutex);
  multiple = times;
  earlier().clear();
  machine() = gpu.empty() ? nullptr : std::make_unique<Machine>(read_machine(gpu));
}

std::unique_ptr<LaunchTracer> begin_launch(const LaunchState& launch) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!machine()) return nullptr;
  return std::make_unique<LaunchTracer>(launch.block_count(), launch.block_count() * multiple,
                                        most_at_one_time(launch.threads_per_block(), *machine()));
}

namespace {

// Of a trace that lacks some of the blocks that were to be traced: do the others go to global memory as often as the
// counters say of all, and was none of those that were cut off longer?
bool stand_for_all(const LaunchTrace& trace, uint64_t blocks, uint64_t global_requests) {
  uint64_t traced = 0, entries = 0;
  for (const BlockTrace& block : trace.blocks) {
    for (const WarpTrace& warp : block.warps) {
      entries += warp.entries.size();
      for (const Entry& entry : warp.entries) traced += entry.space == Space::global;
    }
  }
  if (static_cast<double>(trace.cut_off * trace.blocks.size()) > most_apart * static_cast<double>(entries))
    return false;
  const double each = static_cast<double>(traced) / static_cast<double>(trace.blocks.size()),
               of_all = static_cast<double>(global_requests) / static_cast<double>(blocks);
  return each <= most_apart * of_all && of_all <= most_apart * each;
}

Prediction prediction_of(const LaunchState& launch, LaunchTracer* tracer, uint64_t sectors_read,
                         uint64_t sectors_written, uint64_t requests, uint64_t global_requests) {
  if (!machine()) return {};
  const auto run = reinterpret_cast<uintptr_t>(launch.kernel.run);
  const LoadedModule module = loaded_module(run);
  const Operations* table = nullptr;
  try {
    table = operations_of(module.path());
  } catch (const std::exception& error) {
    return unknown(error.what());
  }
  if (!table) return unknown("the program was built without a table of its instructions");
  // Without what is not modelled the rest is the least that it takes.
  const char* const not_modelled =
      launch.cooperative ? "the blocks wait for each other: what a barrier of the grid costs is not modelled"
      : launch.cluster_blocks() > 1
          ? "clusters: what their barriers and the shared memory of other blocks cost is not modelled"
          : nullptr;
  const LaunchFacts facts = {launch.block_count() * multiple, launch.threads_per_block(),
                             launch.config.shared_bytes + static_shared_bytes(launch.kernel.function),
                             sectors_read * multiple, sectors_written * multiple};
  if (!launch.some.empty()) return unknown("only the ends of its grid were run, and counted");
  LaunchTrace trace = tracer->take();
  if (!trace.complete && !trace.blocks.empty() &&
      !stand_for_all(trace, launch.block_count() - trace.idle, global_requests)) {
    Prediction prediction = unknown("the blocks that there is room for in a trace do other work than the rest");
    prediction.rest = least_of_a_full_trace(facts, *machine());
    return prediction;
  }
  if (requests + global_requests && !trace.blocks.empty() &&
      std::all_of(trace.blocks.begin(), trace.blocks.end(), is_idle))
    return unknown("none of the blocks that were traced accesses memory, but others do");
  trace.idle *= multiple;
  uint64_t entries = 0;
  for (const BlockTrace& block : trace.blocks) {
    for (const WarpTrace& warp : block.warps) entries += warp.entries.size() + (uint64_t{warp.lines.size()} << 32);
  }
  const Likeness likeness = {launch.kernel.function, facts.blocks,          facts.threads, facts.shared_bytes,
                             facts.sectors_read,     facts.sectors_written, requests,      entries};
  const auto before = earlier().find(likeness);
  if (before != earlier().end()) return before->second;
  // An entry's pc is relative to a place 2 GiB before the kernel (Recorder::begin_launch).
  const uint64_t origin = run - (uintptr_t{1} << 31) - module.base;
  if (const char* const path = std::getenv("SIMT_SAVE_TRACES")) {
    if (std::FILE* const file = std::fopen(path, "ab")) {
      save(file, {module.path(), origin, facts, std::move(trace)});
      std::fclose(file);
    }
    return unknown("its trace was saved");
  }
  Prediction& prediction = earlier()[likeness];
  prediction = predict(trace, origin, *table, facts, *machine());
  prediction.times = multiple;
  if (not_modelled && prediction.known) {
    prediction.known = false;
    prediction.why = not_modelled;
    prediction.at_least = prediction.seconds;
    prediction.seconds = 0;
  }
  return prediction;
}

}  // namespace

Prediction end_launch(const LaunchState& launch, const std::string& kernel, LaunchTracer* tracer, uint64_t sectors_read,
                      uint64_t sectors_written, uint64_t requests, uint64_t global_requests) {
  std::lock_guard<std::mutex> lock(mutex);
  const Prediction prediction = prediction_of(launch, tracer, sectors_read, sectors_written, requests, global_requests);
  now.launches++;
  now.seconds += prediction.seconds;
  if (!prediction.known && machine()) add_unknown(kernel, prediction.why);
  return prediction;
}

void note_library_call(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!machine()) return;
  now.launches++;
  add_unknown(name, "a library computes it, whose kernels are not there");
}

Clock predicted_clock() {
  std::lock_guard<std::mutex> lock(mutex);
  return now;
}

std::optional<double> predicted_between(const Clock& start, const Clock& stop) {
  std::lock_guard<std::mutex> lock(mutex);
  if (stop.launches <= start.launches || !machine()) return std::nullopt;
  for (uint64_t i = start.unknown; i < stop.unknown; i++) {
    Unknown& kind = unknowns().kinds[unknowns().launches[i]];
    if (!kind.said)
      std::fprintf(stderr, "simt: cudaEventElapsedTime gives NaN for events around %s, which has no prediction: %s\n",
                   kind.kernel.c_str(), kind.why.c_str());
    kind.said = true;
  }
  if (stop.unknown > start.unknown) return std::numeric_limits<double>::quiet_NaN();
  static bool said = false;
  if (!said)
    std::fprintf(stderr, "simt: cudaEventElapsedTime gives the time predicted for an %s\n", machine()->name.c_str());
  said = true;
  return stop.seconds - start.seconds;
}

}  // namespace simt::timing
