// cooperative_groups::reduce: every lane of the group gets the reduction of all of the group's values.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
std::enable_if_t<!detail::is_large<Group>, T> reduce(const Group& group, T value, Operation operation,
                                                     SIMT_PLACE(reduce)) {
  const unsigned size = group.num_threads(), rank = group.thread_rank();
  if ((size & (size - 1)) == 0) {
    // A butterfly, as on the hardware: after step i every lane has the result of 2^i neighbours.
    for (unsigned step = 1; step < size; step *= 2) {
      const T other = group.shfl(value, rank ^ step, place);
      value = rank & step ? operation(other, value) : operation(value, other);
    }
    return value;
  }
  T result = group.shfl(value, 0, place);
  for (unsigned from = 1; from < size; from++) result = operation(result, group.shfl(value, from, place));
  return result;
}

// Over several warps: each by itself, then the warps in the order of the ranks, the same for all.
template <unsigned Size, typename Parent, typename T, typename Operation>
std::enable_if_t<(Size > 32), T> reduce(const thread_block_tile<Size, Parent>& group, T value, Operation operation,
                                        SIMT_PLACE(tile_sync)) {
  const unsigned phase = group.bring(reduce(tiled_partition<32>(group), value, operation, place), place);
  T result = group.template of_rank<T>(phase, 0);
  for (unsigned rank = 32; rank < Size; rank += 32) result = operation(result, group.template of_rank<T>(phase, rank));
  return result;
}

}  // namespace cooperative_groups
