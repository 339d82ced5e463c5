// What a lab requires of a variant of this operator, and what its predictions count: reads of the FFN's weights.
#pragma once

#include "moves.h"
#include "predictions.h"

namespace testing_ {

// Each weight of an FFN is requested at most `times` times per FFN step, by kernels or a library; and what is read
// besides is too little to be a copy of the weights, read for every core.
Demand weights_read_at_most(int times);
// As often as there are tiles of `cores` cores.
Demand weights_read_once_a_tile(int cores);
// The busiest thread makes at most a small multiple of the memory accesses that it would make if the threads of its
// block, or at least of a warp, shared them evenly.
Demand threads_share_the_work();
// Requires nothing; reports what the weights cost, and their footprint.
Demand said_what_weights_cost();

// Requested bytes of FFN weights.
Figure weight_bytes();

}  // namespace testing_
