// Lab 03: the online variants take a row of any width.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-no-serial", "no serial section: all threads of the block reduce", {8, 4096}, no_serial_section()},
        Move{"move-shuffles",
             "warps reduce by shuffles: no tree in shared memory with a barrier per round",
             {8, 4096},
             reduces_in_warps()}
            .also_at({{{2, 16384}}}),
        // 60,001 floats are more than the 227 KB that a block's shared memory can hold.
        Move{"move-read-twice",
             "a row wider than shared memory is read at most twice: once for (max, sum), once to write",
             {1, 60001},
             read_at_most(2)}
            .of({"online", "online_f32x4"}),
        Move{"move-read-twice-any",
             "every element is read at most twice, whatever the width",
             {2, 16384},
             read_at_most(2)}
            .of({"online", "online_f32x4"})
            .at(Widths::wider)
            .also_at(narrow_and_odd),
        shares_evenly(),
        works_on_many_rows(),
        Move{"move-float4", "16 bytes per lane: 16 sectors per request", {8, 4096}, bytes_per_lane(16)}
            .of({"online_f32x4"})
            .and_no_others()
            .also_at({{{2, 16384}, nearly_bytes_per_lane(16, 8)}, {{48, 2049}, nearly_bytes_per_lane(16, 16)}}),
        // Four times what the solution takes (plots/results/nvidia-h200.json).
        Move{"move-pace",
             "4096 x 4096 in at most 160 us, predicted for an H200",
             {32, 4096},
             keeps_pace(160, 4096, 4096, /*by_bytes=*/true, simple_kernels)}
            .paced(),
    },
    {
        {"shuffles",
         "One warp, one row: how many shuffle instructions does it execute? block_reduce is called twice; "
         "in it a warp reduces its own 32 values, and after the barrier the results of all warps, one per "
         "lane.",
         "warp_shuffle",
         Dtype::f32,
         {8, 1000},
         testing_::warp_operations_per_row(),
         "After the exchange over distance 16 a lane knows 2 values, after 8 it knows 4: count the steps "
         "until it knows 32. Two such butterflies make a block_reduce (the second has 8 values to fold, "
         "but runs over all distances), and two of these make a row."},
        {"online_bytes",
         "A row of 10,000 columns: how many sector bytes do all its loads from global memory move?",
         "online",
         Dtype::f32,
         {1, 10000},
         testing_::bytes_read_per_row(),
         "One pass gives maximum and sum. But the row is not kept: to write the result each element "
         "is loaded again."},
        {"online_distinct_bytes",
         "The same row: how many bytes do the different sectors hold that those loads touch? It is the "
         "least that must come from DRAM.",
         "online",
         Dtype::f32,
         {1, 10000},
         testing_::distinct_bytes_read_per_row(),
         "The second pass asks for the sectors of the first once more. Where a cache still has them, DRAM "
         "moves each only once."},
        {"online_float4_loads",
         "A row of 8192 columns, 4 floats per load: how many load instructions do the block's warps "
         "execute, all together?",
         "online_f32x4",
         Dtype::f32,
         {1, 8192},
         testing_::loads_per_row(),
         "One instruction of a warp takes 32 threads x 4 floats = 128 columns. How many are needed for "
         "the row, and how often is the row read?"},
        {"second_read",
         "2048 x 50257 on an H200: how many times longer does online take than warp_shuffle, which keeps the "
         "row in shared memory? A factor of 1.3 counts as right.",
         "online",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "The matrix has 412 MB, the L2 60: the second read comes from DRAM again. Bytes per element: 4 + 4 + "
         "4 against 4 + 4.",
         {{"lab03_online", "online", Dtype::f32, 2048, 50257},
          {"lab03_online", "warp_shuffle", Dtype::f32, 2048, 50257}},
         1.3},
        {"online_limit",
         "online at 2048 x 50257 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or "
         "latency. The unit that is busy nearly all of the time; latency, if none is.",
         "online",
         Dtype::f32,
         {2048, 50257},
         nullptr,
         "The rows in work, eight per SM, do not fit into the L2: all three accesses of an element go to DRAM.",
         {{"lab03_online", "online", Dtype::f32, 2048, 50257}},
         1,
         /*asks_limit=*/true},
    },
};
