// Lab 03: the online variants take a row of any width.
#include "lab.h"

using rung::Dtype;
using testing_::Width;

const testing_::Lab testing_::lab = {
    "lab03_online",
    "softmax_online.cu",
    rung::Op::softmax,
    {
        {"warp_shuffle", Dtype::f32, Width::shared_memory},
        {"online", Dtype::f32},
        {"online_f32x4", Dtype::f32},
    },
    /*tested_apart=*/{},
    {
        {"move-no-serial",
         "no serial section: all threads of the block reduce",
         {8, 4096},
         testing_::no_serial_section()},
        // 60,001 floats are more than the 227 KB that a block's shared memory can hold.
        {"move-read-twice",
         "a row wider than shared memory is read at most twice: once for (max, sum), once to write",
         {1, 60001},
         testing_::read_at_most(2),
         {"online", "online_f32x4"}},
    },
};
