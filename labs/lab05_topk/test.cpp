// Lab 05: softmax fused with top-K, for three types of logits.
#include "lab.h"

using rung::Dtype;

const testing_::Lab testing_::lab = {
    "lab05_topk",
    "softmax_topk.cu",
    rung::Op::softmax_topk,
    {
        {"three_pass", Dtype::f32},
        {"three_pass", Dtype::f16},
        {"three_pass", Dtype::bf16},
        {"online", Dtype::f32},
        {"online", Dtype::f16},
        {"online", Dtype::bf16},
    },
};
