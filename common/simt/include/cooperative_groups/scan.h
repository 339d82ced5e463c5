// cooperative_groups::inclusive_scan and exclusive_scan over the lanes of a group, in order of rank.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
std::enable_if_t<!detail::is_large<Group>, T> inclusive_scan(const Group& group, T value, Operation operation,
                                                             SIMT_PLACE(shfl_up)) {
  const unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < group.num_threads(); step *= 2) {
    const T before = group.shfl_up(value, step, place);
    if (rank >= step) value = operation(before, value);
  }
  return value;
}
template <unsigned Size, typename Parent, typename T, typename Operation>
std::enable_if_t<(Size > 32), T> inclusive_scan(const thread_block_tile<Size, Parent>& group, T value,
                                                Operation operation, SIMT_PLACE(tile_sync)) {
  const unsigned phase = group.bring(value, place);
  T result = group.template of_rank<T>(phase, 0);
  for (unsigned rank = 1; rank <= group.thread_rank(); rank++)
    result = operation(result, group.template of_rank<T>(phase, rank));
  return result;
}

template <typename Group, typename T>
T inclusive_scan(const Group& group, T value, SIMT_PLACE(shfl_up)) {
  return inclusive_scan(group, value, plus<T>(), place);
}

namespace detail {
// The value of the thread before; the first gets T().
template <typename Group, typename T>
T of_the_one_before(const Group& group, T value, Place place) {
  if constexpr (is_large<Group>) {
    const unsigned phase = group.bring(value, place), rank = group.thread_rank();
    return rank == 0 ? T() : group.template of_rank<T>(phase, rank - 1);
  } else {
    const T before = group.shfl_up(value, 1, place);
    return group.thread_rank() == 0 ? T() : before;
  }
}
}  // namespace detail

// The first lane gets T().
template <typename Group, typename T, typename Operation>
T exclusive_scan(const Group& group, T value, Operation operation, SIMT_PLACE(shfl_up)) {
  const T inclusive = inclusive_scan(group, value, operation, place);
  return detail::of_the_one_before(group, inclusive, place);
}
template <typename Group, typename T>
T exclusive_scan(const Group& group, T value, SIMT_PLACE(shfl_up)) {
  return exclusive_scan(group, value, plus<T>(), place);
}

}  // namespace cooperative_groups
