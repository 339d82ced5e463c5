// The host's variables in a program that simtcc builds. Host and device are one program here, so a __device__ variable
// and one of the host look alike; simtcc writes down which names are the host's.
#pragma once

#include <cstdint>
#include <vector>

#include "../memory.h"

namespace simt::checks {

// By rising address; empty if that is not known. Variables that are const are not among them. Reads the program's file,
// the first time.
const std::vector<Allocation>& host_variables();

}  // namespace simt::checks
