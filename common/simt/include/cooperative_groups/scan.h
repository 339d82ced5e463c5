// cooperative_groups::inclusive_scan and exclusive_scan over the lanes of a group, in order of rank.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
T inclusive_scan(const Group& group, T value, Operation operation, SIMT_PLACE(shfl_up)) {
  const unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < group.num_threads(); step *= 2) {
    const T before = group.shfl_up(value, step, place);
    if (rank >= step) value = operation(before, value);
  }
  return value;
}
template <typename Group, typename T>
T inclusive_scan(const Group& group, T value, SIMT_PLACE(shfl_up)) {
  return inclusive_scan(group, value, plus<T>(), place);
}

// The first lane gets T().
template <typename Group, typename T, typename Operation>
T exclusive_scan(const Group& group, T value, Operation operation, SIMT_PLACE(shfl_up)) {
  const T inclusive = inclusive_scan(group, value, operation, place);
  const T before = group.shfl_up(inclusive, 1, place);
  return group.thread_rank() == 0 ? T() : before;
}
template <typename Group, typename T>
T exclusive_scan(const Group& group, T value, SIMT_PLACE(shfl_up)) {
  return exclusive_scan(group, value, plus<T>(), place);
}

}  // namespace cooperative_groups
