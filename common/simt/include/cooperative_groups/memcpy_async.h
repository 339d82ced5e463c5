// cooperative_groups::memcpy_async: a group copies together. wait() is a barrier of the group, as CUDA's is.
#pragma once

#include "../cooperative_groups.h"
#include "../cuda/aligned_size.h"
#include "../simt/async_copy.h"

namespace cooperative_groups {

template <typename Group, typename T, typename U>
void memcpy_async(const Group& group, T* to, const U* from, size_t bytes) {
  simt::copy_by_all(to, from, bytes, group.thread_rank(), group.num_threads());
}
template <typename Group, typename T, typename U, size_t Alignment>
void memcpy_async(const Group& group, T* to, const U* from, const cuda::aligned_size_t<Alignment>& bytes) {
  memcpy_async(group, to, from, static_cast<size_t>(bytes));
}
// In elements. The source may have fewer than the destination has room for.
template <typename Group, typename T, typename U>
void memcpy_async(const Group& group, T* to, size_t room, const U* from, size_t count) {
  memcpy_async(group, to, from, (room < count ? room : count) * sizeof(U));
}

template <typename Group>
void wait(const Group& group, SIMT_PLACE(pipeline_wait)) {
  group.sync(place);
}
template <unsigned Stages, typename Group>
void wait_prior(const Group& group, SIMT_PLACE(pipeline_wait)) {
  group.sync(place);
}

}  // namespace cooperative_groups
