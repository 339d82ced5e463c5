// A rung for test_worker.cpp: ends its process while it is being loaded, with a status that looks like success.
#include <cstdlib>

#include "rung.h"

namespace {

struct Exits {
  Exits() { exit(0); }
} exits;

cudaError_t nothing(const float*, float*, int, int, cudaStream_t) { return cudaSuccess; }

}  // namespace

RUNG_EXPORT(rung::softmax("nothing", nothing))
