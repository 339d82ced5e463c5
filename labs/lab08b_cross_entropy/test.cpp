// Lab 08b: cross-entropy from logits, from a blank file.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants

using rung::Dtype;

namespace {

// Sizes: rows, columns, and 1 for the gradient.
constexpr int gradient = 1;

// Where moves are counted, too: narrow rows, and many rows that begin anywhere.
const std::vector<testing_::Move::Also> narrow_and_odd_with_gradient = {{{80, 512, gradient}}, {{48, 2049, gradient}}};
const std::vector<testing_::Move::Also> all_widths_with_gradient = {
    {{2, 16384, gradient}}, {{80, 512, gradient}}, {{48, 2049, gradient}}};

}  // namespace

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        // The logit of the target may be asked for by itself: a sector per row.
        {"move-read-once", "every logit is read once", {8, 4096, gradient}, watched_once(32)},
        {"move-read-once-odd",
         "every logit is read once, also where rows are not aligned",
         {7, 4097, gradient},
         watched_once(32)},
        Move{"move-read-once-loss", "for the loss alone every logit is read once", {7, 8193}, watched_once(32)}.also_at(
            {{{80, 512}}, {{48, 2049}}}),
        Move{"move-written-once", "every result is written once", {7, 4097, gradient}, written_once()}.also_at(
            all_widths_with_gradient),
        {"move-losses-alone",
         "where no gradient is wanted, the losses are all that is written",
         {8, 4096},
         written_once()},
        {"move-uint4", "16 bytes per lane", {8, 4096, gradient}, nearly_bytes_per_lane(16, 24)},
        {"move-uint4-odd",
         "16 bytes per lane, also where rows are not aligned",
         {7, 8193, gradient},
         nearly_bytes_per_lane(16, 64)},
        {"move-no-serial", "all threads share the work", {8, 4096, gradient}, no_serial_section()},
        Move{"move-read-once-any",
             "every logit is read once, whatever the width",
             {2, 16384, gradient},
             watched_once(32)}
            .at(Widths::any)
            .also_at(narrow_and_odd_with_gradient),
        shares_evenly({2, 16384, gradient}, narrow_and_odd_with_gradient),
        Move{
            "move-even-shares-loss", "no thread does the work of others, for the loss alone", {2, 16384}, even_shares()}
            .at(Widths::wider)
            .also_at({{{80, 512}}, {{48, 2049}}}),
        works_on_many_rows({80, 512, gradient}, {48, 2049, gradient}),
        Move{"move-budget",
             "4096 x 4096 within the time budget: 45 us for floats, 22.5 us for 16 bits, predicted for an H200",
             {512, 4096, gradient},
             predicted_within(45, 4096, 4096)}
            .standing_for(8),
        // Four times that.
        Move{"move-pace",
             "4096 x 4096 in at most 180 us for floats, 90 us for 16 bits, predicted for an H200",
             {32, 4096, gradient},
             keeps_pace(180, 4096, 4096)}
            .paced(),
        // Four times what the solution takes.
        Move{"move-pace-loss",
             "4096 x 4096, the loss alone, in at most 90 us for floats, 45 us for 16 bits, predicted for an H200",
             {32, 4096},
             keeps_pace(90, 4096, 4096)}
            .paced(),
    },
    {
        {"loss_bytes",
         "A row of 4096 floats, the loss and its gradient: how many bytes per row do all stores move?",
         "auto",
         Dtype::f32,
         {8, 4096, gradient},
         testing_::bytes_written_per_row(),
         "The gradient is as long as the row, and the loss is one float."},
        {"loss_barriers",
         "A block works on a row of 4096 floats, loss and gradient. How many barriers does a thread reach?",
         "auto",
         Dtype::f32,
         {8, 4096, gradient},
         testing_::barriers_per_row(),
         "Maximum and sum are folded together, as pairs: the warps by shuffles, then one barrier."},
        {"narrow_logit_loads",
         "512 rows of 128 f32 logits, the loss alone: how many load instructions do warps execute per row?",
         "auto",
         Dtype::f32,
         {512, 128},
         testing_::loads_per_row(),
         "A row is 512 bytes, 32 accesses of 16 bytes. With 4 of them for each of 8 lanes, a warp has four rows, and "
         "four "
         "instructions load them. Two more load the four targets and their logits: six for four rows."},
        {"loss_over_softmax",
         "2048 x 50257 floats, loss and gradient, on an H200: how many times longer than lab 06's softmax? A factor "
         "of 1.15 counts as right.",
         "auto",
         Dtype::f32,
         {2048, 50257},
         nullptr,
         "Both read a row once, keep it on the chip, and write one that is as long. The loss adds a logarithm and 12 "
         "bytes per row, the gradient one subtraction per row and a factor that is there anyway.",
         {{"lab08b_cross_entropy", "auto", Dtype::f32, 2048, 50257}, {"lab06_limit", "auto", Dtype::f32, 2048, 50257}},
         1.15},
        {"loss_limit",
         "4096 x 4096, loss and gradient, on an H200: what limits it? rung::limit::dram, l2, lsu, issue, "
         "mufu or latency. The unit that is busy nearly all of the time; latency, if none is.",
         "auto",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "Every logit is read once and every element of the gradient written once, 8 bytes for one or two "
         "exponentials. The logarithms are one per row.",
         {{"lab08b_cross_entropy", "auto", Dtype::f32, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};
