// How long a block takes if what waits for others does: in accesses of memory, along the longest chain in which each
// thread goes on from where those were that it has waited for. Threads wait at meetings and barriers, and by looking at
// words that others store. Lanes and warps that take turns make a chain as long as all of their work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace simt {

// Of one block. did: how many accesses the thread has made so far.
class Waits {
 public:
  using What = std::pair<uint64_t, uint64_t>;  // a meeting's key and phase, or a word's address and no_phase
  static constexpr uint64_t no_phase = ~uint64_t{0};

  void begin_block() {
    ahead_.clear();
    reached_.clear();
    at_barrier_.clear();
    barrier_ = 0;
  }
  // Nothing is kept of a block before one of its threads gives others something to wait for.
  bool active() const { return !reached_.empty(); }

  void give(unsigned thread, uint64_t did, What what) {
    uint64_t& reached = reached_[what];
    reached = std::max(reached, did + ahead(thread));
  }
  void take(unsigned thread, uint64_t did, What what) {
    const auto found = reached_.find(what);
    if (found != reached_.end()) go_on_from(thread, did, found->second);
  }
  void arrive(unsigned thread, uint64_t did) {
    at_barrier_.push_back({thread, did});
    barrier_ = std::max(barrier_, did + ahead(thread));
  }
  void barrier_completed() {
    for (const auto& [thread, did] : at_barrier_) go_on_from(thread, did, barrier_);
    at_barrier_.clear();
  }

  // accesses: those of each thread in the whole block. Beyond those of the thread that makes the most.
  uint64_t beyond_longest(const uint64_t* accesses, unsigned threads) {
    uint64_t chain = 0, longest = 0;
    for (unsigned thread = 0; thread < threads; thread++) {
      chain = std::max(chain, accesses[thread] + ahead(thread));
      longest = std::max(longest, accesses[thread]);
    }
    return chain - longest;
  }

 private:
  uint64_t& ahead(unsigned thread) {
    if (thread >= ahead_.size()) ahead_.resize(thread + 1);
    return ahead_[thread];
  }
  void go_on_from(unsigned thread, uint64_t did, uint64_t reached) {
    if (reached > did) ahead(thread) = std::max(ahead(thread), reached - did);
  }

  std::vector<uint64_t> ahead_;  // of its own accesses, by what it has waited for
  std::map<What, uint64_t> reached_;
  std::vector<std::pair<unsigned, uint64_t>> at_barrier_;
  uint64_t barrier_ = 0;
};

}  // namespace simt
