// What libcu++ includes of the C++ library, and with it cooperative groups, CUB and Thrust: programs use these names
// without including their headers.
#pragma once

#include <cfloat>
#include <climits>

// Where rules/declarations.h includes the course's headers, all that follows is declared for the device.
#ifndef SIMT_DECLARATIONS
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#endif
