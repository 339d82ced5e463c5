// The words in which a lab's test.cpp says what its move is (Lab::moves), on counters alone: no clock is asked.
//
// The rung's instrumented build runs once on the executor, which counts as Nsight Compute does
// (simt/counters/counters.h); a Demand looks at the counts of that one call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cases.h"
#include "client.h"
#include "types.h"

namespace testing_ {

// Accesses of one kind to global memory. A request is one instruction of a warp, a sector 32 bytes.
struct Traffic {
  double requests = 0, sectors = 0, bytes = 0;
};

struct LineCount {
  std::string file;
  int line;
  Traffic load, store, atomic;
  double shared_requests, shared_loads, warp_operations, handed_over;  // shared_loads: requests, too
};

// Of the thread of a launch that gets the most bytes, by loads of any memory, shuffles and votes: how many; an even
// share of what its block loads from global memory, or its warp; what all blocks load; threads per block; blocks that
// do their part (simt/counters/counters.h).
struct Received {
  double bytes, share, loads;
  int block_threads;
  double working_blocks;
};

// Of the warp of a launch that loads the most beyond six times the mean of its block: bytes of global memory; those of
// its block, which has so many warps; those of all blocks; blocks that do their part.
struct WarpLoads {
  double bytes, block_bytes, warps, loads, working_blocks;
};

// Of the block of a launch whose warps take turns the most: instructions of global and shared memory, of the warp that
// makes the most between two barriers, over all of them, beyond those of the warp that makes the most in all; of all
// its warps, which are so many. Bytes of global memory that all blocks load and store.
struct Chain {
  double beyond_longest, instructions, warps, moved;
  int block_threads;
};

// What one call of a variant did, all its kernels together.
struct Count {
  int rows, cols;
  int results;        // of a row, where it gives fewer than it has elements; 0: it does not
  int element_bytes;  // of the variant's type
  double result_bytes = 0;
  rung::Sizes sizes = {};
  Traffic load, store, atomic;
  double footprint_read = 0;     // distinct sectors, of all kernels
  double largest_footprint = 0;  // of one of them
  double barriers = 0;           // once per warp
  double warp_operations = 0;    // shuffles, votes, __syncwarp, once per warp
  // Bytes: what lanes get of their warp by shuffles, votes and reductions; what threads read of what others have put
  // into shared memory (simt/counters/handed_over.h).
  double exchanged = 0, handed_over = 0, between_warps = 0;  // the last: from threads of other warps
  double copied_read = 0, copied_written = 0;                // bytes, by copies within device memory and cudaMemset
  // Of the thread with the most accesses (global and shared), and the mean over its block, and over all that do their
  // part.
  double longest_thread = 0, its_share = 0, share_of_all = 0;
  int block_threads = 0;           // of that block
  std::vector<Received> received;  // per launch
  std::vector<WarpLoads> busiest;  // likewise
  std::vector<Chain> chains;       // likewise
  double blocks = 0;               // of the largest grid
  double threads = 0;              // of the launch with the most
  double working_blocks = 0,
         working_threads = 0;   // likewise, without blocks that load little (simt/counters/counters.h)
  double working_barriers = 0;  // barriers without those of such blocks
  double launches = 0;          // of kernels
  double by_graphs = 0;         // of kernels and library calls, those that a graph makes
  // Of what the operator watches (common/ops/arguments.h, Plan): bytes requested by kernels, and by library calls as
  // their operands. How many of those calls there were.
  double watched_bytes = 0, library_calls = 0;
  std::vector<LineCount> lines;

  double elements() const { return static_cast<double>(rows) * cols; }
  double matrix_bytes() const { return elements() * element_bytes; }
  // What copies and cudaMemset count for: nothing, where they are for a counter or a small workspace, of one row of
  // floats and four values per thread of a block at the most where rows are few.
  double copies(double bytes) const { return bytes > std::max(matrix_bytes() / 16, cols * 4.0 + 4 * 1024) ? bytes : 0; }

  // Where the move says for how many rows these stand: the time that is predicted for all of them on an H200, in
  // seconds, NaN without a prediction; and of the longest launch what limits it, or why there is no prediction.
  // at_least: the time without what is not modelled, NaN where nothing is known. rest: also without code whose cost is
  // not known; of what nothing is known, nothing.
  int stands_for = 0;
  double predicted = 0, at_least = 0, rest = 0;
  std::string predicted_words = {};
};

struct Judgement {
  bool met = true;
  std::string counted;  // what was counted and what is needed, where that is not met; or a remark that fails nothing
  int rows = 0;         // not 0: so many may share a block, which few rows do not fill; it is judged again with them
  double over = 0;      // of a predicted time that is not met: it is so many times what is allowed
};

using Demand = std::function<Judgement(const Count&)>;

// ---- The vocabulary ------------------------------------------------------------------------------

// Every element is loaded from global memory, at the most so often.
Demand read_at_most(int times);
// What the operator watches (Plan in common/ops/arguments.h), here the matrix, is requested once; `spare` bytes per
// row may come on top. The rest of the input, such as weights, may be requested again by every row. Little is written
// besides the result: no copy of the matrix, from which it could be read again.
Demand watched_once(int spare = 0);
// Every element is stored once and nothing else is.
Demand written_once();
// A request moves no more sectors than its bytes fill: 4 with 4 bytes per lane, 16 with 16. A row that starts between
// two sectors costs one more per request.
Demand coalesced();
// All loads and stores are this wide, for whole warps: for a shape whose rows divide into such accesses.
Demand bytes_per_lane(int bytes);
// Hardly more requests than that width needs, where rows start anywhere: the few elements before the first boundary and
// after the last may cost `spare` requests per row more.
Demand nearly_bytes_per_lane(int bytes, int spare);
// The matrix takes this many bytes per element in memory.
Demand bytes_per_element(int bytes);
// No thread makes more than its share of the block's accesses plus a logarithm: a few accesses for each of the log2(n)
// rounds in which n threads reduce. Nor does the mean exceed what a thread's part of the elements needs.
Demand no_serial_section();
// No thread gets to know much more of the rows than its share, by whatever way: for a shape of wide rows.
Demand even_shares();
// Warps reduce by exchanging values: lanes get as much from others as that takes; a thread comes to few barriers per
// row, not to one per round; and little more than one value per warp goes through shared or global memory.
Demand reduces_in_warps();
// At least so many blocks per row, in one of the kernels; and kernels with fewer hardly load anything.
Demand spread_over_blocks(int least);
// At least half a warp per row, likewise; of narrow rows a lane for every 128 bytes, which are eight accesses of 16.
constexpr double lanes_per_row = 16, bytes_of_a_lane = 128;
Demand rows_at_once();
// The predicted time is within what rows x cols floats may take; elements of 16 bits may take half of it, and other
// widths in proportion. Of what is not modelled, such as clusters, the least that the rest takes is judged.
Demand predicted_within(double microseconds, int rows, int cols);
// The same for a time that is only to show what no count does, such as lanes that work one after the other: of a kernel
// with code whose cost is not known what the rest takes is judged. by_bytes: elements of 16 bits may take half of it.
// apart: of other widths than that.
struct Apart {
  double wide = 1.5;    // times as long may rows take that are more than twice as wide: fewer run at one time
  double a_row = 0.01;  // microseconds that each of those may take on top that are more, since rows are narrower
};
// Of first kernels, which have little in flight and a whole block, or a cluster, for each row. A wide row is counted
// alone: a grid of fixed size, or a block for several rows, then has blocks or warps with nothing to do.
constexpr Apart simple_kernels = {8, 0.03};
Demand keeps_pace(double microseconds, int rows, int cols, bool by_bytes = true, Apart apart = {});
// Kernels and library calls, all together.
Demand launched_at_most(int times);
// All of them by a graph.
Demand launched_by_graphs();
// Not a demand: says what the variant's loads cost.
Demand said_what_loads_cost();

// What an operator's own demands are written with. "\nworst line softmax_smem.cu:50: row[c] = x[c];", the line for
// which `weight` is the largest.
std::string worst_line(const Count& count, const std::function<double(const LineCount&)>& weight);
Judgement unmet(const std::string& counted);
// How many rows a block goes through one after the other, with all its threads: its own barriers are as many, at the
// least. Of warps that have rows of their own, 1.
double rows_in_turn(const Count& count);
// What the parts of a row may leave behind for each other, in bytes written besides the result: too little to be a copy
// of x, from which that could be read again. What is written besides, and whether it is more.
double partial_results(const Count& count);
double written_besides(const Count& count);
bool keeps_a_copy(const Count& count);
// "" or a line that says how many of the bytes copies and settings of device memory have moved.
std::string by_copies(double bytes);

// ---- A move --------------------------------------------------------------------------------------

struct Move {
  std::string name;   // of the case: "move-read-once"
  std::string title;  // "every element is read once: ..."; ends every failure
  Shape shape;
  Demand demand;
  std::vector<std::string> variants = {};  // of the lab, that it is for; empty: all
  bool others_too = true;                  // also variants that the lab does not know, in a file of the student's own
  // The judge counts other rows than those of `shape`: about as wide, up to this width, of any width up to twice this
  // one, or also of those above; of a time near this width, and of rows of hundreds and more (drawn_shapes.h).
  enum class Widths { near, up_to, any, wider, paced } widths = Widths::near;
  int stands_for = 0;  // not 0: the time of so many times the rows is predicted
  // Counted there, too; by the judge at any width, and of an odd one at any odd width. The demand: if empty, the
  // move's.
  struct Also {
    Shape shape;
    Demand demand = {};
  };
  std::vector<Also> also = {};

  // The same move, with another of these: Move{...}.of({"tree"}).at(Widths::any).
  Move of(std::vector<std::string> names) const;
  Move and_no_others() const;
  Move at(Widths others) const;
  Move standing_for(int times) const;
  Move paced() const;  // at such widths, for many times the rows
  Move also_at(std::vector<Also> shapes) const;
};
using Widths = Move::Widths;

// Where moves are counted, too: narrow rows, and many rows that begin anywhere; wide ones. Of top-K with its K.
inline const std::vector<Move::Also> narrow_and_odd = {{{80, 512}}, {{48, 2049}}};
inline const std::vector<Move::Also> narrow_and_odd_topk = {{{66, 512, 1}}, {{48, 2049, 8}}};
inline const std::vector<Move::Also> all_widths = {{{2, 16384}}, {{80, 512}}, {{48, 2049}}};

// Moves that most labs ask for, whatever the width: no thread does the work of others; many rows are worked on at once.
Move shares_evenly(Shape wide = {2, 16384}, std::vector<Move::Also> also = narrow_and_odd);
Move works_on_many_rows(Shape narrow = {80, 512}, Shape odd = {48, 2049});

struct Step;

// Adds up what the executor counted in one call of the step's variant. Returns "" or why there is nothing to judge: not
// returned, an error, no launch.
std::string read_counters(const Step& step, const rung::Outcome& outcome, Count* count);

// Counts one call of an instrumented rung, which `client` has loaded. Returns "" or why that failed.
// Blocks and warps may draw their rows from a queue. The executor runs one after the other, so that the first would
// draw all: of variants with atomics in global memory it counts what they do when they take turns.
std::string count_call(rung::Client& client, const Step& step, Count* count, uint64_t more_seed = 0);

// What a drawn shape is counted with, where others have the values `otherwise`.
int values_at(const Shape& shape, int otherwise);

// Counts one call and judges it. `remark`: set to what there is to say without failing. Returns "" or the failure.
std::string check_move(const Step& step, std::string* remark);

}  // namespace testing_
