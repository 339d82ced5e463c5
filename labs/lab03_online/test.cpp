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
};
