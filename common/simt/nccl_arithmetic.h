// Reductions of NCCL, computed by the host.
#pragma once

#include <nccl.h>

#include <cstddef>

namespace simt::nccl {

size_t bytes_of(ncclDataType_t type);

// to[i] = the reduction of from[rank][i] over the ranks, by rising rank: 8-bit and 16-bit floats in float and rounded
// once, all others in their own type. `to` may be one of `from`.
void reduce(void* to, const void* const* from, int ranks, size_t count, ncclDataType_t type, ncclRedOp_t op);

// data[i] *= *scalar, rounded to the type.
void multiply(void* data, size_t count, ncclDataType_t type, const void* scalar);

}  // namespace simt::nccl
