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

void Synccheck::barrier_complete(const BlockInfo&) {
  if (arrived_.size() > 1) {
    std::string text;
    for (const Group& group : arrived_) {
      text += std::to_string(group.count) + " threads, " + name_of(group.first.thread) + " first, came to " +
              text_of(group.place) + "\n";
    }
    text +=
        "A barrier is one call that every thread of the block reaches. Usually mended by moving __syncthreads() out of "
        "the branch.";
    report("synccheck: divergent barrier", arrived_[0].first, arrived_[0].place, text);
  }
  arrived_.clear();
}

void Synccheck::caller_outside(const ThreadId& thread, unsigned mask, Place place) {
  report("synccheck: caller outside the mask", thread, place,
         name_of(thread.thread) + " is lane " + std::to_string(thread.number % 32) + " and calls " + text_of(place) +
             " with the mask " + hex(mask) +
             ", which does not name it.\nThe mask must name every lane that makes the call.");
}

void Synccheck::shuffle_source(const ThreadId& thread, unsigned mask, unsigned source, Place place) {
  if (mask >> source & 1) return;
  report("synccheck: shuffle from a lane outside the mask", thread, place,
         name_of(thread.thread) + " reads the value of lane " + std::to_string(source) + " in " + text_of(place) +
             ", but the mask " + hex(mask) +
             " does not name that lane.\nThe mask must name every lane that is read from.");
}

}  // namespace simt::checks
