// Lab 07: a decode step of a Swap-FFN layer, fused and not.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants
#include "swap_ffn/demands.h"

using rung::Dtype;

namespace {

const testing_::Shape small = rung::sizes_of(rung::swap_ffn_small);

}  // namespace

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-cost", "what the weights cost", small, said_what_weights_cost()},
        Move{"move-once-a-product", "a product of all cores reads its weights once", small, weights_read_at_most(1)}
            .of({"unfused", "graphed"})
            .and_no_others(),
        Move{"move-once-a-tile", "a tile of cores reads the weights once", small, weights_read_once_a_tile(16)}
            .of({"fused_tiled"})
            .and_no_others(),
        {"move-no-serial", "all threads of a block share the work", small, threads_share_the_work()},
        Move{"move-few-launches", "the whole step in one launch, the collapse in three", small, launched_at_most(4)}
            .of({"fused_per_core", "fused_tiled"})
            .and_no_others(),
        Move{"move-one-graph", "the step is recorded once and launched as one graph", small, launched_by_graphs()}
            .of({"graphed"})
            .and_no_others(),
    },
    {
        {"unfused_launches", "How many kernels and GEMMs does unfused launch?", "unfused", Dtype::bf16, small,
         testing_::launches(),
         "One to begin; in each of 2 events four of the router (norm, GEMM, decide, exchange) and in each of 2 FFN "
         "steps five (norm, GEMM, GEMM, SiLU, GEMM); three to collapse."},
        {"per_core_weight_bytes", "How many bytes of FFN weights do all loads request?", "fused_per_core", Dtype::bf16,
         small, testing_::weight_bytes(),
         "Three matrices of 32 x 64 numbers of 2 bytes are 12,288 bytes. Each of 32 blocks reads them in each of 4 FFN "
         "steps."},
        {"tiled_weight_bytes", "On the CPU a tile has 16 cores. How many bytes of FFN weights do all loads request?",
         "fused_tiled", Dtype::bf16, small, testing_::weight_bytes(),
         "32 cores are two tiles; each reads 12,288 bytes in each of 4 FFN steps, and 16 cores use what was read."},
        {"unfused_weight_bytes",
         "If every GEMM reads its operands once: how many bytes of FFN weights are that, all together?", "unfused",
         Dtype::bf16, small, testing_::weight_bytes(),
         "Every product is one GEMM for all cores: 12,288 bytes in each of 4 FFN steps, whatever the number of "
         "cores."},
        {"per_core_slower",
         "bf16, 512 cores, d_model 1024, d_ff 4096, 8 events of 2 FFN steps on an H200: how many times longer than "
         "graphed does fused_per_core take? A factor of 2 counts as right.",
         "fused_per_core",
         Dtype::bf16,
         small,
         nullptr,
         "Each of 512 blocks asks for 25 MB of weights 16 times: 206 GB, 24 ms at the 8.55 TB/s of the L2. graphed "
         "asks "
         "for 0.4 GB; what it takes is some 116 kernels, one after the other, of 5 us or so each.",
         {{"lab07_fusion", "fused_per_core", Dtype::bf16, 512, 1024},
          {"lab07_fusion", "graphed", Dtype::bf16, 512, 1024}},
         2},
        {"per_core_limit",
         "fused_per_core, bf16, at those sizes: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.",
         "fused_per_core",
         Dtype::bf16,
         small,
         nullptr,
         "The weights are 25 MB, which the L2 of 60 MiB keeps: DRAM has little to do. Every block reads all of them in "
         "each FFN step, more than its L1 holds until the next.",
         {{"lab07_fusion", "fused_per_core", Dtype::bf16, 512, 1024}},
         1,
         /*asks_limit=*/true},
    },
};
