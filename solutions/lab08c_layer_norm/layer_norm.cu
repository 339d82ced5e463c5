// Lab 08, third rung: LayerNorm, from a blank file.
//
//   y[r][c] = (x[r][c] - mean) / sqrt(variance + eps) * weight[c] + bias[c],   mean and variance over the row
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // f32, 4096 columns: bytes of the sectors that all loads ask for, per row, weights and biases included.
    {"layer_bytes", 3 * 4096 * 4},
    // f32, 4096 columns: barriers that a thread reaches.
    {"layer_barriers", 1},
    // bf16, 256 columns, many rows: load instructions that warps execute, per row, weights and biases included.
    {"narrow_layer_loads", 2})
// END 0

// STEP 1: everything.
//
// A row is read once, 16 bytes per access, kept in registers until mean and variance are known, and written
// from there. Narrow
// rows belong to a warp, two rows at a time where they are few bytes. A wide row belongs to a block or, on Hopper, to a
// cluster of up to 8 blocks.
#include <algorithm>

#include "limit/hopper.h"
#include "limit/launch.h"
#include "limit/pack.h"

constexpr int warp_size = 32;
constexpr int most_blocks = 8;  // of a cluster, on every chip that has clusters

template <typename T>
__device__ float sum_of(uint4 pack) {
  const T* v = reinterpret_cast<const T*>(&pack);
  float sum = 0.0f;
#pragma unroll
  for (int e = 0; e < width<T>; ++e) sum += to_float(v[e]);
  return sum;
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
  template <typename T>
  __device__ void add_pack(uint4 pack) {
    const T* v = reinterpret_cast<const T*>(&pack);
#pragma unroll
    for (int e = 0; e < width<T>; ++e) add(to_float(v[e]));
  }
};

// Of `count` numbers; squares: of their deviations from the mean, added up.
struct Moments {
  float count, mean, squares;
};

struct Normal {
  float mean, scale;
  __device__ Normal(float mean, float scale) : mean(mean), scale(scale) {}
  __device__ Normal(Moments all, float eps) : Normal(all.mean, 1.0f / sqrtf(all.squares / all.count + eps)) {}
  __device__ float of(float value, float weight, float bias) const { return (value - mean) * scale * weight + bias; }
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

// 16 of the 32 bytes of two packs, from byte `from` on, which is below 16 and even.
__device__ uint4 shifted(uint4 low, uint4 high, int from) {
  unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = from & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = from & 4 ? words[i + 1] : words[i];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], from % 4 * 8);
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// A row as head, packs and tail (limit/pack.h). If all rows are aligned, they have packs alone. x and y are streamed
// past the caches (__ldcs, __stcs), so that weights and biases, which every row needs, stay there.
template <typename T, bool aligned>
struct Row {
  const T *x, *weight, *bias;
  T* y;
  Split split;

  __device__ Row(const T* matrix, const T* weight, const T* bias, T* result, size_t row, int cols)
      : x(matrix + row * cols), weight(weight), bias(bias), y(result + row * cols) {
    split = aligned ? Split{0, cols / width<T>, 0} : split_row<T>(row * cols, cols);
  }
  __device__ int packs() const { return split.packs; }

  __device__ uint4 load(int p) const { return __ldcs(reinterpret_cast<const uint4*>(x + split.head) + p); }
  __device__ void store(int p, uint4 pack) const { __stcs(reinterpret_cast<uint4*>(y + split.head) + p, pack); }

  // The weights or biases of a pack. Where a row begins anywhere, two packs of them hold these, unless the second one
  // ends beyond the last.
  __device__ uint4 of_columns(const T* column, int p) const {
    const uint4* at = reinterpret_cast<const uint4*>(column) + p;
    if (aligned || split.head == 0) return at[0];
    if (p + 1 < packs()) return shifted(at[0], at[1], split.head * sizeof(T));
    uint4 pack;
#pragma unroll
    for (int e = 0; e < width<T>; ++e) reinterpret_cast<T*>(&pack)[e] = column[split.head + p * width<T> + e];
    return pack;
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

__device__ float warp_sum(float v) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffffu, v, distance);
  return v;
}

// Of all lanes' numbers, `count` altogether, whose deviations are from the same number.
__device__ Moments warp_moments(Deviations mine, int count) {
  const float sum = warp_sum(mine.sum), squares = warp_sum(mine.squares), numbers = static_cast<float>(count);
  if (count == 0) return {0.0f, 0.0f, 0.0f};
  return {numbers, mine.about + sum / numbers, squares - sum * (sum / numbers)};
}

// What all lanes take deviations from: the mean of what lane 0 has, `count` numbers. However far off that is, by much
// more than the deviation of the warp's numbers it cannot be, since these are among them.
__device__ float pivot(float sum, int count) {
  return __shfl_sync(0xffffffffu, count > 0 ? sum / static_cast<float>(count) : 0.0f, 0);
}

// A warp keeps `together` rows of at most 32 * places packs each.
template <typename T, bool aligned, int places, int together>
__global__ void warp_kernel(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                            T* __restrict__ y, int rows, int cols, float eps) {
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
    const Row<T, aligned> row(x, weight, bias, y, first + r, cols);
    single[r] = !aligned && r < here ? row.load_single(lane) : 0.0f;
#pragma unroll
    for (int i = 0; i < places; ++i) {
      const int p = lane + i * warp_size;
      if (r < here && p < row.packs()) kept[r][i] = row.load(p);
    }
  }
  float mean[together], scale[together];
#pragma unroll
  for (int r = 0; r < together; ++r) {
    const Row<T, aligned> row(x, weight, bias, y, first + r, cols);
    const bool has_single = r < here && row.single(lane) >= 0;
    float sum = single[r];
    int count = has_single;
#pragma unroll
    for (int i = 0; i < places; ++i) {
      if (r < here && lane + i * warp_size < row.packs()) sum += sum_of<T>(kept[r][i]), count += width<T>;
    }
    Deviations mine = {pivot(sum, count), 0.0f, 0.0f};
    if (has_single) mine.add(single[r]);
#pragma unroll
    for (int i = 0; i < places; ++i) {
      if (r < here && lane + i * warp_size < row.packs()) mine.template add_pack<T>(kept[r][i]);
    }
    const Normal normal(warp_moments(mine, cols), eps);
    mean[r] = normal.mean, scale[r] = normal.scale;
  }
#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int p = lane + i * warp_size;
    uint4 w, b;
    if (aligned && p < cols / width<T>) {
      const Row<T, aligned> row(x, weight, bias, y, 0, cols);
      w = row.of_columns(weight, p), b = row.of_columns(bias, p);
    }
#pragma unroll
    for (int r = 0; r < together; ++r) {
      const Row<T, aligned> row(x, weight, bias, y, first + r, cols);
      if (r >= here || p >= row.packs()) continue;
      if (!aligned) w = row.of_columns(weight, p), b = row.of_columns(bias, p);
      row.store(p, normalized<T>(kept[r][i], w, b, {mean[r], scale[r]}));
    }
  }
#pragma unroll
  for (int r = 0; r < together; ++r) {
    if (!aligned && r < here)
      Row<T, aligned>(x, weight, bias, y, first + r, cols).store_single(lane, single[r], {mean[r], scale[r]});
  }
}

// Of all numbers of the `blocks` blocks that share a row, of which this is number `rank`. Every warp tells its moments
// to every block; after one barrier every warp joins them for itself.
__device__ Moments row_moments(Moments mine, int cols, int blocks, int rank) {
  __shared__ Moments of_warp[most_blocks * warp_size];
  const int warps = blockDim.x / warp_size, lane = threadIdx.x % warp_size;
  const int place = rank * warps + threadIdx.x / warp_size;
  if (blocks == 1) {
    if (lane == 0) of_warp[place] = mine;
    __syncthreads();
  } else {
    cluster_wait();  // until all blocks have begun: before that they have no shared memory to write to
    if (lane < blocks) *in_block(of_warp + place, lane) = mine;
    cluster_arrive();
    cluster_wait();
  }
  Deviations all = {of_warp[0].mean, 0.0f, 0.0f};
  for (int i = lane; i < blocks * warps; i += warp_size) {
    const Moments one = of_warp[i];
    const float d = one.mean - all.about;
    all.sum += one.count * d;
    all.squares += one.squares + one.count * d * d;
  }
  return warp_moments(all, cols);
}

// A row belongs to `blocks` neighbouring blocks. Their threads keep the first `places` packs each in registers and read
// what is beyond a second time.
template <typename T, bool aligned, int places>
__global__ void __launch_bounds__(1024)
    block_kernel(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
                 int cols, float eps, int blocks) {
  const int rank = blockIdx.x % blocks, threads = blocks * blockDim.x, first = rank * blockDim.x + threadIdx.x;
  const Row<T, aligned> row(x, weight, bias, y, blockIdx.x / blocks, cols);
  if (blocks > 1) cluster_arrive();  // I have begun: row_moments waits for the others
  wait_for_kernel_before();

  uint4 kept[places];
#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int p = first + i * threads;
    if (p < row.packs()) kept[i] = row.load(p);
  }
  const bool has_single = row.single(first) >= 0;
  const float single = has_single ? row.load_single(first) : 0.0f;
  const int first_of_warp = first - threadIdx.x % warp_size;
  float sum = single;
  int count = has_single, of_warp = first_of_warp == 0 ? row.split.head + row.split.tail : 0;  // numbers
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * threads < row.packs()) sum += sum_of<T>(kept[i]), count += width<T>;
  }
  Deviations mine = {pivot(sum, count), 0.0f, 0.0f};
  if (has_single) mine.add(single);
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * threads < row.packs()) mine.template add_pack<T>(kept[i]);
  }
  for (int p = first + places * threads; p < row.packs(); p += threads) mine.template add_pack<T>(row.load(p));
  for (int p = first_of_warp; p < row.packs(); p += threads) of_warp += width<T> * min(warp_size, row.packs() - p);
  const Normal normal(row_moments(warp_moments(mine, of_warp), cols, blocks, rank), eps);

#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int p = first + i * threads;
    if (p < row.packs())
      row.store(p, normalized<T>(kept[i], row.of_columns(weight, p), row.of_columns(bias, p), normal));
  }
  for (int p = first + places * threads; p < row.packs(); p += threads)
    row.store(p, normalized<T>(row.load(p), row.of_columns(weight, p), row.of_columns(bias, p), normal));
  if (has_single) row.store_single(first, single, normal);
}

// How many blocks a row gets: more than one if one cannot keep it in registers, or if the rows leave half of the chip
// idle.
int blocks_of(int rows, int packs, const Device& device) {
  int blocks = 1;
  const auto too_long = [&] { return packs > blocks * 8 * 1024; };
  const auto idle = [&] { return packs > blocks * 1024 && 2LL * rows * blocks <= device.processors; };
  while (device.clusters && blocks < most_blocks && (too_long() || idle())) blocks *= 2;
  return blocks;
}

template <typename T, bool aligned>
cudaError_t launch_planned(const T* x, const T* weight, const T* bias, T* y, int rows, int cols, float eps,
                           cudaStream_t stream) {
  const int packs = cols / width<T>;
  Device device;
  const cudaError_t error = ask(device);
  if (error) return error;

  const auto by_warps = [&](auto kernel, int together) {
    constexpr int warps = 4;
    const int in_block = warps * together;
    return launch(kernel, (static_cast<size_t>(rows) + in_block - 1) / in_block, warps * warp_size, 0, 1, device,
                  stream, x, weight, bias, y, rows, cols, eps);
  };
  if (packs <= 1 * warp_size) return by_warps(warp_kernel<T, aligned, 1, 2>, 2);
  if (packs <= 2 * warp_size) return by_warps(warp_kernel<T, aligned, 2, 2>, 2);
  if (packs <= 4 * warp_size) return by_warps(warp_kernel<T, aligned, 4, 1>, 1);

  const int blocks = blocks_of(rows, packs, device), share = (packs + blocks - 1) / blocks;
  const auto by_blocks = [&](auto kernel, int places) {
    const int threads = std::min(1024, (share + places * warp_size - 1) / (places * warp_size) * warp_size);
    return launch(kernel, static_cast<size_t>(rows) * blocks, threads, 0, blocks, device, stream, x, weight, bias, y,
                  cols, eps, blocks);
  };
  if (share <= 4 * 1024) return by_blocks(block_kernel<T, aligned, 4>, 4);
  return by_blocks(block_kernel<T, aligned, 8>, 8);
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
