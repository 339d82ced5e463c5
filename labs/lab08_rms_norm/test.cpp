// Lab 08: an operator from a blank file.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        // The matrix alone: the weights may be asked for again by every row.
        {"move-read-once", "every element of x is read once", {8, 4096}, watched_once()},
        {"move-read-once-odd",
         "every element of x is read once, also where rows are not aligned",
         {7, 4097},
         watched_once()},
        Move{"move-written-once", "every element is written once", {7, 4097}, written_once()}.also_at(all_widths),
        {"move-uint4", "16 bytes per lane: 16 sectors per request", {8, 4096}, bytes_per_lane(16)},
        {"move-no-serial", "all threads share the work", {8, 4096}, no_serial_section()},
        Move{"move-read-once-any", "every element of x is read once, whatever the width", {2, 16384}, watched_once()}
            .at(Widths::any)
            .also_at(narrow_and_odd),
        shares_evenly(),
        works_on_many_rows(),
        Move{"move-budget",
             "4096 x 4096 within the time budget: 44 us for floats, 22 us for 16 bits, predicted for an H200",
             {512, 4096},
             predicted_within(44, 4096, 4096)}
            .standing_for(8),
        // Four times that.
        Move{"move-pace",
             "4096 x 4096 in at most 180 us for floats, 90 us for 16 bits, predicted for an H200",
             {32, 4096},
             keeps_pace(180, 4096, 4096)}
            .paced(),
    },
    {
        {"norm_bytes",
         "A row of 4096 floats: how many sector bytes do all its loads move, the weights included?",
         "auto",
         Dtype::f32,
         {8, 4096},
         testing_::bytes_read_per_row(),
         "The row stays in registers between the sum and the result; the weights are as long as the row, and every "
         "block asks for them."},
        {"norm_barriers",
         "A block works on a row of 4096 floats. How many barriers does a thread reach?",
         "auto",
         Dtype::f32,
         {8, 4096},
         testing_::barriers_per_row(),
         "The warps reduce by shuffles; each writes its sum, all wait once, and every warp adds up all sums for "
         "itself."},
        {"narrow_loads",
         "Many rows of 256 bf16 values, two rows per warp: how many load instructions do warps execute per row, those "
         "of "
         "the weights included?",
         "auto",
         Dtype::bf16,
         {64, 256},
         testing_::loads_per_row(),
         "A row is 512 bytes, one access of 16 bytes for each lane. The weights are as long, and serve two rows: three "
         "instructions for two rows."},
        {"norm_over_softmax",
         "4096 x 4096 floats on an H200: how many times longer than lab 06's softmax, which has no weights to read? "
         "A factor of 1.15 counts as right.",
         "auto",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "x is read once and y written once, as there. All loads together ask for twice as much, since every row "
         "asks for the weights. But these are 16 KB: they come from L1 and L2, and DRAM, which takes nearly all of "
         "the time, hardly sees them.",
         {{"lab08_rms_norm", "auto", Dtype::f32, 4096, 4096}, {"lab06_limit", "auto", Dtype::f32, 4096, 4096}},
         1.15},
        {"norm_limit",
         "4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency. The "
         "unit that is busy nearly all of the time; latency, if none is.",
         "auto",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "The weights are 16 KB and come from caches; DRAM moves x and y, 8 bytes per element. There are four "
         "operations per element, and root and division come once per row.",
         {{"lab08_rms_norm", "auto", Dtype::f32, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};
