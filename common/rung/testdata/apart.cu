// A rung for test_apart.cpp: what host code and kernels may do with each other's memory, and what they may not. y = 2 x
// where nothing else is said.
#include <cstring>
#include <vector>

#include "rung.h"

namespace {

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

cudaError_t copy_twice(const float* x, float* y, int n) {
  twice<<<(n + 127) / 128, 128>>>(x, y, n);
  return cudaGetLastError();
}

// ---- What neither a GPU allows -------------------------------------------------------------------

cudaError_t host_reads(const float* x, float* y, int rows, int cols, cudaStream_t) {
  std::vector<float> copy(rows * cols);
  for (int i = 0; i < rows * cols; i++) copy[i] = x[i];  // the host reads
  return copy_twice(copy.data(), y, rows * cols);
}

cudaError_t host_writes(const float*, float* y, int, int, cudaStream_t) {
  y[0] = 1;  // the host writes
  return cudaSuccess;
}

cudaError_t kernel_writes_stack(const float* x, float* y, int rows, int cols, cudaStream_t) {
  float own[64] = {};
  twice<<<1, 128>>>(x, own, rows * cols);
  return cudaMemcpy(y, own, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
}

float global[64];
cudaError_t kernel_writes_global(const float* x, float* y, int rows, int cols, cudaStream_t) {
  twice<<<1, 128>>>(x, global, rows * cols);
  return cudaMemcpy(y, global, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
}

__global__ void writes_and_reads_it(const float* x, float* y, int n, bool write) {
  const int i = threadIdx.x;
  if (i >= n) return;
  if (write)
    global[i] = 2 * x[i];
  else
    y[i] = global[i];
}
// The kernel's `global` is not the host's.
cudaError_t one_name_two_variables(const float* x, float* y, int rows, int cols, cudaStream_t) {
  writes_and_reads_it<<<1, 64>>>(x, y, rows * cols, true);
  for (float& value : global) value++;
  writes_and_reads_it<<<1, 64>>>(x, y, rows * cols, false);
  return cudaGetLastError();
}

cudaError_t frees_its_input(const float* x, float*, int, int, cudaStream_t) { return cudaFree(const_cast<float*>(x)); }

cudaError_t copies_too_much(const float*, float* y, int, int, cudaStream_t) {
  static const std::vector<char> much(1 << 20);
  return cudaMemcpy(y, much.data(), much.size(), cudaMemcpyHostToDevice);
}

cudaError_t copies_the_workers_memory(const float*, float*, int, int, cudaStream_t) {
  char byte;
  return cudaMemcpy(&byte, reinterpret_cast<const void*>(&cudaGetErrorName), 1, cudaMemcpyDeviceToHost);
}

cudaError_t launches_half_a_function(const float*, float*, int, int, cudaStream_t) {
  const auto middle = reinterpret_cast<void (*)(const void*)>(reinterpret_cast<char*>(&host_reads) + 1);
  const int nothing = 0;
  return simt::launch({1, 1}, {"nothing", nullptr, middle, &nothing, sizeof nothing});
}

__global__ void calls_the_host(const float* x, float* y, int n) {
  strncpy(reinterpret_cast<char*>(y), reinterpret_cast<const char*>(x), n);  // a call of the host
  y[0] = 1;
}
cudaError_t kernel_calls_host(const float* x, float* y, int rows, int cols, cudaStream_t) {
  calls_the_host<<<1, 1>>>(x, y, rows * cols);
  return cudaGetLastError();
}

// ---- What a GPU allows -----------------------------------------------------------------------------

cudaError_t good(const float* x, float* y, int rows, int cols, cudaStream_t) { return copy_twice(x, y, rows * cols); }

struct Buffer {
  float* data = nullptr;
  explicit Buffer(size_t count) { cudaMalloc(&data, count * sizeof(float)); }
  ~Buffer() { cudaFree(data); }
};

// The result goes to the host and back.
cudaError_t by_way_of_the_host(const float* x, float* y, int rows, int cols, cudaStream_t) {
  std::vector<float> copy(rows * cols);
  const size_t bytes = copy.size() * sizeof(float);
  const Buffer device(copy.size());
  copy_twice(x, device.data, rows * cols);
  cudaMemcpy(copy.data(), device.data, bytes, cudaMemcpyDeviceToHost);
  return cudaMemcpy(y, copy.data(), bytes, cudaMemcpyDefault);
}

// The host looks at the result when all is done.
cudaError_t looked_at(const float* x, float* y, int rows, int cols, cudaStream_t) {
  const cudaError_t error = copy_twice(x, y, rows * cols);
  std::vector<float> copy(rows * cols);
  cudaMemcpy(copy.data(), y, copy.size() * sizeof(float), cudaMemcpyDefault);
  return copy[0] == 2 ? error : cudaErrorUnknown;
}

__global__ void raise(int* flag) { *flag = 7; }
cudaError_t reads_a_flag(const float* x, float* y, int rows, int cols, cudaStream_t) {
  int flag = 0;
  const Buffer device(1);
  raise<<<1, 1>>>(reinterpret_cast<int*>(device.data));
  cudaMemcpy(&flag, device.data, sizeof flag, cudaMemcpyDeviceToHost);
  return flag == 7 ? copy_twice(x, y, rows * cols) : cudaErrorUnknown;
}

cudaError_t managed_for_both(const float* x, float* y, int rows, int cols, cudaStream_t) {
  float* shared = nullptr;
  const int n = rows * cols;
  cudaMallocManaged(&shared, 5000 * sizeof(float));
  shared[4999] = 1;
  copy_twice(x, shared, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) shared[i] *= 0.5f * shared[4999];
  const cudaError_t error = copy_twice(shared, y, n);
  cudaDeviceSynchronize();
  cudaFree(shared);
  return error;
}

cudaError_t pinned_for_kernels(const float* x, float* y, int rows, int cols, cudaStream_t) {
  float* scratch = nullptr;
  const int n = rows * cols;
  cudaMallocHost(&scratch, n * sizeof(float));
  copy_twice(x, scratch, n);
  const cudaError_t error = cudaMemcpy(y, scratch, n * sizeof(float), cudaMemcpyDefault);
  cudaFreeHost(scratch);
  return error;
}

__constant__ float factor[2];
__device__ float offset;
__global__ void scale(const float* x, float* y, const float* shift, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = factor[1] * x[i] + offset + *shift;
}
cudaError_t symbols(const float* x, float* y, int rows, int cols, cudaStream_t) {
  const float two = 2, one = 1;
  float back = 0, *shift = nullptr;
  cudaMemcpyToSymbol(factor, &two, sizeof two, sizeof two);
  cudaMemcpyToSymbol(offset, &one, sizeof one);
  cudaMemcpyFromSymbol(&back, offset, sizeof back);
  cudaGetSymbolAddress(&shift, offset);
  if (back != 1) return cudaErrorUnknown;
  cudaMemset(shift, 0, sizeof(float));
  scale<<<1, 64>>>(x, y, shift, rows * cols);
  return cudaGetLastError();
}

struct Large {
  float values[1000];
};
__global__ void from_argument(Large large, float* y, int n) {
  if (static_cast<int>(threadIdx.x) < n) y[threadIdx.x] = large.values[threadIdx.x];
}
cudaError_t large_argument(const float*, float* y, int rows, int cols, cudaStream_t) {
  Large large;
  for (int i = 0; i < rows * cols; i++) large.values[i] = 2.0f * static_cast<float>(i + 1);
  from_argument<<<1, 64>>>(large, y, rows * cols);
  return cudaGetLastError();
}

cudaError_t kernel_in_a_variable(const float* x, float* y, int rows, int cols, cudaStream_t) {
  void (*kernels[2])(const float*, float*, int) = {nullptr, twice};
  const auto kernel = kernels[rows > 0];
  kernel<<<1, 64>>>(x, y, rows * cols);
  return cudaGetLastError();
}

__device__ float* boxes[64];
__global__ void fill_boxes(const float* x, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  boxes[i] = static_cast<float*>(malloc(sizeof(float)));
  *boxes[i] = 2 * x[i];
}
__global__ void empty_boxes(float* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  y[i] = *boxes[i];
  free(boxes[i]);
}
cudaError_t kernel_allocates(const float* x, float* y, int rows, int cols, cudaStream_t) {
  fill_boxes<<<1, 64>>>(x, rows * cols);
  empty_boxes<<<1, 64>>>(y, rows * cols);
  return cudaGetLastError();
}

__global__ void by_frexp(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  int exponent;
  const float fraction = frexpf(x[i], &exponent);
  y[i] = ldexpf(fraction, exponent + 1);
  printf(i == 0 ? "%d is the first\n" : "", i);
}
cudaError_t mathematics(const float* x, float* y, int rows, int cols, cudaStream_t) {
  by_frexp<<<1, 64>>>(x, y, rows * cols);
  return cudaGetLastError();
}

// A conversion that glibc has and CUDA lacks does not hide another one that writes. Not const: a compiler would warn of
// it.
__device__ char writing[] = "%m%n";
__global__ void writes_by_printf(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  y[i] = 2 * x[i];
  if (printf(writing, y + i) != -1) y[i] = 0;
}
cudaError_t printf_writes_nothing(const float* x, float* y, int rows, int cols, cudaStream_t) {
  writes_by_printf<<<1, 64>>>(x, y, rows * cols);
  return cudaGetLastError();
}

__global__ void prints_what_it_lacks(const float* x, float* y, int n) {
  y[0] = printf("%.4s\n", reinterpret_cast<const char*>(x + n));  // one after the last
}
cudaError_t prints_past_the_end(const float* x, float* y, int rows, int cols, cudaStream_t) {
  prints_what_it_lacks<<<1, 1>>>(x, y, rows * cols);
  return cudaGetLastError();
}

// Made before any call, by a constructor: of the host, which has used the device for it.
struct AtLoad {
  float* scratch = nullptr;
  AtLoad() {
    cudaMalloc(&scratch, 4);
    raise<<<1, 1>>>(reinterpret_cast<int*>(scratch));
    cudaMemcpyToSymbol(offset, scratch, 4, 0, cudaMemcpyDeviceToDevice);
  }
} at_load;
__global__ void if_raised(const float* x, float* y, int n, const int* flag) {
  const int i = threadIdx.x;
  if (i < n) y[i] = *flag == 7 ? 2 * x[i] : 0;
}
cudaError_t constructed(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if_raised<<<1, 64>>>(x, y, rows * cols, reinterpret_cast<const int*>(at_load.scratch));
  return cudaGetLastError();
}

// Addresses of shared memory are 32-bit numbers in PTX, where a rung's own arrays are, too.
__global__ void by_bulk_copies(const float* x, float* y, int n) {
  __shared__ alignas(16) float part[64];
  __shared__ unsigned long long came;
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&came));
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(part));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], %1; }" ::"r"(barrier), "r"(4 * n)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(__cvta_generic_to_global(x)), "r"(4 * n), "r"(barrier)
                 : "memory");
  }
  __syncthreads();
  for (int passed = 0; !passed;)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : "r"(barrier)
                 : "memory");
  const int i = threadIdx.x;
  if (i < n) y[i] = 2 * *static_cast<const float*>(__cvta_shared_to_generic(to + 4 * i));
}
cudaError_t bulk_copies(const float* x, float* y, int rows, int cols, cudaStream_t) {
  by_bulk_copies<<<1, 64>>>(x, y, rows * cols);
  return cudaGetLastError();
}

}  // namespace

RUNG_EXPORT(rung::softmax("host_reads", host_reads), rung::softmax("host_writes", host_writes),
            rung::softmax("kernel_writes_stack", kernel_writes_stack),
            rung::softmax("kernel_writes_global", kernel_writes_global),
            rung::softmax("one_name_two_variables", one_name_two_variables),
            rung::softmax("frees_its_input", frees_its_input), rung::softmax("copies_too_much", copies_too_much),
            rung::softmax("copies_the_workers_memory", copies_the_workers_memory),
            rung::softmax("launches_half_a_function", launches_half_a_function),
            rung::softmax("kernel_calls_host", kernel_calls_host), rung::softmax("good", good),
            rung::softmax("by_way_of_the_host", by_way_of_the_host), rung::softmax("looked_at", looked_at),
            rung::softmax("reads_a_flag", reads_a_flag), rung::softmax("managed_for_both", managed_for_both),
            rung::softmax("pinned_for_kernels", pinned_for_kernels), rung::softmax("symbols", symbols),
            rung::softmax("large_argument", large_argument),
            rung::softmax("kernel_in_a_variable", kernel_in_a_variable),
            rung::softmax("kernel_allocates", kernel_allocates), rung::softmax("mathematics", mathematics),
            rung::softmax("printf_writes_nothing", printf_writes_nothing),
            rung::softmax("prints_past_the_end", prints_past_the_end), rung::softmax("constructed", constructed),
            rung::softmax("bulk_copies", bulk_copies))
