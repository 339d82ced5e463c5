// Lab 04: half-precision input and output.
#include "lab.h"

#include "facts.h"  // of labs/labs.toml: name, kernel, operator, variants

using rung::Dtype;

const testing_::Lab testing_::lab = {
    LAB_FACTS,
    {
        {"move-half-the-bytes", "2 bytes per element in memory", {8, 4096}, bytes_per_element(2)},
        {"move-no-serial", "all threads share the work", {8, 4096}, no_serial_section()},
        {"move-few-passes", "every element is read at most three times", {8, 4096}, read_at_most(3)},
        Move{"move-few-passes-any",
             "every element is read at most three times, whatever the width",
             {2, 16384},
             read_at_most(3)}
            .at(Widths::any)
            .also_at(narrow_and_odd),
        shares_evenly(),
        works_on_many_rows(),
        Move{"move-half2", "4 bytes per lane: 4 sectors per request", {8, 4096}, bytes_per_lane(4)}
            .of({"f16x2"})
            .and_no_others()
            .also_at({{{2, 16384}, nearly_bytes_per_lane(4, 8)}}),
        Move{"move-uint4", "16 bytes per lane: 16 sectors per request", {8, 4096}, bytes_per_lane(16)}
            .of({"f16x8"})
            .also_at({{{2, 16384}, nearly_bytes_per_lane(16, 8)}}),
        // At most 7 single halves before a row's first boundary and 7 after its last.
        Move{"move-uint4-odd",
             "16 bytes per lane, also where rows are not aligned",
             {7, 4097},
             nearly_bytes_per_lane(16, 14)}
            .of({"f16x8"})
            .also_at({{{48, 2049}, nearly_bytes_per_lane(16, 16)}}),
        // Four times what the solution takes (plots/results/nvidia-h200.json).
        Move{"move-pace",
             "4096 x 4096 in at most 100 us, predicted for an H200",
             {32, 4096},
             keeps_pace(200, 4096, 4096, /*by_bytes=*/true, simple_kernels)}
            .of({"f16x2", "f16x8"})
            .paced(),
    },
    {
        {"half_sectors",
         "The 32 threads of a warp load 32 neighbouring halves in one instruction, 2 bytes each; the "
         "first lies at the start of a sector. How many 32-byte sectors does it ask for?",
         "f16",
         Dtype::f16,
         {8, 4096},
         testing_::sectors_per_load(),
         "32 halves are 64 bytes. An instruction for so few bytes is as much work for the load unit as "
         "one for many."},
        {"pack_sectors",
         "The same for 32 neighbouring packs of eight halves: how many sectors does one instruction ask "
         "for?",
         "f16x8",
         Dtype::f16,
         {8, 4096},
         testing_::sectors_per_load(),
         "A pack is 8 x 2 = 16 bytes, so 32 threads load 512 bytes, the most that one instruction of a "
         "warp can."},
        {"two_pass_bytes",
         "A row of 8000 halves: how many sector bytes do all its loads move?",
         "f16x8",
         Dtype::f16,
         {2, 8000},
         testing_::bytes_read_per_row(),
         "2 bytes per element, and as in lab 03's online every element is loaded twice: once for (max, "
         "sum), once for the result. As much as a row of floats that is read once."},
        {"odd_row_stores",
         "Rows of 1001 halves, so that a row can begin anywhere. How many store instructions do the warps "
         "execute for one row, all together? Head and tail, at most 14 halves, are stored by the first "
         "threads of the block, each its one half, in one instruction.",
         "f16x8",
         Dtype::f16,
         {8, 1001},
         testing_::stores_per_row(),
         "The 124 or 125 whole packs take 4 warps, the last of them not full. The single halves before "
         "and after them share one more instruction. Element by element the row would take 32."},
        {"f16x8_us",
         "4096 x 4096 halves on an H200, which copies 4255 GB per second, reads and writes counted: how many "
         "microseconds? A factor of 1.5 counts as right.",
         "f16x8",
         Dtype::f16,
         {4096, 4096},
         nullptr,
         "2 x 2 bytes x 4096 x 4096 over the bandwidth is the floor. The second read is found in the L2, which "
         "holds the rows that are being worked on; it costs something, but not a third more bytes from DRAM.",
         {{"lab04_f16x8", "f16x8", Dtype::f16, 4096, 4096}},
         1.5},
        {"f16_limit",
         "f16 at 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency. "
         "The unit that is busy nearly all of the time; latency, if none is.",
         "f16",
         Dtype::f16,
         {4096, 4096},
         nullptr,
         "Each element costs a load, a conversion, a comparison, three exponentials and the loop around them, "
         "all of it to move 2 bytes. The schedulers run out of slots before DRAM is busy.",
         {{"lab04_f16x8", "f16", Dtype::f16, 4096, 4096}},
         1,
         /*asks_limit=*/true},
    },
};
