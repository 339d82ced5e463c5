// Items that the host makes in device memory.
#pragma once
#include "detail/elementwise.h"

namespace thrust {
template <typename T>
device_ptr<T> device_new(size_t count, const T& value = T()) {
  const device_ptr<T> items = device_malloc<T>(count);
  thrust::fill(items, items + static_cast<std::ptrdiff_t>(count), value);
  return items;
}
template <typename T>
device_ptr<T> device_new() {
  return device_new<T>(1);
}
template <typename T>
void device_delete(const device_ptr<T>& items, size_t = 1) {
  device_free(items);
}
}  // namespace thrust
