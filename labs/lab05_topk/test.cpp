// Lab 05: softmax fused with top-K, for three types of logits.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants
#include "softmax_topk/demands.h"

using rung::Dtype;

namespace {

// Where moves are counted, too: narrow rows, and many rows that begin anywhere.
const std::vector<testing_::Move::Also> narrow_and_odd = {{{66, 512, 1}}, {{48, 2049, 8}}};

}  // namespace

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-read-once",
         "V is read once: what is in registers serves the maximum, the sum and the selection",
         {4, 4096, 50},
         testing_::read_at_most(1),
         {"online"}},
        {"move-no-serial", "all threads share the work", {1, 131072, 20}, testing_::no_serial_section()},
        {"move-read-three-times",
         "V is read at most three times",
         {4, 4096, 50},
         testing_::read_at_most(3),
         {"three_pass", "online"}},
        {"move-read-once-any",
         "V is read once, whatever its width",
         {1, 65536, 8},
         testing_::read_at_most(1),
         {"online"},
         true,
         testing_::Move::Widths::any,
         0,
         narrow_and_odd},
        {"move-even-shares",
         "no thread does the work of others",
         {1, 65536, 8},
         testing_::even_shares(),
         {},
         true,
         testing_::Move::Widths::any,
         0,
         narrow_and_odd},
        {"move-rows-at-once",
         "many rows are worked on at once",
         {66, 512, 1},
         testing_::rows_at_once(),
         {},
         true,
         testing_::Move::Widths::any,
         0,
         {{{48, 2049, 8}}}},
        {"move-writes-top-k",
         "8 bytes x K written per row, and nothing else",
         {4, 4096, 50},
         testing_::writes_only_the_top_k(),
         {"three_pass", "online"},
         true,
         testing_::Move::Widths::near,
         0,
         narrow_and_odd},
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
         "It moves three times the sector bytes, but both insert the same keys into the same lists, and that takes "
         "longer than one read of the row.",
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
