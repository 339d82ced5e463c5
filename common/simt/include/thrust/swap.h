#pragma once
#include <utility>

#include "detail/elementwise.h"
#include "device_ptr.h"

namespace thrust {
using std::swap;
}  // namespace thrust
