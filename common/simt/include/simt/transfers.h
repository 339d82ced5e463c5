// Barriers in shared memory that count bytes (mbarrier), and copies that tell them (cp.async.bulk). A barrier is a
// meeting whose key is its address, as cuda::barrier is. A copy is done when its call returns.
#pragma once

#include "meeting.h"

namespace simt {

template <typename T>
uint64_t meeting_at(const T* barrier) {
  return reinterpret_cast<uintptr_t>(barrier);
}

// In pieces of 16 bytes. These are no accesses of the calling thread: the hardware has an engine for them.
void copy_in_bulk(void* to, const void* from, uint32_t bytes) noexcept;
inline void copy_in_bulk(void* to, const void* from, uint32_t bytes, const void* barrier, SIMT_PLACE(barrier_wait)) {
  copy_in_bulk(to, from, bytes);
  meeting_transfer(meeting_at(barrier), -int64_t{bytes}, place);
}

namespace ptx {

inline void mbarrier_init(const void* barrier, uint32_t expected) { meeting_init(meeting_at(barrier), expected); }
inline uint64_t mbarrier_arrive(const void* barrier, uint32_t count, SIMT_PLACE(barrier_wait)) {
  return meeting_arrive(meeting_at(barrier), count, place);
}
inline void mbarrier_drop(const void* barrier, SIMT_PLACE(barrier_wait)) { meeting_drop(meeting_at(barrier), place); }
inline void mbarrier_transfer(const void* barrier, int64_t bytes, SIMT_PLACE(barrier_wait)) {
  meeting_transfer(meeting_at(barrier), bytes, place);
}
inline bool mbarrier_is_over(const void* barrier, uint64_t phase, SIMT_PLACE(barrier_wait)) {
  return meeting_ask(meeting_at(barrier), static_cast<unsigned>(phase), place);
}
inline bool mbarrier_is_over_of_parity(const void* barrier, uint32_t parity, SIMT_PLACE(barrier_wait)) {
  return mbarrier_is_over(barrier, meeting_of_parity(meeting_at(barrier), parity & 1), place);
}

}  // namespace ptx
}  // namespace simt
