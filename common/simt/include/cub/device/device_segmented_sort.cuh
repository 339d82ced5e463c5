// CUB has this header; here its class comes with the radix sort of segments.
#pragma once
#include "device_segmented_radix_sort.cuh"
