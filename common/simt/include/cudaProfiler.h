// The driver API's switches of a profiler: the executor counts everything, so they do nothing.
#pragma once

#include "cuda.h"
#include "cuda_profiler_api.h"

inline CUresult cuProfilerStart() { return CUDA_SUCCESS; }
inline CUresult cuProfilerStop() { return CUDA_SUCCESS; }
