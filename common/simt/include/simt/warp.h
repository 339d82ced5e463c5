// Barriers, warp shuffles and votes. Each is a short formula over two services of the executor: wait for the block, and
// exchange a value with the lanes of a mask.
#pragma once

#include <cstring>
#include <type_traits>

#include "argument_types.h"
#include "builtins.h"

namespace simt {

// The call in which a thread waits, for messages about a deadlock. name_of(Call) spells it.
enum class Call : int {
  none,
  syncthreads,
  syncthreads_count,
  syncthreads_and,
  grid_sync,
  syncthreads_or,
  syncwarp,
  activemask,
  shfl,
  shfl_up,
  shfl_down,
  shfl_xor,
  ballot,
  any,
  all,
  match_any,
  match_all,
  reduce_add,
  reduce_min,
  reduce_max,
  reduce_and,
  reduce_or,
  reduce_xor,
  reduce,  // of a cooperative group
  mma,
  matrix_load,
  tile_sync,
  barrier_wait,
  pipeline_wait,
  named_barrier,
  cluster_sync
};

// The position of a call in the source. Two registers wide, since it is passed with every shuffle.
struct Place {
  const char* file;
  int line;
  Call call;
};

// What the threads of a block agreed on at a barrier.
struct Votes {
  int count;  // threads that arrived with a predicate that is not zero
  bool all;   // every thread did
};

// The executor's services are noexcept, or every call would end a basic block of the kernel.

// Waits until every thread of the block that has not returned has called this.
Votes block_barrier(int predicate, Place place) noexcept;

// Waits until every thread of the grid has called this. Only in a kernel that was launched cooperatively.
void grid_barrier(Place place);
bool is_cooperative();

// The block's cluster, which has one block if the launch requests no cluster. The barrier waits for all of its blocks
// that have not returned.
void cluster_barrier(Place place);
unsigned cluster_rank() noexcept;
uint3 cluster_index() noexcept;
dim3 cluster_size() noexcept;
// The same variable in another block's shared memory; and the rank of the block to whose shared memory an address
// belongs.
void* map_shared_rank(const void* address, unsigned rank, Place place);
unsigned query_shared_rank(const void* address) noexcept;

// The values of the 32 lanes of a warp. Valid until the caller's next warp operation. A lane that is not in the mask,
// or has returned, has the value `nothing_brought`.
struct Exchanged {
  const uint64_t* values;
  unsigned lane;  // the caller's own
};

// NaN in every floating-point type, and different from the contents of memory that nothing has written (all bits set).
constexpr uint64_t nothing_brought = 0x7fff7fff7fff7fff;

// Waits until every lane of `mask` that has not returned has called this with the same mask.
Exchanged warp_exchange(unsigned mask, uint64_t value, Place place) noexcept;

// Waits until the warp cannot go on without an answer, and returns the lanes that wait at the same line.
unsigned active_lanes(Place place) noexcept;

// Between the halves of a step that counts on lockstep (../../lockstep.py): the lanes that are here go on together. It
// orders nothing: what the step does without __syncwarp() stays a race.
inline void lockstep(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  active_lanes({file, line, Call::activemask});
}

// Lets the block's other threads run: for loops that wait for one of them.
void yield() noexcept;

// Orders the memory accesses of OS threads.
void fence() noexcept;
void fence_system() noexcept;

// The value of lane `source`. An instrumented kernel asks the executor, which checks that the lane is in the mask and
// has brought a value; so the read of the executor's memory is not counted as the kernel's.
uint64_t checked_value(const uint64_t* values, unsigned mask, unsigned source, Place place) noexcept;

// For votes, and for the factors of a matrix product: what the executor counts as received.
unsigned checked_lanes(const uint64_t* values, unsigned mask, uint64_t value) noexcept;
uint64_t checked_operand(const uint64_t* values, unsigned source) noexcept;

// The lanes of the mask that brought this value. Every lane asks the same: the executor finds them once.
inline unsigned lanes_with(const Exchanged& exchanged, unsigned mask, uint64_t value) {
  return checked_lanes(exchanged.values, mask, value);
}

inline uint64_t value_of(const Exchanged& exchanged, unsigned mask, unsigned source, Place place) {
#ifdef __SANITIZE_THREAD__
  return checked_value(exchanged.values, mask, source, place);
#else
  (void)mask, (void)place;
  return exchanged.values[source];
#endif
}

template <typename T>
uint64_t to_bits(const T& value) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 8, "shuffles move values of up to 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
  return bits;
}

template <typename T>
T from_bits(uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

}  // namespace simt

// A default argument is evaluated at the call: it names the kernel's line, not this one.
#define SIMT_PLACE(call) simt::Place place = {__builtin_FILE(), __builtin_LINE(), simt::Call::call}

inline void __syncthreads(SIMT_PLACE(syncthreads)) { simt::block_barrier(0, place); }
inline int __syncthreads_count(int predicate, SIMT_PLACE(syncthreads_count)) {
  return simt::block_barrier(predicate, place).count;
}
inline int __syncthreads_and(int predicate, SIMT_PLACE(syncthreads_and)) {
  return simt::block_barrier(predicate, place).all;
}
inline int __syncthreads_or(int predicate, SIMT_PLACE(syncthreads_or)) {
  return simt::block_barrier(predicate, place).count > 0;
}

inline void __syncwarp(unsigned mask = simt::full_mask, SIMT_PLACE(syncwarp)) { simt::warp_exchange(mask, 0, place); }
inline unsigned __activemask(SIMT_PLACE(activemask)) { return simt::active_lanes(place); }

// The four shuffles. A warp is cut into segments of `width` lanes (a power of two); a source outside the caller's
// segment yields the caller's own value.
template <typename T, simt::If<simt::is_shuffled<T>> = 0>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = warpSize, SIMT_PLACE(shfl)) {
  const simt::Exchanged exchanged = simt::warp_exchange(mask, simt::to_bits(value), place);
  const unsigned first = exchanged.lane & ~(width - 1u);
  return simt::from_bits<T>(simt::value_of(exchanged, mask, first + (source & (width - 1)), place));
}

template <typename T, simt::If<simt::is_shuffled<T>> = 0>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize, SIMT_PLACE(shfl_up)) {
  const simt::Exchanged exchanged = simt::warp_exchange(mask, simt::to_bits(value), place);
  const unsigned lane = exchanged.lane, in_segment = lane & (width - 1u);
  return simt::from_bits<T>(simt::value_of(exchanged, mask, delta > in_segment ? lane : lane - delta, place));
}

template <typename T, simt::If<simt::is_shuffled<T>> = 0>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                                   SIMT_PLACE(shfl_down)) {
  const simt::Exchanged exchanged = simt::warp_exchange(mask, simt::to_bits(value), place);
  const unsigned lane = exchanged.lane, in_segment = lane & (width - 1u);
  return simt::from_bits<T>(simt::value_of(exchanged, mask, delta >= width - in_segment ? lane : lane + delta, place));
}

// With width < 32 a lane may read from lower segments but not from higher ones, as on the hardware.
template <typename T, simt::If<simt::is_shuffled<T>> = 0>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize, SIMT_PLACE(shfl_xor)) {
  const simt::Exchanged exchanged = simt::warp_exchange(mask, simt::to_bits(value), place);
  const unsigned lane = exchanged.lane, source = lane ^ static_cast<unsigned>(lane_mask);
  const bool outside = (source > (lane | (width - 1u))) | (source >= 32);
  return simt::from_bits<T>(simt::value_of(exchanged, mask, outside ? lane : source, place));
}

// One overload per shuffle, which refuses a structure: it is to be shuffled member by member.
#define SIMT_NOT_SHUFFLED(name)                                                                                \
  template <typename T, typename... Rest, simt::If<!simt::is_shuffled<T>> = 0>                                 \
  SIMT_UNAVAILABLE("shuffles take numbers of up to 8 bytes, half and bfloat16; shuffle a structure's members") \
  T name(unsigned mask, T value, Rest... rest);
SIMT_NOT_SHUFFLED(__shfl_sync)
SIMT_NOT_SHUFFLED(__shfl_up_sync)
SIMT_NOT_SHUFFLED(__shfl_down_sync)
SIMT_NOT_SHUFFLED(__shfl_xor_sync)
#undef SIMT_NOT_SHUFFLED

inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_PLACE(ballot)) {
  return simt::lanes_with(simt::warp_exchange(mask, predicate != 0, place), mask, 1);
}

inline int __any_sync(unsigned mask, int predicate, SIMT_PLACE(any)) {
  return simt::lanes_with(simt::warp_exchange(mask, predicate != 0, place), mask, 1) != 0;
}

// Lanes that have returned do not vote: their value is neither 0 nor 1.
inline int __all_sync(unsigned mask, int predicate, SIMT_PLACE(all)) {
  return simt::lanes_with(simt::warp_exchange(mask, predicate != 0, place), mask, 0) == 0;
}

namespace simt {

// The lanes of the mask that take part: all that have not returned.
inline unsigned participants(unsigned mask, Place place) { return __ballot_sync(mask, 1, place); }

}  // namespace simt

template <typename T, simt::If<simt::is_number<T>> = 0>
unsigned __match_any_sync(unsigned mask, T value, SIMT_PLACE(match_any)) {
  const unsigned present = simt::participants(mask, place);
  const uint64_t own = simt::to_bits(value);
  return simt::lanes_with(simt::warp_exchange(mask, own, place), present, own);
}

template <typename T, simt::If<simt::is_number<T>> = 0>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal, SIMT_PLACE(match_all)) {
  const unsigned present = simt::participants(mask, place);
  *all_equal = __match_any_sync(mask, value, place) == present;
  return *all_equal ? present : 0;
}
#define SIMT_MATCHED "CUDA matches integers of 4 and 8 bytes, float and double"
template <typename T, simt::If<!simt::is_number<T>> = 0>
SIMT_UNAVAILABLE(SIMT_MATCHED)
unsigned __match_any_sync(unsigned mask, T value);
template <typename T, simt::If<!simt::is_number<T>> = 0>
SIMT_UNAVAILABLE(SIMT_MATCHED)
unsigned __match_all_sync(unsigned mask, T value, int* all_equal);
#undef SIMT_MATCHED

namespace simt {

template <typename T>
constexpr bool is_reduced = std::is_integral<T>::value && sizeof(T) <= 4;

template <typename T, typename Combine>
T reduce_lanes(unsigned mask, T value, Combine combine, Place place) {
  const unsigned present = participants(mask, place);
  const Exchanged exchanged = warp_exchange(mask, to_bits(value), place);
  T result = value;
  for (unsigned other = 0; other < 32; other++) {
    if (present >> other & 1 && other != exchanged.lane)
      result = combine(result, from_bits<T>(value_of(exchanged, mask, other, place)));
  }
  return result;
}

}  // namespace simt

#define SIMT_REDUCE(name, expression)                                           \
  template <typename T, simt::If<simt::is_reduced<T>> = 0>                      \
  T __reduce_##name##_sync(unsigned mask, T value, SIMT_PLACE(reduce_##name)) { \
    return simt::reduce_lanes(                                                  \
        mask, value, [](T a, T b) -> T { return expression; }, place);          \
  }                                                                             \
  template <typename T, simt::If<!simt::is_reduced<T>> = 0>                     \
  SIMT_UNAVAILABLE("CUDA's __reduce_" #name "_sync takes int and unsigned")     \
  T __reduce_##name##_sync(unsigned mask, T value);
SIMT_REDUCE(add, a + b)
SIMT_REDUCE(min, a < b ? a : b)
SIMT_REDUCE(max, a > b ? a : b)
SIMT_REDUCE(and, a& b)
SIMT_REDUCE(or, a | b)
SIMT_REDUCE(xor, a ^ b)
#undef SIMT_REDUCE

// Threads of a block share one OS thread and blocks meet only in atomics, so a compiler fence is enough.
inline void __threadfence() { simt::fence(); }
inline void __threadfence_block() { simt::fence(); }
inline void __threadfence_system() { simt::fence_system(); }
inline void __nanosleep(unsigned) { simt::yield(); }
