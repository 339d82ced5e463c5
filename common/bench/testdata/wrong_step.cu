// A rung for test_swap_ffn_bench.py: variants of lab 07's operator by their names, of which none writes anything.
#include "rung.h"

namespace {

cudaError_t nothing(const rung::SwapFfn<float>&, cudaStream_t) { return cudaSuccess; }
cudaError_t refuses(const rung::SwapFfn<float>&, cudaStream_t) { return cudaErrorNotSupported; }

}  // namespace

RUNG_EXPORT(rung::swap_ffn("unfused", nothing), rung::swap_ffn("graphed", refuses))
