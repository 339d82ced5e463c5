#pragma once
#include <utility>

#include "device_ptr.h"

namespace thrust {
using std::swap;
}  // namespace thrust
