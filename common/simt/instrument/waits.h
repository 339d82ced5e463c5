// How long a block takes if what waits for others does: in accesses of memory, along the longest chain in which each
// thread goes on from where those were that it has waited for. Threads wait at meetings and barriers, and by looking at
// words that others store. Lanes and warps that take turns make a chain as long as all of their work. So do those that
// hold a lock one after the other, in whatever order they get it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace simt {

// Of one block. did: how many accesses the thread has made so far.
class Waits {
 public:
  // A meeting's key and phase, or a word's address and one of these: stored in any way, not as a maximum is, or as one.
  using What = std::pair<uint64_t, uint64_t>;
  static constexpr uint64_t no_phase = ~uint64_t{0}, no_choice = no_phase - 1, by_choice = no_phase - 2;

  void begin_block() {
    ahead_.clear();
    reached_.clear();
    locks_.clear();
    at_barrier_.clear();
    waited_.clear();
    met_.clear();
    choosing_.clear();
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
    if (found == reached_.end() || !go_on_from(thread, did, found->second)) return;
    if (thread / warp_lanes >= waited_.size()) waited_.resize(thread / warp_lanes + 1);
    waited_[thread / warp_lanes] |= 1u << thread % warp_lanes;
  }
  void arrive(unsigned thread, uint64_t did) {
    at_barrier_.push_back({thread, did});
    barrier_ = std::max(barrier_, did + ahead(thread));
  }
  void barrier_completed() {
    for (const auto& [thread, did] : at_barrier_) go_on_from(thread, did, barrier_);
    at_barrier_.clear();
  }

  // The lanes of `mask` have met in a warp that begins with this thread. What one of them has waited for, all have:
  // they go on from where that one is now. did(thread): its accesses so far.
  template <typename Did>
  void lanes_met(unsigned first, unsigned mask, Did did) {
    if (!locks_.empty()) met(first / warp_lanes)++;
    if (waited_.size() <= first / warp_lanes) return;
    unsigned& waited = waited_[first / warp_lanes];
    if (!(waited & mask)) return;
    uint64_t latest = 0;
    for (unsigned lanes = waited & mask; lanes; lanes &= lanes - 1) {
      const unsigned thread = first + static_cast<unsigned>(__builtin_ctz(lanes));
      latest = std::max(latest, did(thread) + ahead(thread));
    }
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
      const unsigned thread = first + static_cast<unsigned>(__builtin_ctz(lanes));
      go_on_from(thread, did(thread), latest);
    }
    waited = mask == ~0u ? 0 : waited | mask;
  }

  // A maximum or a minimum has left a word as it was. It may wait for what operations of other kinds make of it; where
  // `site`, its place in the program, has never changed anything in this block, also for what maxima elsewhere do.
  void chose_nothing(unsigned thread, uint64_t did, uint64_t word, uint64_t site) {
    take(thread, did, {word, no_choice});
    if (!choosing_.count(site)) take(thread, did, {word, by_choice});
  }
  void chose(unsigned thread, uint64_t did, uint64_t word, uint64_t site) {
    choosing_.insert(site);
    give(thread, did, {word, by_choice});
  }

  // An atomic has changed a word. A warp that gives it back its value, while no other has changed it, has held a lock.
  // did(thread): the accesses of a thread of its warp so far.
  template <typename Did>
  void changed(unsigned thread, Did did, uint64_t word, uint64_t before, uint64_t after) {
    Lock& lock = locks_[word];
    const bool goes_on = lock.held && lock.warp == thread / warp_lanes && lock.now == before;
    if (goes_on && after == lock.free) {
      release(&lock, thread, did);
    } else if (goes_on) {
      lock.now = after;
    } else {
      lock.held = true;
      lock.warp = thread / warp_lanes;
      lock.since = did(thread);
      lock.free = before;
      lock.now = after;
      // What the other lanes do is looked at once the word is known to be a lock.
      lock.of_lanes.clear();
      if (lock.left.empty()) return;
      lock.met = met(lock.warp);
      for (unsigned lane = 0; lane < warp_lanes; lane++) lock.of_lanes.push_back(did(lock.warp * warp_lanes + lane));
    }
  }
  // A word has got a value that does not depend on what it was.
  template <typename Did>
  void stored(unsigned thread, Did did, uint64_t word) {
    const auto found = locks_.find(word);
    if (found == locks_.end() || !found->second.held) return;
    if (found->second.warp == thread / warp_lanes) release(&found->second, thread, did);
    found->second.held = false;
  }

  // accesses: those of each thread in the whole block. Beyond those of the thread that makes the most.
  uint64_t beyond_longest(const uint64_t* accesses, unsigned threads) {
    uint64_t chain = 0, longest = 0;
    for (unsigned thread = 0; thread < threads; thread++) {
      chain = std::max(chain, accesses[thread] + ahead(thread));
      longest = std::max(longest, accesses[thread]);
    }
    // Whoever has a lock last goes on when all have had it. Who that is, the order here does not tell.
    for (const auto& [word, lock] : locks_) {
      uint64_t least = ~uint64_t{0};
      for (const auto& [thread, did] : lock.left)
        least = std::min(least, accesses[thread] - std::min(accesses[thread], did));
      if (!lock.left.empty()) chain = std::max(chain, lock.total + least);
    }
    return chain - longest;
  }

 private:
  static constexpr unsigned warp_lanes = 32;
  struct Lock {
    bool held = false;
    unsigned warp = 0;
    uint64_t since = 0, free = 0, now = 0;  // accesses of who holds it; the word's value before, and now
    uint64_t total = 0;                     // accesses, of all who have held it
    std::map<unsigned, uint64_t> left;      // threads that gave it back, and their accesses until then
    std::vector<uint64_t> of_lanes;         // accesses of each lane when it was taken, if it was a lock before
    unsigned met = 0;                       // how often lanes of the warp had met
  };
  // Lanes that the holder has met meanwhile may have worked for it.
  template <typename Did>
  void release(Lock* lock, unsigned thread, Did did) {
    const uint64_t now = did(thread);
    uint64_t held = now - std::min(now, lock->since);
    if (!lock->of_lanes.empty() && met(lock->warp) > lock->met) {
      for (unsigned lane = 0; lane < warp_lanes; lane++)
        held = std::max(held, did(lock->warp * warp_lanes + lane) - lock->of_lanes[lane]);
    }
    lock->total += held;
    lock->left[thread] = now;
    lock->held = false;
  }
  unsigned& met(unsigned warp) {
    if (warp >= met_.size()) met_.resize(warp + 1);
    return met_[warp];
  }
  uint64_t& ahead(unsigned thread) {
    if (thread >= ahead_.size()) ahead_.resize(thread + 1);
    return ahead_[thread];
  }
  // Returns whether it had to wait.
  bool go_on_from(unsigned thread, uint64_t did, uint64_t reached) {
    if (reached <= did + ahead(thread)) return false;
    ahead(thread) = reached - did;
    return true;
  }

  std::vector<uint64_t> ahead_;   // of its own accesses, by what it has waited for
  std::vector<uint32_t> waited_;  // of each warp: lanes that have, and may not have met the others since
  std::map<What, uint64_t> reached_;
  std::map<uint64_t, Lock> locks_;
  std::vector<unsigned> met_;    // of each warp, since there are locks
  std::set<uint64_t> choosing_;  // sites of maxima and minima that have changed something
  std::vector<std::pair<unsigned, uint64_t>> at_barrier_;
  uint64_t barrier_ = 0;
};

}  // namespace simt
