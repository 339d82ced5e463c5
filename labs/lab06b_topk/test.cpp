// Lab 06b: softmax fused with top-K, as near to a read as the chip allows.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants
#include "softmax_topk/demands.h"

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-read-once",
         "V is read once: what is in registers serves the maximum, the sum and the selection",
         {4, 4096, 50},
         read_at_most(1)},
        {"move-in-bulk",
         "no warp stops for a single key: at most one shuffle or vote for 8 logits",
         {4, 4096, 50},
         few_warp_operations()},
        {"move-no-serial", "all threads share the work", {1, 131072, 20}, no_serial_section()},
        Move{"move-read-once-any", "V is read once, whatever its width", {1, 32768, 8}, read_at_most(1)}
            .at(Widths::any)
            .also_at(narrow_and_odd_topk),
        shares_evenly({1, 32768, 8}, narrow_and_odd_topk),
        works_on_many_rows({66, 512, 1}, {48, 2049, 8}),
        Move{"move-writes-top-k",
             "8 bytes x K written per row, and no row of probabilities",
             {4, 4096, 50},
             writes_the_top_k()}
            .also_at(narrow_and_odd_topk),
        // Five times what lab 05's solution takes, for any type: of the largest alone, which any selection finds
        // quickly.
        Move{"move-pace",
             "1024 x 16384 and K = 1 in at most 160 us, predicted for an H200",
             {8, 16384, 1},
             keeps_pace(160, 1024, 16384, /*by_bytes=*/false)}
            .paced(),
    },
    {
        {"fused_bytes",
         "A row of 32,000 f16 logits: how many sector bytes do all loads of auto move?",
         "auto",
         Dtype::f16,
         {1, 32000, 20},
         testing_::bytes_read_per_row(),
         "A tile that has been loaded serves the maximum, the sum and the selection; and a half is 2 "
         "bytes."},
        {"select_loads",
         "The same row: how many load instructions do the block's warps execute, all together? A thread "
         "loads 16 bytes at a time.",
         "auto",
         Dtype::f16,
         {1, 32000, 20},
         testing_::loads_per_row(),
         "One instruction of a warp takes 32 times 16 bytes, which are 256 halves. With one logit per thread it "
         "would take 32, whatever their size."},
        {"topk_us",
         "2048 x 50257 floats, K = 50, on an H200, which reads 4560 GB per second: how many microseconds? A factor of "
         "1.25 "
         "counts as right.",
         "auto",
         Dtype::f32,
         {2048, 50257},
         nullptr,
         "At the limit it is a read: 4 bytes x 2048 x 50257 over the bandwidth, and what the selection adds to it.",
         {{"lab06b_topk", "auto", Dtype::f32, 2048, 50257}},
         1.25},
        {"topk_limit",
         "4096 x 4096 halves, K = 50, on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency. "
         "The "
         "unit that is busy nearly all of the time; latency, if none is.",
         "auto",
         Dtype::f16,
         {4096, 4096},
         nullptr,
         "A logit is only 2 bytes, and each must be widened, compared, raised to a power of e and added; what is done "
         "once "
         "per row comes after only 4096 of them.",
         {{"lab06b_topk", "auto", Dtype::f16, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};
