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
};
