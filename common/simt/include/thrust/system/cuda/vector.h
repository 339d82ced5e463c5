#pragma once
#include "../../device_vector.h"

namespace thrust {
namespace cuda {
using thrust::device_vector;
template <typename T>
using vector = device_vector<T>;
}  // namespace cuda
}  // namespace thrust
