// Pinned memory of the host, for host_vector. (CUDA 13 does not have it any more.)
#pragma once

#include "../../../universal_vector.h"

namespace thrust {
namespace system {
namespace cuda {
namespace experimental {
template <typename T>
using pinned_allocator = detail::AllocatorBy<T, detail::take_pinned, cudaFreeHost>;
}
}  // namespace cuda
}  // namespace system
namespace cuda {
namespace experimental {
using system::cuda::experimental::pinned_allocator;
}
}  // namespace cuda
}  // namespace thrust
