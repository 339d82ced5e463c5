// The primitives of CUB that the executor has: of a warp, a block and the device. cuda_source.py refuses the others by
// name.
#pragma once

#include "../cuda/functional"
#include "block/block_exchange.cuh"
#include "block/block_load.cuh"
#include "block/block_radix_sort.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "device/device_histogram.cuh"
#include "device/device_partition.cuh"
#include "device/device_radix_sort.cuh"
#include "device/device_reduce.cuh"
#include "device/device_run_length_encode.cuh"
#include "device/device_scan.cuh"
#include "device/device_segmented_reduce.cuh"
#include "device/device_select.cuh"
#include "util_allocator.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
