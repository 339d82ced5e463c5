// Lab 08c: LayerNorm, from a blank file.
//
//   y[r][c] = (x[r][c] - mean) / sqrt(variance + eps) * weight[c] + bias[c],   mean and variance over the row
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // f32, 4096 columns: sector bytes of all loads, per row, weights and biases included.
    {"layer_bytes", 3 * 4096 * 4},
    // f32, 4096 columns: barriers that a thread reaches.
    {"layer_barriers", 1},
    // bf16, 256 columns, many rows: load instructions that warps execute, per row, weights and biases included.
    {"narrow_layer_loads", 3},
    // 4096 x 4096 floats on an H200: how many times longer than RMSNorm, lab 08? A factor of 1.1 counts as right.
    {"layer_over_norm", 1},
    // f32, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"layer_limit", rung::limit::dram})
// END 0

// STEP 1: everything.
//
// A row is read once, 16 bytes per access, kept until mean and variance are known, and written from there: in
// registers, and of some wide rows mostly in shared memory. Narrow rows belong to a warp or to half of one. A wide row
// belongs to a block or, on Hopper, to a cluster of up to 16 blocks.
#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "limit/hopper.h"
#include "limit/launch.h"
#include "limit/pack.h"

constexpr int warp_size = 32;
constexpr int most_blocks = 16;  // of a cluster

template <typename T>
__device__ float mean_of(uint4 pack) {
  const T* v = reinterpret_cast<const T*>(&pack);
  float sum = 0.0f;
#pragma unroll
  for (int e = 0; e < width<T>; ++e) sum += to_float(v[e]);
  return sum / width<T>;
}

// Deviations from `about`, and their squares, each added up. About a number of the row's own size, no digits are lost
// where the mean is large beside the deviation; what `about` is off the mean, the sum of the deviations says.
struct Deviations {
  float about, sum, squares;

  __device__ void add(float value) {
    const float d = value - about;
    sum += d;
    squares += d * d;
  }
  // A pack's sums are made apart, so that the sums of several packs do not wait for each other.
  template <typename T>
  __device__ void add_pack(uint4 pack) {
    const T* v = reinterpret_cast<const T*>(&pack);
    Deviations of_pack = {about, 0.0f, 0.0f};
#pragma unroll
    for (int e = 0; e < width<T>; ++e) of_pack.add(to_float(v[e]));
    sum += of_pack.sum;
    squares += of_pack.squares;
  }
};

// Of `count` numbers; squares: of their deviations from the mean, added up.
struct Moments {
  float count, mean, squares;
};

// (value - mean) * scale as one multiplication and addition.
struct Normal {
  float scale, shift;
  __device__ Normal(Moments all, float eps) : scale(rsqrtf(all.squares / all.count + eps)), shift(-all.mean * scale) {}
  __device__ float of(float value, float weight, float bias) const {
    return fmaf(fmaf(value, scale, shift), weight, bias);
  }
};

template <typename T>
__device__ uint4 normalized(uint4 pack, uint4 weights, uint4 biases, Normal row) {
  T* v = reinterpret_cast<T*>(&pack);
  const T* w = reinterpret_cast<const T*>(&weights);
  const T* b = reinterpret_cast<const T*>(&biases);
#pragma unroll
  for (int e = 0; e < width<T>; ++e) from_float(row.of(to_float(v[e]), to_float(w[e]), to_float(b[e])), &v[e]);
  return pack;
}

// A row as head, packs and tail (limit/pack.h). If all rows are aligned, they have packs alone. first_out: whether the
// lines of x, and of y, leave the caches first (__ldcs, __stcs). Measured on an H200: without it many rows of bf16 take
// up to 2 % less time, and without it for y few and wide rows of floats up to 8 % less.
struct FirstOut {
  bool x, y;
};

template <typename T, bool aligned>
struct Row {
  const T *x, *weight, *bias;
  T* y;
  FirstOut first_out;
  Split split;

  __device__ Row(const T* matrix, const T* weight, const T* bias, T* result, size_t row, int cols, FirstOut first_out)
      : x(matrix + row * cols), weight(weight), bias(bias), y(result + row * cols), first_out(first_out) {
    split = aligned ? Split{0, cols / width<T>, 0} : split_row<T>(row * cols, cols);
  }
  __device__ int packs() const { return split.packs; }

  __device__ const uint4* pack(int p) const { return reinterpret_cast<const uint4*>(x + split.head) + p; }
  __device__ uint4 load(int p) const { return first_out.x ? __ldcs(pack(p)) : *pack(p); }
  __device__ void store(int p, uint4 pack) const {
    uint4* const to = reinterpret_cast<uint4*>(y + split.head) + p;
    if (first_out.y) return __stcs(to, pack);
    *to = pack;
  }

  // The column of the single element that thread t looks after; -1 if it has none.
  __device__ int single(int t) const { return aligned ? -1 : single_column<T>(split, t); }
  // 0 if it has none.
  __device__ float load_single(int t) const { return single(t) < 0 ? 0.0f : to_float(x[single(t)]); }
  __device__ void store_single(int t, float value, Normal row) const {
    const int c = single(t);
    if (c >= 0) from_float(row.of(value, to_float(weight[c]), to_float(bias[c])), &y[c]);
  }
};

// Of `lanes` neighbouring lanes.
template <int lanes>
__device__ float sum_over(float v) {
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffffu, v, distance);
  return v;
}

// Of the `count` numbers of `lanes` neighbouring lanes, whose deviations are from the same number.
template <int lanes = warp_size>
__device__ Moments moments(Deviations mine, int count) {
  const float sum = sum_over<lanes>(mine.sum), squares = sum_over<lanes>(mine.squares);
  const float numbers = static_cast<float>(count), off = __fdividef(sum, fmaxf(numbers, 1.0f));
  return {numbers, mine.about + off, squares - sum * off};
}

// The first `places` packs of a thread, of which neighbouring lanes have neighbouring ones, and the single element that
// it looks after.
template <typename T, bool aligned, int places>
struct Kept {
  uint4 packs[places];
  float single;
  int first, step;  // pack i is the row's pack first + i * step

  __device__ Kept(const Row<T, aligned>& row, int first, int step, int thread) : first(first), step(step) {
#pragma unroll
    for (int i = 0; i < places; ++i) {
      if (at(i) < row.packs()) packs[i] = row.load(at(i));
    }
    single = row.load_single(thread);
  }
  __device__ int at(int i) const { return first + i * step; }

  // From the mean of what the first of `step` lanes has first. However far off that is, by much more than the deviation
  // of their numbers it cannot be, since these are among them.
  __device__ Deviations deviations(const Row<T, aligned>& row, int thread) const {
    const float near = first < row.packs() ? mean_of<T>(packs[0]) : single;
    Deviations mine = {__shfl_sync(0xffffffffu, near, 0, step), 0.0f, 0.0f};
    if (row.single(thread) >= 0) mine.add(single);
#pragma unroll
    for (int i = 0; i < places; ++i) {
      if (at(i) < row.packs()) mine.template add_pack<T>(packs[i]);
    }
    return mine;
  }
};

// `lanes` lanes keep a row of at most lanes * places packs.
template <typename T, bool aligned, int places, int lanes>
__global__ void warp_kernel(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                            T* __restrict__ y, int rows, int cols, float eps) {
  const int lane = threadIdx.x % lanes;
  const size_t number = static_cast<size_t>(blockIdx.x) * (blockDim.x / lanes) + threadIdx.x / lanes;
  const bool here = number < static_cast<size_t>(rows);  // of a warp's rows the last may be beyond the matrix
  wait_for_kernel_before();
  const Row<T, aligned> row(x, weight, bias, y, here ? number : rows - 1, cols, {false, false});
  const Kept<T, aligned, places> kept(row, lane, lanes, lane);
  const Normal normal(moments<lanes>(kept.deviations(row, lane), cols), eps);
  if (!here) return;
#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int p = kept.at(i);
    if (p < row.packs())
      row.store(p,
                normalized<T>(kept.packs[i], of_columns(weight, row.split, p), of_columns(bias, row.split, p), normal));
  }
  row.store_single(lane, kept.single, normal);
}

// Moments of all warps that share a row; those of other blocks are sent.
struct Exchange {
  Moments of_warp[most_blocks * warp_size];
  unsigned long long arrived;
};

// Of all numbers of the `blocks` blocks that share a row, of which this is number `rank`. Every warp tells its moments
// to every block; when all have arrived, every warp joins them for itself. unrolled: of one block, which has at most 32
// warps, without a loop.
template <bool unrolled>
__device__ Moments row_moments(Moments mine, int cols, int blocks, int rank, Exchange& exchange) {
  Moments* const of_warp = exchange.of_warp;
  const int warps = blockDim.x / warp_size, lane = threadIdx.x % warp_size;
  const int place = rank * warps + threadIdx.x / warp_size;
  if (blocks == 1) {
    if (lane == 0) of_warp[place] = mine;
    __syncthreads();
  } else {
    cluster_wait();  // until all blocks have begun: before that nothing can be sent to them
    if (lane < blocks) send(mine, of_warp + place, lane, &exchange.arrived);
    wait_for(&exchange.arrived);
  }
  Deviations all = {of_warp[0].mean, 0.0f, 0.0f};
  const auto join = [&](Moments one) {
    const float d = one.mean - all.about;
    all.sum += one.count * d;
    all.squares += one.squares + one.count * d * d;
  };
  if (unrolled) {
    if (lane < warps) join(of_warp[lane]);
  } else {
    for (int i = lane; i < blocks * warps; i += warp_size) join(of_warp[i]);
  }
  return moments(all, cols);
}

// A row belongs to `blocks` neighbouring blocks. Their warps keep 32 * places neighbouring packs each in registers, and
// read what is beyond all of these a second time. whole: a block has a row, and keeps all of it; a kernel that knows
// this takes up to a tenth less time.
template <typename T, bool aligned, bool whole, int places, int most_threads>
__global__ void __launch_bounds__(most_threads, room_with(places, most_threads))
    block_kernel(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
                 int cols, float eps, int blocks) {
  if (whole) blocks = 1;
  const int rank = blockIdx.x & (blocks - 1), threads = blocks * blockDim.x, thread = rank * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % warp_size, warp = thread / warp_size;
  const Row<T, aligned> row(x, weight, bias, y, row_of_block(blocks), cols,
                            {!whole, !whole && (sizeof(T) == 2 || places <= 2)});
  __shared__ Exchange exchange;
  if (blocks > 1) begin_exchange(&exchange.arrived, threads / warp_size * static_cast<int>(sizeof(Moments)));
  wait_for_kernel_before();

  Kept<T, aligned, places> kept(row, warp * places * warp_size + lane, warp_size, thread);
  uint4 weights, biases;  // of the first pack, in flight while the sums are made
  if (kept.first < row.packs())
    weights = of_columns(weight, row.split, kept.first), biases = of_columns(bias, row.split, kept.first);
  Deviations mine = kept.deviations(row, thread);
  int packs = min(max(row.packs() - warp * places * warp_size, 0), places * warp_size);  // of this warp
  for (int p = threads * places + warp * warp_size; !whole && p < row.packs(); p += threads) {
    if (p + lane < row.packs()) mine.template add_pack<T>(row.load(p + lane));
    packs += min(row.packs() - p, warp_size);
  }
  const int singles = warp == 0 ? row.split.head + row.split.tail : 0;
  const Normal normal(
      row_moments < whole && sizeof(T) == 2 > (moments(mine, packs * width<T> + singles), cols, blocks, rank, exchange),
      eps);

#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int p = kept.at(i);
    if (p >= row.packs()) continue;
    if (places > 4) forget_floats(kept.packs[i]);  // kept as well, they do not fit into 64 registers per thread
    if (i > 0) weights = of_columns(weight, row.split, p), biases = of_columns(bias, row.split, p);
    row.store(p, normalized<T>(kept.packs[i], weights, biases, normal));
  }
  for (int p = threads * places + thread; !whole && p < row.packs(); p += threads)
    row.store(p, normalized<T>(row.load(p), of_columns(weight, row.split, p), of_columns(bias, row.split, p), normal));
  row.store_single(thread, kept.single, normal);
}

// How a row is shared: by `blocks` neighbouring blocks, whose threads keep `packs` packs each. For wide_kernel: a
// block's share of the row, and how much of it and of its weights and biases goes through shared memory, all in packs.
struct Plan {
  int blocks, packs, threads;
  int share = 0, in_shared = 0, staged = 0;
};

// As block_kernel, but of its share of the row a block keeps in registers only the first `places` packs per thread, and
// the copy engine brings the rest to shared memory. With one pack per thread there is room for several blocks on an SM.
// With more, the weights and biases of the first `staged` packs wait in shared memory, too.
template <typename T, bool aligned, int places>
__global__ void __launch_bounds__(places == 8 ? 768 : 512)
    wide_kernel(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
                int cols, float eps, Plan plan) {
  constexpr bool staging = places > 1;
  const int blocks = plan.blocks, threads = blockDim.x, t = threadIdx.x, lane = t % warp_size;
  const int rank = blockIdx.x & (blocks - 1), number = rank * threads + t;
  const Row<T, aligned> row(x, weight, bias, y, row_of_block(blocks), cols, {true, sizeof(T) == 2});
  const int begin = rank * plan.share, end = min(row.packs(), begin + plan.share);
  const int first = begin + (t - lane) * places + lane;  // of this thread's packs, which are 32 apart
  const int beyond = begin + places * threads;           // what is in shared memory
  uint4 *const rest = dynamic_shared(), *const weights_there = rest + plan.in_shared;
  uint4* const biases_there = weights_there + plan.staged;
  __shared__ Exchange exchange;
  __shared__ unsigned long long rest_done, weights_done, biases_done;
  if (blocks > 1) begin_exchange(&exchange.arrived, blocks * threads / warp_size * static_cast<int>(sizeof(Moments)));
  if (t == 0) begin_barrier(&rest_done), begin_barrier(&weights_done), begin_barrier(&biases_done), barriers_begun();
  __syncthreads();
  wait_for_kernel_before();

  fetch(rest, row.pack(beyond), max(0, end - beyond), &rest_done);
  uint4 kept[places];
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * warp_size < end) kept[i] = row.load(first + i * warp_size);
  }
  const float single = row.load_single(number);
  if (staging) {
    const int here = max(0, min(plan.staged, end - begin));
    fetch(weights_there, reinterpret_cast<const uint4*>(weight) + begin, here, &weights_done);
    fetch(biases_there, reinterpret_cast<const uint4*>(bias) + begin, here, &biases_done);
  }
  Deviations mine = {__shfl_sync(0xffffffffu, first < end ? mean_of<T>(kept[0]) : single, 0), 0.0f, 0.0f};
  if (row.single(number) >= 0) mine.add(single);
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * warp_size < end) mine.template add_pack<T>(kept[i]);
  }
  wait_for(&rest_done);
  for (int p = beyond + t; p < end; p += threads) mine.template add_pack<T>(rest[p - beyond]);
  int packs = min(max(end - first + lane, 0), places * warp_size);  // of this warp
  for (int p = beyond + t - lane; p < end; p += threads) packs += min(end - p, warp_size);
  const int singles = number < warp_size ? row.split.head + row.split.tail : 0;
  const Normal normal(row_moments<false>(moments(mine, packs * width<T> + singles), cols, blocks, rank, exchange), eps);

  if (staging) wait_for(&weights_done), wait_for(&biases_done);
  const auto write = [&](int p, uint4 pack) {
    const bool there = staging && p < begin + plan.staged;
    row.store(p, normalized<T>(pack, there ? weights_there[p - begin] : of_columns(weight, row.split, p),
                               there ? biases_there[p - begin] : of_columns(bias, row.split, p), normal));
  };
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * warp_size < end) write(first + i * warp_size, kept[i]);
  }
  for (int p = beyond + t; p < end; p += threads) write(p, rest[p - beyond]);
  row.store_single(number, single, normal);
}

// Whole warps whose threads keep `each` packs, for `packs` packs.
int threads_for(int packs, int each) { return (packs + each * warp_size - 1) / (each * warp_size) * warp_size; }

// The limits are where one plan overtook another on an H200.
//
// Of wide_kernel; without blocks where the other kernels are as fast.
Plan choose_wide(int rows, int row_packs, int element_bytes, bool aligned, const Device& device) {
  const int processors = device.processors, most = device.clusters ? 8 : 1;
  const int room = (device.shared_bytes - static_cast<int>(sizeof(Exchange)) - 512) / 16;  // packs in shared memory
  const long long all = static_cast<long long>(rows) * row_packs / processors;
  Plan plan = {1, 0, 0};
  const auto share = [&] { return (row_packs + plan.blocks - 1) / plan.blocks; };
  const auto in_turn = [&] { return (static_cast<long long>(rows) * plan.blocks - 1) / processors + 1; };
  const auto uneven = [&] { return 5 * in_turn() * processors > 6LL * rows * plan.blocks; };
  const auto with = [&](int packs, int most_threads) {
    plan.packs = packs, plan.share = share();
    plan.threads = std::min(most_threads, threads_for(plan.share, packs));
    plan.in_shared = std::max(0, plan.share - packs * plan.threads);
    if (packs > 1) plan.staged = std::min(plan.share, (room - plan.in_shared) / 2);
    return plan;
  };
  if (aligned && device.clusters && row_packs > 1600 && all > 480 && all <= 4100) {
    // Few rows: one block or two per SM. Where a block fills an SM, clusters of 4 leave two SMs of each 18 idle.
    while (plan.blocks < most_blocks && share() > 512 && rows * (plan.blocks < 8 ? 2 * plan.blocks : 18) <= processors)
      plan.blocks *= 2;
    if (plan.blocks == 1 && share() > 2048) plan.blocks = 2;
    const bool alone = in_turn() == 1 && share() >= (element_bytes == 4 ? 1000 : 2049);
    if (plan.blocks <= 2 || share() <= 2048) return alone ? with(8, 768) : with(4, 512);
    plan.blocks = 1;
  }
  const int narrowest = rows >= 3 * processors || uneven() ? 4100 : 8200;
  if (row_packs > narrowest && all > 4100 && 4 * rows > 3 * processors && (rows > processors || uneven())) {
    // Several blocks per SM, of which one moves data while another waits for its sums; of as many threads as an SM has
    // for the blocks that it has room for.
    const auto more = [&] { return share() > 4100 || (share() > 500 && (in_turn() < 4 || uneven())); };
    while (plan.blocks < most && more()) plan.blocks *= 2;
    const int resident = std::min<long long>(in_turn(), std::max(1, room / std::max(1, share() - 256)));
    if (share() <= room) return with(1, std::min(512, 2048 / resident / warp_size * warp_size));
  }
  return {};
}

Plan choose(int rows, int row_packs, int element_bytes, const Device& device) {
  const int processors = device.processors, most = device.clusters ? most_blocks : 1;
  const long long all = static_cast<long long>(rows) * row_packs;
  Plan plan = {1, 1, 0};
  const auto share = [&] { return (row_packs + plan.blocks - 1) / plan.blocks; };
  const auto in_turn = [&] { return (static_cast<long long>(rows) * plan.blocks - 1) / processors + 1; };
  // The fewest packs with which a block needs no more threads than that.
  const auto fewest = [&](std::initializer_list<int> packs, int threads) {
    for (const int p : packs) {
      if (share() <= p * threads) return p;
    }
    return 8;
  };
  if (all <= 2600LL * processors) {
    // Little to do: what counts is how soon it is begun, so there are as many threads as possible. A cluster of 16
    // needs most of the 18 SMs of a GPC, the part of the chip in which blocks can form a cluster.
    const int packs = all <= 700LL * processors ? 1 : 2;
    while (plan.blocks < most && share() > 128 * packs && rows * (plan.blocks < 8 ? 2 * plan.blocks : 18) <= processors)
      plan.blocks *= 2;
    plan.packs = fewest({packs, 2, 4, 6, 8}, 512);
  } else if (4 * rows <= processors) {
    // Few and long rows: as many blocks as possible.
    plan.blocks = most;
    plan.packs = fewest({2, 6, 8}, 352);
  } else {
    // A row on one SM or two, which keep it in registers; no SM should be idle, or wait for others that have one more.
    const auto idle = [&] { return share() > 256 && 2LL * rows * plan.blocks <= processors; };
    while (plan.blocks < most && (share() > 8 * 1024 || idle())) plan.blocks *= 2;
    if (rows <= 2 * processors && share() > 4000 && 5LL * rows * plan.blocks < 4 * in_turn() * processors)
      plan.blocks = std::min(8, most);
    if (in_turn() == 1) {
      plan.packs = fewest({4, 8}, 1024);
    } else {
      // Several blocks per SM: one moves data while another waits for its sums.
      const bool floats = element_bytes == 4;
      plan.packs = floats && plan.blocks == 1 ? fewest({4, 8}, 512) : fewest({4, 6, 8}, floats ? 352 : 256);
    }
  }
  plan.threads = std::min(1024, threads_for(share(), plan.packs));
  return plan;
}

template <typename T, bool aligned>
cudaError_t launch_planned(const T* x, const T* weight, const T* bias, T* y, int rows, int cols, float eps,
                           cudaStream_t stream) {
  const int packs = cols / width<T>;
  Device device;
  const cudaError_t error = ask(device);
  if (error) return error;

  const auto by_warps = [&](auto kernel, int lanes) {
    constexpr int threads = 128;
    const int rows_of_block = threads / lanes;
    return launch(kernel, (static_cast<size_t>(rows) + rows_of_block - 1) / rows_of_block, threads, 0, 1, device,
                  stream, x, weight, bias, y, rows, cols, eps);
  };
  if (packs <= 2 * 16) return by_warps(warp_kernel<T, aligned, 2, 16>, 16);
  if (packs <= 2 * 32) return by_warps(warp_kernel<T, aligned, 2, 32>, 32);
  if (packs <= 4 * 32) return by_warps(warp_kernel<T, aligned, 4, 32>, 32);

  const Plan wide = choose_wide(rows, packs, sizeof(T), aligned, device);
  const auto widely = [&](auto kernel) {
    return launch(kernel, static_cast<size_t>(rows) * wide.blocks, wide.threads,
                  16 * (wide.in_shared + 2 * wide.staged), wide.blocks, device, stream, x, weight, bias, y, cols, eps,
                  wide);
  };
  if (wide.packs == 8) return widely(wide_kernel<T, true, 8>);
  if (wide.packs == 4) return widely(wide_kernel<T, true, 4>);
  if (wide.packs == 1) return widely(wide_kernel<T, aligned, 1>);

  const Plan plan = choose(rows, packs, sizeof(T), device);
  const auto by_blocks = [&](auto kernel) {
    return launch(kernel, static_cast<size_t>(rows) * plan.blocks, plan.threads, 0, plan.blocks, device, stream, x,
                  weight, bias, y, cols, eps, plan.blocks);
  };
  if (plan.threads > 512 && plan.packs == 4) return by_blocks(block_kernel<T, aligned, false, 4, 1024>);
  if (plan.threads > 512) return by_blocks(block_kernel<T, aligned, false, 8, 1024>);
  const auto by_places = [&](auto whole) {
    switch (plan.packs) {
      case 1: return by_blocks(block_kernel<T, aligned, whole.value, 1, 512>);
      case 2: return by_blocks(block_kernel<T, aligned, whole.value, 2, 512>);
      case 4: return by_blocks(block_kernel<T, aligned, whole.value, 4, 512>);
      case 6: return by_blocks(block_kernel<T, aligned, whole.value, 6, 512>);
      default: return by_blocks(block_kernel<T, aligned, whole.value, 8, 512>);
    }
  };
  const bool whole = plan.blocks == 1 && packs <= plan.packs * plan.threads;
  return whole ? by_places(std::true_type()) : by_places(std::false_type());
}

template <typename T>
cudaError_t layer_norm(const T* x, const T* weight, const T* bias, T* y, int rows, int cols, float eps,
                       cudaStream_t stream) {
  if (!x || !weight || !bias || !y || rows < 0 || cols <= 0) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  if (cols % width<T> == 0) return launch_planned<T, true>(x, weight, bias, y, rows, cols, eps, stream);
  return launch_planned<T, false>(x, weight, bias, y, rows, cols, eps, stream);
}
// END 1

RUNG_EXPORT(rung::layer_norm("auto", layer_norm<float>), rung::layer_norm("auto", layer_norm<__half>),
            rung::layer_norm("auto", layer_norm<__nv_bfloat16>))
