#pragma once
#include "../../execution_policy.h"

namespace thrust {
namespace tbb {
static const detail::Host par;
}  // namespace tbb
}  // namespace thrust
