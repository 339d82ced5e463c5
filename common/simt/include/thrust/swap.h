#pragma once
#include "detail/elementwise.h"
#include "device_ptr.h"

namespace thrust {
template <typename T>
__host__ __device__ void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}
// Of two places of the device's, which the host names.
template <typename T>
void swap(device_reference<T> a, device_reference<T> b) {
  const T kept = a;
  a = b;
  b = kept;
}
}  // namespace thrust
