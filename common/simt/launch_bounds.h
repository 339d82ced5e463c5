// What a kernel's __launch_bounds__ allows.
#pragma once

namespace simt {

// Threads per block that the kernel may be launched with: its __launch_bounds__, or what the device allows where there
// are none or they are not known (function is nullptr; a rung that clang compiled).
int threads_allowed(const void* function);

}  // namespace simt
