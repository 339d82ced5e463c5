// Lab 06: softmax as near to a copy as the chip allows, at every width and for any number of rows.
//
// A copy reads every element once and writes every element once; softmax cannot do less. So a row is loaded once, 16
// bytes per access, with all accesses in flight before the first is needed; it stays on the chip while its (max, sum)
// is computed, and is stored from there. Where it stays depends on its width and on how many rows there are to fill
// the chip:
//
//   warp     1 to 32 lanes of a warp per row, in registers
//   block    one block per row, in registers
//   tile     narrow rows that are not aligned: one thread per row (limit/tile.h, given)
//   cluster  a block that keeps a part of its row in shared memory; on Hopper up to 16 blocks (limit/cluster.h, given)
//   chunks   a row that no cluster holds is read twice (limit/chunks.h, given)
//
// choose() says which and why. Maximum and sum need only one exchange among threads: a thread adds up
// exp(x - its own maximum), and corrects its sum once when it knows the row's maximum.
#include <algorithm>

#include "rung.h"

#include "limit/hopper.h"
#include "limit/launch.h"
#include "limit/pack.h"
#include "limit/tile.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // f32, V = 4096: sector bytes of all loads of one row.
    {"row_bytes", 4 * 4096},
    // f32, V = 4096: barriers that a thread reaches, for maximum and sum together.
    {"row_barriers", 1},
    // f16, V = 6, rows of 12 bytes: 32-byte sectors that a warp requests with one load.
    {"tile_sectors", 32 * 16 / 32},
    // f16, 4096 x 4096 on an H200: microseconds. A factor of 1.2 counts as right.
    {"limit_us", 2 * 4096 * 4096 * 2 / 4255e3 * 1.05},
    // f32, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"auto_limit", rung::limit::dram})
// END 0

// ---- (max, sum) ---------------------------------------------------------------------------------

// Folds the pairs of `lanes` neighbouring lanes, a power of two; each of them gets the result. All lanes of the warp
// must call it.
__device__ MaxSum reduce_lanes(MaxSum mine, int lanes) {
  // STEP 1: the maximum of all, then my sum as it would be with that maximum, then the sum of all.
  float max = mine.max;
  for (int offset = lanes / 2; offset > 0; offset /= 2) max = fmaxf(max, __shfl_xor_sync(0xFFFFFFFF, max, offset));
  float sum = mine.sum * exponential(mine.max - max);
  for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, offset);
  // END 1
  return {max, sum};
}

// A thread's share of a row: packs first, first + stride, ... of those from 0 to end - 1. Elements that do not exist
// are -INFINITY, which changes neither maximum nor sum.
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
      // STEP 2: one 16-byte load, and nothing that waits for it: the next one follows at once.
      if (has(i)) pack[i].words() = once ? load_once(from + first + i * stride) : from[first + i * stride];
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
    // STEP 3: of every element; what is missing is -INFINITY and adds 0. Kept, if there is room.
#pragma unroll
    for (int i = 0; i < Packs; ++i) {
#pragma unroll
      for (int j = 0; j < pairs; ++j) {
        const float2 x = widen(pack[i].two[j]), e = make_float2(exponential(x.x - max), exponential(x.y - max));
        if (keeps) kept[i][j] = e;
        sum += e.x + e.y;
      }
    }
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
        // STEP 4: two floats at a time, rounded once; then one 16-byte store.
#pragma unroll
      for (int j = 0; j < pairs; ++j) {
        if (keeps) {
          pack[i].two[j] = narrow(kept[i][j].x * factor, kept[i][j].y * factor, Two());
        } else {
          const float2 x = widen(pack[i].two[j]);
          pack[i].two[j] = narrow(exponential(x.x - max) * scale, exponential(x.y - max) * scale, Two());
        }
      }
      if (has(i)) __stcs(to + first + i * stride, words);
      // END 4
    }
  }
};

// Folds the pairs of all threads of the block; every thread gets the result. All threads must call it, once.
__device__ MaxSum reduce_block(MaxSum mine) {
  __shared__ MaxSum of_warp[most_warps];
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  mine = reduce_lanes(mine, 32);
  // STEP 5: lane 0 of every warp tells the block; one barrier, after which all may read.
  if (lane == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  // END 5
  MaxSum all = {lowest, 0.0f};
  if (lane < warps) all = of_warp[lane];
  return reduce_lanes(all, 32);
}

// The given parts, which use the above.
#include "limit/chunks.h"
#include "limit/cluster.h"

// ---- Kernels: x, y (rows, cols), both aligned to 256 bytes --------------------------------------

// `lanes` lanes per row, a power of two up to 32; at least 16 if rows are not a multiple of 16 bytes.
constexpr int warp_threads = 128;  // per block
template <typename T, int Packs>
__global__ void __launch_bounds__(warp_threads)
    warp_kernel(const T* __restrict__ x, T* __restrict__ y, int rows, int cols, int log_lanes) {
  const int lanes = 1 << log_lanes;
  const size_t row = (static_cast<size_t>(blockIdx.x) * warp_threads + threadIdx.x) >> log_lanes;
  const size_t start = row * cols;
  const int t = threadIdx.x & (lanes - 1);
  const Split split = split_row<T>(start, row < static_cast<size_t>(rows) ? cols : 0);  // past the last row: no columns
  wait_for_kernel_before();

  // STEP 6: head and tail one element per lane, the packs as a Share; one fold; then everything is stored.
  const int column = single_column<T>(split, t);
  const float single = column >= 0 ? to_float(x[start + column]) : -INFINITY;
  Share<T, Packs> share(t, split.packs, lanes);
  share.template load<true>(reinterpret_cast<const uint4*>(x + start + split.head));
  const float max = fmaxf(share.largest(), single), e = exponential(single - max);
  const MaxSum all = reduce_lanes({max, share.exponentials(max) + e}, lanes);
  const float scale = inverse(all.sum), factor = exponential(max - all.max) * scale;
  share.store(reinterpret_cast<uint4*>(y + start + split.head), factor, all.max, scale);
  if (column >= 0) from_float(e * factor, y + start + column);
  // END 6
}

// One block per row, whose threads hold Packs packs each. Places for packs are counted from the 128-byte line in which
// the row's packs begin, so that the accesses of a warp cover whole lines; the first places may lie before pack 0.
template <typename T, int Packs>
__global__ void __launch_bounds__(threads_with(Packs))
    block_kernel(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  const Split split = split_row<T>(start, cols);
  const int before = static_cast<int>((start + split.head) / width<T> % line);  // places of the line before pack 0
  Share<T, Packs> share(threadIdx.x - before, split.packs, blockDim.x);
  wait_for_kernel_before();

  // STEP 7: as in warp_kernel, with blockDim.x threads per row and reduce_block.
  const int column = single_column<T>(split, threadIdx.x);
  const uint4* x_packs = reinterpret_cast<const uint4*>(x + start + split.head);
  // Rows that begin anywhere share sectors with their neighbours, which L1 may keep.
  if (cols % width<T> != 0) {
    share.template load<false>(x_packs);
  } else {
    share.template load<true>(x_packs);
  }
  const float single = column >= 0 ? to_float(x[start + column]) : -INFINITY;
  const float max = fmaxf(share.largest(), single), e = exponential(single - max);
  const MaxSum all = reduce_block({max, share.exponentials(max) + e});
  const float scale = inverse(all.sum), factor = exponential(max - all.max) * scale;
  share.store(reinterpret_cast<uint4*>(y + start + split.head), factor, all.max, scale);
  if (column >= 0) from_float(e * factor, y + start + column);
  // END 7
}

// ---- Choosing -----------------------------------------------------------------------------------

struct Plan {
  enum { tile, warp, block, cluster, chunks } kernel;
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
  // Narrow rows that are not aligned: loading each by itself would take more requests than loading all of them at once.
  if (!aligned && cols <= 64 && rows >= tile_rows) return {Plan::tile, 0, 1, 1, 0};
  // STEP 8: up to 6 packs per lane a warp needs no barrier. With few rows it would leave most of the chip idle. Few lanes
  // fold in few steps, and a warp then takes several rows; but no more than 4 packs per lane, if 32 lanes can avoid it.
  // Head and tail need 16.
  if (row_packs <= 32 || (row_packs <= 6 * 32 && !few)) {
    int lanes = aligned ? 1 : 16;
    while (lanes < 32 && row_packs > 4 * lanes) lanes *= 2;
    return {Plan::warp, std::max(1, (row_packs + lanes - 1) / lanes), lanes, 1, 0};
  }
  // END 8
  // Not many rows: clusters, whose blocks get smaller until there is one for each processor; then as long as a block
  // has more than 32 KB (16 KB of halves, which are twice the arithmetic). Small blocks share a processor, and one
  // moves data while another reduces. The longest and fewest rows are chunks, on which all processors work.
  int blocks = 1, places = places_of(cols, width, 1);
  const auto spread = [&] { places = places_of(cols, width, blocks *= 2); };
  if (device.clusters && rows <= 4 * device.processors) {
    const int large = element_bytes == 4 ? 2048 : 1024;
    // Two blocks of 512 threads, which hold `large` each, and two to a processor: nothing waits for a place.
    const auto pair = [&] { return blocks == 2 && rows <= device.processors && places <= 2 * large; };
    // A cluster of 16 needs most of the 18 SMs of a GPC, the part of the chip in which blocks can form a cluster.
    const auto idle = [&] { return rows * (blocks < 8 ? blocks : 18) <= device.processors; };
    while (blocks < most_blocks && (idle() ? places > 256 : places > large && !pair())) spread();
    if (places > 4096 && 32 * rows <= device.processors) return {Plan::chunks, 0, 0, 0, 0};
  }
  // Halves are twice the arithmetic for the bytes: there two blocks must be resident, so that one computes while the
  // other moves data; unless there are not two for each processor.
  const auto most_threads = [&] { return element_bytes == 4 || rows * blocks <= device.processors ? 1024 : 512; };
  const auto threads_for = [&](int packs) { return round_up((places + packs - 1) / packs, 32); };
  // Blocks of a processor.
  const long long in_turn = (static_cast<long long>(rows) * blocks - 1) / device.processors + 1;
  // Are all blocks on the chip at once, if a thread holds so many packs?
  const auto at_once = [&](int packs) {
    return threads_for(packs) <= threads_with(packs) &&
           in_turn * threads_for(packs) <= resident_threads(element_bytes, packs);
  };
  // STEP 9: many threads while there are few blocks; then enough packs per thread in flight, but few enough registers for
  // many threads.
  int packs = few && places <= 1024 ? 4 : 6;
  if (element_bytes == 2 && !few && blocks == 1) {
    packs = 4;
  } else if (element_bytes == 2) {
    packs = in_turn <= 2 && at_once(2) ? 2 : at_once(3) ? 3 : at_once(4) && (blocks < 16 || in_turn == 1) ? 4 : 6;
  }
  if (!few && blocks == 1 && places > (element_bytes == 4 ? 512 : 256) * packs) packs = 8;
  if (places > 512 * packs)
    packs = places > 512 * 6 ? 8 : (places + 511) / 512;  // fewer than 8 for at most 512 threads
  // END 9
  if (!device.hopper) {
    if (places > 8 * 1024) return {Plan::chunks, 0, 0, 0, 0};
    const int threads = threads_for(packs);
    return {Plan::block, (places + threads - 1) / threads, threads, 1, 0};
  }
  const int in_shared = (device.shared_bytes - 8 * 1024) / 16;
  // More blocks are resident if most of a long row of floats is in shared memory instead of registers.
  if (element_bytes == 4 && blocks > 1 && places > 2200 && !at_once(packs)) {
    const int threads = std::clamp(round_up(places / 7, 64), 256, 512), more = places - 2 * threads;
    if (more <= in_shared) return {Plan::cluster, 2, threads, blocks, more};
  }
  while (device.clusters && blocks < most_blocks && places > 8 * most_threads() + in_shared) spread();
  if (places > 8 * most_threads() + in_shared) return {Plan::chunks, 0, 0, 0, 0};
  const int threads = std::min(most_threads(), threads_for(packs));
  packs = std::min(8, (places + threads - 1) / threads);
  const int more = std::max(0, places - packs * threads);
  return {blocks == 1 && more == 0 ? Plan::block : Plan::cluster, packs, threads, blocks, more};
}

template <typename T, int Packs>
cudaError_t launch_held(Plan plan, const T* x, T* y, int rows, int cols, const Device& device, cudaStream_t stream) {
  if (plan.kernel == Plan::warp) {
    const size_t in_block = warp_threads / plan.threads;
    return launch(warp_kernel<T, Packs>, (rows + in_block - 1) / in_block, warp_threads, 0, 1, device, stream, x, y,
                  rows, cols, log2_of(plan.threads));
  }
  if (plan.kernel == Plan::block)
    return launch(block_kernel<T, Packs>, rows, plan.threads, 0, 1, device, stream, x, y, cols);
  constexpr int packs_with_more = sizeof(T) == 4 && Packs == 2 ? 2 : 8;
  const auto kernel = plan.more ? cluster_kernel<T, packs_with_more, true> : cluster_kernel<T, Packs, false>;
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
