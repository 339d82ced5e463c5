// Cooperative groups: the grid, the block, its tiles of up to 32 lanes, and the lanes that have converged.
// Clusters and tiles of more than a warp are not supported and do not compile.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

using simt::Place;

class thread_block {
 public:
  static void sync(SIMT_PLACE(syncthreads)) { simt::block_barrier(0, place); }
  static unsigned thread_rank() { return simt::thread_rank(); }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long num_blocks() { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long size() { return num_threads(); }
  static dim3 block_index() { return blockIdx; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
  static bool is_valid() { return simt::is_cooperative(); }

  // Needs a cooperative launch.
  static void sync(SIMT_PLACE(grid_sync)) { simt::grid_barrier(place); }
};

inline grid_group this_grid() { return {}; }

// Lanes of one warp, given by a mask. Ranks count within the group.
class lane_group {
 public:
  explicit lane_group(unsigned mask) : mask_(mask) {}

  void sync(SIMT_PLACE(syncwarp)) const { simt::warp_exchange(mask_, 0, place); }
  unsigned thread_rank() const { return __popc(mask_ & ((1u << simt::lane()) - 1)); }
  unsigned num_threads() const { return __popc(mask_); }
  unsigned size() const { return num_threads(); }

  template <typename T>
  T shfl(T value, unsigned rank, SIMT_PLACE(shfl)) const {
    return read(value, rank % num_threads(), place);
  }
  template <typename T>
  T shfl_up(T value, unsigned delta, SIMT_PLACE(shfl_up)) const {
    const unsigned rank = thread_rank();
    return read(value, delta > rank ? rank : rank - delta, place);
  }
  template <typename T>
  T shfl_down(T value, unsigned delta, SIMT_PLACE(shfl_down)) const {
    const unsigned rank = thread_rank();
    return read(value, rank + delta < num_threads() ? rank + delta : rank, place);
  }

  int any(int predicate, SIMT_PLACE(any)) const { return __any_sync(mask_, predicate, place); }
  int all(int predicate, SIMT_PLACE(all)) const { return __all_sync(mask_, predicate, place); }
  unsigned ballot(int predicate, SIMT_PLACE(ballot)) const { return to_ranks(__ballot_sync(mask_, predicate, place)); }
  template <typename T>
  unsigned match_any(T value, SIMT_PLACE(match_any)) const {
    return to_ranks(__match_any_sync(mask_, value, place));
  }

  template <typename T>
  unsigned match_all(T value, int& all_equal, SIMT_PLACE(match_all)) const {
    return to_ranks(__match_all_sync(mask_, value, &all_equal, place));
  }

  unsigned lanes() const { return mask_; }

 protected:
  // The value of the lane with this rank. Values of any size travel 8 bytes at a time.
  template <typename T>
  T read(const T& value, unsigned rank, Place place) const {
    static_assert(std::is_trivially_copyable<T>::value, "shuffles move trivially copyable values");
    const unsigned source = lane_of(rank);
    T result;
    for (size_t at = 0; at < sizeof(T); at += 8) {
      const size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
      uint64_t word = 0;
      std::memcpy(&word, reinterpret_cast<const char*>(&value) + at, bytes);
      word = simt::value_of(simt::warp_exchange(mask_, word, place), mask_, source, place);
      std::memcpy(reinterpret_cast<char*>(&result) + at, &word, bytes);
    }
    return result;
  }

 private:
  unsigned lane_of(unsigned rank) const {
    unsigned mask = mask_;
    while (rank--) mask &= mask - 1;
    return __ffs(static_cast<int>(mask)) - 1;
  }
  unsigned to_ranks(unsigned lanes) const {
    unsigned ranks = 0, rank = 0;
    for (unsigned left = mask_; left; left &= left - 1, rank++) ranks |= (lanes >> __builtin_ctz(left) & 1) << rank;
    return ranks;
  }

  unsigned mask_;
};

class coalesced_group : public lane_group {
 public:
  using lane_group::lane_group;
};

// The lanes of the caller's warp that run this together.
inline coalesced_group coalesced_threads(SIMT_PLACE(activemask)) { return coalesced_group(simt::active_lanes(place)); }

template <unsigned Size, typename Parent = thread_block>
class thread_block_tile : public lane_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "the CPU executor supports tiles of 1, 2, 4, 8, 16 or 32 threads");

 public:
  thread_block_tile()
      : lane_group((Size == 32 ? simt::full_mask : (1u << (Size % 32)) - 1) << (simt::lane() / Size * Size)) {}

  unsigned thread_rank() const { return simt::lane() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  unsigned meta_group_rank() const { return simt::thread_rank() / Size; }
  unsigned meta_group_size() const { return (thread_block::num_threads() + Size - 1) / Size; }

  template <typename T>
  T shfl_xor(T value, unsigned lane_mask, SIMT_PLACE(shfl_xor)) const {
    return this->read(value, (thread_rank() ^ lane_mask) % Size, place);
  }
};

template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  static_assert(!std::is_same<Parent, coalesced_group>::value, "the CPU executor does not partition coalesced groups");
  return {};
}

// Any group whose size is known only when the program runs: a block, or lanes of a warp.
class thread_group : public lane_group {
 public:
  thread_group(const thread_block&) : lane_group(0), is_block_(true) {}
  thread_group(const lane_group& lanes) : lane_group(lanes), is_block_(false) {}

  void sync(SIMT_PLACE(syncthreads)) const {
    if (is_block_) {
      simt::block_barrier(0, place);
    } else {
      lane_group::sync(place);
    }
  }
  unsigned thread_rank() const { return is_block_ ? thread_block::thread_rank() : lane_group::thread_rank(); }
  unsigned num_threads() const { return is_block_ ? thread_block::num_threads() : lane_group::num_threads(); }
  unsigned size() const { return num_threads(); }

 private:
  bool is_block_;
};

// Tiles of `size` threads, a power of two up to 32.
inline thread_group tiled_partition(const thread_group&, unsigned size) {
  const unsigned mask = size >= 32 ? simt::full_mask : (1u << size) - 1;
  return lane_group(mask << (simt::lane() / size * size));
}

// The lanes of a group that have the same label, or the same truth value.
template <typename Group, typename Label>
coalesced_group labeled_partition(const Group& group, Label label, SIMT_PLACE(match_any)) {
  return coalesced_group(__match_any_sync(group.lanes(), label, place));
}
template <typename Group>
coalesced_group binary_partition(const Group& group, bool predicate, SIMT_PLACE(ballot)) {
  const unsigned yes = __ballot_sync(group.lanes(), predicate, place);
  return coalesced_group(predicate ? yes : group.lanes() & ~yes);
}

template <typename Group>
void sync(const Group& group, SIMT_PLACE(syncwarp)) {
  group.sync(place);
}

template <typename Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
auto group_size(const Group& group) {
  return group.num_threads();
}

// Functions that reduce() and the scans take.
template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

}  // namespace cooperative_groups
