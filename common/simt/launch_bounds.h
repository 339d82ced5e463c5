// What a kernel's __launch_bounds__ and __cluster_dims__ say.
#pragma once

#include <cuda_runtime.h>

namespace simt {

// Threads per block that the kernel may be launched with: its __launch_bounds__, or what the device allows where there
// are none or they are not known (function is nullptr; a rung that clang compiled).
int threads_allowed(const void* function);

// Blocks per cluster, by dimension; {1, 1, 1} if there is no such word, or it is not known.
dim3 cluster_asked(const void* function);

}  // namespace simt
