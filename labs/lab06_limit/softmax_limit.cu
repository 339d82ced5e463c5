// Lab 06: softmax as near to a copy as the chip allows, at every width and for any number of rows.
//
// A copy reads every element once and writes every element once; softmax cannot do less. So a row is loaded once, 16
// bytes per access, with all accesses on the way before the first is needed; it stays on the chip while its (max, sum)
// is found, and is stored from there. Who keeps it depends on its width and on how many rows there are to fill the
// chip:
//
//   tile     one thread per row; the block's rows, a run of memory that begins and ends on 16 bytes, go through smem
//   warp     1 to 32 lanes of a warp per row, in registers
//   cluster  one block per row, in registers. On Hopper, what they cannot hold is in shared memory, brought by the copy
//            engine, and up to 16 blocks share a row and tell each other their (max, sum)
//   chunks   a row that no cluster holds is read twice: by one kernel for (max, sum), by another for the result
//
// choose() says which and why. One exchange among threads settles maximum and sum together: a thread adds up
// exp(x - its own maximum), and corrects that once when it knows the row's.
#include <cooperative_groups.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "rung.h"

// TODO 0: predict before you write code, a number in place of each rung::unknown. make lab06 holds it against the
// count; README.md, "Predict first", has the questions in full.
RUNG_PREDICT(
    // f32, V = 4096: bytes of the sectors that all loads of one row ask for.
    {"row_bytes", rung::unknown},
    // f32, V = 4096: barriers that a thread comes to, for maximum and sum together.
    {"row_barriers", rung::unknown},
    // f16, V = 6, rows of 12 bytes: 32-byte sectors that a warp asks for with one load.
    {"tile_sectors", rung::unknown},
    // f16, 4096 x 4096 on an H200: microseconds. A factor of 1.2 counts as right.
    {"limit_us", rung::unknown},
    // f32, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"auto_limit", rung::unknown})
// END 0

// Where a maximum starts: the lowest finite float, so that x - max is -INFINITY and never NaN where all x are
// -INFINITY.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. A NaN in the row makes the sum NaN. So does +INFINITY,
// because INFINITY - INFINITY is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// e^x in two instructions. __expf spends four more on results below 1.2e-38; here they are 0.
__device__ float exponential(float x) {
#ifdef __SIMT__
  return __expf(x);
#else
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x * 1.44269504f));
  return result;
#endif
}

// Loads what is read once: it takes no place in L1. That alone is worth 1 to 2 % on an H200.
__device__ uint4 load_once(const uint4* from) {
#ifdef __SIMT__
  return *from;
#else
  uint4 words;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(from));
  return words;
#endif
}

// ---- A pack: the 16 bytes that one access moves -------------------------------------------------

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ void from_float(float value, float* to) { *to = value; }
__device__ void from_float(float value, __half* to) { *to = __float2half_rn(value); }
__device__ void from_float(float value, __nv_bfloat16* to) { *to = __float2bfloat16_rn(value); }

// Two neighbouring elements: to floats, from floats, and the larger at either place, where a NaN gives way to a number.
__device__ float2 widen(float2 two) { return two; }
__device__ float2 widen(__half2 two) { return __half22float2(two); }
__device__ float2 widen(__nv_bfloat162 two) { return __bfloat1622float2(two); }
__device__ float2 narrow(float a, float b, float2) { return make_float2(a, b); }
__device__ __half2 narrow(float a, float b, __half2) { return __floats2half2_rn(a, b); }
__device__ __nv_bfloat162 narrow(float a, float b, __nv_bfloat162) { return __floats2bfloat162_rn(a, b); }
__device__ float2 larger(float2 a, float2 b) { return make_float2(fmaxf(a.x, b.x), fmaxf(a.y, b.y)); }
__device__ __half2 larger(__half2 a, __half2 b) { return __hmax2(a, b); }
__device__ __nv_bfloat162 larger(__nv_bfloat162 a, __nv_bfloat162 b) { return __hmax2(a, b); }

float2 two_of(const float*);
__half2 two_of(const __half*);
__nv_bfloat162 two_of(const __nv_bfloat16*);

template <typename T>
constexpr int width = 16 / sizeof(T);  // elements in a pack

template <typename T>
struct alignas(16) Pack {
  using Two = decltype(two_of(static_cast<const T*>(nullptr)));
  static constexpr int pairs = width<T> / 2;
  Two two[pairs];

  __device__ uint4& words() { return *reinterpret_cast<uint4*>(two); }
};

// ---- A row: head, packs, tail -------------------------------------------------------------------

// A row as `head` single elements up to the first multiple of 16 bytes, `packs`, and `tail` single elements.
struct Split {
  int head, packs, tail;
};

// start: the row's first element, counted from the beginning of the matrix, which is a multiple of 256 bytes in memory.
template <typename T>
__device__ Split split_row(size_t start, int cols) {
  const int head = min(cols, static_cast<int>((width<T> - start % width<T>) % width<T>));
  const int packs = (cols - head) / width<T>;
  return {head, packs, cols - head - width<T> * packs};
}

// The column of the single element that thread t looks after, head and tail counted through; -1 if it has none. There
// are at most 7 + 7, so 16 threads suffice.
template <typename T>
__device__ int single_column(Split split, int t) {
  if (t < split.head) return t;
  if (t < split.head + split.tail) return t + width<T> * split.packs;
  return -1;
}

// ---- (max, sum) ---------------------------------------------------------------------------------

struct MaxSum {
  float max;
  float sum;  // of exp(x - max)
};

// Folds the pairs of `lanes` neighbouring lanes, a power of two; each of them gets the result. All lanes of the warp
// must call it.
__device__ MaxSum reduce_lanes(MaxSum mine, int lanes) {
  // TODO 1: the maximum of all lanes' maxima; then my sum as it would be with that maximum; then the sum of all sums.
  // Both with __shfl_xor_sync, as in lab 03, but among `lanes` lanes only: offsets lanes / 2, ..., 1. What stands here
  // is right for one lane.
  (void)lanes;
  const float max = mine.max;
  const float sum = mine.sum;
  // END 1
  return {max, sum};
}

// A thread's share of a row: packs first, first + stride, ... of those from 0 to end - 1. What is not there is
// -INFINITY, which changes neither maximum nor sum.
template <typename T, int Packs>
struct Share {
  // max_sum() keeps the exponentials where there are registers for them; elsewhere store() takes them again.
  static constexpr bool keeps = Packs * width<T> <= 32;
  static constexpr int pairs = Pack<T>::pairs;
  using Two = typename Pack<T>::Two;
  int first, end, stride;
  Pack<T> pack[Packs];
  float2 kept[keeps ? Packs : 1][pairs];

  __device__ Share(int first, int end, int stride) : first(first), end(end), stride(stride) {}

  __device__ bool has(int i) const { return static_cast<unsigned>(first + i * stride) < static_cast<unsigned>(end); }

  // from: pack 0.
  template <bool once>
  __device__ void load(const uint4* from) {
#pragma unroll
    for (int i = 0; i < Packs; ++i) {
#pragma unroll
      for (int j = 0; j < pairs; ++j) pack[i].two[j] = narrow(-INFINITY, -INFINITY, Two());
      // TODO 2: pack[i].words() = the pack at from[first + i * stride], if there is one (has); with load_once() if `once`
      // says so. Nothing here may need the value: the loop must have issued all its loads before the first arrives.
      (void)from;
      // END 2
    }
  }

  __device__ float largest() const {
    float max = lowest;
#pragma unroll
    for (int j = 0; j < pairs; ++j) {
      Two top = pack[0].two[j];
#pragma unroll
      for (int i = 1; i < Packs; ++i) top = larger(top, pack[i].two[j]);
      max = fmaxf(max, fmaxf(widen(top).x, widen(top).y));
    }
    return max;
  }

  // The sum of exp(x - max).
  __device__ float exponentials(float max) {
    float sum = 0.0f;
    // TODO 3: add up exponential(x - max) of all elements: widen() gives two floats for each of the `pairs` of a pack.
    // Put them into kept[i][j], if this Share keeps them. Unrolled, or the arrays cannot be registers.
    (void)max;
    // END 3
    return sum;
  }

  // to: pack 0. factor: of the exponentials kept. max, scale: of the row.
  __device__ void store(uint4* to, float factor, float max, float scale) {
    // 0, but the compiler does not know it. It would keep what exponentials() widened, in twice the registers.
    const unsigned zero = end >> 31;
#pragma unroll
    for (int i = 0; i < Packs; ++i) {
      uint4& words = pack[i].words();
      if (!keeps) words = make_uint4(words.x ^ zero, words.y ^ zero, words.z ^ zero, words.w ^ zero);
      // TODO 4: the results of this pack into pack[i].two[...], with narrow(): the kept exponentials times factor, or, if
      // there are none, exponential(x - max) * scale. Then one 16-byte store (__stcs) to to[first + i * stride], if the
      // row has this pack.
      (void)to, (void)factor, (void)max, (void)scale, (void)words;
      // END 4
    }
  }
};

// ---- Hopper's own means -------------------------------------------------------------------------

// Compiled out before compute capability 9.0 and on the CPU: there a cluster is one block, each thread fetches what it
// will use itself, and a kernel starts when the one before has ended.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ int cluster_blocks() { return cooperative_groups::this_cluster().num_blocks(); }
__device__ int cluster_rank() { return cooperative_groups::this_cluster().block_rank(); }
__device__ void cluster_arrive() { cooperative_groups::this_cluster().barrier_arrive(); }
__device__ void cluster_wait() { cooperative_groups::this_cluster().barrier_wait(); }
// The same variable in the shared memory of another block of the cluster.
template <typename V>
__device__ V* in_block(V* shared, int rank) {
  return cooperative_groups::this_cluster().map_shared_rank(shared, rank);
}
// Our blocks may take their places while the kernel before still runs (launch() asks for that): wait here for its
// results, and let the kernel after ours do the same.
__device__ void wait_for_kernel_before() {
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}
// A copy to shared memory by the copy engine. The barrier `done` counts its bytes, and turns from one phase, 0 or 1, to
// the other when they are there. One thread calls begin, all call fetch, all may wait.
__device__ unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void begin_barrier(unsigned long long* done) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(done)) : "memory");
}
__device__ void barriers_begun() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void fetch(uint4* to, const uint4* from, int packs, unsigned long long* done) {
  if (threadIdx.x != 0) return;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(done)), "r"(16 * packs)
               : "memory");
  if (packs == 0) return;
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(16 * packs), "r"(shared_address(done))
               : "memory");
}
__device__ void wait_for(unsigned long long* done) {
  for (unsigned over = 0; !over;)
    asm volatile("{.reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                 : "=r"(over)
                 : "r"(shared_address(done)), "r"(0)
                 : "memory");
}
#else
__device__ int cluster_blocks() { return 1; }
__device__ int cluster_rank() { return 0; }
__device__ void cluster_arrive() {}
__device__ void cluster_wait() {}
template <typename V>
__device__ V* in_block(V* shared, int) {
  return shared;
}
__device__ void wait_for_kernel_before() {}
__device__ void begin_barrier(unsigned long long*) {}
__device__ void barriers_begun() {}
__device__ void fetch(uint4* to, const uint4* from, int packs, unsigned long long*) {
  for (int p = threadIdx.x; p < packs; p += blockDim.x) to[p] = from[p];
}
__device__ void wait_for(unsigned long long*) {}
#endif

constexpr int most_blocks = 16;  // of a cluster
constexpr int most_warps = 32;   // of a block
constexpr int most_steps = 16;   // in which a block goes through a row that it keeps in shared memory

__device__ MaxSum merge(MaxSum a, MaxSum b) {
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * exponential(a.max - max) + b.sum * exponential(b.max - max)};
}

// Folds the pairs of all threads of the cluster; every thread gets the result. All threads must call it, once.
//
// Every warp writes its pair into the shared memory of every block. Then one barrier, and every warp folds all pairs.
__device__ MaxSum reduce_cluster(MaxSum mine) {
  __shared__ MaxSum of_warp[most_blocks * most_warps];
  const int blocks = cluster_blocks(), lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int place = cluster_rank() * warps + threadIdx.x / 32;
  mine = reduce_lanes(mine, 32);
  if (blocks == 1) {
    // TODO 5: of_warp[place] is for this warp's pair, which all its lanes have. After this, all threads read all pairs.
    (void)lane, (void)place;
    // END 5
  } else {
    cluster_wait();  // until every block has begun: before that it has no shared memory to write to
    if (lane < blocks) *in_block(of_warp + place, lane) = mine;
    cluster_arrive();
    cluster_wait();
  }
  MaxSum all = {lowest, 0.0f};
#pragma unroll 1
  for (int w = lane; w < blocks * warps; w += 32) all.max = fmaxf(all.max, of_warp[w].max);
#pragma unroll 1
  for (int w = lane; w < blocks * warps; w += 32) all.sum += of_warp[w].sum * exponential(of_warp[w].max - all.max);
  return reduce_lanes(all, 32);
}

// ---- Kernels: x, y (rows, cols), both aligned to 256 bytes --------------------------------------

// One thread per row. Rows of a tile begin and end on 16 bytes, whatever their width.
constexpr int tile_rows = 128;
template <typename T>
__global__ void __launch_bounds__(tile_rows)
    tile_kernel(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  extern __shared__ uint4 tile[];  // the block's rows as they lie in memory
  const int t = threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * tile_rows;
  const int mine = static_cast<int>(min(static_cast<size_t>(tile_rows), rows - first));
  const int elements = mine * cols, packs = elements / width<T>, last = packs * width<T> + t;
  T* element = reinterpret_cast<T*>(tile);
  x += first * cols;
  y += first * cols;
  wait_for_kernel_before();

  for (int p = t; p < packs; p += tile_rows) tile[p] = reinterpret_cast<const uint4*>(x)[p];
  if (last < elements) element[last] = x[last];
  __syncthreads();
  if (t < mine) {
    T* row = element + t * cols;
    float max = lowest, sum = 0.0f;
#pragma unroll 4
    for (int c = 0; c < cols; ++c) max = fmaxf(max, to_float(row[c]));
#pragma unroll 4
    for (int c = 0; c < cols; ++c) sum += exponential(to_float(row[c]) - max);
    const float scale = inverse(sum);
#pragma unroll 4
    for (int c = 0; c < cols; ++c) from_float(exponential(to_float(row[c]) - max) * scale, row + c);
  }
  __syncthreads();
  for (int p = t; p < packs; p += tile_rows) __stcs(reinterpret_cast<uint4*>(y) + p, tile[p]);
  if (last < elements) y[last] = element[last];
}

// `lanes` lanes per row, a power of two up to 32; at least 16 if rows are no multiple of 16 bytes.
constexpr int warp_threads = 128;  // per block
template <typename T, int Packs>
__global__ void __launch_bounds__(warp_threads)
    warp_kernel(const T* __restrict__ x, T* __restrict__ y, int rows, int cols, int log_lanes) {
  const int lanes = 1 << log_lanes;
  const size_t row = (static_cast<size_t>(blockIdx.x) * warp_threads + threadIdx.x) >> log_lanes;
  const size_t start = row * cols;
  const int t = threadIdx.x & (lanes - 1);
  const Split split = split_row<T>(start, row < static_cast<size_t>(rows) ? cols : 0);  // past the last row: no columns
  const int column = single_column<T>(split, t);
  wait_for_kernel_before();

  const float single = column >= 0 ? to_float(x[start + column]) : -INFINITY;
  Share<T, Packs> share(t, split.packs, lanes);
  share.template load<true>(reinterpret_cast<const uint4*>(x + start + split.head));
  const float max = fmaxf(share.largest(), single), e = exponential(single - max);
  const MaxSum all = reduce_lanes({max, share.exponentials(max) + e}, lanes);
  const float scale = inverse(all.sum), factor = exponential(max - all.max) * scale;
  share.store(reinterpret_cast<uint4*>(y + start + split.head), factor, all.max, scale);
  if (column >= 0) from_float(e * factor, y + start + column);
}

// One cluster per row; a cluster may be one block. Every thread holds Packs packs in registers. If there are More, they
// go to dynamic shared memory, brought by the copy engine, and the threads take them from there two at a time, while
// the rest is on its way.
//
// Places for packs are counted from the 128-byte line in which the row's packs begin, so that the accesses of a warp
// cover whole lines; the first places may lie before pack 0.
//
// How many blocks comes as a power of two: to divide by a number that the compiler does not know takes 20 instructions
// and more, before the first load. With two divisions 8192 x 8192 halves took 1.5 % longer.
constexpr int line = 8;  // packs
// choose() gives few packs to few threads. Where the compiler knows that, 6 packs of floats need 40 registers instead
// of 52, and 8 blocks of 192 threads are resident instead of 6.
constexpr int threads_with(int packs) { return packs > 6 ? 32 * most_warps : 16 * most_warps; }
template <typename T, int Packs, bool More>
__global__ void __launch_bounds__(threads_with(Packs))
    cluster_kernel(const T* __restrict__ x, T* __restrict__ y, int cols, int log_blocks) {
  extern __shared__ uint4 shared[];
  __shared__ unsigned long long there[most_steps];
  const int blocks = 1 << log_blocks, rank = blockIdx.x & (blocks - 1), threads = blockDim.x, t = threadIdx.x;
  if (blocks > 1) cluster_arrive();  // I have begun; reduce_cluster waits for the others
  const size_t start = static_cast<size_t>(blockIdx.x >> log_blocks) * cols;
  const Split split = split_row<T>(start, cols);
  const int column = rank == 0 ? single_column<T>(split, t) : -1;
  const int before = static_cast<int>((start + split.head) / width<T> % line);
  const int places = (((before + split.packs + blocks - 1) >> log_blocks) + line - 1) / line * line;
  const int first = rank * places - before, end = min(split.packs, first + places);
  const int more = first + Packs * threads, steps = More ? max(0, end - more + 2 * threads - 1) / (2 * threads) : 0;
  const uint4* x_packs = reinterpret_cast<const uint4*>(x + start + split.head);
  uint4* y_packs = reinterpret_cast<uint4*>(y + start + split.head);
  if (More) {
    if (t == 0) {
      for (int s = 0; s < steps; ++s) begin_barrier(there + s);
      barriers_begun();
    }
    __syncthreads();
  }
  wait_for_kernel_before();

  if (More) {
    for (int s = 0; s < steps; ++s) {
      const int p = more + s * 2 * threads;
      fetch(shared + (p - more), x_packs + p, min(2 * threads, end - p), there + s);
    }
  }
  Share<T, Packs> share(first + t, end, threads);
  // Rows that begin anywhere share sectors with their neighbours, which L1 may keep.
  if (More || cols % width<T> != 0) {
    share.template load<false>(x_packs);
  } else {
    share.template load<true>(x_packs);
  }
  const float single = column >= 0 ? to_float(x[start + column]) : -INFINITY;
  const float max = fmaxf(share.largest(), single), e = exponential(single - max);
  MaxSum mine = {max, share.exponentials(max) + e};
  for (int s = 0; s < steps; ++s) {
    wait_for(there + s);
    Share<T, 2> step(more + s * 2 * threads + t, end, threads);
    step.template load<false>(shared - more);
    const float its_max = step.largest();
    mine = merge(mine, {its_max, step.exponentials(its_max)});
  }
  const MaxSum all = reduce_cluster(mine);
  const float scale = inverse(all.sum), factor = exponential(max - all.max) * scale;
  share.store(y_packs, factor, all.max, scale);
  if (column >= 0) from_float(e * factor, y + start + column);
  for (int s = 0; s < steps; ++s) {
    Share<T, 2> step(more + s * 2 * threads + t, end, threads);
    step.template load<false>(shared - more);
    step.exponentials(all.max);
    step.store(y_packs, scale, all.max, scale);
  }
}

// A row in chunks, of which block b has chunk b % chunks; chunk 0 also has head and tail. Without Finish it finds every
// chunk's (max, sum) and tells all chunks of the row, through y: chunk c's pair becomes pair c at the beginning of each
// chunk. With Finish a block folds the pairs in its own chunk, then overwrites it with the result. (From one list for
// all, a block could not know whether the others have read what it is about to overwrite.)
constexpr int chunk_threads = 256;  // per block, and chunks per row at the most
constexpr int chunk_packs = 4;      // of a thread, at a time
template <typename T, bool Finish>
__global__ void __launch_bounds__(chunk_threads)
    chunk_kernel(const T* __restrict__ x, T* __restrict__ y, int first_row, int cols, int chunks) {
  const size_t start = (first_row + static_cast<size_t>(blockIdx.x / chunks)) * cols;
  const int chunk = blockIdx.x % chunks, t = threadIdx.x;
  const Split split = split_row<T>(start, cols);
  const int column = chunk == 0 ? single_column<T>(split, t) : -1;
  const auto begin = [&](int c) { return static_cast<int>(static_cast<long long>(split.packs) * c / chunks); };
  const int first = begin(chunk), end = begin(chunk + 1);
  const uint4* x_packs = reinterpret_cast<const uint4*>(x + start + split.head);
  uint4* y_packs = reinterpret_cast<uint4*>(y + start + split.head);
  wait_for_kernel_before();

  const float single = column >= 0 ? to_float(x[start + column]) : -INFINITY;
  MaxSum mine = {lowest, 0.0f};
  if (Finish) {
    const float2 pair = t < chunks ? reinterpret_cast<const float2*>(y_packs + first)[t] : make_float2(lowest, 0.0f);
    mine = {pair.x, pair.y};
  } else {
    mine = merge(mine, {fmaxf(lowest, single), exponential(single - fmaxf(lowest, single))});
    for (int p = first + t; p < end; p += chunk_packs * chunk_threads) {
      Share<T, chunk_packs> share(p, end, chunk_threads);
      share.template load<true>(x_packs);
      const float max = share.largest();
      mine = merge(mine, {max, share.exponentials(max)});
    }
  }
  const MaxSum all = reduce_cluster(mine);
  if (!Finish) {
    // TODO 6: all.max and all.sum become pair `chunk` (a float2) at the beginning of every chunk c of this row, which is
    // y_packs + begin(c). There are at most as many chunks as threads.
    (void)begin;
    // END 6
    return;
  }
  const float scale = inverse(all.sum);
  for (int p = first + t; p < end; p += chunk_packs * chunk_threads) {
    Share<T, chunk_packs> share(p, end, chunk_threads);
    share.template load<true>(x_packs);
    share.exponentials(all.max);
    share.store(y_packs, scale, all.max, scale);
  }
  if (column >= 0) from_float(exponential(single - all.max) * scale, y + start + column);
}

// ---- Choosing -----------------------------------------------------------------------------------

struct Device {
  int processors, l2_bytes, shared_bytes;  // shared: that a block can have
  bool hopper;                             // or later: there is a copy engine
  bool clusters;
};

cudaError_t ask(Device& device) {
  int number = 0, major = 0;
  cudaError_t error = cudaGetDevice(&number);
  const auto get = [&](int& value, cudaDeviceAttr attribute) {
    if (!error) error = cudaDeviceGetAttribute(&value, attribute, number);
  };
  get(device.processors, cudaDevAttrMultiProcessorCount);
  get(device.l2_bytes, cudaDevAttrL2CacheSize);
  get(device.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  get(major, cudaDevAttrComputeCapabilityMajor);
  device.hopper = device.clusters = major >= 9;
#ifdef __SIMT__
  device.clusters = false;
#endif
  return error;
}

struct Plan {
  enum { tile, warp, cluster, chunks } kernel;
  int packs;    // that a thread holds in registers
  int threads;  // a row has in a block
  int blocks;   // of a cluster
  int more;     // packs of a block that go to shared memory
};

// Packs that a block of a row has places for, at the worst misalignment.
int places_of(int cols, int width, int blocks) {
  const int packs = cols / width + (cols % (line * width) ? line - 1 : 0);
  return (packs + line * blocks - 1) / (line * blocks) * line;
}

int round_up(int value, int to) { return (value + to - 1) / to * to; }

int log2_of(int power) {
  int exponent = 0;
  while (power >> exponent > 1) ++exponent;
  return exponent;
}

// The limits are where one kernel overtook another on an H200; the handout has the figures.
Plan choose(int rows, int cols, int element_bytes, const Device& device) {
  const int width = 16 / element_bytes, row_packs = cols / width;
  const bool aligned = cols % width == 0, few = rows <= 2 * device.processors;
  // Narrow rows that start anywhere: loading each by itself would cost more requests than the run of all of them.
  if (!aligned && cols <= 64 && rows >= tile_rows) return {Plan::tile, 0, 1, 1, 0};
  // Up to 6 packs per lane a warp needs no barrier. With few rows it would leave most of the chip idle.
  if (row_packs <= 32 || (row_packs <= 6 * 32 && !few)) {
    // TODO 7: how many lanes per row? A power of two up to 32, and no more packs per lane than 6. Rows that are no multiple
    // of 16 bytes need 16 lanes or more, for head and tail. What stands here is right, and wasteful for narrow rows.
    const int lanes = 32;
    // END 7
    return {Plan::warp, std::max(1, (row_packs + lanes - 1) / lanes), lanes, 1, 0};
  }
  // Few rows: up to 8 blocks per row, as long as each has 16 KB; for the longest and fewest 16, or chunks, on which all
  // processors work. 16 wait for each other longer than 8 do.
  int blocks = 1, places = places_of(cols, width, 1);
  const auto spread = [&] { places = places_of(cols, width, blocks *= 2); };
  if (device.clusters) {
    while (blocks < 8 && places > 1024 && 2 * rows * blocks <= device.processors) spread();
    if (places > 2048 && blocks == 8 && 4 * rows * blocks <= device.processors) spread();
    if (places > 4096 && blocks == 16) return {Plan::chunks, 0, 0, 0, 0};
  }
  // The packs a thread holds: enough on the way, but few enough registers for many threads. Halves are twice the
  // arithmetic for the bytes: there two blocks must be resident, so that one computes while the other moves data;
  // unless there are not two for each processor.
  const auto most_threads = [&] { return element_bytes == 4 || rows * blocks <= device.processors ? 1024 : 512; };
  int packs = few && places <= 1024 ? 2 : element_bytes == 4 ? 6 : 4;
  if (places > (element_bytes == 4 ? 512 : 256) * packs) packs = 8;
  if (!device.hopper) {
    if (places > 8 * 1024) return {Plan::chunks, 0, 0, 0, 0};
    const int threads = round_up((places + packs - 1) / packs, 32);
    return {Plan::cluster, (places + threads - 1) / threads, threads, 1, 0};
  }
  const int in_shared = (device.shared_bytes - 8 * 1024) / 16;
  while (device.clusters && blocks < most_blocks && places > 8 * most_threads() + in_shared) spread();
  if (places > 8 * most_threads() + in_shared) return {Plan::chunks, 0, 0, 0, 0};
  const int threads = std::min(most_threads(), round_up((places + packs - 1) / packs, 32));
  packs = std::min(8, (places + threads - 1) / threads);
  return {Plan::cluster, packs, threads, blocks, std::max(0, places - packs * threads)};
}

// Launches `blocks` blocks in clusters of `cluster`. From Hopper on they may take their places early: see
// wait_for_kernel_before().
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), size_t blocks, int threads, size_t shared_bytes, int cluster,
                   const Device& device, cudaStream_t stream, Arguments... arguments) {
#ifdef __SIMT__
  (void)cluster, (void)device;
  cudaError_t error = cudaSuccess;
  if (shared_bytes > 32 * 1024)  // with of_warp, 48 KB need no leave
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (error) return error;
  kernel<<<static_cast<unsigned>(blocks), threads, shared_bytes, stream>>>(arguments...);
  return cudaGetLastError();
#else
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = !device.hopper ? 0 : cluster > 1 ? 2 : 1;
  cudaError_t error = cudaSuccess;
  if (shared_bytes > 32 * 1024)  // with of_warp, 48 KB need no leave
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (!error && cluster > 8)  // more than every Hopper chip promises
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  return error ? error : cudaLaunchKernelEx(&config, kernel, arguments...);
#endif
}

// In groups of rows that fit in half of the L2 cache, so that the second kernel finds there what the first has read.
template <typename T>
cudaError_t launch_chunks(const T* x, T* y, int rows, int cols, const Device& device, cudaStream_t stream) {
  const size_t row_bytes = cols * sizeof(T);
  const int together = static_cast<int>(std::max(size_t{1}, device.l2_bytes / 2 / row_bytes));
  const int chunks =
      static_cast<int>(std::min(size_t{chunk_threads}, std::max(size_t{1}, row_bytes >> 14)));  // of 16 KB
  cudaError_t error = cudaSuccess;
  for (int first = 0; first < rows && !error; first += together) {
    const size_t blocks = static_cast<size_t>(std::min(together, rows - first)) * chunks;
    const auto pass = [&](auto kernel) {
      if (!error) error = launch(kernel, blocks, chunk_threads, 0, 1, device, stream, x, y, first, cols, chunks);
    };
    pass(chunk_kernel<T, false>);
    pass(chunk_kernel<T, true>);
  }
  return error;
}

template <typename T, int Packs>
cudaError_t launch_held(Plan plan, const T* x, T* y, int rows, int cols, const Device& device, cudaStream_t stream) {
  if (plan.kernel == Plan::warp) {
    const size_t in_block = warp_threads / plan.threads;
    return launch(warp_kernel<T, Packs>, (rows + in_block - 1) / in_block, warp_threads, 0, 1, device, stream, x, y,
                  rows, cols, log2_of(plan.threads));
  }
  const auto kernel = Packs == 8 && plan.more ? cluster_kernel<T, 8, true> : cluster_kernel<T, Packs, false>;
  return launch(kernel, static_cast<size_t>(rows) * plan.blocks, plan.threads, size_t{16} * plan.more, plan.blocks,
                device, stream, x, y, cols, log2_of(plan.blocks));
}

template <typename T>
cudaError_t launch_planned(Plan plan, const T* x, T* y, int rows, int cols, const Device& device, cudaStream_t stream) {
  if (plan.kernel == Plan::chunks) return launch_chunks(x, y, rows, cols, device, stream);
  if (plan.kernel == Plan::tile)
    return launch(tile_kernel<T>, (static_cast<size_t>(rows) + tile_rows - 1) / tile_rows, tile_rows,
                  tile_rows * cols * sizeof(T), 1, device, stream, x, y, rows, cols);
  switch (plan.packs) {
    case 1: return launch_held<T, 1>(plan, x, y, rows, cols, device, stream);
    case 2: return launch_held<T, 2>(plan, x, y, rows, cols, device, stream);
    case 3: return launch_held<T, 3>(plan, x, y, rows, cols, device, stream);
    case 4: return launch_held<T, 4>(plan, x, y, rows, cols, device, stream);
    case 5:
    case 6: return launch_held<T, 6>(plan, x, y, rows, cols, device, stream);
    default: return launch_held<T, 8>(plan, x, y, rows, cols, device, stream);
  }
}

template <typename T>
cudaError_t softmax(const T* x, T* y, int rows, int cols, cudaStream_t stream) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  Device device;
  const cudaError_t error = ask(device);
  if (error != cudaSuccess || rows == 0) return error;
  return launch_planned(choose(rows, cols, sizeof(T), device), x, y, rows, cols, device, stream);
}

RUNG_EXPORT(rung::softmax("auto", softmax<float>), rung::softmax("auto", softmax<__half>),
            rung::softmax("auto", softmax<__nv_bfloat16>))
