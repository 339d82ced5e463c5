// Lab 05: softmax fused with top-K, for three types of logits.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants
#include "softmax_topk/demands.h"

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-read-once",
         "V is read once: what is in registers serves the maximum, the sum and the selection",
         {16, 4096, 50},
         testing_::read_at_most(1),
         {"online"}},
        {"move-no-serial", "all threads share the work", {4, 16384, 20}, testing_::no_serial_section()},
        {"move-read-three-times", "V is read at most three times", {16, 4096, 50}, testing_::read_at_most(3)},
        {"move-writes-top-k",
         "8 bytes x K written per row, and nothing else",
         {16, 4096, 50},
         testing_::writes_only_the_top_k()},
    },
    {
        {"three_pass_bytes",
         "A row of 32,000 f32 logits: how many bytes do all loads of three_pass ask for?",
         "three_pass",
         Dtype::f32,
         {1, 32000, 20},
         testing_::bytes_read_a_row(),
         "Maximum, sum, selection: each goes over all logits, 4 bytes each."},
        {"fused_bytes",
         "A row of 32,000 f16 logits: how many bytes do all loads of online ask for?",
         "online",
         Dtype::f16,
         {1, 32000, 20},
         testing_::bytes_read_a_row(),
         "A tile that has been loaded serves the maximum, the sum and the selection; and a half is 2 "
         "bytes."},
        {"fused_loads",
         "The same row: how many load instructions do the block's warps execute, all together? A thread "
         "loads 16 bytes at a time.",
         "online",
         Dtype::f16,
         {1, 32000, 20},
         testing_::loads_a_row(),
         "One instruction of a warp takes 32 times 16 bytes, which are 256 halves. With one logit a thread it "
         "would take 32, whatever their size."},
        {"topk_bytes",
         "V = 32,000 and K = 20: how many bytes does online write for a row?",
         "online",
         Dtype::f32,
         {2, 32000, 20},
         testing_::bytes_written_a_row(),
         "K columns as int and K probabilities as float, and nothing that grows with V."},
        {"fusion_gain",
         "4096 x 4096, K = 50, on an H200: how many times longer does three_pass take than online? A factor of "
         "1.5 counts as right.",
         "three_pass",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "It reads every row three times, and almost nothing is written.",
         {{"lab05_topk", "three_pass", Dtype::f32, 4096, 4096}, {"lab05_topk", "online", Dtype::f32, 4096, 4096}},
         1.5},
    },
};
