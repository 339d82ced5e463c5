// Where an algorithm runs: what its policy says, or its iterators.
#pragma once

#include "detail/run.h"

namespace thrust {
namespace cuda {
using detail::par;
using detail::par_nosync;
}  // namespace cuda
static const detail::Host host, seq;
static const detail::Device device;
}  // namespace thrust
