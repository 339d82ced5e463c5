// CUDA C++ on the CPU: what a .cu file gets when it includes <cuda_runtime.h> and is compiled for the SIMT executor.
#pragma once

#define __SIMT__ 1
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 12000
#endif

// Other headers test these macros to see that CUDA's headers were included.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#define CUDA_VERSION CUDART_VERSION
#define CUDARTAPI
#define CUDART_CB

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "simt/qualifiers.h"
#include "vector_types.h"

#include "simt/builtins.h"

#include "simt/async_copy.h"
#include "simt/atomics.h"
#include "simt/bits.h"
#include "simt/device_variables.h"
#include "simt/dynamic_programming.h"
#include "simt/graph_conditions.h"
#include "simt/graph_nodes.h"
#include "simt/launch.h"
#include "simt/launch_kernel.h"
#include "simt/launch_ex.h"
#include "simt/loads.h"
#include "simt/math.h"
#include "simt/meeting.h"
#include "simt/memory_advice.h"
#include "simt/memory_3d.h"
#include "simt/graph_memory.h"
#include "simt/memory_pools.h"
#include "simt/nv_atomics.h"
#include "simt/runtime_api.h"
#include "simt/simd_words.h"
#include "simt/surfaces.h"
#include "simt/textures.h"
#include "simt/warp.h"
