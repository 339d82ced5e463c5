// Work of one thread of a group.
#pragma once

namespace cooperative_groups {

// function(arguments...) in one thread of the group.
template <typename Group, typename Function, typename... Arguments>
__device__ void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}

// The same, and all threads of the group, which are lanes of one warp, get its result.
template <typename Group, typename Function, typename... Arguments>
__device__ auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments)
    -> decltype(function(static_cast<Arguments&&>(arguments)...)) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups
