// The driver API (simt/driver_api.h); everything else in it comes with cuda_runtime.h.
#pragma once
#define __cuda_cuda_h__  // which other headers test
#define CUDAAPI
#define CUDA_CB
#include "cuda_runtime.h"
#include "simt/driver_api.h"
#include "simt/driver_modules.h"
