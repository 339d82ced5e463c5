// CUDA C++ on the CPU: what a .cu file gets when it includes <cuda_runtime.h> and is compiled for the SIMT executor.
#pragma once

#define __SIMT__ 1
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 12000
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "simt/qualifiers.h"
#include "vector_types.h"

#include "simt/builtins.h"

#include "simt/atomics.h"
#include "simt/bits.h"
#include "simt/launch.h"
#include "simt/loads.h"
#include "simt/math.h"
#include "simt/runtime_api.h"
#include "simt/warp.h"
