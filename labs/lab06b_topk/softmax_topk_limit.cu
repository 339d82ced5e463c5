// Lab 06, second rung: softmax fused with top-K, as near to a read as the chip allows.
//
// As in lab 05, (max, sum) and the K largest logits are found while the row goes by: every logit is read once, 16 bytes
// at a time. What took the time there was to insert key after key into sorted lists. Here the threads' own maxima give
// a threshold, which few logits pass; those few are set aside and looked at in bulk, and nothing is sorted before the
// end. Where there are few rows, up to 16 blocks share one.
//
// Any width; K up to 1024. Logits are f32, f16 or bf16; all arithmetic is in fp32.
#include <cfloat>
#include <cmath>

#include "rung.h"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#include <cooperative_groups.h>
#endif

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab06b holds it against the
// count; README.md, "Predict first", has the questions in full.
RUNG_PREDICT(
    // f16, V = 32,000: bytes of the sectors that all loads of one row ask for.
    {"fused_bytes", rung::unknown},
    // f16, V = 32,000: load instructions per row, those of all warps together.
    {"select_loads", rung::unknown},
    // f32, 2048 x 50257, K = 50, on an H200: microseconds. A factor of 1.25 counts as right.
    {"topk_us", rung::unknown},
    // f16, 4096 x 4096, K = 50, on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"topk_limit", rung::unknown})
// END 0

constexpr int max_threads = 512;  // of a block; always whole warps

// Where a maximum starts: the lowest finite float, so that x - max is -INFINITY and never NaN where all x are
// -INFINITY.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. A NaN in the row makes the sum NaN. So does +INFINITY,
// because INFINITY - INFINITY is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// exp(x). __expf, without the three instructions that it spends on results below 2^-126: those are 0 here.
__device__ float fast_exp(float x) {
#ifdef __SIMT__
  return __expf(x);
#else
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.44269504f));  // 2 to the power of x * log2(e)
  return power;
#endif
}

__device__ float to_float(float logit) { return logit; }
__device__ float to_float(__half logit) { return __half2float(logit); }
__device__ float to_float(__nv_bfloat16 logit) { return __bfloat162float(logit); }

struct Max {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return b > a ? b : a;  // a where b is NaN
  }
};
struct Add {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

// Combines the `mine` of all threads of the block into one value, which every thread gets. All threads must call it.
template <typename T, typename Op>
__device__ T block_reduce(T mine, Op op) {
  __shared__ T of_warp[max_threads / 32];
  for (int offset = 16; offset > 0; offset /= 2) mine = op(mine, __shfl_xor_sync(0xFFFFFFFF, mine, offset));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  T all = of_warp[0];
  for (int w = 1; w < static_cast<int>(blockDim.x) / 32; ++w) all = op(all, of_warp[w]);
  __syncthreads();  // or the next call could overwrite of_warp before a slow warp has read it
  return all;
}

// ---- Keys: a logit and its column as one number that sorts as the result is sorted --------------
//
// Upper 32 bits: the logit, as an unsigned number of the same order. Lower 32 bits: the column, inverted, so that of
// equal logits the lower column has the larger key. No two columns have equal keys, and no column has the key 0.
using Key = unsigned long long;

__device__ Key make_key(float logit, int column) {
  const unsigned bits = __float_as_uint(logit + 0.0f);  // -0 + 0 is +0: equal numbers get equal bits
  const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(ordered) << 32 | ~static_cast<unsigned>(column);
}

__device__ int column_of(Key key) { return static_cast<int>(~static_cast<unsigned>(key)); }

// NaN for the keys 0 and 1.
__device__ float logit_of(Key key) {
  const unsigned ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7FFFFFFFu : ~ordered);
}

// ---- Selection: the K largest keys of a stream --------------------------------------------------
//
// Candidates gather in shared memory. A threshold is a key such that at least K of the row's keys are known to be at or
// above it. A key below it cannot be in the result. In a long row almost all keys are below it, and each of them costs
// one comparison.

// The threshold while none is known: every column's key is at or above it. Key 0, which stands for no column, is not.
constexpr Key no_threshold = 1;

constexpr int bins = 256;

template <int Room>
struct Candidates {
  Key keys[Room];
  int count;
  // For find_threshold() and write_result(): how many keys lie in each bin or above it, and a bin that was found.
  alignas(16) int reach[bins];
  int found;
};

// Calls use(i, slot) for every i that is wanted. The slots are consecutive over all lanes of the warp, starting at
// `counter`, which grows by their number. This is a warp-aggregated atomic: one per warp. All lanes must call it.
template <int N, typename Use>
__device__ void take_slots(int& counter, const bool (&wanted)[N], Use use) {
  const int lane = threadIdx.x % 32;
  unsigned who[N];  // the lanes that want their i-th
  int count = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) count += __popc(who[i] = __ballot_sync(0xFFFFFFFF, wanted[i]));
  if (count == 0) return;
  int next = lane == 0 ? atomicAdd(&counter, count) : 0;
  next = __shfl_sync(0xFFFFFFFF, next, 0);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (wanted[i]) use(i, next + __popc(who[i] & ((1u << lane) - 1)));
    next += __popc(who[i]);
  }
}

// Appends this thread's keys at or above the threshold. There must be room. All lanes of a warp must call it.
template <int Room, int N>
__device__ void offer(Candidates<Room>& candidates, const Key (&key)[N], Key threshold) {
  bool wanted[N];
  // TODO 1: note in wanted[i] whether the i-th key is at or above the threshold. Then take_slots() gives each wanted
  // key a slot of its own in candidates.keys, although many threads want one at once; candidates.count is the next free
  // one.
  (void)candidates;
  (void)key;
  (void)threshold;
  (void)wanted;
  // END 1
}

// A range of keys from low on in `bins` equal parts. The first has whatever is below it, too, the last what is above.
__device__ int bin_of(Key key, Key low, int shift) {
  return key < low ? 0 : static_cast<int>(min((key - low) >> shift, static_cast<Key>(bins - 1)));
}

// The width of a bin, as a power of two, such that bins from `low` on hold all keys up to `high`.
__device__ int shift_for(Key low, Key high) { return max(0, 56 - __clzll(static_cast<long long>(high - low))); }

// Turns the number of keys in each bin into the number of those in that bin or above it, and sets `found` to the
// highest bin with at least k keys in it and above it. All threads must call it, after a barrier; it ends with one.
__device__ void add_from_top(int* count, int k, int& found) {
  constexpr int mine = bins / 32;
  const int lane = threadIdx.x;
  if (lane < 32) {
    int of[mine], sum = 0;
#pragma unroll
    for (int i = 0; i < mine; ++i) sum += of[i] = count[lane * mine + i];
    int reaching = sum;  // then of all bins from mine on
    for (int offset = 1; offset < 32; offset *= 2) {
      const int theirs = __shfl_down_sync(0xFFFFFFFF, reaching, offset);
      if (lane + offset < 32) reaching += theirs;
    }
    reaching -= sum;
#pragma unroll
    for (int i = mine - 1; i >= 0; --i) {
      const int b = lane * mine + i, above = reaching;
      count[b] = reaching += of[i];
      // TODO 2: `reaching` keys lie in bin b or above, `above` of them above it. If the k-th largest lies in bin b, note b
      // in `found`. Which of the lanes and bins is it? (Without this, pruning keeps too much, and the candidates
      // overflow.)
      (void)above;
      (void)k;
      (void)found;
      // END 2
    }
  }
  __syncthreads();
}

// Returns a key, low or higher, such that at least k keys are at or above it, and at most `most`, unless that takes
// bins narrower than 2^finest. At least k keys must be at or above low. for_each(use): calls use(key) for each of this
// thread's keys. All threads must call it, and a barrier must follow before they do so again.
template <int Room, typename ForEach>
__device__ Key find_threshold(Candidates<Room>& scratch, Key low, int finest, int k, int most, ForEach for_each) {
  int* reach = scratch.reach;
  // TODO 3: count the keys from `low` on in bins (bin_of, shift_for), let add_from_top() find the bin of the k-th
  // largest, and raise `low` to where it begins. If more than `most` keys reach that, and the bin is wider than
  // 2^finest, divide it in turn. Between two uses of scratch.reach all threads wait for each other. (low itself is
  // always right, and always slow.)
  (void)reach;
  (void)for_each;
  (void)k;
  (void)most;
  (void)finest;
  return low;
  // END 3
}

// find_threshold() for the candidates, to the last bit. All threads must call it, after a barrier that follows the last
// offer().
template <int Room>
__device__ Key threshold_of(Candidates<Room>& candidates, int k, int most, Key threshold) {
  return find_threshold(candidates, threshold, 0, k, most, [&](auto use) {
    for (int i = threadIdx.x; i < candidates.count; i += blockDim.x) use(candidates.keys[i]);
  });
}

// Drops the candidates below the threshold. All threads must call it, after a barrier that follows the last offer(); it
// ends with one.
template <int Room>
__device__ void drop_below(Candidates<Room>& candidates, Key threshold) {
  const int count = candidates.count;
  __syncthreads();
  if (threadIdx.x == 0) candidates.count = 0;
  for (int begin = 0; begin < count; begin += blockDim.x) {
    const int i = begin + static_cast<int>(threadIdx.x);
    const Key key[] = {i < count ? candidates.keys[i] : 0};
    __syncthreads();  // the keys up to here have been read: their slots are free
    offer(candidates, key, threshold);
  }
  __syncthreads();
}

// Candidates that may stay when room is made, and how many may then come.
__device__ int most_kept(int k) { return min(2 * k, rung::max_k); }
template <int Room>
__device__ int portion(int k) {
  return min(1024, Room - most_kept(k)) / 8 * 8;  // whole vectors
}

// Makes room for n more candidates, at most portion<Room>(k). Returns the threshold, raised if some had to be dropped.
// All threads must call it, after a barrier that follows the last offer(); it ends with one.
template <int Room>
__device__ Key make_room(Candidates<Room>& candidates, int n, int k, Key threshold) {
  const bool full = candidates.count + n > Room;
  __syncthreads();
  if (!full) return threshold;
  threshold = threshold_of(candidates, k, most_kept(k), threshold);
  drop_below(candidates, threshold);
  return threshold;
}

// Offers n keys. keys_of(first, end, key): fills key with those of the keys `first` to end - 1 that are this thread's,
// four at most, and with zeros. Returns the threshold, raised where room had to be made. All threads must call it,
// after a barrier that follows the last offer(); it ends with one.
template <int Room, typename KeysOf>
__device__ Key offer_all(Candidates<Room>& candidates, int n, int k, Key threshold, KeysOf keys_of) {
  for (int begin = 0; begin < n; begin += portion<Room>(k)) {
    const int end = min(n, begin + portion<Room>(k));
    threshold = make_room(candidates, end - begin, k, threshold);
    for (int first = begin; first < end; first += 4 * blockDim.x) {
      Key key[4];
      keys_of(first, end, key);
      offer(candidates, key, threshold);
    }
    __syncthreads();
  }
  return threshold;
}

// The same, for key_of(0) to key_of(n - 1).
template <int Room, typename KeyOf>
__device__ Key offer_each(Candidates<Room>& candidates, int n, int k, Key threshold, KeyOf key_of) {
  return offer_all(candidates, n, k, threshold, [&](int first, int end, Key(&key)[4]) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int i = first + static_cast<int>(j * blockDim.x + threadIdx.x);
      key[j] = i < end ? key_of(i) : 0;
    }
  });
}

// Writes the row's k outputs, in order. A key's rank is the number of larger keys. To count them, keys are dealt out to
// bins by their value, and compared with those of their own bin alone. max, sum: of the whole row. sorted: room for
// half as many keys as there is for candidates. All threads must call it, after a barrier that follows the last
// offer().
template <int Room>
__device__ void write_result(Candidates<Room>& candidates, Key* sorted, Key threshold, float max, float sum, int k,
                             int* index, float* prob) {
  if (candidates.count > Room / 2) {
    threshold = threshold_of(candidates, k, Room / 2, threshold);
    drop_below(candidates, threshold);
  }
  const int count = candidates.count;
  const bool in_bins = count > 128;  // or else one bin will do
  const int shift = shift_for(threshold, make_key(max, 0));
  const Key* keys = candidates.keys;
  int* reach = candidates.reach;
  if (in_bins) {
    for (int b = threadIdx.x; b < bins; b += blockDim.x) reach[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) atomicAdd(&reach[bin_of(keys[i], threshold, shift)], 1);
    __syncthreads();
    add_from_top(reach, k, candidates.found);
    // The keys of bin b have places up to reach[b], and are put there from the last on. Afterwards they begin at
    // reach[b], and end where those of bin b - 1 begin.
    for (int i = threadIdx.x; i < count; i += blockDim.x)
      sorted[atomicSub(&reach[bin_of(keys[i], threshold, shift)], 1) - 1] = keys[i];
    __syncthreads();
    keys = sorted;
  }
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const Key key = keys[i];
    int rank = 0, end = count;
    if (in_bins) {
      const int bin = bin_of(key, threshold, shift);
      rank = reach[bin];
      if (bin > 0) end = reach[bin - 1];
    }
    for (int j = rank; j < end; ++j) rank += keys[j] > key;
    if (rank >= k) continue;
    index[rank] = column_of(key);
    prob[rank] = expf(logit_of(key) - max) * inverse(sum);
  }
}

// ---- Tiles: the row in pieces that a block takes at once ----------------------------------------
//
// A vector is the 16 bytes of one load: 4 or 8 logits. Thread t has the vectors t, t + threads, ... of a tile:
// neighbours in a warp read neighbours in memory, and a thread's four loads do not wait for each other.
constexpr int per_thread = 4;

template <typename T>
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // logits in a vector

template <typename T>
struct Tile {
  uint4 vector[per_thread];
};

template <typename T>
__device__ int tile_columns() {
  return per_thread * static_cast<int>(blockDim.x) * lanes<T>;
}

// The column of the first logit of this thread's i-th vector, in the tile that begins at column `begin`.
template <typename T>
__device__ int column_of_vector(int begin, int i) {
  return begin + (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * lanes<T>;
}

// Two logits in a 32-bit word, the one at the lower address in the lower 16 bits.
__device__ float2 widen(unsigned word, __half) { return __half22float2(*reinterpret_cast<const __half2*>(&word)); }
__device__ float2 widen(unsigned word, __nv_bfloat16) {
  return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xFFFF0000u));
}

template <typename T>
__device__ void unpack(uint4 vector, float (&x)[8]) {
  const float2 pairs[4] = {widen(vector.x, T()), widen(vector.y, T()), widen(vector.z, T()), widen(vector.w, T())};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = pairs[i].x;
    x[2 * i + 1] = pairs[i].y;
  }
}

template <typename T>
__device__ void unpack(uint4 vector, float (&x)[4]) {
  x[0] = __uint_as_float(vector.x);
  x[1] = __uint_as_float(vector.y);
  x[2] = __uint_as_float(vector.z);
  x[3] = __uint_as_float(vector.w);
}

// The vector at `column`, an address that 16 divides, of which the row may have only a part, or nothing. The rest is
// -INFINITY, which changes neither the maximum nor the sum.
template <typename T>
__device__ uint4 load_vector(const T* row, int column, int cols) {
  if (column >= 0 && column + lanes<T> <= cols) return *reinterpret_cast<const uint4*>(row + column);
  alignas(16) T part[lanes<T>];
#pragma unroll
  for (int i = 0; i < lanes<T>; ++i) {
    const bool inside = column + i >= 0 && column + i < cols;
    part[i] = inside ? row[column + i] : static_cast<T>(-INFINITY);
  }
  return *reinterpret_cast<const uint4*>(part);
}

// This thread's vectors of the tile that begins at column `begin`, of a row that ends before `end`.
template <typename T>
__device__ void load_tile(const T* row, int begin, int end, Tile<T>& tile) {
  if (begin >= 0 && begin + tile_columns<T>() <= end) {  // almost always, and then nothing else must be asked
#pragma unroll
    for (int i = 0; i < per_thread; ++i)
      tile.vector[i] = *reinterpret_cast<const uint4*>(row + column_of_vector<T>(begin, i));
  } else {
#pragma unroll
    for (int i = 0; i < per_thread; ++i) tile.vector[i] = load_vector(row, column_of_vector<T>(begin, i), end);
  }
}

// What a thread has seen so far. Its vectors belong to one group, or to four that take turns.
template <int Groups>
struct Seen {
  float max = lowest;
  float sum = 0.0f;    // of exp(x - max)
  float best[Groups];  // the largest logit of each group
};

__device__ float top_of(uint4 vector, float) {
  float x[4];
  unpack<float>(vector, x);
  return fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]));
}

template <typename Two>
__device__ float top_of_pairs(uint4 vector) {
  const Two* pair = reinterpret_cast<const Two*>(&vector);
  const Two top = __hmax2(__hmax2(pair[0], pair[1]), __hmax2(pair[2], pair[3]));
  return fmaxf(to_float(top.x), to_float(top.y));
}

// The largest logit of a vector; NaN if there are only such.
__device__ float top_of(uint4 vector, __half) { return top_of_pairs<__half2>(vector); }
__device__ float top_of(uint4 vector, __nv_bfloat16) { return top_of_pairs<__nv_bfloat162>(vector); }

// Which vectors have a logit that is not less than `least`, or a NaN alone: bit v for vector v.
template <typename T>
__device__ unsigned find_hits(const Tile<T>& tile, float least) {
  unsigned hits = 0;
#pragma unroll
  for (int v = 0; v < per_thread; ++v) hits |= (top_of(tile.vector[v], T()) < least ? 0u : 1u) << v;
  return hits;
}

// Brings `seen` up to date.
template <typename T, int Groups>
__device__ void absorb(Seen<Groups>& seen, const Tile<T>& tile) {
  float top = lowest;
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    const float mine = top_of(tile.vector[v], T());
    seen.best[v % Groups] = fmaxf(seen.best[v % Groups], mine);
    top = fmaxf(top, mine);
  }
  if (top > seen.max) {  // seldom, after the first tiles
    seen.sum *= fast_exp(seen.max - top);
    seen.max = top;
  }
#pragma unroll
  for (int v = 0; v < per_thread; ++v) {
    float x[lanes<T>], sum = 0.0f;
    unpack<T>(tile.vector[v], x);
#pragma unroll
    for (int i = 0; i < lanes<T>; ++i) sum += fast_exp(x[i] - seen.max);
    seen.sum += sum;
  }
}

// ---- Thresholds and hits ------------------------------------------------------------------------

// A threshold from what the threads have seen. Their groups' maxima belong to different columns: if k of them reach a
// logit, k columns do. And few columns more than that do, as long as k is well below the number of groups. scratch:
// only its bins are used. All threads must call it.
template <int Groups, int Room>
__device__ Key raise(Candidates<Room>& scratch, const Seen<Groups>& seen, int k, Key threshold) {
  return find_threshold(scratch, threshold, 47, k, k + k / 8 + 3, [&](auto use) {  // 47: 8 bits of the fraction
#pragma unroll
    for (int g = 0; g < Groups; ++g) use(make_key(seen.best[g], -1));  // the lowest key of this logit
  });
}

// A guess: in the part of the row that has been seen, its k largest logits are `expected` in number, if they are spread
// at random, and hardly ever more than this. So a logit that so many reach there is a threshold, most likely, and a
// much higher one than k reach. online_kernel finds out whether it was.
__device__ int rank_in(float expected, int k) {
  return min(k, static_cast<int>(1.2f * expected + 3.0f * sqrtf(expected) + 3.0f));
}

// Vectors with a logit at or above the threshold are only appended to a buffer. Most lanes of a warp would have to wait
// while one processes its logits. That is done in bulk later, with one thread per logit.
template <typename T, int Most>
struct Hits {
  uint4 vector[Most];
  int column[Most];  // of the vector's first logit
  int count;         // may be more: those found no room
};

// Sets this thread's hits of a tile aside. waiting: bit v is set for each vector v that is still to be set aside.
// Returns false if there was no room for some thread's; those are still waiting. All threads must call it.
template <typename T, int Most>
__device__ bool set_aside(Hits<T, Most>& hits, const Tile<T>& tile, int begin, unsigned& waiting) {
  bool wanted[per_thread];
#pragma unroll
  for (int v = 0; v < per_thread; ++v) wanted[v] = waiting >> v & 1;
  take_slots(hits.count, wanted, [&](int v, int slot) {
    if (slot >= Most) return;
    hits.vector[slot] = tile.vector[v];
    hits.column[slot] = column_of_vector<T>(begin, v);
    waiting &= ~(1u << v);
  });
  return !__syncthreads_or(waiting);
}

// The i-th four of the logits of some vectors.
__device__ float4 four_of(const uint4* vectors, int i, float) { return reinterpret_cast<const float4*>(vectors)[i]; }
template <typename T>
__device__ float4 four_of(const uint4* vectors, int i, T) {
  const uint2 words = reinterpret_cast<const uint2*>(vectors)[i];
  const float2 low = widen(words.x, T()), high = widen(words.y, T());
  return make_float4(low.x, low.y, high.x, high.y);
}

// Offers the logits of all hits that lie before column `end`, and forgets the hits. Returns the threshold. All threads
// must call it, after a barrier that follows the last set_aside(); it ends with one.
template <typename T, int Most, int Room>
__device__ Key offer_hits(Candidates<Room>& candidates, Hits<T, Most>& hits, int end, int k, Key threshold) {
  const int count = min(hits.count, Most);
  __syncthreads();
  if (count == 0) return threshold;
  if (threadIdx.x == 0) hits.count = 0;
  return offer_all(candidates, count * lanes<T>, k, threshold, [&](int first, int last, Key(&key)[4]) {
    const int i = first + 4 * static_cast<int>(threadIdx.x);
    const bool some = i < last;
    const float4 four = some ? four_of(hits.vector, i / 4, T()) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float x[4] = {four.x, four.y, four.z, four.w};
    const int column = some ? hits.column[i / lanes<T>] + i % lanes<T> : -4;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      key[j] = static_cast<unsigned>(column + j) < static_cast<unsigned>(end) ? make_key(x[j], column + j) : 0;
  });
}

// ---- Clusters: several blocks for one row, where there are few rows -----------------------------
//
// From compute capability 9.0 on the blocks of a cluster can read each other's shared memory. Elsewhere, and on the
// CPU, every cluster is a single block.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ int cluster_size() { return static_cast<int>(cooperative_groups::this_cluster().num_blocks()); }
__device__ int cluster_rank() { return static_cast<int>(cooperative_groups::this_cluster().block_rank()); }
__device__ void cluster_sync() { cooperative_groups::this_cluster().sync(); }
// Our blocks may take their places while the kernel before still runs (launch_online() asks for that): wait here for
// its results, and let the kernel after ours do the same.
__device__ void wait_for_kernel_before() {
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}
template <typename S>
__device__ const S& in_block(int rank, S& mine) {  // the same variable of another block
  return *cooperative_groups::this_cluster().map_shared_rank(&mine, rank);
}
#else
__device__ int cluster_size() { return 1; }
__device__ int cluster_rank() { return 0; }
__device__ void cluster_sync() {}
__device__ void wait_for_kernel_before() {}
template <typename S>
__device__ const S& in_block(int, S& mine) {
  return mine;
}
#endif

// What the blocks of a cluster tell each other of their parts of a row.
struct Part {
  float max, sum;
  Key threshold;  // k columns of the part reach it
  Key fair;       // as many do as are k columns together, if every part has so many
};

// Adds the other blocks' candidates to those of the first block, and makes max and sum those of the whole row. All
// threads of all blocks must call it. Returns true in the first block, which then has the result.
template <int Room>
__device__ bool merge_cluster(Candidates<Room>& candidates, int k, Key& threshold, float& max, float& sum) {
  __shared__ Part part;
  const int size = cluster_size(), few = (k + size - 1) / size;
  if (size == 1) return true;
  const bool many = k > 64;  // less is not worth a search
  const Key fair = many ? threshold_of(candidates, few, few + few / 4, threshold) : threshold;
  if (threadIdx.x == 0) part = {max, sum, threshold, fair};
  cluster_sync();
  Part other = {lowest, 0.0f, no_threshold, ~static_cast<Key>(0)};
  if (static_cast<int>(threadIdx.x) < size) other = in_block(threadIdx.x, part);
  // What k columns of one part reach, or `few` of every part, k columns of the row do.
  threshold = block_reduce(other.threshold, Max());
  if (many) {
    threshold = ::max(threshold, ~block_reduce(~other.fair, Max()));
    drop_below(candidates, threshold);
    cluster_sync();
  }
  if (cluster_rank() == 0) {
    max = block_reduce(other.max, Max());
    sum = block_reduce(other.sum * __expf(other.max - max), Add());
    const bool another = threadIdx.x > 0 && static_cast<int>(threadIdx.x) < size;
    const int most = block_reduce(another ? in_block(threadIdx.x, candidates).count : 0, Max());
    threshold = offer_each(candidates, (size - 1) * most, k, threshold, [&](int i) -> Key {
      const Candidates<Room>& theirs = in_block(1 + i / most, candidates);
      return i % most < theirs.count ? theirs.keys[i % most] : 0;
    });
  }
  cluster_sync();  // nobody may leave while its shared memory is read
  return cluster_rank() == 0;
}

// ---- online -------------------------------------------------------------------------------------

// logits: (rows, cols), aligned to 16 bytes. index, prob: (rows, k). Cluster r reads row r of logits and writes row r
// of index and prob.
template <typename T, int Groups, int Room>
__global__ void __launch_bounds__(max_threads, 2)  // at most 64 registers
    online_kernel(const T* __restrict__ logits, int* __restrict__ index, float* __restrict__ prob, int cols, int k) {
  __shared__ Candidates<Room> candidates;
  __shared__ Hits<T, Room * 3 / 8> hits;
  const size_t row = blockIdx.x / cluster_size();
  logits += row * cols;
  // Columns are counted from the row's first logit; the first vector may begin before it, in the row above. Each block
  // has a run of vectors.
  const int before = static_cast<int>(row * cols % lanes<T>);
  const int vectors = (before + cols + lanes<T> - 1) / lanes<T>;
  const int share = (vectors + cluster_size() - 1) / cluster_size() * lanes<T>;
  const int first = cluster_rank() * share - before;
  const int end = min(first + share, cols);

  if (threadIdx.x == 0) candidates.count = hits.count = 0;
  __syncthreads();
  wait_for_kernel_before();
  Seen<Groups> seen;
  for (int g = 0; g < Groups; ++g) seen.best[g] = -INFINITY;
  Key threshold = no_threshold;
  const float k_per_column = static_cast<float>(k) / static_cast<float>(end - first);
  for (bool again = false;; again = true) {
    bool guessed = false, crowded = false;
    long long raise_at = first;
    seen.max = lowest;
    seen.sum = 0.0f;
    // TODO 4: go through the columns from `first` to `end`, a tile at a time: load_tile(), absorb() into `seen`,
    // find_hits(), set_aside() until nothing is waiting; where there is no room, offer_hits() makes some. Except when
    // the row is read `again`: call raise() after the first tile and after some of the later ones, so that few logits
    // are at or above the threshold. With rank_in() in place of k it raises more, but then the threshold is `guessed`.
    (void)guessed;
    (void)crowded;
    (void)raise_at;
    (void)again;
    (void)k_per_column;
    // END 4
    if (first + tile_columns<T>() < end) threshold = raise(candidates, seen, k, threshold);
    threshold = offer_hits(candidates, hits, end, k, threshold);
    if (!guessed) break;
    drop_below(candidates, threshold);
    if (candidates.count >= k) break;
    // The guess was too high: the largest logits crowd at the row's beginning. But now that all of the row has been
    // seen there is a threshold that is sure. Once more, with that.
    threshold = raise(candidates, seen, k, no_threshold);
    if (threadIdx.x == 0) candidates.count = 0;
    __syncthreads();
  }
  float max = block_reduce(seen.max, Max());
  float sum = block_reduce(seen.sum * __expf(seen.max - max), Add());
  if (!merge_cluster(candidates, k, threshold, max, sum)) return;
  Key* sorted = reinterpret_cast<Key*>(hits.vector);  // free by now
  write_result(candidates, sorted, threshold, max, sum, k, index + row * k, prob + row * k);
}

// How online_kernel is launched.
struct Shape {
  int threads;  // of a block: a power of two
  int blocks;   // to a row, a cluster of them
  bool hopper;  // or later, and compiled for it: there are clusters, and kernels may start early
};

template <typename T, int Groups, int Room>
cudaError_t launch_online(const T* logits, int* index, float* prob, int rows, int cols, int k, Shape shape,
                          cudaStream_t stream) {
  const auto kernel = online_kernel<T, Groups, Room>;
#ifdef __SIMT__
  kernel<<<rows, shape.threads, 0, stream>>>(logits, index, prob, cols, k);
  return cudaGetLastError();
#else
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {static_cast<unsigned>(shape.blocks), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(rows * shape.blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = shape.hopper ? 2 : 0;
  if (shape.blocks > 8) {  // not every device that has clusters has such large ones
    int most = 0;
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (!error) error = cudaOccupancyMaxPotentialClusterSize(&most, kernel, &config);
    if (error) return error;
    if (most < shape.blocks) attributes[0].val.clusterDim.x = 8, config.gridDim.x = static_cast<unsigned>(rows * 8);
  }
  return cudaLaunchKernelEx(&config, kernel, logits, index, prob, cols, k);
#endif
}

// Small blocks, eight per SM: while some wait at a barrier, the others load. Where there are too few rows to fill the
// device so, a row gets a cluster. (Measured on an H200.)
template <typename T>
cudaError_t shape_for(int rows, int cols, int k, Shape& shape) {
  const int vectors = cols / lanes<T>;
  shape = {vectors <= 64 * per_thread ? 64 : k <= 512 ? 128 : 256, 1, false};
#ifndef __SIMT__
  int device = 0, multiprocessors = 0;
  cudaFuncAttributes kernel = {};
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaFuncGetAttributes(&kernel, online_kernel<T, 1, 1024>);
  if (error) return error;
  if (kernel.ptxVersion < 90) return cudaSuccess;  // compiled without clusters
  // TODO 5: how many blocks share a row, a power of two up to 16, where there are fewer rows than the chip has room for?
  // And with how many threads each? Measured on a GPU; on the CPU a row has one block. (One block is always right.)
  (void)rows;
  (void)multiprocessors;
  // END 5
  shape.hopper = true;
#else
  (void)rows;
#endif
  return cudaSuccess;
}

template <typename T>
cudaError_t online(const T* logits, int* index, float* prob, int rows, int cols, int k, cudaStream_t stream) {
  if (!rung::valid(logits, index, prob, rows, cols, k)) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  Shape shape;
  if (const cudaError_t error = shape_for<T>(rows, cols, k, shape)) return error;
  const auto launch = k > 256                  ? launch_online<T, 4, 2048>
                      : 2 * k <= shape.threads ? launch_online<T, 1, 1024>
                                               : launch_online<T, 4, 1024>;
  return launch(logits, index, prob, rows, cols, k, shape, stream);
}

RUNG_EXPORT(rung::softmax_topk("auto", online<float>), rung::softmax_topk("auto", online<__half>),
            rung::softmax_topk("auto", online<__nv_bfloat16>))
