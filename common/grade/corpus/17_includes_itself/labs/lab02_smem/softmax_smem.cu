// Entry: 17
// Expect: fail
// Reason: does not compile
//
// Includes itself for ever.

#include __FILE__
#include "softmax_smem.cu"
