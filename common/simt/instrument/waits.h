// How long a block takes if what waits for others does: in accesses of memory, along the longest chain in which each
// thread goes on from where those were that it has waited for. Threads wait at meetings and barriers, and by looking at
// words that others store. Lanes and warps that take turns make a chain as long as all of their work. So do those that
// hold a lock one after the other, in whatever order they get it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
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
    words_.clear();
    at_barrier_.clear();
    any_ahead_ = false;
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

  // The lanes of `mask` have met in a warp that begins with this thread. Whatever one of them has waited for, all have.
  void lanes_met(unsigned first, unsigned mask) {
    if (!any_ahead_) return;
    uint64_t most = 0;
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1)
      most = std::max(most, ahead(first + static_cast<unsigned>(__builtin_ctz(lanes))));
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1)
      ahead(first + static_cast<unsigned>(__builtin_ctz(lanes))) = most;
  }

  // An atomic has changed a word. A warp that gives it back its value, while no other has changed it, has held a lock.
  // chooses: as a maximum does, which nobody waits for who asks for one himself.
  void changed(unsigned thread, uint64_t did, uint64_t address, uint64_t before, uint64_t after, bool chooses) {
    Word* const found = word_at(address);
    if (!found) return;
    Word& word = *found;
    if (!chooses) word.reached = std::max(word.reached, did + ahead(thread));
    const bool goes_on = word.held && word.warp == thread / warp_lanes && word.now == before;
    if (goes_on && after == word.free) {
      release(&word, thread, did);
    } else {
      if (!goes_on) {
        word.held = true;
        word.warp = thread / warp_lanes;
        word.since = did;
        word.free = before;
      }
      word.now = after;
    }
  }
  // A word has got a value that does not depend on what it was.
  void stored(unsigned thread, uint64_t did, uint64_t address) {
    Word* const found = word_at(address);
    if (!found) return;
    Word& word = *found;
    word.reached = std::max(word.reached, did + ahead(thread));
    if (word.held && word.warp == thread / warp_lanes) release(&word, thread, did);
    word.held = false;
  }
  // A maximum that changes nothing looks: it may wait for what is counted or stored there. What other maxima have made
  // of the word it need not wait for.
  void chose_nothing(unsigned thread, uint64_t did, uint64_t address) {
    const auto found = words_.find(address);
    if (found != words_.end()) go_on_from(thread, did, found->second.reached);
  }

  // accesses: those of each thread in the whole block. Beyond those of the thread that makes the most.
  uint64_t beyond_longest(const uint64_t* accesses, unsigned threads) {
    uint64_t chain = 0, longest = 0;
    for (unsigned thread = 0; thread < threads; thread++) {
      chain = std::max(chain, accesses[thread] + ahead(thread));
      longest = std::max(longest, accesses[thread]);
    }
    // Whoever has a lock last goes on when all have had it. Who that is, the order here does not tell.
    for (const auto& [address, lock] : words_) {
      uint64_t least = ~uint64_t{0};
      for (const auto& [thread, did] : lock.left)
        least = std::min(least, accesses[thread] - std::min(accesses[thread], did));
      if (!lock.left.empty()) chain = std::max(chain, lock.total + least);
    }
    return chain - longest;
  }

 private:
  static constexpr unsigned warp_lanes = 32;
  // That atomics change: it may be a lock.
  struct Word {
    uint64_t reached = 0;  // by whoever has changed it, but for maxima
    bool held = false;
    unsigned warp = 0;
    uint64_t since = 0, free = 0, now = 0;  // accesses of who holds it; the word's value before, and now
    uint64_t total = 0;                     // accesses, of all who have held it
    std::map<unsigned, uint64_t> left;      // threads that gave it back, and their accesses until then
  };
  // nullptr for all but the first of very many: those are counted up, and a lock is among the first.
  Word* word_at(uint64_t address) {
    constexpr size_t most_words = 1 << 16;
    const auto found = words_.find(address);
    if (found != words_.end()) return &found->second;
    return words_.size() < most_words ? &words_[address] : nullptr;
  }
  static void release(Word* word, unsigned thread, uint64_t did) {
    if (did > word->since) word->total += did - word->since;
    word->left[thread] = did;
    word->held = false;
  }
  uint64_t& ahead(unsigned thread) {
    if (thread >= ahead_.size()) ahead_.resize(thread + 1);
    return ahead_[thread];
  }
  void go_on_from(unsigned thread, uint64_t did, uint64_t reached) {
    if (reached <= did) return;
    ahead(thread) = std::max(ahead(thread), reached - did);
    any_ahead_ = true;
  }

  std::vector<uint64_t> ahead_;  // of its own accesses, by what it has waited for
  bool any_ahead_ = false;
  std::map<What, uint64_t> reached_;
  std::unordered_map<uint64_t, Word> words_;
  std::vector<std::pair<unsigned, uint64_t>> at_barrier_;
  uint64_t barrier_ = 0;
};

}  // namespace simt
