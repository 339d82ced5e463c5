// cooperative_groups::reduce: every lane of the group gets the reduction of all of the group's values.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
T reduce(const Group& group, T value, Operation operation, SIMT_PLACE(reduce)) {
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

}  // namespace cooperative_groups
