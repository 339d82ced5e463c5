// Classes whose copies and destructors do something, as arguments: CUDA by Example's Lock, whose destructor frees, and
// the string of NVIDIA's "Unified Memory in CUDA 6", whose copy allocates. A launch copies bytes; the host alone
// constructs and destroys, once per argument.
#include <cstdio>
#include <cstring>

static int wrong = 0;
static void expect(bool is_right, const char* what) {
  if (!is_right) printf("FAIL %s\n", what), wrong++;
}

static int copies = 0, destroyed = 0;
struct Lock {
  int* mutex;
  bool frees = false;
  Lock() {
    cudaMalloc(&mutex, sizeof(int));
    cudaMemset(mutex, 0, sizeof(int));
  }
  Lock(const Lock& other) : mutex(other.mutex), frees(true) { copies++; }
  ~Lock() {
    destroyed++;
    if (frees) cudaFree(mutex);
  }
  __device__ void lock() {
    while (atomicCAS(mutex, 0, 1) != 0)
      ;
    __threadfence();
  }
  __device__ void unlock() {
    __threadfence();
    atomicExch(mutex, 0);
  }
};

struct Text {
  char* data;
  Text(const char* from) { make(from); }
  Text(const Text& other) { make(other.data); }
  ~Text() { cudaFree(data); }
  void make(const char* from) {
    cudaMallocManaged(&data, strlen(from) + 1);
    strcpy(data, from);
  }
};

// The kernel's own copy: what it assigns is seen by no other thread.
__global__ void count(Lock lock, int* sum, int step) {
  if (threadIdx.x == 0) {
    lock.lock();
    *(volatile int*)sum = *(volatile int*)sum + step;
    lock.unlock();
  }
  lock.mutex = nullptr;
}
template <typename T>
__global__ void count_type(const Lock lock, T* sum, T step) {
  if (threadIdx.x == 0) atomicAdd(sum, step + *lock.mutex);
}
__global__ void lengths(Text text, int* out) {
  int n = 0;
  while (text.data[n]) n++;
  out[threadIdx.x] = n;
}

#define THROUGH(kernel, ...) \
  if (true) kernel __VA_ARGS__

int main() {
  int *sum, expected = 0;
  cudaMallocManaged(&sum, sizeof(int) * 32);
  memset(sum, 0, sizeof(int) * 32);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const auto is_right = [&](const char* what) {
    cudaDeviceSynchronize();
    expect(cudaGetLastError() == cudaSuccess, what);
    expect(*sum == (expected += 8), what);
    expect(copies == 1 && destroyed == 1, "one copy, destroyed once");
    copies = destroyed = 0;
  };
  static Lock a, b, c, d, e, f, g;
  count<<<8, 64>>>(a, sum, 1);
  is_right("a launch");
  count<<<8, 64, 0, stream>>>(b, sum, 1);
  is_right("on a stream");
  count_type<<<8, 64>>>(c, sum, 1);
  is_right("a template");
  void (*chosen)(Lock, int*, int) = count;
  chosen<<<8, 64>>>(d, sum, 1);
  is_right("a function pointer");
  THROUGH(count, <<<8, 64>>>(e, sum, 1));
  is_right("a macro");

  int step = 1;
  void* arguments[] = {&f, &sum, &step};
  cudaLaunchKernel((void*)count, dim3(8), dim3(64), arguments, 0, stream);
  cudaDeviceSynchronize();
  expect(*sum == (expected += 8) && copies == 0 && destroyed == 0, "cudaLaunchKernel copies bytes");
  cudaLaunchConfig_t config = {};
  config.gridDim = 8, config.blockDim = 64, config.stream = stream;
  cudaLaunchKernelEx(&config, count, g, sum, 1);
  is_right("cudaLaunchKernelEx");

  // What is captured is launched later, so the memory must live until then.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  f.frees = false;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaLaunchKernel((void*)count, dim3(8), dim3(64), arguments, 0, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  expect(*sum == (expected += 24) && copies == 0 && destroyed == 0, "a graph, launched three times");
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  expect(destroyed == 0, "a graph holds bytes");

  const Text text = "unified";
  lengths<<<1, 32>>>(text, sum);
  lengths<<<1, 32>>>("memory", sum);  // converted
  cudaDeviceSynchronize();
  expect(sum[0] == 6 && sum[31] == 6, "a converted argument");
  cudaFree(sum);
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
