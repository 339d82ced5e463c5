#pragma once
#include "../../execution_policy.h"

namespace thrust {
namespace omp {
static const detail::Host par;
}  // namespace omp
}  // namespace thrust
