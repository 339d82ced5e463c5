// Whether warps reduce by exchanging values. Each thread ends with a value of its own, and the row's result depends on
// all of them: they meet through shuffles and the like, through shared memory, or through global memory. So where
// little goes through the last two, it is shuffles that reduce, whatever a kernel shuffles besides.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "moves.h"
#include "words.h"

namespace testing_ {
namespace {

// For maximum, sum and result, with room to spare; a tree of 256 threads has 18 and more.
constexpr double most_barriers = 10;

// Bytes per thread that works. A shuffle reduction over 32 lanes hands on at least 31 values, once for maximum and once
// for sum: 7.75; a butterfly 40. Not every warp has to reduce.
constexpr double least_exchanged = 2;

// Of a row, the bytes per thread that may go through memory, and some more. One value per warp and reduction, and the
// result for all, are 72 bytes for 256 threads, a pair each 144; a tree in shared memory moves 4 bytes per thread and
// reduction, here 2040.
constexpr double most_handed = 1, spare_handed = 64;

// The row itself may go from thread to thread: loaded in packs, used in floats, or loaded by a warp for others. Then
// all of it does, up to what happens to be a thread's own. `bytes` without the whole matrices in it:
double besides_the_matrix(double bytes, const Count& count) {
  constexpr double nearly_all = 15.0 / 16;
  const double matrices = std::floor(bytes / count.matrix_bytes() + (1 - nearly_all));
  return std::max(0.0, bytes - std::min(3.0, matrices) * count.matrix_bytes());
}

// The same of what lines of code move, in bytes and requests of warps. A part of the row on some lines and a reduction
// on others are no whole row: whole warps move the row, and of a tree in memory fewer and fewer lanes move a word. In
// the last rounds of a loop over the row only a few lanes have a part, too. What these may move is less than the two
// trees of a maximum and a sum do.
using OfLine = double (*)(const LineCount& line);
double besides_the_matrix(const Count& count, double threads, double all, OfLine bytes, OfLine requests) {
  constexpr double of_a_row = 100;  // bytes per request, where 32 lanes have 4 each
  std::map<std::pair<std::string, int>, std::pair<double, double>> lines;
  for (const LineCount& line : count.lines) {
    auto& [moved, asked] = lines[{line.file, line.line}];
    moved += bytes(line);
    asked += requests(line);
  }
  double by_few = 0;
  for (const auto& [line, sum] : lines) by_few += sum.first < of_a_row * sum.second ? sum.first : 0;
  const double besides = by_few + besides_the_matrix(std::max(0.0, all - by_few), count);
  const double last_rounds = 5 * threads * count.rows;  // bytes, of a loop that is unrolled four times
  return by_few > last_rounds ? besides : std::min(besides, besides_the_matrix(all, count));
}

}  // namespace

Demand reduces_in_warps() {
  return [](const Count& count) -> Judgement {
    const double warps = std::max(1.0, std::ceil(count.block_threads / 32.0));
    // Several blocks may share a row; of a narrow one some of them have no part, and come to their barriers all the
    // same.
    const double barriers = count.working_barriers / (warps * std::max<double>(count.rows, count.working_blocks));
    if (count.warp_operations == 0)
      return unmet("no warp operation was counted: the lanes of a warp can exchange values without shared memory");
    if (barriers > most_barriers)
      return unmet("a thread reaches " + brief(barriers) +
                   " barriers per row; warps that reduce in registers need at most " + whole(most_barriers));

    const double threads = std::max(32.0, rows_in_turn(count) * count.working_threads / count.rows);
    const double exchanged = count.exchanged / count.rows, needed = least_exchanged * threads;
    if (exchanged < needed)
      return unmet("lanes get " + brief(exchanged) +
                   " bytes per row from other lanes of their warp; to reduce the values of " + whole(threads) +
                   " threads by shuffles takes at least " + whole(needed));
    const double most = most_handed * threads + spare_handed;
    const double handed = besides_the_matrix(
                              count, threads, count.handed_over, [](const LineCount& line) { return line.handed_over; },
                              [](const LineCount& line) { return line.shared_loads; }) /
                          count.rows;
    if (handed > most)
      return unmet("threads read " + brief(handed) + " bytes per row that other threads have put into shared memory; " +
                   "one value per warp is enough: at most " + whole(most) + " for " + whole(threads) + " threads" +
                   worst_line(count, [](const LineCount& line) { return line.handed_over; }));
    const double written = count.store.bytes + count.atomic.bytes + count.copied_written - count.result_bytes;
    const double scratch =
        besides_the_matrix(
            count, threads, written, [](const LineCount& line) { return line.store.bytes + line.atomic.bytes; },
            [](const LineCount& line) { return line.store.requests + line.atomic.requests; }) /
        count.rows;
    if (scratch > most)
      return unmet("besides the result " + brief(scratch) + " bytes per row are written to global memory; a " +
                   "reduction in registers needs none: at most " + whole(most) + " for " + whole(threads) + " threads" +
                   worst_line(count, [](const LineCount& line) { return line.store.bytes + line.atomic.bytes; }));
    return {};
  };
}

}  // namespace testing_
