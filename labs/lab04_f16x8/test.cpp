// Lab 04: half-precision input and output.
#include "lab.h"

using rung::Dtype;

const testing_::Lab testing_::lab = {
    "lab04_f16x8",
    "softmax_f16x8.cu",
    rung::Op::softmax,
    {
        {"f16", Dtype::f16},
        {"f16x2", Dtype::f16},
        {"f16x8", Dtype::f16},
    },
    /*tested_apart=*/{},
    {
        {"move-half-the-bytes", "2 bytes an element in memory", {8, 4096}, testing_::bytes_an_element(2)},
        {"move-half2",
         "4 bytes a lane: 4 sectors a request",
         {8, 4096},
         testing_::bytes_a_lane(4),
         {"f16x2"},
         /*others_too=*/false},
        {"move-uint4", "16 bytes a lane: 16 sectors a request", {8, 4096}, testing_::bytes_a_lane(16), {"f16x8"}},
        // At most 7 single halves before a row's first boundary and 7 after its last.
        {"move-uint4-odd",
         "16 bytes a lane, also where rows start anywhere",
         {7, 4097},
         testing_::nearly_bytes_a_lane(16, 14),
         {"f16x8"}},
    },
};
