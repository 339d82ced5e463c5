#pragma once
#include "../../execution_policy.h"

namespace thrust {
namespace cpp {
static const detail::Host par;
}  // namespace cpp
}  // namespace thrust
