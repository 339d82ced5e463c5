// CUDA has this header; here everything in it comes with cublas_v2.h.
#pragma once
#include "cublas_v2.h"
