// Lab 06: as near to a copy as the chip allows.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants

using rung::Dtype;

namespace {

testing_::Judgement no_barriers(const testing_::Count& count) {
  if (count.barriers == 0 && count.between_warps > 0)
    return {false, std::to_string(static_cast<int64_t>(count.between_warps)) +
                       " bytes go from warp to warp through shared memory, for which a warp waits, if not at a "
                       "barrier; a warp that processes rows by itself needs none"};
  if (count.barriers == 0) return {};
  return {false, std::to_string(static_cast<int64_t>(count.barriers)) +
                     " barriers, counted once per warp; a warp that "
                     "processes rows by itself needs none"};
}

// Half a warp or less has a row.
testing_::Judgement several_rows(const testing_::Count& count) {
  if (count.threads <= 16.0 * count.rows) return {};
  return {false, std::to_string(static_cast<int64_t>(count.threads)) + " threads for " + std::to_string(count.rows) +
                     " rows of " + std::to_string(count.cols) + "; at most 16 per row are enough for up to 64 packs"};
}

}  // namespace

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-read-once", "every element is read once", {7, 4097}, read_at_most(1)},
        // Over 16,384 elements per row in shared memory would be 64 KB; in registers it fits on any device.
        {"move-read-once-wide", "every element is read once, also of wide rows", {2, 30001}, read_at_most(1)},
        {"move-read-once-aligned",
         "every element is read once, also where rows begin on 16 bytes",
         {8, 4096},
         read_at_most(1)},
        Move{"move-written-once", "every element is written once", {7, 4097}, written_once()}.also_at(all_widths),
        Move{"move-uint4", "16 bytes per lane: 16 sectors per request", {8, 4096}, bytes_per_lane(16)}.also_at(
            {{{2, 16384}, nearly_bytes_per_lane(16, 24)}}),
        // The row's packs lie across one 128-byte line more than they fill; head and tail cost an access of their own.
        Move{"move-uint4-odd",
             "16 bytes per lane, also where rows are not aligned",
             {7, 4097},
             nearly_bytes_per_lane(16, 8)}
            .also_at({{{48, 2049}, nearly_bytes_per_lane(16, 24)}}),
        {"move-uint4-narrow", "16 bytes per lane, also in rows of six", {256, 6}, bytes_per_lane(16)},
        {"move-no-serial", "all threads share the work", {8, 4096}, no_serial_section()},
        {"move-no-serial-narrow", "all threads share the work, also of narrow rows", {256, 6}, no_serial_section()},
        Move{"move-read-once-any", "every element is read once, whatever the width", {2, 16384}, read_at_most(1)}
            .at(Widths::any)
            .also_at(narrow_and_odd),
        shares_evenly(),
        works_on_many_rows(),
        Move{"move-no-barrier", "rows of up to 3 KB wait at no barrier", {300, 600}, no_barriers}.at(Widths::up_to),
        {"move-several-rows", "a warp takes several narrow rows", {1024, 60}, several_rows},
        {"move-many-blocks", "many blocks work on one long row", {1, 200003}, spread_over_blocks(8)},
        // Three times what the solution takes (plots/results/nvidia-h200.json).
        Move{"move-pace",
             "4096 x 4096 in at most 120 us for floats, 60 us for 16 bits, predicted for an H200",
             {32, 4096},
             keeps_pace(120, 4096, 4096)}
            .paced(),
    },
    {
        {"row_bytes",
         "A row of 4096 floats: how many sector bytes do all its loads move?",
         "auto",
         Dtype::f32,
         {8, 4096},
         testing_::bytes_read_per_row(),
         "The row stays in registers between (max, sum) and the result: 4 x 4096 bytes, once."},
        {"row_barriers",
         "A block works on a row of 4096 floats. How many barriers does a thread reach, for maximum and sum "
         "together?",
         "auto",
         Dtype::f32,
         {8, 4096},
         testing_::barriers_per_row(),
         "The warps reduce by shuffles; each then writes its (max, sum), all wait once, and every warp folds the pairs "
         "of "
         "all warps for itself. The shared memory is not used again, so no thread has to wait before the end."},
        {"tile_sectors",
         "Rows of 6 halves, 12 bytes. How many 32-byte sectors does a warp ask for with one load?",
         "auto",
         Dtype::f16,
         {256, 6},
         testing_::sectors_per_load(),
         "128 rows of 12 bytes are one run of 1536 bytes, and a warp loads it as such, 16 bytes per lane: 512 bytes."},
        {"limit_us",
         "4096 x 4096 halves on an H200, which copies 4255 GB per second, reads and writes counted: how many "
         "microseconds? A factor of 1.2 counts as right.",
         "auto",
         Dtype::f16,
         {4096, 4096},
         nullptr,
         "At the limit it is a copy: 2 x 2 bytes x 4096 x 4096 over the bandwidth, and a few per cent.",
         {{"lab06_limit", "auto", Dtype::f16, 4096, 4096}},
         1.2},
        {"auto_limit",
         "auto, f32, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency. The "
         "unit "
         "that is busy nearly all of the time; latency, if none is.",
         "auto",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "Every byte is moved once, by few wide requests, with much in flight and one exponential per element. What "
         "is "
         "left is the wait for DRAM.",
         {{"lab06_limit", "auto", Dtype::f32, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};
