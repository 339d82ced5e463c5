// Which functions a kernel can call: those of the device. All else that the module with the kernels refers to is the
// host's, and who calls it is told so.
#pragma once

#include <link.h>

namespace simt::apart {

// To be called when a module has been loaded, before any code of it runs.
void stop_host_calls(const link_map* module);

}  // namespace simt::apart
