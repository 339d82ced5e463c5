// What programs name of this header of CUB: KeyValuePair, NullType, DoubleBuffer.
#pragma once

#include "device/device_radix_sort.cuh"
#include "device/device_reduce.cuh"
