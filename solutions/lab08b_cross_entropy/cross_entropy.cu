// Lab 08b: cross-entropy from logits, from a blank file.
//
//   loss[r] = -log(softmax(x[r])[target[r]]),   gradient[r][c] = (softmax(x[r])[c] - (c == target[r])) * scale
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // f32, 4096 columns, loss and gradient: bytes per row that all stores move.
    {"loss_bytes", 4096 * 4 + 4},
    // f32, 4096 columns, loss and gradient: barriers that a thread reaches.
    {"loss_barriers", 1},
    // f32, 512 rows of 128 columns, only the loss: load instructions that warps execute, per row.
    {"narrow_logit_loads", 6 / 4.0},
    // f32, 2048 x 50257, loss and gradient, on an H200: how many times longer than lab 06's softmax? A factor of 1.15
    // counts as right.
    {"loss_over_softmax", 1},
    // f32, 4096 x 4096, loss and gradient, on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or
    // latency.
    {"loss_limit", rung::limit::dram})
// END 0

// STEP 1: everything.
//
// The gradient is softmax with another last line, so a row is kept on the chip as there: in the registers of a few
// lanes if it is narrow; in those of a block or a cluster, and in their shared memory behind that; what is still left
// is read again. Without the gradient nothing need be kept, and the same kernel goes on to the next accesses.
#include <algorithm>

#include "limit/hopper.h"
#include "limit/launch.h"
#include "limit/pack.h"

constexpr int64_t ignored = -100;

// ---- (max, sum) ---------------------------------------------------------------------------------

// Folds the pairs of `lanes` neighbouring lanes, a power of two. All lanes of the warp must call it.
__device__ MaxSum reduce_lanes(MaxSum mine, int lanes) {
  float max = mine.max;
  for (int offset = lanes / 2; offset > 0; offset /= 2) max = fmaxf(max, __shfl_xor_sync(0xFFFFFFFF, max, offset));
  float sum = mine.sum * exponential(mine.max - max);
  for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, offset);
  return {max, sum};
}

// -log(exp(logit - max) / sum). Of a masked target +INFINITY, also where everything else is masked; NaN if the sum is.
__device__ float loss_of(MaxSum all, float logit) {
  if (logit == -INFINITY && all.sum >= 0.0f) return INFINITY;
  return logf(all.sum) + (all.max - logit);
}

// ---- A row --------------------------------------------------------------------------------------

// Where the 1 is subtracted: an element of a pack, unless it is one of the single elements at the row's ends.
template <typename T>
struct Target {
  const T* x;  // the row
  int column, pack, element;
  float scale;
  __device__ Target(const T* x, int column, Split split, float scale) : x(x), column(column), scale(scale) {
    const int behind = column - split.head;
    pack = behind < 0 ? -1 : behind / width<T>;
    element = behind - pack * width<T>;
  }
  // Its gradient, into its pack. One thread of a row comes here, so the logit is loaded again: what all threads do for
  // every pack is a comparison.
  __device__ void put(Pack<T>* to, float max, float factor) const {
    const float value = exponential(to_float(x[column]) - max) * factor - scale;
#pragma unroll
    for (int e = 0; e < width<T>; ++e) {
      if (e == element) from_float(value, reinterpret_cast<T*>(to) + e);
    }
  }
};

// A thread's share of a row: packs first, first + stride, ... of those from 0 to end - 1. What is not there is
// -INFINITY, which changes neither maximum nor sum.
template <typename T, int Packs>
struct Share {
  // The exponentials of floats are kept in the floats' place; halves have no room for them, and store() takes them
  // again.
  static constexpr bool keeps = sizeof(T) == 4;
  static constexpr int pairs = Pack<T>::pairs;
  using Two = typename Pack<T>::Two;
  int first, end, stride;
  Pack<T> pack[Packs];
  float2 kept[keeps ? Packs : 1][pairs];

  __device__ Share(int first, int end, int stride) : first(first), end(end), stride(stride) {}
  __device__ int place(int i) const { return first + i * stride; }
  __device__ bool has(int i) const { return static_cast<unsigned>(place(i)) < static_cast<unsigned>(end); }

  // from: pack 0. once: the line it is in serves nobody else.
  __device__ void load(const uint4* from, bool once) {
#pragma unroll
    for (int i = 0; i < Packs; ++i) {
#pragma unroll
      for (int j = 0; j < pairs; ++j) pack[i].two[j] = narrow(-INFINITY, -INFINITY, Two());
      if (has(i)) pack[i].words() = once ? load_once(from + place(i)) : from[place(i)];
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
#pragma unroll
    for (int i = 0; i < Packs; ++i) {
#pragma unroll
      for (int j = 0; j < pairs; ++j) {
        const float2 x = widen(pack[i].two[j]), e = make_float2(exponential(x.x - max), exponential(x.y - max));
        if (keeps) kept[i][j] = e;
        sum += e.x + e.y;
      }
    }
    return sum;
  }
  __device__ MaxSum max_sum() {
    const float max = largest();
    return {max, exponentials(max)};
  }

  // The gradient. to: pack 0. own: the maximum that the kept exponentials are of. max, scale: of the row; the caller's
  // scale is in it.
  template <bool use_kept>
  __device__ void store(uint4* to, float own, float max, float scale, const Target<T>& target) {
    const float factor = exponential(own - max) * scale;
    // 0, but the compiler does not know it. It would keep what exponentials() widened, in twice the registers.
    const unsigned zero = end >> 31;
#pragma unroll
    for (int i = 0; i < Packs; ++i) {
      uint4& words = pack[i].words();
      if (!use_kept) words = make_uint4(words.x ^ zero, words.y ^ zero, words.z ^ zero, words.w ^ zero);
#pragma unroll
      for (int j = 0; j < pairs; ++j) {
        if (use_kept) {
          pack[i].two[j] = narrow(kept[i][j].x * factor, kept[i][j].y * factor, Two());
        } else {
          const float2 x = widen(pack[i].two[j]);
          pack[i].two[j] = narrow(exponential(x.x - max) * scale, exponential(x.y - max) * scale, Two());
        }
      }
      if (place(i) == target.pack) target.put(&pack[i], max, scale);
      if (has(i)) __stcs(to + place(i), words);
    }
  }
};

#include "limit/cluster.h"  // reduce_cluster; it makes use of the above

// ---- Kernels ------------------------------------------------------------------------------------

// `lanes` lanes per row, a power of two up to 32; at least 16 if rows are no multiple of 16 bytes.
constexpr int warp_threads = 128;  // per block
template <typename T, int Packs, bool Gradient>
__global__ void __launch_bounds__(warp_threads)
    warp_kernel(const T* __restrict__ x, const int64_t* __restrict__ targets, float* __restrict__ loss,
                T* __restrict__ gradient, int rows, int cols, float scale, int log_lanes) {
  const int lanes = 1 << log_lanes, t = threadIdx.x & (lanes - 1);
  const size_t row = (static_cast<size_t>(blockIdx.x) * warp_threads + threadIdx.x) >> log_lanes, start = row * cols;
  wait_for_kernel_before();
  const bool here = row < static_cast<size_t>(rows);
  const int64_t wanted = here ? targets[row] : ignored;
  const bool counts = wanted != ignored;
  const Split whole = split_row<T>(start, here ? cols : 0), split = split_row<T>(start, counts ? cols : 0);

  const Target<T> target(x + start, counts ? static_cast<int>(wanted) : -1, whole, counts ? scale : 0.0f);
  const float logit = counts && t == 0 ? to_float(x[start + target.column]) : 0.0f;
  const int column = single_column<T>(whole, t);
  const float single = counts && column >= 0 ? to_float(x[start + column]) : -INFINITY;
  Share<T, Packs> share(t, split.packs, lanes);
  share.load(reinterpret_cast<const uint4*>(x + start + whole.head), true);
  const float max = fmaxf(share.largest(), single), e = exponential(single - max);
  const MaxSum all = reduce_lanes({max, share.exponentials(max) + e}, lanes);
  if (here && t == 0) loss[row] = counts ? loss_of(all, logit) : 0.0f;
  if (!Gradient || !here) return;

  // Of a row that is ignored everything is -INFINITY, and the sum 0.
  const float factor = inverse(all.sum) * target.scale;
  share.end = whole.packs;
  share.template store<share.keeps>(reinterpret_cast<uint4*>(gradient + start + whole.head), max, all.max, factor,
                                    target);
  const float single_one = column == target.column ? target.scale : 0.0f;
  if (column >= 0) from_float(e * exponential(max - all.max) * factor - single_one, gradient + start + column);
}

// A block per row, or on Hopper a cluster. Packs packs of each thread are kept in registers, the next `in_shared` of
// the block in dynamic shared memory, where the copy engine brings them; what is behind that is read again for the
// gradient.
//
// Places for packs are counted from the 128-byte line in which the row's packs begin, so that the accesses of a warp
// cover whole lines; the first places may lie before pack 0.
template <typename T, int Packs, bool Gradient>
__global__ void __launch_bounds__(threads_with(Packs))
    row_kernel(const T* __restrict__ x, const int64_t* __restrict__ targets, float* __restrict__ loss,
               T* __restrict__ gradient, int cols, float scale, int log_blocks, int in_shared) {
  uint4* const shared = dynamic_shared();
  __shared__ unsigned long long there[most_steps];
  const int blocks = 1 << log_blocks, rank = blockIdx.x & (blocks - 1), threads = blockDim.x, t = threadIdx.x;
  __shared__ Exchange exchange;
  begin_exchange(exchange);
  const size_t row = blockIdx.x >> log_blocks, start = row * cols;
  const Split split = split_row<T>(start, cols);
  const int column = rank == 0 ? single_column<T>(split, t) : -1;
  const int before = static_cast<int>((start + split.head) / width<T> % line);
  const int places = (((before + split.packs + blocks - 1) >> log_blocks) + line - 1) / line * line;
  const int first = rank * places - before, end = min(split.packs, first + places);
  const int fetched = first + Packs * threads, rest = fetched + in_shared;  // where these packs begin
  const int steps = max(0, min(end, rest) - fetched + 2 * threads - 1) / (2 * threads);
  const uint4* x_packs = reinterpret_cast<const uint4*>(x + start + split.head);
  uint4* to = reinterpret_cast<uint4*>(gradient + start + split.head);
  if (in_shared) {
    if (t == 0) {
      for (int s = 0; s < steps; ++s) begin_barrier(there + s);
      barriers_begun();
    }
    __syncthreads();
  }
  wait_for_kernel_before();

  const int64_t wanted = targets[row];
  if (wanted == ignored) {
    if (blocks > 1) cluster_wait();
    if (rank == 0 && t == 0) loss[row] = 0.0f;
    for (int p = first + t; p < end && Gradient; p += threads) {
      if (p >= 0) __stcs(to + p, make_uint4(0, 0, 0, 0));
    }
    if (column >= 0 && Gradient) from_float(0.0f, gradient + start + column);
    return;
  }
  const Target<T> target(x + start, static_cast<int>(wanted), split, scale);
  const float logit = rank == 0 && t == 0 ? to_float(x[start + target.column]) : 0.0f;

  for (int s = 0; s < steps; ++s) {
    const int p = fetched + s * 2 * threads;
    fetch(shared + (p - fetched), x_packs + p, min(2 * threads, min(end, rest) - p), there + s);
  }
  Share<T, Packs> share(first + t, end, threads);
  // Rows that begin anywhere share sectors with their neighbours, which L1 may keep.
  share.load(x_packs, cols % width<T> == 0);
  const float single = column >= 0 ? to_float(x[start + column]) : -INFINITY;
  const float max = fmaxf(share.largest(), single), e = exponential(single - max);
  MaxSum mine = {max, share.exponentials(max) + e};
  for (int s = 0; s < steps; ++s) {
    wait_for(there + s);
    Share<T, 2> step(fetched + s * 2 * threads + t, min(end, rest), threads);
    step.load(shared - fetched, false);
    mine = merge(mine, step.max_sum());
  }
  constexpr int batch = Gradient ? 2 : Packs;
  for (int p = rest; p < end; p += batch * threads) {
    Share<T, batch> step(p + t, end, threads);
    step.load(x_packs, false);
    mine = merge(mine, step.max_sum());
  }
  const MaxSum all = reduce_cluster(mine, exchange);
  if (rank == 0 && t == 0) loss[row] = loss_of(all, logit);
  if (!Gradient) return;

  const float factor = inverse(all.sum) * scale;
  share.template store<share.keeps>(to, max, all.max, factor, target);
  const float one = column == target.column ? scale : 0.0f;
  if (column >= 0) from_float(e * exponential(max - all.max) * factor - one, gradient + start + column);
  const auto again = [&](const uint4* from, int p, int end) {
    Share<T, 2> step(p + t, end, threads);
    step.load(from, false);
    step.template store<false>(to, all.max, all.max, factor, target);
  };
  for (int s = 0; s < steps; ++s) again(shared - fetched, fetched + s * 2 * threads, min(end, rest));
  for (int p = rest; p < end; p += 2 * threads) again(x_packs, p, end);
}

// ---- Launches -----------------------------------------------------------------------------------

int round_up(int value, int to) { return (value + to - 1) / to * to; }

int log2_of(int power) {
  int exponent = 0;
  while (power >> exponent > 1) ++exponent;
  return exponent;
}

template <typename T, bool Gradient>
cudaError_t launch_planned(const T* x, const int64_t* target, float* loss, T* gradient, int rows, int cols, float scale,
                           cudaStream_t stream) {
  Device device;
  const cudaError_t error = ask(device);
  if (error != cudaSuccess) return error;
  const int packs = cols / width<T>;
  const bool aligned = cols % width<T> == 0, few = rows <= 2 * device.processors;
  // A warp needs no barrier; but few rows must be spread over the chip.
  if (packs <= 32 || (packs <= 8 * 32 && !few)) {
    int lanes = aligned ? 1 : 16;
    while (lanes < 32 && packs > 4 * lanes) lanes *= 2;
    const size_t in_block = warp_threads / lanes;
    const auto by_warps = [&](auto kernel) {
      return launch(kernel, (rows + in_block - 1) / in_block, warp_threads, 0, 1, device, stream, x, target, loss,
                    gradient, rows, cols, scale, log2_of(lanes));
    };
    if (packs <= lanes) return by_warps(warp_kernel<T, 1, Gradient>);
    if (packs <= 2 * lanes) return by_warps(warp_kernel<T, 2, Gradient>);
    if (packs <= 4 * lanes) return by_warps(warp_kernel<T, 4, Gradient>);
    return by_warps(warp_kernel<T, 8, Gradient>);
  }

  // Packs that a block of a row has places for, at the worst misalignment.
  const int in_row = packs + (cols % (line * width<T>) == 0 ? 0 : line - 1);
  int blocks = 1;
  const auto places = [&] { return (in_row + line * blocks - 1) / (line * blocks) * line; };
  // Up to two blocks per SM. But two large blocks of a row that fill nearly all SMs are better than four small ones.
  const auto idle = [&] { return (blocks == 2 ? 2LL : 1LL) * rows * blocks <= device.processors; };
  while (device.clusters && blocks < most_blocks && places() > 256 && idle()) blocks *= 2;
  const auto by_blocks = [&](auto kernel, int packs_kept, int most_threads, int in_shared) {
    const int threads = std::min(most_threads, round_up((places() + packs_kept - 1) / packs_kept, 32));
    in_shared = std::max(0, std::min(in_shared, places() - packs_kept * threads));
    return launch(kernel, static_cast<size_t>(rows) * blocks, threads, size_t{16} * in_shared, blocks, device, stream,
                  x, target, loss, gradient, cols, scale, log2_of(blocks), in_shared);
  };
  // Many long rows: with more loads in flight fewer blocks suffice, and more of them take turns.
  if (!Gradient && rows >= 4 * device.processors && places() >= 4000)
    return by_blocks(row_kernel<T, 8, false>, 8, 512, 0);
  if (!Gradient) return by_blocks(row_kernel<T, 4, false>, 4, few ? 512 : 256, 0);
  if (places() <= 1024 && few) return by_blocks(row_kernel<T, 2, true>, 2, 512, 0);
  if (places() <= 4 * (sizeof(T) == 4 ? 512 : 256)) return by_blocks(row_kernel<T, 4, true>, 4, 512, 0);
  // Halves are twice the arithmetic for the bytes: there two blocks must be resident, so that one computes while the
  // other moves data; unless a row is too long for that, or there are not two for each processor.
  const bool alone = places() > 8 * 512 + 6500 || static_cast<long long>(rows) * blocks <= device.processors;
  const int threads = sizeof(T) == 4 || alone ? 1024 : 512;
  const int most_shared = device.hopper ? (device.shared_bytes - 8 * 1024) / 16 : 0;
  while (device.clusters && blocks < most_blocks && places() > 8 * threads + most_shared) blocks *= 2;
  return by_blocks(row_kernel<T, 8, true>, 8, threads, most_shared);
}

template <typename T>
cudaError_t cross_entropy(const T* x, const int64_t* target, float* loss, T* gradient, int rows, int cols, float scale,
                          cudaStream_t stream) {
  if (!x || !target || !loss || rows < 0 || cols <= 0) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  if (gradient) return launch_planned<T, true>(x, target, loss, gradient, rows, cols, scale, stream);
  return launch_planned<T, false>(x, target, loss, gradient, rows, cols, scale, stream);
}
// END 1

RUNG_EXPORT(rung::cross_entropy("auto", cross_entropy<float>), rung::cross_entropy("auto", cross_entropy<__half>),
            rung::cross_entropy("auto", cross_entropy<__nv_bfloat16>))
