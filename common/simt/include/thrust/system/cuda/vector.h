#pragma once
#include "../../device_vector.h"

namespace thrust {
namespace cuda {
using thrust::device_vector;
template <typename T, typename Allocator = device_allocator<T>>
using vector = device_vector<T, Allocator>;
}  // namespace cuda
}  // namespace thrust
