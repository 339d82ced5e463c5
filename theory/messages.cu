// A kernel for each message of messages.md, which shows both. `simtcc --check messages.cu -o messages && ./messages
// NAME` ends with the message. messages.py writes what it says into the page, and test_messages.py holds the page
// against it.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;

struct Example {
  const char* name;
  void (*run)();
  Example* next;
  static Example* first;
  Example(const char* name, void (*run)()) : name(name), run(run), next(first) { first = this; }
};
Example* Example::first = nullptr;

#define EXAMPLE(NAME)                            \
  static void NAME();                            \
  static Example NAME##_example = {#NAME, NAME}; \
  static void NAME()

// Device memory that nobody has written, and such that is all 0.
template <typename T = float>
T* unwritten(int n) {
  void* memory = nullptr;
  cudaMalloc(&memory, static_cast<size_t>(n) * sizeof(T));
  return static_cast<T*>(memory);
}
template <typename T = float>
T* zeros(int n) {
  T* memory = unwritten<T>(n);
  cudaMemset(memory, 0, static_cast<size_t>(n) * sizeof(T));
  return memory;
}

// ---- out_of_bounds_in_global_memory
__global__ void add_neighbour(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[i + 1];
}
EXAMPLE(out_of_bounds_in_global_memory) { add_neighbour<<<1, 128>>>(zeros(100), zeros(100), 100); }

// ---- out_of_bounds_in_shared_memory
__global__ void sum_of_warps(float* y) {
  __shared__ float sums[4];
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = sums[0];
}
EXAMPLE(out_of_bounds_in_shared_memory) { sum_of_warps<<<1, 256>>>(zeros(1)); }

// ---- misaligned_address_in_global_memory
__global__ void copy_packs(const float* x, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  reinterpret_cast<float4*>(y)[0] = *reinterpret_cast<const float4*>(row);
}
EXAMPLE(misaligned_address_in_global_memory) { copy_packs<<<2, 1>>>(zeros(66), zeros(66), 33); }

// ---- misaligned_address_in_shared_memory
__global__ void shared_pack(float4* y, int begin) {
  __shared__ __align__(16) float row[36];
  row[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = *reinterpret_cast<float4*>(row + begin);
}
EXAMPLE(misaligned_address_in_shared_memory) { shared_pack<<<1, 36>>>(zeros<float4>(1), 1); }

// ---- null_pointer
__global__ void store(float* y) { y[threadIdx.x] = 1; }
EXAMPLE(null_pointer) { store<<<1, 32>>>(nullptr); }

// ---- host_memory
__global__ void scale(float* x, const float* factor) { x[threadIdx.x] *= *factor; }
EXAMPLE(host_memory) {
  float factor = 2;
  scale<<<1, 32>>>(zeros(32), &factor);
}

// ---- invalid_address
__global__ void load_far(const float* x, float* y, long long at) { y[0] = x[at]; }
EXAMPLE(invalid_address) { load_far<<<1, 1>>>(zeros(1), zeros(1), 1ll << 45); }

// ---- freed_memory
__global__ void store_late(float* y) { y[threadIdx.x] = 1; }
EXAMPLE(freed_memory) {
  float* y = zeros(32);
  cudaFree(y);
  store_late<<<1, 32>>>(y);
}

// ---- local_memory_of_another_thread
__global__ void through_a_pointer(float* y) {
  __shared__ float* of_first;
  float mine = threadIdx.x;
  if (threadIdx.x == 0) of_first = &mine;
  __syncthreads();
  y[threadIdx.x] = *of_first;
}
EXAMPLE(local_memory_of_another_thread) { through_a_pointer<<<1, 32>>>(zeros(32)); }

// ---- write_to_constant_memory
__constant__ float factors[4];
__global__ void set_factor() { const_cast<float*>(factors)[threadIdx.x] = 1; }
EXAMPLE(write_to_constant_memory) { set_factor<<<1, 4>>>(); }

// ---- write_to_what_a_kernel_can_only_read
__global__ void move_on(float* y) {
  const_cast<unsigned&>(threadIdx.x) += 1;
  y[0] = threadIdx.x;
}
EXAMPLE(write_to_what_a_kernel_can_only_read) { move_on<<<1, 1>>>(zeros(1)); }

// ---- memory_of_another_device
__global__ void store_there(float* y) { y[threadIdx.x] = 1; }
EXAMPLE(memory_of_another_device) {
  cudaSetDevice(1);
  float* y = zeros(32);
  cudaSetDevice(0);
  store_there<<<1, 32>>>(y);
}

// ---- shared_memory_of_a_block_that_has_not_begun
__global__ void __cluster_dims__(2, 1, 1) read_too_early(int* y) {
  __shared__ int mine;
  mine = 1;
  int* other = cg::this_cluster().map_shared_rank(&mine, 1 - cg::this_cluster().block_rank());
  y[blockIdx.x] = *other;
  cg::this_cluster().sync();
}
EXAMPLE(shared_memory_of_a_block_that_has_not_begun) { read_too_early<<<2, 1>>>(zeros<int>(2)); }

// ---- shared_memory_of_a_block_that_has_ended
__global__ void __cluster_dims__(2, 1, 1) read_too_late(int* y) {
  __shared__ int mine;
  mine = 1;
  cg::this_cluster().sync();
  int* other = cg::this_cluster().map_shared_rank(&mine, 1 - cg::this_cluster().block_rank());
  y[blockIdx.x] = *other;
}
EXAMPLE(shared_memory_of_a_block_that_has_ended) { read_too_late<<<2, 1>>>(zeros<int>(2)); }

// ---- race_in_shared_memory
__global__ void reverse(float* y) {
  __shared__ float row[64];
  row[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = row[63 - threadIdx.x];
}
EXAMPLE(race_in_shared_memory) { reverse<<<1, 64>>>(zeros(64)); }

// ---- race_in_global_memory
__global__ void count_all(int* count) { *count += 1; }
EXAMPLE(race_in_global_memory) { count_all<<<1, 64>>>(zeros<int>(1)); }

// ---- divergent_barrier
__global__ void two_barriers(float* y) {
  if (threadIdx.x < 32) {
    y[threadIdx.x] = 1;
    __syncthreads();
  } else {
    y[threadIdx.x] = 2;
    __syncthreads();
  }
}
EXAMPLE(divergent_barrier) { two_barriers<<<1, 64>>>(zeros(64)); }

// ---- divergent_warp_operation
__global__ void halves_shuffle(float* y) {
  float value = threadIdx.x;
  if (threadIdx.x < 16)
    value += __shfl_xor_sync(~0u, value, 1);
  else
    __syncwarp();
  y[threadIdx.x] = value;
}
EXAMPLE(divergent_warp_operation) { halves_shuffle<<<1, 32>>>(zeros(32)); }

// ---- caller_outside_the_mask
__global__ void half_mask(float* y) {
  y[threadIdx.x] = __shfl_xor_sync(0x0000ffff, static_cast<float>(threadIdx.x), 1);
}
EXAMPLE(caller_outside_the_mask) { half_mask<<<1, 32>>>(zeros(32)); }

// ---- shuffle_from_a_lane_outside_the_mask
__global__ void from_the_other_half(float* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_xor_sync(0x0000ffff, static_cast<float>(threadIdx.x), 16);
}
EXAMPLE(shuffle_from_a_lane_outside_the_mask) { from_the_other_half<<<1, 32>>>(zeros(32)); }

// ---- shuffle_from_a_lane_that_has_left
__global__ void sum_of_lanes(float* y, int n) {
  if (threadIdx.x >= n) return;
  float sum = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  y[threadIdx.x] = sum;
}
EXAMPLE(shuffle_from_a_lane_that_has_left) { sum_of_lanes<<<1, 32>>>(zeros(32), 20); }

// ---- shuffle_from_a_lane_that_does_not_exist
__global__ void sum_of_a_warp(float* y) {
  float sum = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  y[threadIdx.x] = sum;
}
EXAMPLE(shuffle_from_a_lane_that_does_not_exist) { sum_of_a_warp<<<64, 7>>>(zeros(32)); }

// ---- a_warp_operation_waits_for_a_lane
__global__ void some_lanes_loop(float* y, int cols) {
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += __shfl_xor_sync(~0u, static_cast<float>(c), 1);
  __syncthreads();
  y[threadIdx.x] = sum;
}
EXAMPLE(a_warp_operation_waits_for_a_lane) { some_lanes_loop<<<1, 32>>>(zeros(32), 40); }

// ---- deadlock
__global__ void half_a_barrier(float* y) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
  __syncthreads();
  y[threadIdx.x] = 1;
}
EXAMPLE(deadlock) { half_a_barrier<<<1, 64>>>(zeros(64)); }

// ---- grid_sync_in_an_ordinary_launch
__global__ void two_phases(float* y) {
  y[blockIdx.x] = 1;
  cg::this_grid().sync();
}
EXAMPLE(grid_sync_in_an_ordinary_launch) { two_phases<<<2, 1>>>(zeros(2)); }

// ---- map_of_what_is_not_shared
__global__ void __cluster_dims__(2, 1, 1) map_global(float* y) { *cg::this_cluster().map_shared_rank(y, 1) = 1; }
EXAMPLE(map_of_what_is_not_shared) { map_global<<<2, 1>>>(zeros(1)); }

// ---- uninitialised_shared_memory
__global__ void row_with_a_hole(float* y, int cols) {
  __shared__ float row[64];
  for (int c = threadIdx.x; c < cols - 1; c += blockDim.x) row[c] = c;
  __syncthreads();
  y[threadIdx.x] = row[threadIdx.x];
}
EXAMPLE(uninitialised_shared_memory) { row_with_a_hole<<<1, 64>>>(zeros(64), 64); }

// ---- uninitialised_global_memory
__global__ void add_to(float* sum) { sum[threadIdx.x] += 1; }
EXAMPLE(uninitialised_global_memory) { add_to<<<1, 32>>>(unwritten(32)); }

// ---- stack_overflow
__device__ int depth(int n) {
  volatile int frame[1024];
  frame[n % 1024] = n;
  return n == 0 ? 0 : depth(n - 1) + frame[n % 1024];
}
__global__ void recurse(int* y, int n) { y[0] = depth(n); }
EXAMPLE(stack_overflow) { recurse<<<1, 1>>>(zeros<int>(1), 1 << 20); }

// ---- integer_division_by_zero
__global__ void divide(int* y, int by) { y[0] = 7 / by; }
EXAMPLE(integer_division_by_zero) { divide<<<1, 1>>>(zeros<int>(1), 0); }

// ---- trap
__global__ void give_up() { __trap(); }
EXAMPLE(trap) { give_up<<<1, 1>>>(); }

// ---- host_code_touches_device_memory
EXAMPLE(host_code_touches_device_memory) {
  float* x = zeros(4);
  x[0] = 1;
}

// ---- too_many_threads
__global__ void one_row(float* y) { y[threadIdx.x] = 1; }
EXAMPLE(too_many_threads) { one_row<<<1, 2048>>>(zeros(2048)); }

// ---- a_grid_of_zero_blocks
__global__ void an_element_each(float* y) { y[threadIdx.x] = 1; }
EXAMPLE(a_grid_of_zero_blocks) { an_element_each<<<100 / 256, 256>>>(zeros(100)); }

// ---- a_grid_that_is_too_high
__global__ void a_block_per_row(float* y) { y[threadIdx.x] = 1; }
EXAMPLE(a_grid_that_is_too_high) { a_block_per_row<<<dim3(1, 70000), 32>>>(zeros(32)); }

// ---- more_threads_than_launch_bounds
__global__ void __launch_bounds__(128) small_blocks(float* y) { y[threadIdx.x] = 1; }
EXAMPLE(more_threads_than_launch_bounds) { small_blocks<<<1, 256>>>(zeros(256)); }

// ---- shared_memory_not_asked_for
extern __shared__ float whole_row[];
__global__ void keep_row(float* y) { y[0] = whole_row[0] = 1; }
EXAMPLE(shared_memory_not_asked_for) { keep_row<<<1, 32, 64000>>>(zeros(1)); }

// ---- more_shared_memory_than_allowed
__global__ void keep_two_rows(float* y) { y[0] = whole_row[0] = 1; }
EXAMPLE(more_shared_memory_than_allowed) {
  cudaFuncSetAttribute(keep_two_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, 64000);
  keep_two_rows<<<1, 32, 2 * 64000>>>(zeros(1));
}

// ---- static_and_dynamic_together
__global__ void row_and_scratch(float* y) {
  __shared__ float scratch[1024];
  scratch[threadIdx.x] = whole_row[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = scratch[31 - threadIdx.x];
}
EXAMPLE(static_and_dynamic_together) { row_and_scratch<<<1, 32, 48 * 1024>>>(zeros(32)); }

// ---- more_than_a_block_can_have
__global__ void keep_everything(float* y) { y[0] = whole_row[0] = 1; }
EXAMPLE(more_than_a_block_can_have) { keep_everything<<<1, 32, 50257 * 8>>>(zeros(1)); }

// ---- a_cooperative_launch_that_is_too_large
__global__ void all_at_once(float* y) {
  cg::this_grid().sync();
  y[0] = 1;
}
EXAMPLE(a_cooperative_launch_that_is_too_large) {
  float* y = zeros(1);
  void* arguments[] = {&y};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(all_at_once), 100000, 256, arguments);
}

// ---- a_grid_that_clusters_do_not_fill
__global__ void __cluster_dims__(4, 1, 1) in_fours(float* y) { y[blockIdx.x] = 1; }
EXAMPLE(a_grid_that_clusters_do_not_fill) { in_fours<<<6, 32>>>(zeros(6)); }

// ---- a_cluster_that_is_too_large
__global__ void __cluster_dims__(16, 1, 1) in_sixteens(float* y) { y[blockIdx.x] = 1; }
EXAMPLE(a_cluster_that_is_too_large) { in_sixteens<<<16, 32>>>(zeros(16)); }

// ---- too_much_shared_memory
__global__ void keep_long_row(float* y) { y[0] = whole_row[0] = 1; }
EXAMPLE(too_much_shared_memory) {
  cudaFuncSetAttribute(keep_long_row, cudaFuncAttributeMaxDynamicSharedMemorySize, 50257 * 8);
}

// ---- end

int main(int argc, char** argv) {
  for (Example* each = Example::first; each; each = each->next) {
    if (argc != 2) std::printf("%s\n", each->name);
    if (argc != 2 || std::strcmp(each->name, argv[1])) continue;
    each->run();
    cudaDeviceSynchronize();
    return 0;
  }
  return argc == 2;
}
