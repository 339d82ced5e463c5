// Lab 08: RMSNorm, from a blank file.
//
//   y[r][c] = x[r][c] * weight[c] / sqrt(mean over j of x[r][j]^2 + eps)
#include <cmath>

#include "rung.h"

// STEP 0: what was predicted before there was any code.
RUNG_PREDICT(
    // f32, 4096 columns: bytes of the sectors that all loads of x ask for, per row, and those of the weights.
    {"norm_bytes", 2 * 4096 * 4},
    // f32, 4096 columns: barriers that a thread reaches.
    {"norm_barriers", 1},
    // bf16, 256 columns, many rows: load instructions that warps execute, per row, those of the weights included.
    {"narrow_loads", 1.5})
// END 0

// STEP 1: everything.
//
// A row is read once, kept in registers until its sum is known, and written from there. Narrow rows belong to a warp,
// two rows at a time where they are few bytes. A wide row belongs to a block or, on Hopper, to a cluster of up to 8
// blocks.
#include <cooperative_groups.h>

#include <algorithm>

constexpr int warp_size = 32;
constexpr int most_blocks = 8;  // of a cluster, on every chip that has clusters

__device__ float to_float(float v) { return v; }
__device__ float to_float(__half v) { return __half2float(v); }
__device__ float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ void round_to(float v, float* to) { *to = v; }
__device__ void round_to(float v, __half* to) { *to = __float2half(v); }
__device__ void round_to(float v, __nv_bfloat16* to) { *to = __float2bfloat16(v); }

// What one access moves: 16 bytes where every row begins on a multiple of 16, one element elsewhere.
template <typename T, typename Access>
struct Row {
  static constexpr int elements = sizeof(Access) / sizeof(T);

  static __device__ float squares(Access access) {
    const T* v = reinterpret_cast<const T*>(&access);
    float sum = 0.0f;
#pragma unroll
    for (int e = 0; e < elements; ++e) sum += to_float(v[e]) * to_float(v[e]);
    return sum;
  }

  static __device__ Access scaled(Access access, Access weight, float scale) {
    T* v = reinterpret_cast<T*>(&access);
    const T* w = reinterpret_cast<const T*>(&weight);
#pragma unroll
    for (int e = 0; e < elements; ++e) round_to(to_float(v[e]) * scale * to_float(w[e]), &v[e]);
    return access;
  }
};

__device__ float scale_of(float sum, float cols, float eps) { return 1.0f / sqrtf(sum / cols + eps); }

__device__ float warp_sum(float v) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffffu, v, distance);
  return v;
}

// What Hopper has: clusters of blocks, and kernels that take their places while the one before still runs. Before
// compute capability 9.0 a block is alone, and a kernel starts when the one before has ended.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ cooperative_groups::cluster_group cluster() { return cooperative_groups::this_cluster(); }
__device__ void cluster_arrive() { cluster().barrier_arrive(); }
__device__ void cluster_wait() { cluster().barrier_wait(); }
// The same variable in the shared memory of another block of the cluster.
__device__ float* in_block(float* shared, int rank) { return cluster().map_shared_rank(shared, rank); }
__device__ void wait_for_kernel_before() {
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}
#else
__device__ void cluster_arrive() {}
__device__ void cluster_wait() {}
__device__ float* in_block(float* shared, int) { return shared; }
__device__ void wait_for_kernel_before() {}
#endif

// A warp keeps `together` rows of at most 32 * places accesses each. x and y are streamed past the caches (__ldcs,
// __stcs), so that the weights, which every row needs, stay there.
template <typename T, typename Access, int places, int together>
__global__ void warp_kernel(const Access* __restrict__ x, const Access* __restrict__ weight, Access* __restrict__ y,
                            int rows, int accesses, float cols, float eps) {
  const int lane = threadIdx.x % warp_size;
  const size_t warp = static_cast<size_t>(blockIdx.x) * (blockDim.x / warp_size) + threadIdx.x / warp_size;
  const size_t first = warp * together;
  if (first >= static_cast<size_t>(rows)) return;  // whole warps only
  const int here = static_cast<int>(min(static_cast<size_t>(together), rows - first));
  wait_for_kernel_before();
  x += first * accesses;
  y += first * accesses;

  Access kept[together][places];
#pragma unroll
  for (int r = 0; r < together; ++r) {
#pragma unroll
    for (int i = 0; i < places; ++i) {
      const int at = lane + i * warp_size;
      if (r < here && at < accesses) kept[r][i] = __ldcs(x + static_cast<size_t>(r) * accesses + at);
    }
  }
  float scale[together];
#pragma unroll
  for (int r = 0; r < together; ++r) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < places; ++i) {
      if (r < here && lane + i * warp_size < accesses) sum += Row<T, Access>::squares(kept[r][i]);
    }
    scale[r] = scale_of(warp_sum(sum), cols, eps);
  }
#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int at = lane + i * warp_size;
    if (at >= accesses) break;
    const Access w = weight[at];
#pragma unroll
    for (int r = 0; r < together; ++r) {
      if (r < here) __stcs(y + static_cast<size_t>(r) * accesses + at, Row<T, Access>::scaled(kept[r][i], w, scale[r]));
    }
  }
}

// The sum over all threads of the `blocks` blocks that share a row, of which this is number `rank`. Every warp tells
// its sum to every block; after one barrier every warp adds up all sums for itself.
__device__ float row_sum(float mine, int blocks, int rank) {
  __shared__ float of_warp[most_blocks * warp_size];
  const int warps = blockDim.x / warp_size, lane = threadIdx.x % warp_size;
  const int place = rank * warps + threadIdx.x / warp_size;
  mine = warp_sum(mine);
  if (blocks == 1) {
    if (lane == 0) of_warp[place] = mine;
    __syncthreads();
  } else {
    cluster_wait();  // until all blocks have begun: before that they have no shared memory to write to
    if (lane < blocks) *in_block(of_warp + place, lane) = mine;
    cluster_arrive();
    cluster_wait();
  }
  float sum = 0.0f;
  for (int i = lane; i < blocks * warps; i += warp_size) sum += of_warp[i];
  return warp_sum(sum);
}

// A row belongs to `blocks` neighbouring blocks. Their threads keep the first `places` accesses each in registers and
// read what is beyond a second time.
template <typename T, typename Access, int places>
__global__ void __launch_bounds__(1024)
    block_kernel(const Access* __restrict__ x, const Access* __restrict__ weight, Access* __restrict__ y, int accesses,
                 float cols, float eps, int blocks) {
  const int rank = blockIdx.x % blocks, threads = blocks * blockDim.x, first = rank * blockDim.x + threadIdx.x;
  x += static_cast<size_t>(blockIdx.x / blocks) * accesses;
  y += static_cast<size_t>(blockIdx.x / blocks) * accesses;
  if (blocks > 1) cluster_arrive();  // I have begun: row_sum waits for the others
  wait_for_kernel_before();

  Access kept[places];
#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int at = first + i * threads;
    if (at < accesses) kept[i] = __ldcs(x + at);
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < places; ++i) {
    if (first + i * threads < accesses) sum += Row<T, Access>::squares(kept[i]);
  }
  for (int at = first + places * threads; at < accesses; at += threads) sum += Row<T, Access>::squares(x[at]);
  const float scale = scale_of(row_sum(sum, blocks, rank), cols, eps);

#pragma unroll
  for (int i = 0; i < places; ++i) {
    const int at = first + i * threads;
    if (at < accesses) __stcs(y + at, Row<T, Access>::scaled(kept[i], weight[at], scale));
  }
  for (int at = first + places * threads; at < accesses; at += threads)
    y[at] = Row<T, Access>::scaled(x[at], weight[at], scale);
}

struct Device {
  int processors;
  bool hopper;  // or later
};

cudaError_t ask(Device* device) {
  int number = 0, major = 0;
  cudaError_t error = cudaGetDevice(&number);
  if (!error) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number);
  if (!error) error = cudaDeviceGetAttribute(&device->processors, cudaDevAttrMultiProcessorCount, number);
  device->hopper = major >= 9;
  return error;
}

// How many blocks a row gets: more than one if one cannot keep it in registers, or if the rows leave half of the chip
// idle.
int blocks_of(int rows, int accesses, const Device& device) {
  int blocks = 1;
  const auto too_long = [&] { return accesses > blocks * 8 * 1024; };
  const auto idle = [&] { return accesses > blocks * 1024 && 2LL * rows * blocks <= device.processors; };
  while (device.hopper && blocks < most_blocks && (too_long() || idle())) blocks *= 2;
  return blocks;
}

template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), size_t grid, int threads, int blocks, const Device& device,
                   cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(grid));
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = !device.hopper ? 0 : blocks > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <typename T, typename Access>
cudaError_t launch_planned(const T* from, const T* weights, T* to, int rows, int cols, float eps, cudaStream_t stream) {
  const int accesses = cols / Row<T, Access>::elements;
  const Access* x = reinterpret_cast<const Access*>(from);
  const Access* weight = reinterpret_cast<const Access*>(weights);
  Access* y = reinterpret_cast<Access*>(to);
  const float width = static_cast<float>(cols);
  Device device;
  const cudaError_t error = ask(&device);
  if (error) return error;

  const auto by_warps = [&](auto kernel, int together) {
    constexpr int warps = 4;
    const int in_block = warps * together;
    return launch(kernel, (static_cast<size_t>(rows) + in_block - 1) / in_block, warps * warp_size, 1, device, stream,
                  x, weight, y, rows, accesses, width, eps);
  };
  if (accesses <= 1 * warp_size) return by_warps(warp_kernel<T, Access, 1, 2>, 2);
  if (accesses <= 2 * warp_size) return by_warps(warp_kernel<T, Access, 2, 2>, 2);
  if (accesses <= 4 * warp_size) return by_warps(warp_kernel<T, Access, 4, 1>, 1);

  const int blocks = blocks_of(rows, accesses, device), share = (accesses + blocks - 1) / blocks;
  const auto by_blocks = [&](auto kernel, int places) {
    const int threads = std::min(1024, (share + places * warp_size - 1) / (places * warp_size) * warp_size);
    return launch(kernel, static_cast<size_t>(rows) * blocks, threads, blocks, device, stream, x, weight, y, accesses,
                  width, eps, blocks);
  };
  if (share <= 4 * 1024) return by_blocks(block_kernel<T, Access, 4>, 4);
  return by_blocks(block_kernel<T, Access, 8>, 8);
}

template <typename T>
cudaError_t rms_norm(const T* x, const T* weight, T* y, int rows, int cols, float eps, cudaStream_t stream) {
  if (!x || !weight || !y || rows < 0 || cols <= 0) return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  if (cols % (16 / sizeof(T)) == 0) return launch_planned<T, uint4>(x, weight, y, rows, cols, eps, stream);
  return launch_planned<T, T>(x, weight, y, rows, cols, eps, stream);
}
// END 1

RUNG_EXPORT(rung::rms_norm("auto", rms_norm<float>), rung::rms_norm("auto", rms_norm<__half>),
            rung::rms_norm("auto", rms_norm<__nv_bfloat16>))
