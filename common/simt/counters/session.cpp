#include "session.h"

#include <algorithm>
#include <atomic>

#include "../loaded_module.h"
#include "../module_symbols.h"
#include "source_lines.h"

namespace simt::counters {

namespace {

// A launch that has ended, its lines not yet looked up.
struct Raw {
  Launch launch;
  std::string module_path;
  std::map<uintptr_t, Counts> by_offset;  // in the module
  std::map<uint64_t, Counts> by_place;
};

std::atomic<bool> counting{false};
bool libraries_apart = false;
uintptr_t watched_begin = 0;
size_t watched_bytes = 0;
std::mutex mutex;
std::vector<Raw>& ended() {
  static auto* launches = new std::vector<Raw>;
  return *launches;
}

std::vector<LibraryCall>& library_calls() {
  static auto* calls = new std::vector<LibraryCall>;
  return *calls;
}

Copies copies;

// Of memory that is watched.
size_t watched_part(const void* from, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(from);
  const uintptr_t first = std::max(begin, watched_begin), last = std::min(begin + bytes, watched_begin + watched_bytes);
  return first < last ? last - first : 0;
}

std::map<const void*, std::string>& names() {
  static auto* names = new std::map<const void*, std::string>;
  return *names;
}

// What the launch calls it may be a variable or have a template's parameters; its symbol says more, where it is known.
std::string name_of(const BoundKernel& kernel) {
  if (kernel.function) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto [entry, is_new] = names().try_emplace(kernel.function);
    if (is_new) entry->second = function_name(kernel.function);
    if (!entry->second.empty()) return entry->second;
  }
  const std::string name = kernel.name;
  return name.size() > 2 && name.front() == '(' && name.back() == ')' ? name.substr(1, name.size() - 2) : name;
}

uint64_t handed_to(const BlockSums& block) {
  uint64_t sum = 0;
  for (const auto& [pc, bytes] : block.handed_over) sum += bytes;
  return sum;
}

// Finds the blocks that do their part. Of a narrow row some blocks of a cluster have nothing, and come to barriers and
// read what the others have found all the same: that is no part of the reduction, if it is no more than those do.
void find_working_blocks(LaunchCounters& counters, Launch* launch) {
  const auto a_quarter = [&](uint64_t BlockSums::*bytes) {
    uint64_t sum = 0;
    for (const BlockSums& block : counters.blocks) sum += block.*bytes;
    return sum / (4 * std::max<size_t>(1, counters.blocks.size()));
  };
  const uint64_t least_loads = a_quarter(&BlockSums::loads), least_stores = a_quarter(&BlockSums::stores);
  std::vector<const BlockSums*> idle;
  uint64_t handed = 0, barriers = 0;
  for (const BlockSums& block : counters.blocks) {
    if (block.loads < least_loads || block.stores < least_stores) {
      idle.push_back(&block);
      continue;
    }
    launch->working_blocks++;
    launch->working_accesses += block.accesses;
    barriers += block.barriers;
    handed += handed_to(block);
  }
  launch->working_barriers = barriers;
  const uint64_t working = std::max<uint64_t>(1, launch->working_blocks);
  for (const BlockSums* block : idle) {
    launch->working_barriers += block->barriers - std::min(block->barriers, barriers / working);
    const uint64_t mine = std::max<uint64_t>(1, handed_to(*block)), left_out = std::min(mine, handed / working);
    for (const auto& [pc, bytes] : block->handed_over) counters.by_pc[pc].handed_over -= bytes * left_out / mine;
  }
}

// Offset -> line, for all offsets of one module that any launch has had. Kept: to look some up takes as long as to run
// a kernel of thousands of elements, and counted kernels are run again and again.
using LineTable = std::map<uintptr_t, SourceLine>;

const std::map<std::string, LineTable>& look_up(const std::vector<Raw>& launches) {
  static auto* const tables = new std::map<std::string, LineTable>;
  std::map<std::string, std::vector<uintptr_t>> missing;
  for (const Raw& raw : launches) {
    for (const auto& entry : raw.by_offset) {
      if ((*tables)[raw.module_path].try_emplace(entry.first).second) missing[raw.module_path].push_back(entry.first);
    }
  }
  for (auto& [module, offsets] : missing) {
    std::vector<uintptr_t> calls;  // an offset is that of the instruction after a call
    for (const uintptr_t offset : offsets) calls.push_back(offset - 1);
    const std::vector<SourceLine> lines = source_lines(module, calls);
    for (size_t i = 0; i < offsets.size(); i++) (*tables)[module][offsets[i]] = lines[i];
  }
  return *tables;
}

}  // namespace

std::unique_ptr<LaunchCounters> begin_launch(const LaunchState& launch) {
  if (!counting) return nullptr;
  // One thread does here what kernels of the library do (thrust/detail/run.h): its accesses are not theirs.
  const std::string_view name = launch.kernel.name;
  if (libraries_apart &&
      (name.substr(0, 8) == "thrust::" || name.substr(0, 11) == "cub::Device" || name.substr(0, 6) == "cublas")) {
    LibraryCall call;
    call.name = name;
    call.counted = false;
    note_library_call(call);
    return nullptr;
  }
  auto counters = std::make_unique<LaunchCounters>();
  counters->tracer = timing::begin_launch(launch);
  const LoadedModule module = loaded_module(reinterpret_cast<uintptr_t>(launch.kernel.run));
  counters->module_base = module.base;
  try {
    counters->operations = timing::operations_of(module.path());
  } catch (const std::exception&) {  // the prediction says so
  }
  return counters;
}

void end_launch(const LaunchState& state, LaunchCounters& counters) {
  Raw raw;
  Launch& launch = raw.launch;
  launch.kernel = name_of(state.kernel);
  launch.grid = state.config.grid;
  launch.block = state.config.block;
  launch.dynamic_shared_bytes = state.config.shared_bytes;
  launch.sectors_read = counters.footprint.sectors_read();
  launch.sectors_written = counters.footprint.sectors_written();
  launch.watched_bytes_read = counters.watched_bytes_read;
  launch.longest_thread_accesses = counters.longest_thread_accesses;
  launch.its_block_accesses = counters.its_block_accesses;
  launch.received = counters.received;
  launch.busiest_warp = counters.busiest_warp;
  launch.one_by_one = counters.one_by_one;
  launch.one_by_one.keep_most(blocks_one_by_one(counters.of_clusters));
  launch.exchanged = counters.exchanged;
  find_working_blocks(counters, &launch);
  const LoadedModule module = loaded_module(reinterpret_cast<uintptr_t>(state.kernel.run));
  raw.module_path = module.path();
  for (const auto& [pc, counts] : counters.by_pc) {
    launch.total.add(counts);
    raw.by_offset[pc - module.base].add(counts);
  }
  for (const auto& [place, counts] : counters.by_place) launch.total.add(counts);
  if (counters.tracer) {
    if (state.kernel.function) launch.symbol = mangled_name(state.kernel.function);
    launch.predicted =
        timing::end_launch(state, launch.kernel, counters.tracer.get(), launch.sectors_read, launch.sectors_written,
                           launch.total.global[load].requests + launch.total.shared[load].requests,
                           launch.total.global[load].requests + launch.total.global[store].requests +
                               launch.total.global[atomic].requests);
  }
  raw.by_place = counters.by_place;
  std::lock_guard<std::mutex> lock(mutex);
  ended().push_back(std::move(raw));
}

void watch(const void* begin, size_t bytes) {
  watched_begin = reinterpret_cast<uintptr_t>(begin);
  watched_bytes = bytes;
}

bool is_watched(const void* address) { return reinterpret_cast<uintptr_t>(address) - watched_begin < watched_bytes; }
bool is_watching() { return watched_bytes > 0; }

void note_library_call(const LibraryCall& call) {
  if (!counting) return;
  timing::note_library_call(call.name);
  std::lock_guard<std::mutex> lock(mutex);
  library_calls().push_back(call);
}

void note_copy(const void* from, size_t bytes) {
  if (!counting) return;
  std::lock_guard<std::mutex> lock(mutex);
  copies.calls++;
  copies.bytes_written += bytes;
  if (!from) return;
  copies.bytes_read += bytes;
  copies.watched_bytes_read += watched_part(from, bytes);
}

void start(bool leave_libraries_out) {
  std::lock_guard<std::mutex> lock(mutex);
  libraries_apart = leave_libraries_out;
  ended().clear();
  library_calls().clear();
  copies = {};
  names().clear();
  counting = true;
}

bool running() { return counting; }

void discard() {
  std::lock_guard<std::mutex> lock(mutex);
  counting = false;
  ended().clear();
}

Report finish() {
  std::lock_guard<std::mutex> lock(mutex);
  counting = false;
  const std::map<std::string, LineTable>& tables = look_up(ended());
  Report report;
  for (Raw& raw : ended()) {
    std::map<std::pair<std::string, int>, Counts> lines;
    for (const auto& [offset, counts] : raw.by_offset) {
      const SourceLine& line = tables.at(raw.module_path).at(offset);
      lines[{line.file, line.line}].add(counts);
    }
    for (const auto& [place, counts] : raw.by_place) {
      const auto* file = reinterpret_cast<const char*>(place & 0xffffffffffff);
      lines[{shorten(file), static_cast<int>(place >> 48)}].add(counts);
    }
    for (const auto& [position, counts] : lines) raw.launch.lines.push_back({position.first, position.second, counts});
    report.launches.push_back(std::move(raw.launch));
  }
  ended().clear();
  report.watching = is_watching();
  report.copies = copies;
  report.library_calls = std::move(library_calls());
  library_calls().clear();
  return report;
}

}  // namespace simt::counters
