// No thread of a block can go on: who waits where, and for whom.
#include <cstdarg>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "block.h"
#include "checks/checks.h"
#include "failure.h"

namespace simt {

namespace {

struct WaitingThread {
  unsigned number;  // in the block: of warp number / 32, lane number % 32
  uint3 index;
  Place place;
  unsigned mask;
};

void append(std::string* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
void append(std::string* text, const char* format, ...) {
  char buffer[600];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  *text += buffer;
}

// Does it wait for the lanes of a mask?
bool is_warp_operation(Call call) { return call > Call::syncthreads_or && call < Call::tile_sync; }
bool is_in_warp_operation(const WaitingThread& thread) { return is_warp_operation(thread.place.call); }

// A thread in a warp operation waits for a lane of its mask that waits in something else, which is why it will not
// come.
struct LeftLane {
  const WaitingThread *waits = nullptr, *left = nullptr;
};

LeftLane find_left_lane(const std::vector<WaitingThread>& waiting) {
  for (const WaitingThread& thread : waiting) {
    if (!is_in_warp_operation(thread)) continue;
    for (const WaitingThread& other : waiting) {
      const bool awaited = other.number / 32 == thread.number / 32 && thread.mask >> other.number % 32 & 1;
      if (awaited && !(is_in_warp_operation(other) && other.mask == thread.mask)) return {&thread, &other};
    }
  }
  return {};
}

std::string text_of(Place place) {
  return std::string(name_of(place.call)) + " at " + place.file + ":" + std::to_string(place.line);
}

// Who waits where, a line for each place.
std::string list_of(const std::vector<WaitingThread>& waiting) {
  struct Group {
    unsigned count = 0;
    uint3 first = {}, last = {};
  };
  std::map<std::tuple<std::string, int, Call, unsigned>, Group> groups;
  for (const WaitingThread& thread : waiting) {
    const unsigned mask = is_in_warp_operation(thread) ? thread.mask : 0;
    Group& group = groups[{thread.place.file, thread.place.line, thread.place.call, mask}];
    if (group.count++ == 0) group.first = thread.index;
    group.last = thread.index;
  }
  std::string text;
  for (const auto& [place, group] : groups) {
    const auto& [file, line, call, mask] = place;
    const uint3 a = group.first, b = group.last;
    append(&text, "%u thread%s, (%u,%u,%u)", group.count, group.count == 1 ? "" : "s", a.x, a.y, a.z);
    if (group.count > 1) append(&text, " to (%u,%u,%u)", b.x, b.y, b.z);
    append(&text, ", wait%s at %s:%d in %s", group.count == 1 ? "s" : "", file.c_str(), line, name_of(call));
    if (is_warp_operation(call)) append(&text, " for the lanes of mask 0x%08x", mask);
    append(&text, "\n");
  }
  return text;
}

}  // namespace

const char* name_of(Call call) {
  static const char* const names[] = {"nothing",
                                      "__syncthreads",
                                      "__syncthreads_count",
                                      "__syncthreads_and",
                                      "grid.sync",
                                      "__syncthreads_or",
                                      "__syncwarp",
                                      "__activemask",
                                      "__shfl_sync",
                                      "__shfl_up_sync",
                                      "__shfl_down_sync",
                                      "__shfl_xor_sync",
                                      "__ballot_sync",
                                      "__any_sync",
                                      "__all_sync",
                                      "__match_any_sync",
                                      "__match_all_sync",
                                      "__reduce_add_sync",
                                      "__reduce_min_sync",
                                      "__reduce_max_sync",
                                      "__reduce_and_sync",
                                      "__reduce_or_sync",
                                      "__reduce_xor_sync",
                                      "reduce",
                                      "mma",
                                      "ldmatrix",
                                      "tile.sync",
                                      "barrier.wait",
                                      "pipeline wait",
                                      "bar.sync",
                                      "cluster.sync"};
  return names[static_cast<int>(call)];
}

[[noreturn]] static void fail_deadlock(uint3 block, const std::vector<WaitingThread>& waiting,
                                       unsigned threads_per_block) {
  const LeftLane found = find_left_lane(waiting);
  std::string what = checks::running() ? "synccheck: " : "", text;
  // The warp operation is the culprit: a barrier, if others have come to one, waits for its lanes.
  const WaitingThread& first = found.waits ? *found.waits : waiting.front();
  if (found.waits) {
    const std::string lane = "lane " + std::to_string(found.left->number % 32) + ", which has left";
    what += std::string(name_of(first.place.call)) + " waits for " + lane;
    text = "Lane " + std::to_string(first.number % 32) + " waits for " + lane + " for " + text_of(found.left->place) +
           ".\n";
  } else {
    what += "deadlock";
  }
  text += list_of(waiting);
  append(&text, "%u of the block's %u threads have returned. ",
         threads_per_block - static_cast<unsigned>(waiting.size()), threads_per_block);
  text += found.waits
              ? "Every lane that the mask names must reach the same call: is it inside a branch, or a loop that some "
                "lanes leave before others?"
              : "Every thread that is waited for must reach the same call: is it inside a branch or a loop?";

  fail_in_kernel(what, text, first.place, block, first.index);
}

void Block::report_deadlock() {
  std::vector<WaitingThread> waiting;
  for (const Thread& thread : threads_) {
    if (thread.warp->alive >> thread.lane & 1) {
      const auto number = static_cast<unsigned>(&thread - threads_.data());
      waiting.push_back({number, thread.index, thread.place, thread.mask});
    }
  }
  fail_deadlock(index_, waiting, launch_->threads_per_block());
}

}  // namespace simt
