// Cooperative groups: the grid, the cluster, the block, its tiles, and the lanes that have converged.
#pragma once

#include <type_traits>

#include "cuda_runtime.h"
#include "simt/library_headers.h"

namespace cooperative_groups {

using simt::Place;

class thread_block {
 public:
  class arrival_token {};

  // A split barrier is an ordinary one here: what a thread does between arriving and waiting hides no latency.
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, SIMT_PLACE(syncthreads)) { simt::block_barrier(0, place); }
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

  // Needs a cooperative launch; otherwise the executor stops the program with a message.
  static void sync(SIMT_PLACE(grid_sync)) { simt::grid_barrier(place); }
};

inline grid_group this_grid() { return {}; }

// The blocks of a cluster.
class cluster_group {
 public:
  class arrival_token {};

  static void sync(SIMT_PLACE(cluster_sync)) { simt::cluster_barrier(place); }
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(SIMT_PLACE(cluster_sync)) { simt::cluster_barrier(place); }
  static void barrier_wait(arrival_token&&, SIMT_PLACE(cluster_sync)) { simt::cluster_barrier(place); }

  static unsigned block_rank() { return simt::cluster_rank(); }
  static unsigned num_blocks() {
    const dim3 size = simt::cluster_size();
    return size.x * size.y * size.z;
  }
  static dim3 dim_blocks() { return simt::cluster_size(); }
  static dim3 block_index() {
    const dim3 size = simt::cluster_size();
    return {blockIdx.x % size.x, blockIdx.y % size.y, blockIdx.z % size.z};
  }
  static unsigned thread_rank() { return block_rank() * thread_block::num_threads() + thread_block::thread_rank(); }
  static unsigned num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned size() { return num_threads(); }
  static dim3 dim_threads() {
    const dim3 size = simt::cluster_size();
    return {size.x * blockDim.x, size.y * blockDim.y, size.z * blockDim.z};
  }
  static dim3 thread_index() {
    const dim3 block = block_index();
    return {block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y, block.z * blockDim.z + threadIdx.z};
  }

  // The same variable in the shared memory of block `rank`; and the rank of the block to which an address belongs.
  template <typename T>
  static T* map_shared_rank(T* address, int rank, SIMT_PLACE(cluster_sync)) {
    return static_cast<T*>(simt::map_shared_rank(address, static_cast<unsigned>(rank), place));
  }
  static unsigned query_shared_rank(const void* address) { return simt::query_shared_rank(address); }
};

inline cluster_group this_cluster() { return {}; }

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
class thread_block_tile;

namespace detail {

// Number of threads of the group that is cut into tiles; 0: all of the block.
template <typename Parent>
struct SizeOf {
  static constexpr unsigned value = 0;
};
template <unsigned Size, typename Parent>
struct SizeOf<thread_block_tile<Size, Parent>> {
  static constexpr unsigned value = Size;
};

// The index of the calling thread's tile within the parent group.
template <unsigned Size, typename Parent>
class TilePosition {
  static constexpr unsigned parent = SizeOf<Parent>::value;
  static_assert(parent == 0 || Size <= parent, "a tile is no larger than the group that it is cut from");

 public:
  unsigned meta_group_rank() const { return (parent ? simt::thread_rank() % parent : simt::thread_rank()) / Size; }
  unsigned meta_group_size() const { return parent ? parent / Size : (thread_block::num_threads() + Size - 1) / Size; }
};

template <typename Group>
constexpr bool is_large = (SizeOf<Group>::value > 32);

// A tile of one warp or less.
template <unsigned Size>
class warp_tile : public lane_group {
 public:
  warp_tile() : lane_group((Size == 32 ? simt::full_mask : (1u << (Size % 32)) - 1) << (simt::lane() / Size * Size)) {}

  unsigned thread_rank() const { return simt::lane() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }

  template <typename T>
  T shfl_xor(T value, unsigned lane_mask, SIMT_PLACE(shfl_xor)) const {
    return this->read(value, (thread_rank() ^ lane_mask) % Size, place);
  }
};

// A tile of several warps, with a barrier of its own.
template <unsigned Size>
class warps_tile {
 public:
  void sync(SIMT_PLACE(tile_sync)) const { simt::meet(key(), Size, place); }
  unsigned thread_rank() const { return simt::thread_rank() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }

  template <typename T>
  T shfl(T value, unsigned rank, SIMT_PLACE(tile_sync)) const {
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 32, "values of up to 32 bytes can be exchanged");
    return of_rank<T>(bring(value, place), rank % Size);
  }
  int any(int predicate, SIMT_PLACE(tile_sync)) const { return count(predicate, place) > 0; }
  int all(int predicate, SIMT_PLACE(tile_sync)) const { return count(predicate, place) == Size; }

  // For reduce() and the scans: every thread brings a value and sees the values of the others.
  template <typename T>
  unsigned bring(const T& value, Place place) const {
    for (unsigned word = 0; word < words<T>; word++) {
      uint64_t bits = 0;
      std::memcpy(&bits, reinterpret_cast<const char*>(&value) + 8 * word, rest<T>(word));
      simt::meeting_put(key(), thread_rank() * words<T> + word, bits, Size);
    }
    return simt::meet(key(), Size, place);
  }
  template <typename T>
  T of_rank(unsigned phase, unsigned rank) const {
    T result;
    for (unsigned word = 0; word < words<T>; word++) {
      const uint64_t bits = simt::meeting_get(key(), phase, rank * words<T> + word);
      std::memcpy(reinterpret_cast<char*>(&result) + 8 * word, &bits, rest<T>(word));
    }
    return result;
  }

 private:
  template <typename T>
  static constexpr unsigned words = (sizeof(T) + 7) / 8;
  template <typename T>
  static constexpr size_t rest(unsigned word) {
    return sizeof(T) - 8 * word < 8 ? sizeof(T) - 8 * word : 8;
  }
  static uint64_t key() { return simt::meeting_key(simt::tile_meeting, Size, simt::thread_rank() / Size); }
  unsigned count(int predicate, Place place) const {
    const unsigned phase = bring(predicate != 0, place);
    unsigned yes = 0;
    for (unsigned rank = 0; rank < Size; rank++) yes += of_rank<bool>(phase, rank);
    return yes;
  }
};

}  // namespace detail

template <unsigned Size, typename Parent>
class thread_block_tile : public std::conditional_t<Size <= 32, detail::warp_tile<Size>, detail::warps_tile<Size>>,
                          public detail::TilePosition<Size, Parent> {
  static_assert(Size >= 1 && Size <= 1024 && (Size & (Size - 1)) == 0, "a tile's size is a power of two up to 1024");
};

template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  static_assert(!std::is_same<Parent, coalesced_group>::value, "the CPU executor does not partition coalesced groups");
  return {};
}

// Shared memory that CUDA needs for tiles of several warps. Here the executor keeps what they exchange.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  char unused[MaxBlockSize / 32 * 8];
};
template <unsigned MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return {};
}

namespace experimental {

template <unsigned MaxCommunicationSize, unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  char unused[MaxCommunicationSize * MaxBlockSize / 32];
};
template <unsigned MaxCommunicationSize, unsigned MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxCommunicationSize, MaxBlockSize>&) {
  return {};
}
using cooperative_groups::thread_block_tile;
template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

}  // namespace experimental

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

#include "cooperative_groups/invoke.h"
