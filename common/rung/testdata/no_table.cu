// A rung for test_worker.cpp: forgets RUNG_EXPORT.
#include "rung.h"

cudaError_t nothing(const float*, float*, int, int, cudaStream_t) { return cudaSuccess; }
