// The primitives of CUB that the executor has: of a warp and of a block. cuda_source.py refuses the others by name.
#pragma once

#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "warp/warp_reduce.cuh"
