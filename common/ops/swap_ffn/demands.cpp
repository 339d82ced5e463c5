#include "swap_ffn/demands.h"

#include <algorithm>

#include "words.h"

namespace testing_ {
namespace {

double ffn_bytes(const Count& count) {
  const rung::SwapFfnSizes sizes = rung::swap_ffn_sizes(count.sizes);
  return 3.0 * sizes.d_model * sizes.d_ff * count.element_bytes;
}

double ffn_steps(const Count& count) {
  const rung::SwapFfnSizes sizes = rung::swap_ffn_sizes(count.sizes);
  return static_cast<double>(sizes.events) * sizes.ffn_steps;
}

}  // namespace

Demand weights_read_at_most(int times) {
  return [times](const Count& count) -> Judgement {
    const double reads = count.watched_bytes / (ffn_steps(count) * ffn_bytes(count));
    if (reads <= times) {
      // A copy of the weights is not watched. What else there is to read, states and activations, is not nearly as much
      // as the weights for every core.
      const double most = ffn_steps(count) * count.rows * ffn_bytes(count) / 4,
                   other = count.load.bytes - count.watched_bytes;
      if (other <= most) return {};
      return unmet("besides the weights " + whole(other) + " bytes are read; states and activations need less than " +
                   whole(most) + ": is a copy of the weights read?" +
                   worst_line(count, [](const LineCount& line) { return line.load.bytes; }));
    }
    return unmet("an FFN step requests each weight " + times_of(reads) + ": " + whole(count.watched_bytes) +
                 " bytes in " + whole(ffn_steps(count)) + " steps; the weights are " + whole(ffn_bytes(count)) +
                 " bytes" + worst_line(count, [](const LineCount& line) { return line.load.bytes; }));
  };
}

Demand weights_read_once_a_tile(int cores) {
  return [cores](const Count& count) { return weights_read_at_most((count.rows + cores - 1) / cores)(count); };
}

Demand threads_share_the_work() {
  return [](const Count& count) -> Judgement {
    // A product of few rows does not divide evenly among the threads, and some things are for one thread to do. The
    // course's own solution comes to 3.5 times an even share.
    constexpr double times = 16, spare = 256;
    const double share = count.its_share * count.block_threads / std::max(32, count.block_threads);
    if (count.longest_thread > times * share + spare) {
      return unmet("one thread makes " + whole(count.longest_thread) + " memory accesses; an even share among " +
                   whole(std::max(32, count.block_threads)) + " threads would be " + brief(share) +
                   worst_line(count, [](const LineCount& line) {
                     return line.load.requests + line.store.requests + line.shared_requests;
                   }));
    }
    for (const Received& launch : count.received) {
      // A weight that a block has loaded once reaches threads for many products: 22 times a thread's share of the loads
      // in the course's own solution.
      constexpr double times_received = 64, spare_bytes = 1024;
      if (launch.bytes <= times_received * launch.share + spare_bytes) continue;
      return unmet("one thread gets " + whole(launch.bytes) +
                   " bytes, from memory and from other threads; an even share of what its block loads is " +
                   whole(launch.share) + " bytes: does one thread do the work of others?");
    }
    return {};
  };
}

Demand said_what_weights_cost() {
  return [](const Count& count) -> Judgement {
    return {true, "what it costs, counted on " + std::to_string(count.rows) + " cores: " + whole(count.watched_bytes) +
                      " bytes of FFN weights are requested, " + times_of(count.watched_bytes / ffn_bytes(count)) +
                      " their footprint of " + whole(ffn_bytes(count)) + "; each weight " +
                      times_of(count.watched_bytes / (ffn_steps(count) * ffn_bytes(count))) + " in an FFN step"};
  };
}

Figure weight_bytes() {
  return [](const Count& count) { return count.watched_bytes; };
}

}  // namespace testing_
