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
    /*tested_apart=*/{},
    {
        {"move-read-once",
         "V is read once: what is in registers serves the maximum, the sum and the selection",
         {16, 4096, 50},
         testing_::read_at_most(1),
         {"online"}},
        {"move-read-three-times", "V is read at most three times", {16, 4096, 50}, testing_::read_at_most(3)},
        {"move-writes-top-k",
         "8 bytes x K written a row, and nothing else",
         {16, 4096, 50},
         testing_::writes_only_the_top_k()},
    },
};
