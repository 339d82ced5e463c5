// Lab 05: softmax fused with top-K, for three types of logits.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants
#include "softmax_topk/demands.h"

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        Move{"move-read-once",
             "V is read once: what is in registers serves the maximum, the sum and the selection",
             {4, 4096, 50},
             read_at_most(1)}
            .of({"online"}),
        {"move-no-serial", "all threads share the work", {1, 131072, 20}, no_serial_section()},
        Move{"move-read-three-times", "V is read at most three times", {4, 4096, 50}, read_at_most(3)}.of(
            {"three_pass", "online"}),
        Move{"move-read-once-any", "V is read once, whatever its width", {1, 32768, 8}, read_at_most(1)}
            .of({"online"})
            .at(Widths::any)
            .also_at(narrow_and_odd_topk),
        shares_evenly({1, 32768, 8}, narrow_and_odd_topk),
        works_on_many_rows({66, 512, 1}, {48, 2049, 8}),
        Move{"move-writes-top-k",
             "8 bytes x K written per row, and no row of probabilities",
             {4, 4096, 50},
             writes_the_top_k()}
            .of({"three_pass", "online"})
            .also_at(narrow_and_odd_topk),
        // Five times what lab 05's solution takes, for any type: of the largest alone, which any selection finds
        // quickly.
        Move{"move-pace",
             "1024 x 16384 and K = 1 in at most 160 us, predicted for an H200",
             {8, 16384, 1},
             keeps_pace(160, 1024, 16384, /*by_bytes=*/false)}
            .of({"online"})
            .paced(),
        // A little more than three times what the solution's two_kernels takes.
        Move{"move-pace-three-pass",
             "1024 x 16384 and K = 1 in at most 350 us, predicted for an H200",
             {8, 16384, 1},
             keeps_pace(350, 1024, 16384, /*by_bytes=*/false)}
            .of({"two_kernels", "three_pass"})
            .and_no_others()
            .paced(),
    },
    {
        {"three_pass_bytes",
         "A row of 32,000 f32 logits: how many sector bytes do all loads of three_pass move?",
         "three_pass",
         Dtype::f32,
         {1, 32000, 20},
         testing_::bytes_read_per_row(),
         "Maximum, sum, selection: each goes over all logits, 4 bytes each."},
        {"fused_loads",
         "A row of 32,000 f16 logits: how many load instructions do the block's warps execute for online, all "
         "together? A "
         "thread loads 16 bytes at a time.",
         "online",
         Dtype::f16,
         {1, 32000, 20},
         testing_::loads_per_row(),
         "One instruction of a warp takes 32 times 16 bytes, which are 256 halves. With one logit per thread it "
         "would take 32, whatever their size."},
        {"topk_bytes",
         "V = 32,000 and K = 20: how many bytes does online write for a row?",
         "online",
         Dtype::f32,
         {2, 32000, 20},
         testing_::bytes_written_per_row(),
         "K columns as int and K probabilities as float, and nothing that grows with V."},
        {"fusion_gain",
         "4096 x 4096, K = 50, on an H200: how many times longer does three_pass take than online? A factor of "
         "1.4 counts as right.",
         "three_pass",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "It moves three times the sector bytes, one logit per lane and load where online loads four. Both insert the "
         "same keys into the same lists: that part takes as long in both.",
         {{"lab05_topk", "three_pass", Dtype::f32, 4096, 4096}, {"lab05_topk", "online", Dtype::f32, 4096, 4096}},
         1.4},
        {"half_gain",
         "online, 4096 x 4096, K = 50, on an H200: how many times longer does it take with f32 logits than with f16? A "
         "factor of 1.3 counts as right.",
         "online",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "Half the bytes help where bytes are the limit. Here the schedulers are: an insertion takes as many "
         "instructions "
         "for a half as for a float.",
         {{"lab05_topk", "online", Dtype::f32, 4096, 4096}, {"lab05_topk", "online", Dtype::f16, 4096, 4096}},
         1.3},
        {"fused_limit",
         "online, f32, 4096 x 4096, K = 50, on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or "
         "latency. The unit that is busy nearly all of the time; latency, if none is.",
         "online",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "Some 280 insertions per row, and 128 groups of 32 logits to be compared: the schedulers have no slot free "
         "while "
         "DRAM waits.",
         {{"lab05_topk", "online", Dtype::f32, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};
