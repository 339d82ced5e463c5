// What one thread does with its own items: cub::ThreadReduce, ThreadScanInclusive, ThreadScanExclusive.
#pragma once

#include "../warp/shuffles.cuh"

namespace cub {

template <int Items, typename T, typename Operation>
T ThreadReduce(const T* items, Operation operation) {
  T all = items[0];
  for (int k = 1; k < Items; k++) all = operation(all, items[k]);
  return all;
}
template <typename T, int Items, typename Operation>
T ThreadReduce(T (&items)[Items], Operation operation) {
  return ThreadReduce<Items>(&items[0], operation);
}
template <typename T, int Items, typename Operation, typename Prefix>
T ThreadReduce(T (&items)[Items], Operation operation, Prefix prefix) {
  return operation(prefix, ThreadReduce(items, operation));
}

template <typename T, int Items, typename Operation>
T ThreadScanInclusive(T (&input)[Items], T (&output)[Items], Operation operation) {
  T all = output[0] = input[0];
  for (int k = 1; k < Items; k++) output[k] = all = operation(all, input[k]);
  return all;
}
template <typename T, int Items, typename Operation, typename Prefix>
T ThreadScanExclusive(T (&input)[Items], T (&output)[Items], Operation operation, Prefix prefix, bool apply = true) {
  T all = apply ? static_cast<T>(prefix) : input[0];
  for (int k = 0; k < Items; k++) {
    const T own = input[k];
    if (apply || k > 0) output[k] = all;
    if (apply || k > 0) all = operation(all, own);
  }
  return all;
}

}  // namespace cub
