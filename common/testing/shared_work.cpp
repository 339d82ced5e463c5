// Whether a variant's threads share its work, judged by what a thread makes of accesses, and by what it gets to know.
#include <algorithm>
#include <cmath>

#include "moves.h"
#include "words.h"

namespace testing_ {
namespace {

// Accesses per round of a reduction; n threads need log2(n) rounds. Two operands read, one result written, and one
// access more; times two, for maximum and sum.
constexpr double accesses_per_round = 8;
// Of all warps one after the other, where each round has a barrier: of one reduction, or of two.
constexpr double accesses_a_round_of_warps = 4;
// Of a thread, to an element that is its own: read, kept, read again for the sum, kept, read for the result, written;
// twice that.
constexpr double accesses_per_element = 16;
// Of the thread that puts the K largest in order, to each of them.
constexpr double accesses_a_selected = 8;
// Of two threads with as much work one may by chance have more: what is kept in a heap depends on the values.
constexpr double by_chance = 1.5;

// How often an element of a thread's even share may reach it, as a float: loaded three times, and as often from shared
// memory, and one more. One lane that does the work of its warp gets 32 times its share, one warp of eight 8 times.
constexpr double times_received = 7;
// Bytes that a thread gets in a round of a reduction, or for what every warp has found: six values.
constexpr double received_a_round = 48;
// For each of the K largest, and for one more: a reduction over the block of a value with its index, and as much again
// for merging lists.
constexpr double received_a_selected = 640;
// Besides, whatever K is, for sorting a buffer that is as large as a tile of the row; of a narrow row less.
constexpr double received_sorting = 4096, sorting_a_column = 2;
// No thread gets more than this part of a row.
constexpr double most_of_a_row = 0.75;

double all_requests(const LineCount& line) { return line.load.requests + line.store.requests + line.shared_requests; }

// In elements. What is loaded several times is not a larger share.
double share_of(const Received& launch, const Count& count) {
  return launch.share / std::max(1.0, launch.loads / count.matrix_bytes()) / count.element_bytes;
}

// Of wide rows the thread with the most accesses makes hardly more than its block's threads do on average. So one warp
// of eight that works alone is seen where its bytes are few, as those of halves are. A warp that loads for the others
// makes two of four accesses to each element, and four times as many as the mean.
constexpr double times_the_mean = 6;

// If rows share a block, the last one may have rows for few of its threads, and the others have not.
double usual_share(const Count& count) { return std::max(count.its_share, count.share_of_all); }

// Of few rows some warps of a block have none, if each has one of its own: more rows are to show that it is so.
Judgement unmet_with_few_rows(const Count& count, const std::string& counted) {
  Judgement judgement = unmet(counted);
  judgement.rows = count.block_threads / 32;
  return judgement;
}

// What a warp may load besides: of narrow rows a few packs are all that there is for the first warp of a block.
constexpr double spare_of_a_warp = 1536;

// Warps may load for others, who then find it in shared memory.
bool handed_to_other_warps(const Count& count) { return count.between_warps >= count.matrix_bytes() / 2; }

double ways_to_get(const LineCount& line) { return line.load.requests + line.shared_requests + line.warp_operations; }

// Bytes that launches load which are not enough for all rows at once, by what `enough` asks of a launch. A launch of
// many blocks for show does not make up for one that works on one row after the other.
double loaded_by_few(const Count& count, const std::function<bool(const Received&)>& enough) {
  double bytes = 0;
  for (const Received& launch : count.received) bytes += enough(launch) ? 0 : launch.loads;
  return bytes;
}
// What such launches may load: partial results, to combine them.
double few_may_load(const Count& count) { return count.matrix_bytes() / 4; }

// Between two barriers of a block one warp makes the most accesses, and the others wait for it. Where it is another one
// each time, these add up to more than any warp makes; where warps take turns, to what all of them make. So do those of
// warps that wait at other barriers, or for words that others store.
Judgement warps_work_at_once(const Count& count, double rows) {
  for (const Chain& launch : count.chains) {
    // Of one pass over the row, as for what a warp loads; a pass reads or writes it.
    const double passes = std::max(1.0, launch.moved / count.matrix_bytes()),
                 share = launch.instructions / launch.warps;
    const double spare = rows * (accesses_a_round_of_warps * std::log2(std::max(2, launch.block_threads)) +
                                 accesses_a_selected * count.results);
    const double most = (times_the_mean - 1) / passes * share + spare;
    if (launch.beyond_longest <= most || handed_to_other_warps(count)) continue;
    Judgement judgement =
        unmet("while the warps of a block wait for others, these make " + whole(launch.beyond_longest) +
              " memory accesses; a warp makes " + brief(share) + " on average, and at most " + whole(most) +
              " are allowed: do warps take turns?" + worst_line(count, all_requests));
    judgement.rows = static_cast<int>(launch.warps);
    return judgement;
  }
  return {};
}

}  // namespace

double rows_in_turn(const Count& count) {
  const double blocks = std::max(1.0, count.working_blocks), warps = std::ceil(count.block_threads / 32.0);
  const double rows = std::ceil(count.rows / blocks);
  const double barriers = std::ceil(count.working_barriers / (std::max(1.0, warps) * blocks));
  return std::max(1.0, std::min({rows, barriers, static_cast<double>(count.rows)}));
}

Demand spread_over_blocks(int least) {
  return [least](const Count& count) -> Judgement {
    const double blocks = count.working_blocks, needed = least * static_cast<double>(count.rows);
    if (blocks >= needed) {
      const double bytes =
          loaded_by_few(count, [&](const Received& launch) { return launch.working_blocks >= needed; });
      if (bytes <= few_may_load(count)) return {};
      return unmet("kernels with fewer than " + whole(needed) + " blocks that do their part load " + whole(bytes) +
                   " bytes; the matrix has " + whole(count.matrix_bytes()));
    }
    return unmet("no kernel has more than " + brief(blocks) + (blocks == 1 ? " block" : " blocks") +
                 (blocks < count.blocks ? (blocks == 1 ? " that does its part" : " that do their part") : "") + "; " +
                 std::to_string(least) + " per row are needed");
  };
}

Demand rows_at_once() {
  return [](const Count& count) -> Judgement {
    const double lanes = std::min(lanes_per_row, std::floor(count.cols * count.element_bytes / bytes_of_a_lane));
    const double needed = std::max(1.0, lanes) * static_cast<double>(count.rows);
    if (count.working_threads >= needed) {
      const double bytes = loaded_by_few(
          count, [&](const Received& launch) { return launch.working_blocks * launch.block_threads >= needed; });
      if (bytes <= few_may_load(count)) return {};
      return unmet("kernels with fewer than " + whole(needed) + " threads for " + std::to_string(count.rows) +
                   " rows load " + whole(bytes) + " bytes; the matrix has " + whole(count.matrix_bytes()) +
                   ": is one row done after the other?");
    }
    return unmet("the largest launch has " + whole(count.working_threads) + " threads " +
                 (count.working_threads < count.threads ? "in blocks that do their part " : "") + "for " +
                 std::to_string(count.rows) + " rows; at least " + whole(needed) +
                 " are needed to work on all rows at once: is one row done after the other?");
  };
}

Demand no_serial_section() {
  return [](const Count& count) -> Judgement {
    const double rounds = std::log2(std::max(2, count.block_threads)), rows = rows_in_turn(count);
    const double share = usual_share(count);
    const double most = by_chance * share + rows * (accesses_per_round * rounds + accesses_a_selected * count.results);
    // Nor is it shared work if every thread does all of it.
    double elements = count.elements() / std::max(1.0, count.blocks * count.block_threads);
    for (const Received& launch : count.received) elements = std::max(elements, share_of(launch, count));
    elements = std::ceil(elements);
    const double shared = accesses_per_element * std::max(1.0, elements) + rows * 2 * accesses_per_round * rounds;
    if (count.its_share > shared)
      return unmet("each thread makes " + brief(count.its_share) + " memory accesses on average; " + whole(shared) +
                   " are enough for its " + whole(elements) + " elements: do all threads do the same work?" +
                   worst_line(count, all_requests));
    if (count.longest_thread <= most) return {};
    return unmet_with_few_rows(
        count, "one thread makes " + whole(count.longest_thread) + " memory accesses, while the " +
                   whole(count.block_threads) + " threads of its block make " + brief(share) + " on average; " +
                   "at most " + whole(most) + " are allowed, reducing " + (rows > 1 ? whole(rows) + " rows " : "") +
                   "in " + brief(std::ceil(rounds)) + " rounds" +
                   (count.results > 1 ? " and putting " + std::to_string(count.results) + " in order" : "") +
                   " included" + worst_line(count, all_requests));
  };
}

// Who computes something from the row has it from memory or from other threads. So a thread that does the work of
// others, in whatever way, gets more of the row than its share.
Demand even_shares() {
  return [](const Count& count) -> Judgement {
    for (const Received& launch : count.received) {
      const double rows = rows_in_turn(count);
      const double spare = rows * (received_a_round * std::log2(std::max(2, launch.block_threads)) +
                                   received_a_selected * (count.results ? count.results + 1 : 0) +
                                   (count.results ? std::min(received_sorting, sorting_a_column * count.cols) : 0));
      // Halves may be kept as floats.
      const double share = share_of(launch, count) * sizeof(float);
      const double most = times_received * share + spare;
      const double row = most_of_a_row * rows * count.cols * count.element_bytes + spare;
      if (launch.bytes <= std::min(most, row)) continue;
      return unmet("one thread gets " + whole(launch.bytes) +
                   " bytes, from memory and from other threads; an even share of what its block loads is " +
                   whole(share) + " bytes; at most " + whole(std::min(most, row)) + " are allowed, for " +
                   whole(times_received) + " such shares and the reduction: does one thread do the work of others?" +
                   worst_line(count, ways_to_get));
    }
    const double selecting = accesses_a_selected * count.results, rows = rows_in_turn(count);
    const double share = usual_share(count);
    const double mean =
        times_the_mean * share + rows * (selecting + accesses_per_round * std::log2(std::max(2, count.block_threads)));
    if (count.longest_thread > mean) {
      return unmet_with_few_rows(count, "one thread makes " + whole(count.longest_thread) +
                                            " memory accesses, while the " + whole(count.block_threads) +
                                            " threads of its block make " + brief(share) + " on average; at most " +
                                            whole(mean) + " are allowed: does one warp do the work of others?" +
                                            worst_line(count, all_requests));
    }
    for (const WarpLoads& launch : count.busiest) {
      const double share_of_warp =
          std::max(launch.block_bytes, launch.loads / std::max(1.0, launch.working_blocks)) / launch.warps;
      // Of one pass over the row; in the others it has its share. Or a pass that one warp makes would be lost among
      // them.
      const double passes = std::max(1.0, launch.loads / count.matrix_bytes());
      const double most = (times_the_mean + passes - 1) / passes * share_of_warp + spare_of_a_warp;
      if (launch.bytes <= most || handed_to_other_warps(count)) continue;
      Judgement judgement = unmet("one warp loads " + whole(launch.bytes) + " bytes, while the " + whole(launch.warps) +
                                  " warps of its block load " + brief(share_of_warp) + " on average; at most " +
                                  whole(most) + " are allowed: does one warp do the work of others?" +
                                  worst_line(count, [](const LineCount& line) { return line.load.bytes; }));
      judgement.rows = static_cast<int>(launch.warps);
      return judgement;
    }
    return warps_work_at_once(count, rows);
  };
}

}  // namespace testing_
