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
};
