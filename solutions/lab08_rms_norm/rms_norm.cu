// Lab 08: RMSNorm, from a blank file.
//
//   y[r][c] = x[r][c] * weight[c] / sqrt(mean over j of x[r][j]^2 + eps)
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // f32, 4096 columns: sector bytes of all loads, per row: those of x and those of the weights.
    {"norm_bytes", 2 * 4096 * 4},
    // f32, 4096 columns: barriers that a thread reaches.
    {"norm_barriers", 1},
    // bf16, 256 columns, many rows: load instructions that warps execute, per row, those of the weights included.
    {"narrow_loads", 1.5},
    // 4096 x 4096 floats on an H200: how many times longer than lab 06's softmax, which has no weights to read? A
    // factor of 1.15 counts as right.
    {"norm_over_softmax", 1},
    // f32, 4096 x 4096 on an H200: what limits it? rung::limit::dram, l2, lsu, issue, mufu or latency.
    {"norm_limit", rung::limit::dram})
// END 0

// STEP 1: everything.
//
// A row is read once, 16 bytes per access, kept until its sum is known, and written from there: in registers, and of
// some wide rows mostly in shared memory. Narrow rows belong to a warp, two rows at a time where they are few bytes. A
// wide row belongs to a block or, on Hopper, to a cluster of up to 16 blocks.
#include <algorithm>
#include <initializer_list>

#include "limit/hopper.h"
#include "limit/launch.h"
#include "limit/pack.h"

constexpr int warp_size = 32;
constexpr int most_blocks = 16;  // of a cluster

template <typename T>
__device__ float squares(uint4 pack) {
  const T* v = reinterpret_cast<const T*>(&pack);
  float sum = 0.0f;
#pragma unroll
  for (int e = 0; e < width<T>; ++e) sum += to_float(v[e]) * to_float(v[e]);
  return sum;
}

template <typename T>
__device__ uint4 scaled(uint4 pack, uint4 weights, float scale) {
  T* v = reinterpret_cast<T*>(&pack);
  const T* w = reinterpret_cast<const T*>(&weights);
#pragma unroll
  for (int e = 0; e < width<T>; ++e) from_float(to_float(v[e]) * scale * to_float(w[e]), &v[e]);
  return pack;
}

// A row as head, packs and tail (limit/pack.h). If all rows are aligned, they have packs alone. x and y are streamed
// past the caches (__ldcs, __stcs), so that the weights, which every row needs, stay there.
template <typename T, bool aligned>
struct Row {
  const T *x, *weight;
  T* y;
  Split split;

  __device__ Row(const T* matrix, const T* weight, T* result, size_t row, int cols)
      : x(matrix + row * cols), weight(weight), y(result + row * cols) {
    split = aligned ? Split{0, cols / width<T>, 0} : split_row<T>(row * cols, cols);
  }
  __device__ int packs() const { return split.packs; }

  __device__ const uint4* pack(int p) const { return reinterpret_cast<const uint4*>(x + split.head) + p; }
  __device__ uint4 load(int p) const { return __ldcs(pack(p)); }
  __device__ void store(int p, uint4 pack) const { __stcs(reinterpret_cast<uint4*>(y + split.head) + p, pack); }
  __device__ uint4 weights(int p) const { return of_columns(weight, split, p); }

  // The column of the single element that thread t looks after; -1 if it has none.
  __device__ int single(int t) const { return aligned ? -1 : single_column<T>(split, t); }
  // 0 if it has none.
  __device__ float load_single(int t) const { return single(t) < 0 ? 0.0f : to_float(x[single(t)]); }
  __device__ void store_single(int t, float value, float scale) const {
    const int c = single(t);
    if (c >= 0) from_float(value * scale * to_float(weight[c]), &y[c]);
  }
};

__device__ float scale_of(float sum, int cols, float eps) { return 1.0f / sqrtf(sum / cols + eps); }

__device__ float warp_sum(float v) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffffu, v, distance);
  return v;
}

// A warp keeps `together` rows of at most 32 * places packs each.
template <typename T, bool aligned, int places, int together>
__global__ void warp_kernel(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y, int rows,
                            int cols, float eps) {
  const int lane = threadIdx.x % warp_size;
  const size_t warp = static_cast<size_t>(blockIdx.x) * (blockDim.x / warp_size) + threadIdx.x / warp_size;
  const size_t first = warp * together;
  if (first >= static_cast<size_t>(rows)) return;  // whole warps only
  const int here = static_cast<int>(min(static_cast<size_t>(together), rows - first));
  wait_for_kernel_before();

  uint4 kept[together][places];
  float single[together];
#pragma unroll
  for (int r = 0; r < together; ++r) {
    const Row<T, aligned> row(x, weight, y, first + r, cols);
    single[r] = !aligned && r < here ? row.load_single(lane) : 0.0f;
#pragma unroll
    for (int i = 0; i < places; ++i) {
      const int p = lane + i * warp_size;
      if (r < here && p < row.packs()) kept[r][i] = row.load(p);
    }
  }
  float scale[together];
#pragma unroll
  for (int r = 0; r < together; ++r) {
    const Row<T, aligned> row(x, weight, y, first + r, cols);
    float sum = single[r] * single[r];
#pragma unroll
    for (int i = 0; i < places; ++i) {
      if (r < here && lane + i * warp_size < row.packs()) sum += squares<T>(kept[r][i]);
    }
    scale[r] = scale_of(warp_sum(sum), cols, eps);
  }
#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int p = lane + i * warp_size;
    uint4 w;
    if (aligned && p < cols / width<T>) w = Row<T, aligned>(x, weight, y, 0, cols).weights(p);
#pragma unroll
    for (int r = 0; r < together; ++r) {
      const Row<T, aligned> row(x, weight, y, first + r, cols);
      if (r >= here || p >= row.packs()) continue;
      if (!aligned) w = row.weights(p);
      row.store(p, scaled<T>(kept[r][i], w, scale[r]));
    }
  }
#pragma unroll
  for (int r = 0; r < together; ++r) {
    if (!aligned && r < here) Row<T, aligned>(x, weight, y, first + r, cols).store_single(lane, single[r], scale[r]);
  }
}

// Sums of all warps that share a row; those of other blocks are sent.
struct Exchange {
  float of_warp[most_blocks * warp_size];
  unsigned long long arrived;
};

// The sum over all threads of the `blocks` blocks that share a row, of which this is number `rank`. Every warp tells
// its sum to every block; when all have arrived, every warp adds them up for itself.
__device__ float row_sum(float mine, int blocks, int rank, Exchange& exchange) {
  float* const of_warp = exchange.of_warp;
  const int warps = blockDim.x / warp_size, lane = threadIdx.x % warp_size;
  const int place = rank * warps + threadIdx.x / warp_size;
  mine = warp_sum(mine);
  if (blocks == 1) {
    if (lane == 0) of_warp[place] = mine;
    __syncthreads();
  } else {
    cluster_wait();  // until all blocks have begun: before that nothing can be sent to them
    if (lane < blocks) send(mine, of_warp + place, lane, &exchange.arrived);
    wait_for(&exchange.arrived);
  }
  float sum = 0.0f;
  for (int i = lane; i < blocks * warps; i += warp_size) sum += of_warp[i];
  return warp_sum(sum);
}

// A row belongs to `blocks` neighbouring blocks. Their threads keep the first `places` packs each in registers and read
// what is beyond a second time. whole: a block has a row, and keeps all of it.
template <typename T, bool aligned, bool whole, int places, int most_threads>
__global__ void __launch_bounds__(most_threads, room_with(places, most_threads))
    block_kernel(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y, int cols, float eps,
                 int blocks) {
  if (whole) blocks = 1;
  const int rank = blockIdx.x & (blocks - 1), threads = blocks * blockDim.x, first = rank * blockDim.x + threadIdx.x;
  const Row<T, aligned> row(x, weight, y, row_of_block(blocks), cols);
  __shared__ Exchange exchange;
  if (blocks > 1) begin_exchange(&exchange.arrived, threads / warp_size * static_cast<int>(sizeof(float)));
  wait_for_kernel_before();

  uint4 kept[places];
#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int p = first + i * threads;
    if (p < row.packs()) kept[i] = row.load(p);
  }
  uint4 weights;  // of the first pack, in flight while the sum is made
  if (first < row.packs()) weights = row.weights(first);
  const float single = aligned ? 0.0f : row.load_single(first);
  float sum = single * single;
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * threads < row.packs()) sum += squares<T>(kept[i]);
  }
  for (int p = first + places * threads; !whole && p < row.packs(); p += threads) sum += squares<T>(row.load(p));
  const float scale = scale_of(row_sum(sum, blocks, rank, exchange), cols, eps);

#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int p = first + i * threads;
    if (p >= row.packs()) continue;
    if (places > 4) forget_floats(kept[i]);  // kept as well, they do not fit into the registers
    if (i > 0) weights = row.weights(p);
    row.store(p, scaled<T>(kept[i], weights, scale));
  }
  for (int p = first + places * threads; !whole && p < row.packs(); p += threads)
    row.store(p, scaled<T>(row.load(p), row.weights(p), scale));
  if (!aligned) row.store_single(first, single, scale);
}

// How a row is shared: by `blocks` neighbouring blocks, whose threads keep `packs` packs each. For wide_kernel: a
// block's share of the row, and how much of it and of its weights goes through shared memory, all in packs.
struct Plan {
  int blocks, packs, threads;
  int share = 0, in_shared = 0, staged = 0;
};

// As block_kernel, but of its share of the row a block keeps in registers only the first `places` packs per thread, and
// the copy engine brings the rest to shared memory. With one pack per thread there is room for several blocks on an SM.
// With more, the weights of the first `staged` packs wait in shared memory, too.
template <typename T, bool aligned, int places>
__global__ void __launch_bounds__(places == 8 ? 768 : 512)
    wide_kernel(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y, int cols, float eps,
                Plan plan) {
  constexpr bool staging = places > 1;
  const int blocks = plan.blocks, threads = blockDim.x, t = threadIdx.x, lane = t % warp_size;
  const int rank = blockIdx.x & (blocks - 1), number = rank * threads + t;
  const Row<T, aligned> row(x, weight, y, row_of_block(blocks), cols);
  const int begin = rank * plan.share, end = min(row.packs(), begin + plan.share);
  const int first = begin + (t - lane) * places + lane;  // of this thread's packs, which are 32 apart
  const int beyond = begin + places * threads;           // what is in shared memory
  uint4 *const rest = dynamic_shared(), *const weights_there = rest + plan.in_shared;
  __shared__ Exchange exchange;
  __shared__ unsigned long long rest_done, weights_done;
  if (blocks > 1) begin_exchange(&exchange.arrived, blocks * threads / warp_size * static_cast<int>(sizeof(float)));
  if (t == 0) begin_barrier(&rest_done), begin_barrier(&weights_done), barriers_begun();
  __syncthreads();
  wait_for_kernel_before();

  fetch(rest, row.pack(beyond), max(0, end - beyond), &rest_done);
  uint4 kept[places];
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * warp_size < end) kept[i] = row.load(first + i * warp_size);
  }
  if (staging) {
    const int here = max(0, min(plan.staged, end - begin));
    fetch(weights_there, reinterpret_cast<const uint4*>(weight) + begin, here, &weights_done);
  }
  const float single = aligned ? 0.0f : row.load_single(number);
  float sum = single * single;
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * warp_size < end) sum += squares<T>(kept[i]);
  }
  wait_for(&rest_done);
  for (int p = beyond + t; p < end; p += threads) sum += squares<T>(rest[p - beyond]);
  const float scale = scale_of(row_sum(sum, blocks, rank, exchange), cols, eps);

  if (staging) wait_for(&weights_done);
  const auto write = [&](int p, uint4 pack) {
    const bool there = staging && p < begin + plan.staged;
    row.store(p, scaled<T>(pack, there ? weights_there[p - begin] : row.weights(p), scale));
  };
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * warp_size < end) write(first + i * warp_size, kept[i]);
  }
  for (int p = beyond + t; p < end; p += threads) write(p, rest[p - beyond]);
  if (!aligned) row.store_single(number, single, scale);
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
    if (packs > 1) plan.staged = std::min(plan.share, room - plan.in_shared);
    return plan;
  };
  if (aligned && device.clusters && all > 1900 && all <= (rows > processors ? 4100 : 8200)) {
    // Few rows: one block or two per SM. Where a block fills an SM, clusters of 4 leave two SMs of each 18 idle.
    while (plan.blocks < most_blocks && share() > 512 && rows * (plan.blocks < 8 ? 2 * plan.blocks : 18) <= processors)
      plan.blocks *= 2;
    if (plan.blocks == 1 && share() > 2048) plan.blocks = 2;
    const bool alone = in_turn() == 1 && share() >= (element_bytes == 4 ? 1000 : 2049);
    if (plan.blocks <= 2 || share() <= 2048) return alone ? with(8, 768) : with(4, 512);
    plan.blocks = 1;
  }
  const int narrowest = element_bytes == 2                  ? rows < 6 * processors ? 1500 : 3000
                        : rows < 2 * processors && uneven() ? 4100
                                                            : 8200;
  if (row_packs > narrowest && all > 4100 && 4 * rows > 3 * processors && (rows > processors || uneven())) {
    // Several blocks per SM, of which one moves data while another waits for its sum; of as many threads as an SM has
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
    plan.packs = fewest({2, 4, 6, 8}, 352);
  } else {
    // A row on one SM or two, which keep it in registers; no SM should be idle, or wait for others that have one more.
    const auto idle = [&] { return share() > 256 && 2LL * rows * plan.blocks <= processors; };
    while (plan.blocks < most && (share() > 8 * 1024 || idle())) plan.blocks *= 2;
    if (rows <= 2 * processors && share() > 4000 && 5LL * rows * plan.blocks < 4 * in_turn() * processors)
      plan.blocks = std::min(8, most);
    if (in_turn() == 1) {
      plan.packs = fewest({4, 8}, 1024);
    } else {
      // Several blocks per SM: one moves data while another waits for its sum.
      const bool short_row = element_bytes == 4 && share() <= 1024;
      const bool long_row = element_bytes == 4 && share() > 1536;
      plan.packs = plan.blocks > 1 ? fewest({6, 8}, 352) : short_row ? 2 : fewest({long_row ? 6 : 4, 6, 8}, 512);
    }
  }
  plan.threads = std::min(1024, threads_for(share(), plan.packs));
  return plan;
}

template <typename T, bool aligned>
cudaError_t launch_planned(const T* x, const T* weight, T* y, int rows, int cols, float eps, cudaStream_t stream) {
  const int packs = cols / width<T>;
  Device device;
  const cudaError_t error = ask(device);
  if (error) return error;

  const auto by_warps = [&](auto kernel, int together) {
    constexpr int warps = 4;
    const int in_block = warps * together;
    return launch(kernel, (static_cast<size_t>(rows) + in_block - 1) / in_block, warps * warp_size, 0, 1, device,
                  stream, x, weight, y, rows, cols, eps);
  };
  if (packs <= 1 * warp_size) return by_warps(warp_kernel<T, aligned, 1, 2>, 2);
  if (packs <= 2 * warp_size) return by_warps(warp_kernel<T, aligned, 2, 2>, 2);
  if (packs <= 4 * warp_size) return by_warps(warp_kernel<T, aligned, 4, 1>, 1);

  const Plan wide = choose_wide(rows, packs, sizeof(T), aligned, device);
  const auto widely = [&](auto kernel) {
    return launch(kernel, static_cast<size_t>(rows) * wide.blocks, wide.threads, 16 * (wide.in_shared + wide.staged),
                  wide.blocks, device, stream, x, weight, y, cols, eps, wide);
  };
  if (wide.packs == 8) return widely(wide_kernel<T, true, 8>);
  if (wide.packs == 4) return widely(wide_kernel<T, true, 4>);
  if (wide.packs == 1) return widely(wide_kernel<T, aligned, 1>);

  const Plan plan = choose(rows, packs, sizeof(T), device);
  const auto by_blocks = [&](auto kernel) {
    return launch(kernel, static_cast<size_t>(rows) * plan.blocks, plan.threads, 0, plan.blocks, device, stream, x,
                  weight, y, cols, eps, plan.blocks);
  };
  if (plan.threads > 512 && plan.packs == 4) return by_blocks(block_kernel<T, aligned, false, 4, 1024>);
  if (plan.threads > 512) return by_blocks(block_kernel<T, aligned, false, 8, 1024>);
  if (plan.blocks > 1 || packs > plan.packs * plan.threads) {
    if (plan.packs <= 2) return by_blocks(block_kernel<T, aligned, false, 2, 512>);
    if (plan.packs <= 4) return by_blocks(block_kernel<T, aligned, false, 4, 512>);
    return by_blocks(block_kernel<T, aligned, false, 8, 512>);
  }
  switch (plan.packs) {
    case 1: return by_blocks(block_kernel<T, aligned, true, 1, 512>);
    case 2: return by_blocks(block_kernel<T, aligned, true, 2, 512>);
    case 4: return by_blocks(block_kernel<T, aligned, true, 4, 512>);
    case 6: return by_blocks(block_kernel<T, aligned, true, 6, 512>);
    default: return by_blocks(block_kernel<T, aligned, true, 8, 512>);
  }
}

template <typename T>
cudaError_t rms_norm(const T* x, const T* weight, T* y, int rows, int cols, float eps, cudaStream_t stream) {
  if (!x || !weight || !y || rows < 0 || cols <= 0) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  if (cols % width<T> == 0) return launch_planned<T, true>(x, weight, y, rows, cols, eps, stream);
  return launch_planned<T, false>(x, weight, y, rows, cols, eps, stream);
}
// END 1

RUNG_EXPORT(rung::rms_norm("auto", rms_norm<float>), rung::rms_norm("auto", rms_norm<__half>),
            rung::rms_norm("auto", rms_norm<__nv_bfloat16>))
