// Lab 08c: LayerNorm, from a blank file.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        // The matrix alone: weights and biases may be asked for again by every row.
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
        {"layer_bytes",
         "A row of 4096 floats: how many sector bytes do all its loads move, weights and biases included?",
         "auto",
         Dtype::f32,
         {8, 4096},
         testing_::bytes_read_per_row(),
         "The row stays in registers from the sums to the result; weights and biases are as long as the row each, and "
         "every block asks for them."},
        {"layer_barriers",
         "A block works on a row of 4096 floats. How many barriers does a thread reach?",
         "auto",
         Dtype::f32,
         {8, 4096},
         testing_::barriers_per_row(),
         "A warp finds mean and variance of its own part by shuffles; one barrier, and every warp joins what all warps "
         "found."},
        {"narrow_layer_loads",
         "Many rows of 256 bf16 values, half a warp for each: how many load instructions do warps execute per row, "
         "those of weights and biases included?",
         "auto",
         Dtype::bf16,
         {64, 256},
         testing_::loads_per_row(),
         "A row is 512 bytes: two accesses of 16 bytes for each of 16 lanes, and both rows of a warp are loaded by "
         "the same instruction. Weights and biases are as long: six instructions for two rows."},
        {"layer_over_norm",
         "4096 x 4096 floats on an H200: how many times longer than RMSNorm, lab 08? A factor of 1.1 counts as "
         "right.",
         "auto",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "The bytes of x and y are the same, and DRAM takes nearly all of the time. The biases come from a cache, as "
         "the weights do, and the second sum is made while other blocks' rows are in flight.",
         {{"lab08c_layer_norm", "auto", Dtype::f32, 4096, 4096}, {"lab08_rms_norm", "auto", Dtype::f32, 4096, 4096}},
         1.1},
        {"layer_limit",
         "4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency. The "
         "unit that is busy nearly all of the time; latency, if none is.",
         "auto",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "Weights and biases are 32 KB and come from caches; DRAM moves x and y, 8 bytes per element. A second sum "
         "is a few operations more per element, of some sixty for which there is time.",
         {{"lab08c_layer_norm", "auto", Dtype::f32, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};
