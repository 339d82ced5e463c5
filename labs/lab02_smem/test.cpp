// Lab 02: every variant keeps a row in shared memory.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-coalesced",
         "4 sectors per request: neighbouring threads read and write neighbouring floats",
         {32, 512},
         coalesced()},
        Move{"move-read-once",
             "every element is read from global memory once, then from shared memory",
             {32, 512},
             read_at_most(1)}
            .also_at(all_widths),
        {"move-read-once-odd",
         "every element is read from global memory once, also where rows are not aligned",
         {7, 1025},
         read_at_most(1)},
        Move{"move-written-once", "every element is written once", {32, 512}, written_once()}.also_at(all_widths),
        Move{"move-no-serial", "no serial section: all threads of the block reduce", {32, 512}, no_serial_section()}
            .of({"tree", "tree_f32x4"})
            .and_no_others(),
        shares_evenly().of({"tree", "tree_f32x4"}).and_no_others(),
        works_on_many_rows(),
        Move{"move-float4", "16 bytes per lane: 16 sectors per request", {32, 512}, bytes_per_lane(16)}
            .of({"tree_f32x4"})
            .and_no_others()
            .also_at({{{2, 16384}, nearly_bytes_per_lane(16, 8)}, {{48, 2049}, nearly_bytes_per_lane(16, 16)}}),
        // Four times what the solution takes (plots/results/nvidia-h200.json).
        Move{"move-pace",
             "4096 x 4096 in at most 140 us, predicted for an H200",
             {32, 4096},
             keeps_pace(140, 4096, 4096, /*by_bytes=*/true, simple_kernels)}
            .of({"tree", "tree_f32x4"})
            .and_no_others()
            .paced(),
    },
    {
        {"neighbours_sectors",
         "The 32 threads of a warp load 32 neighbouring floats in one instruction; the first lies at the "
         "start of a sector. How many 32-byte sectors does the instruction ask for?",
         "tree",
         Dtype::f32,
         {8, 1024},
         testing_::sectors_per_load(),
         "32 floats of 4 bytes are 128 bytes without a gap. Count the pieces of 32 bytes in them: several "
         "threads share a sector."},
        {"smem_row_bytes",
         "A row of 1000 columns: how many sector bytes (32 per sector) do all its loads from global "
         "memory move?",
         "tree",
         Dtype::f32,
         {8, 1000},
         testing_::bytes_read_per_row(),
         "Maximum, sum and result all need the row, but two of the three find it in shared memory. What "
         "is left is one pass, and neighbouring threads use all of every sector."},
        {"float4_loads",
         "A row of 2000 columns, 4 floats per load: how many load instructions do the block's warps "
         "execute, all together? An instruction of a warp counts once, for however many of its threads.",
         "tree_f32x4",
         Dtype::f32,
         {8, 2000},
         testing_::loads_per_row(),
         "2000 columns are 500 groups of four, and a warp takes 32 of them at a time. The last warp is "
         "not full, but its instruction counts like any other."},
        {"tree_barriers",
         "256 threads reduce in a tree: how many barriers does a thread reach per row? block_reduce "
         "is called twice and ends with a barrier of its own; in it there is one when all values are in "
         "shared memory, and one after every round.",
         "tree",
         Dtype::f32,
         {8, 1000},
         testing_::barriers_per_row(),
         "Each round halves the number of values: 256, 128 and so on down to 1. Those rounds, the barrier "
         "before them and the one at the end make one reduction; a row needs the maximum and the sum."},
        {"tree_us",
         "4096 x 4096 on an H200, which copies 4255 GB per second, reads and writes counted: how many "
         "microseconds? A factor of 2 counts as right.",
         "tree",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "Every element is read once and written once: 2 x 4 bytes x 4096 x 4096. Divide by the bandwidth. "
         "What comes on top, barriers and the first load's latency, is small here because eight blocks share an "
         "SM.",
         {{"lab02_smem", "tree", Dtype::f32, 4096, 4096}},
         2},
        {"serial_limit",
         "serial at 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or "
         "latency. The unit that is busy nearly all of the time; latency, if none is.",
         "serial",
         Dtype::f32,
         {4096, 4096},
         nullptr,
         "One thread of 256 adds up the row, each addition waiting for the one before it, while the others "
         "wait at the barrier. No unit is busy.",
         {{"lab02_smem", "serial", Dtype::f32, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};
