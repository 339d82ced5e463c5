// cub::BlockDiscontinuity: where an item differs from its neighbour in the block.
#pragma once

#include "../warp/shuffles.cuh"

namespace cub {

// Thread t has items t * Items + i. The first head and the last tail are flagged unless a neighbour is given. The
// predicate takes two items, or these and the index of the second one. Between two uses of one TempStorage the program
// needs a __syncthreads().
template <typename T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockDiscontinuity {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;

 public:
  struct TempStorage {
    detail::Slots<T, threads> first, last;
  };
  explicit BlockDiscontinuity(TempStorage& storage) : storage_(storage) {}

  template <int Items, typename Flag, typename Predicate>
  void FlagHeads(Flag (&heads)[Items], T (&input)[Items], Predicate differ) {
    flag<Items>(heads, nullptr, no_flags<Flag>(), nullptr, input, differ);
  }
  template <int Items, typename Flag, typename Predicate>
  void FlagHeads(Flag (&heads)[Items], T (&input)[Items], Predicate differ, T predecessor) {
    flag<Items>(heads, &predecessor, no_flags<Flag>(), nullptr, input, differ);
  }
  template <int Items, typename Flag, typename Predicate>
  void FlagTails(Flag (&tails)[Items], T (&input)[Items], Predicate differ) {
    flag<Items>(no_flags<Flag>(), nullptr, tails, nullptr, input, differ);
  }
  template <int Items, typename Flag, typename Predicate>
  void FlagTails(Flag (&tails)[Items], T (&input)[Items], Predicate differ, T successor) {
    flag<Items>(no_flags<Flag>(), nullptr, tails, &successor, input, differ);
  }
  template <int Items, typename Flag, typename Predicate>
  void FlagHeadsAndTails(Flag (&heads)[Items], Flag (&tails)[Items], T (&input)[Items], Predicate differ) {
    flag<Items>(heads, nullptr, tails, nullptr, input, differ);
  }
  template <int Items, typename Flag, typename Predicate>
  void FlagHeadsAndTails(Flag (&heads)[Items], Flag (&tails)[Items], T successor, T (&input)[Items], Predicate differ) {
    flag<Items>(heads, nullptr, tails, &successor, input, differ);
  }
  template <int Items, typename Flag, typename Predicate>
  void FlagHeadsAndTails(Flag (&heads)[Items], T predecessor, Flag (&tails)[Items], T (&input)[Items],
                         Predicate differ) {
    flag<Items>(heads, &predecessor, tails, nullptr, input, differ);
  }
  template <int Items, typename Flag, typename Predicate>
  void FlagHeadsAndTails(Flag (&heads)[Items], T predecessor, Flag (&tails)[Items], T successor, T (&input)[Items],
                         Predicate differ) {
    flag<Items>(heads, &predecessor, tails, &successor, input, differ);
  }

 private:
  template <typename Flag>
  static Flag* no_flags() {
    return nullptr;
  }
  template <typename Predicate>
  static bool are_apart(Predicate& differ, const T& a, const T& b, int index) {
    if constexpr (std::is_invocable<Predicate&, const T&, const T&, int>::value)
      return differ(a, b, index);
    else
      return differ(a, b);
  }

  template <int Items, typename Flag, typename Predicate>
  void flag(Flag* heads, const T* predecessor, Flag* tails, const T* successor, const T* input, Predicate differ) {
    const int rank = static_cast<int>(WarpId() * 32 + LaneId()), index = rank * Items;
    storage_.first[rank] = input[0];
    storage_.last[rank] = input[Items - 1];
    __syncthreads();
    for (int i = 0; heads && i < Items; i++) {
      if (i > 0)
        heads[i] = are_apart(differ, input[i - 1], input[i], index + i);
      else if (rank > 0)
        heads[i] = are_apart(differ, storage_.last[rank - 1], input[i], index);
      else
        heads[i] = !predecessor || are_apart(differ, *predecessor, input[i], index);
    }
    for (int i = 0; tails && i < Items; i++) {
      if (i + 1 < Items)
        tails[i] = are_apart(differ, input[i], input[i + 1], index + i + 1);
      else if (rank + 1 < threads)
        tails[i] = are_apart(differ, input[i], storage_.first[rank + 1], index + Items);
      else
        tails[i] = !successor || are_apart(differ, input[i], *successor, index + Items);
    }
  }

  TempStorage& storage_;
};

}  // namespace cub
