#include "synccheck.h"

#include <string>

#include "../block.h"
#include "report.h"

namespace simt::checks {

namespace {

std::string text_of(Place place) {
  return std::string(name_of(place.call)) + " at " + place.file + ":" + std::to_string(place.line);
}

std::string hex(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

}  // namespace

void Synccheck::barrier_arrive(const ThreadId& thread, Place place) {
  for (Group& group : arrived_) {
    if (group.place.line == place.line && group.place.file == place.file && group.place.call == place.call) {
      group.count++;
      return;
    }
  }
  arrived_.push_back({place, thread, 1});
}

void Synccheck::barrier_complete(const BlockInfo& block) {
  if (arrived_.size() > 1) {
    std::string text;
    for (const Group& group : arrived_) {
      text += std::to_string(group.count) + (group.count == 1 ? " thread, " : " threads, ") +
              name_of(group.first.thread) + " first, reached " + text_of(group.place) + "\n";
    }
    text +=
        "A barrier is one call that every thread of the block reaches. Usually fixed by moving __syncthreads() out of "
        "the branch.";
    report("synccheck: divergent barrier", arrived_[0].first, arrived_[0].place, text);
  }
  if (arrived_.size() == 1 && arrived_[0].count < block.threads && remark.empty()) {
    remark = std::string(arrived_[0].place.file) + ":" + std::to_string(arrived_[0].place.line) + ": only " +
             std::to_string(arrived_[0].count) + " of the block's " + std::to_string(block.threads) +
             " threads reached this " + name_of(arrived_[0].place.call) +
             "; the others had returned from the kernel. That is allowed. But if a branch led them past the barrier, "
             "it is not: CUDA wants all threads of the block in it. Then move the barrier, or the call of the function "
             "that has it, out of the branch.";
  }
  arrived_.clear();
}

void Synccheck::caller_outside(const ThreadId& thread, unsigned mask, Place place) {
  report("synccheck: caller outside the mask", thread, place,
         name_of(thread.thread) + " is lane " + std::to_string(thread.number % 32) + " and calls " + text_of(place) +
             " with the mask " + hex(mask) +
             ", which does not name it.\nThe mask must name every lane that makes the call.");
}

void Synccheck::warp_complete(const BlockInfo& block, const Thread* lanes, unsigned arrived) {
  const unsigned first = static_cast<unsigned>(__builtin_ctz(arrived));
  const Thread& one = lanes[first];
  for (unsigned left = arrived; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const Thread& other = lanes[lane];
    if (other.place.call == one.place.call) continue;
    report("synccheck: divergent warp operation", {block.index, other.index, 0}, other.place,
           "Lane " + std::to_string(first) + " reached " + text_of(one.place) + ", but lane " + std::to_string(lane) +
               " went to " + text_of(other.place) + ", with the same mask " + hex(one.mask) +
               ".\nEvery lane that the mask names must reach the same call: is it inside a branch, or a loop that "
               "some lanes leave before others?");
  }
}

void Synccheck::shuffle_source(const ThreadId& thread, unsigned block_threads, unsigned mask, unsigned came,
                               unsigned source, Place place) {
  const std::string reads = name_of(thread.thread) + " reads lane " + std::to_string(source);
  if (mask >> source & 1) {
    if (came >> source & 1) return;
    if (thread.number / 32 * 32 + source >= block_threads) {
      report(
          "synccheck: shuffle from a lane that does not exist", thread, place,
          reads + " in " + text_of(place) + ", but the block has " + std::to_string(block_threads) + " thread" +
              (block_threads == 1 ? "" : "s") +
              ": there is no such lane, and the value is undefined.\nLaunch whole warps, a multiple of 32 threads per "
              "block. Are the two numbers in <<<blocks, threads>>> in this order?");
      return;
    }
    report(
        "synccheck: shuffle from a lane that has left", thread, place,
        reads + ", which has left, in " + text_of(place) +
            ": it has returned from the kernel, so its value is undefined.\nEvery lane that is read from must stay "
            "until the last shuffle. A lane without an element takes part with a value that changes nothing: 0 for a "
            "sum, -INFINITY for a maximum.");
  }
  report("synccheck: shuffle from a lane outside the mask", thread, place,
         reads + " in " + text_of(place) + ", but the mask " + hex(mask) +
             " does not name that lane.\nThe mask must name every lane that is read from.");
}

}  // namespace simt::checks
