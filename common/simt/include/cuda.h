// The driver API (simt/driver_api.h); everything else in it comes with cuda_runtime.h.
#pragma once
#include "cuda_runtime.h"
#include "simt/driver_api.h"
