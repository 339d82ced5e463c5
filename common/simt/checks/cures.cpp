// How a race, or an index beyond shared memory, is mended: first what the evidence speaks for.
#include <algorithm>
#include <string>

#include "racecheck.h"
#include "report.h"

namespace simt::checks {

namespace {

const char* const mended_by_barrier =
    "Usually fixed by a __syncthreads() between the two lines, at a place that all threads reach, so not in a branch. "
    "In a loop a second one is needed: after the last access of a round and before the first of the next.";

}  // namespace

// Did an access at the same line, in the block of `like`, touch the element just before?
bool Racecheck::touched_before(uintptr_t address, unsigned bytes, Stamp like, uintptr_t pc) {
  const uintptr_t before = address - bytes;
  Page& page = shadow_.page(before);
  const unsigned cell = page.cell(before, bytes);
  page.expand(cell);
  const std::string line = line_of(pc);
  for (const Stamp stamp : {page.writes()[cell], page.reads()[cell]}) {
    if (stamp_time(stamp) < launch_) continue;
    if (block_at(stamp_time(stamp)) != block_at(stamp_time(like))) continue;
    if (line_of(pcs_[stamp_pc(stamp)]) == line) return true;
  }
  return false;
}

bool Racecheck::touched_before(uintptr_t address, unsigned bytes, uintptr_t pc) {
  return touched_before(address, bytes, Stamp{time_} << stamp_time_shift, pc);
}

// Its place is that of an element just past a row, and one of the two lines went there from the row's last element.
std::string Racecheck::past_the_row(const Now& now, uintptr_t address, Stamp stamp, Stamp before) {
  const unsigned bytes = now.access.bytes;
  const std::string row = just_past_row(now.block, now.space, address, bytes);
  if (row.empty()) return "";
  if (!touched_before(address, bytes, stamp, now.access.pc) &&
      !touched_before(address, bytes, before, pcs_[stamp_pc(before)]))
    return "";
  return "That is one past the end of " + row +
         ", and the same line has touched the element before it: does its index run "
         "past the end of the row (c <= cols in place of c < cols)? If it does not:\n";
}

// What the threads of a block need depends on which of them were seen to race.
std::string Racecheck::cure(bool block_is_complete) const {
  if (scope_ == Scope::blocks && publication_.has_atomics()) {
    return "Blocks run in any order. Does the writer call __threadfence() between its store and the atomic that tells "
           "the others, after a barrier if other threads of its block have stored?";
  }
  if (scope_ == Scope::blocks && cluster_)
    return "Blocks of a cluster run in any order: is there a cluster.sync() between the two lines? Or give each its "
           "own memory, or use an atomic.";
  if (scope_ == Scope::blocks) return "Blocks run in any order: give each its own memory, or use an atomic.";
  if (is_update_)
    return "Both threads read that place, change it and write it back. If many do so at once, as in x += 1, no barrier "
           "helps: give each thread an element of its own, and let one add them up after a barrier; or use an atomic "
           "(atomicAdd). If they are to take turns, as in a sort, a __syncthreads() must stand between the turns.";
  if (all_write_there_)
    return "Both threads store to the same place at that line. If each has a value of its own, give it an element of "
           "its "
           "own; if one is enough, let one thread write (if (threadIdx.x == 0)). If they are to take turns, a "
           "__syncthreads() must stand between the turns.";
  if (scope_ == Scope::warps) return mended_by_barrier;
  if (clocks_.size() == 1 || block_is_complete)
    return "Usually fixed by a __syncwarp() between the two lines: all threads that were seen to race are of one warp. "
           "A __syncthreads() does it, too.";
  return std::string(mended_by_barrier) + " If only threads of one warp share the data, __syncwarp() is enough.";
}

const Race* Racecheck::found(bool block_is_complete) {
  if (!found_) return nullptr;
  race_.detail = text_ + cure(block_is_complete);
  return &race_;
}

}  // namespace simt::checks
