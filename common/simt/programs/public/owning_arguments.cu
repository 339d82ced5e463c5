// Objects that own memory and convert to the pointer that a kernel takes: the object itself converts, not a copy of it.
#include <cstdio>

static int wrong = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;                                                          \
    }                                                                   \
  } while (0)

// Cannot be copied; converts only where it is not const.
template <typename T>
class Buffer {
 public:
  explicit Buffer(int count) { cudaMalloc(&items_, count * sizeof(T)); }
  Buffer(const Buffer&) = delete;
  ~Buffer() { cudaFree(items_); }
  operator T*() { return items_; }

 private:
  T* items_;
};

// A copy has memory of its own.
struct Copied {
  int* items;
  int count;
  explicit Copied(int n) : count(n) { cudaMalloc(&items, n * sizeof(int)); }
  Copied(const Copied& other) : Copied(other.count) {
    cudaMemcpy(items, other.items, count * sizeof(int), cudaMemcpyDeviceToDevice);
  }
  ~Copied() { cudaFree(items); }
  operator int*() const { return items; }
};

struct Factor {
  float value;
  operator float() { return value; }
};

__global__ void scaled(int* to, float factor) { to[threadIdx.x] = static_cast<int>(threadIdx.x * factor); }

template <typename T>
__global__ void add(const T* from, T* to, T more = T(1)) {
  to[threadIdx.x] += from[threadIdx.x] + more;
}

int main() {
  const int n = 32;
  Buffer<int> buffer(n);
  Copied copied(n);
  Factor two{2};
  scaled<<<1, n>>>(buffer, two);
  scaled<<<1, n>>>(copied, 3);
  add<int><<<1, n>>>(buffer, copied, 5);
  int items[n];
  EXPECT(cudaMemcpy(items, copied, sizeof items, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < n; i++) EXPECT(items[i] == 5 * i + 5);
  void* arguments[] = {&copied.items, &two.value};
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = n;
  EXPECT(cudaLaunchKernelExC(&config, (void*)scaled, arguments) == cudaSuccess);
  EXPECT(cudaMemcpy(items, copied, sizeof items, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < n; i++) EXPECT(items[i] == 2 * i);
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
