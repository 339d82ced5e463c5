// Lab 02: every variant keeps a row in shared memory.
#include "lab.h"

using rung::Dtype;
using testing_::Width;

const testing_::Lab testing_::lab = {
    "lab02_smem",
    "softmax_smem.cu",
    rung::Op::softmax,
    {
        {"serial", Dtype::f32, Width::shared_memory},
        {"tree", Dtype::f32, Width::shared_memory},
        {"tree_f32x4", Dtype::f32, Width::shared_memory},
    },
    /*tested_apart=*/{},
    {
        {"move-coalesced",
         "4 sectors a request: neighbouring threads read and write neighbouring floats",
         {32, 512},
         testing_::coalesced()},
        {"move-read-once",
         "every element is read from global memory once, then from shared memory",
         {32, 512},
         testing_::read_at_most(1)},
        {"move-read-once-odd",
         "every element is read from global memory once, also where rows start anywhere",
         {7, 1025},
         testing_::read_at_most(1)},
        {"move-written-once", "every element is written once", {32, 512}, testing_::written_once()},
        {"move-float4",
         "16 bytes a lane: 16 sectors a request",
         {32, 512},
         testing_::bytes_a_lane(16),
         {"tree_f32x4"},
         /*others_too=*/false},
    },
};
