// CUDA has this header; here everything in it comes with cuda_runtime.h.
#pragma once
#include "cuda_runtime.h"
