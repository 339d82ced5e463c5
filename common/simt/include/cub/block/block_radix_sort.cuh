// cub::BlockRadixSort: bit by bit, each a scan of the block and an exchange.
#pragma once

#include "../radix_key.cuh"
#include "block_exchange.cuh"
#include "block_scan.cuh"

namespace cub {

// Stable. Thread t has items t * Items + k before and, but for ...BlockedToStriped, after. Between two uses of one
// TempStorage the program needs a __syncthreads().
template <typename Key, int BlockDimX, int Items, typename Value = NullType, int RadixBits = 4,
          bool MemoizeOuterScan = true, BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig = cudaSharedMemBankSizeFourByte, int BlockDimY = 1, int BlockDimZ = 1>
class BlockRadixSort {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ, key_bits = static_cast<int>(sizeof(Key)) * 8;
  using Scan = BlockScan<int, BlockDimX, InnerScan, BlockDimY, BlockDimZ>;
  using ExchangeKeys = BlockExchange<Key, BlockDimX, Items, false, BlockDimY, BlockDimZ>;
  using ExchangeValues = BlockExchange<Value, BlockDimX, Items, false, BlockDimY, BlockDimZ>;

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    union {
      typename ExchangeKeys::TempStorage keys;
      typename ExchangeValues::TempStorage values;
    };
  };
  explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

  void Sort(Key (&keys)[Items], int begin_bit = 0, int end_bit = key_bits) {
    sort(keys, none(), begin_bit, end_bit, false, false);
  }
  void Sort(Key (&keys)[Items], Value (&values)[Items], int begin_bit = 0, int end_bit = key_bits) {
    sort(keys, values, begin_bit, end_bit, false, false);
  }
  void SortDescending(Key (&keys)[Items], int begin_bit = 0, int end_bit = key_bits) {
    sort(keys, none(), begin_bit, end_bit, true, false);
  }
  void SortDescending(Key (&keys)[Items], Value (&values)[Items], int begin_bit = 0, int end_bit = key_bits) {
    sort(keys, values, begin_bit, end_bit, true, false);
  }
  void SortBlockedToStriped(Key (&keys)[Items], int begin_bit = 0, int end_bit = key_bits) {
    sort(keys, none(), begin_bit, end_bit, false, true);
  }
  void SortBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin_bit = 0, int end_bit = key_bits) {
    sort(keys, values, begin_bit, end_bit, false, true);
  }
  void SortDescendingBlockedToStriped(Key (&keys)[Items], int begin_bit = 0, int end_bit = key_bits) {
    sort(keys, none(), begin_bit, end_bit, true, true);
  }
  void SortDescendingBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin_bit = 0,
                                      int end_bit = key_bits) {
    sort(keys, values, begin_bit, end_bit, true, true);
  }

 private:
  using Values = Value (&)[Items];
  struct NoValues {};
  static NoValues none() { return {}; }

  template <typename ValuesOrNone>
  void sort(Key (&keys)[Items], ValuesOrNone&& values, int begin_bit, int end_bit, bool descending, bool striped) {
    for (int bit = begin_bit; bit < end_bit; bit++) {
      int ranks[Items];
      rank_by_bit(keys, ranks, bit, descending);
      __syncthreads();
      move<ExchangeKeys>(storage_.keys, keys, ranks, striped && bit + 1 == end_bit);
      __syncthreads();
      if constexpr (!std::is_same<std::decay_t<ValuesOrNone>, NoValues>::value) {
        move<ExchangeValues>(storage_.values, values, ranks, striped && bit + 1 == end_bit);
        __syncthreads();
      }
    }
  }

  // Keys whose bit is 0 come first; both parts keep their order.
  void rank_by_bit(const Key (&keys)[Items], int (&ranks)[Items], int bit, bool descending) {
    int ones[Items], zeros = threads * Items, all;
    for (int k = 0; k < Items; k++) {
      ones[k] = static_cast<int>(detail::radix_digits(keys[k], bit, bit + 1, descending));
      ranks[k] = ones[k];
    }
    Scan(storage_.scan).ExclusiveSum(ranks, ranks, all);
    zeros -= all;
    const int first = static_cast<int>(WarpId() * 32 + LaneId()) * Items;
    for (int k = 0; k < Items; k++) ranks[k] = ones[k] ? zeros + ranks[k] : first + k - ranks[k];
  }

  template <typename Exchange, typename T>
  static void move(typename Exchange::TempStorage& storage, T (&items)[Items], int (&ranks)[Items], bool striped) {
    if (striped)
      Exchange(storage).ScatterToStriped(items, ranks);
    else
      Exchange(storage).ScatterToBlocked(items, ranks);
  }

  TempStorage& storage_;
};

}  // namespace cub
