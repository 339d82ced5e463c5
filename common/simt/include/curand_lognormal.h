// CUDA has this header; here everything in it comes with curand_kernel.h.
#pragma once
#include "curand_kernel.h"
