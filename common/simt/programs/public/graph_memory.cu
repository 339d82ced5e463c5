// Graphs with nodes that allocate and free memory, record and wait for events, and repeat or leave out a graph of their
// own; and a captured stream that allocates.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

constexpr int count = 256;

__global__ void squares(int* out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; }
__global__ void total(const int* in, int* sum) {
  for (int i = threadIdx.x; i < count; i += 32) atomicAdd(sum, in[i]);
}
// Halves until it is 1; says whether it is to be called again.
__global__ void halve(int* x, int* steps, cudaGraphConditionalHandle again) {
  *x = *x % 2 ? 3 * *x + 1 : *x / 2;
  ++*steps;
  cudaGraphSetConditional(again, *x != 1);
}
__global__ void decide(const int* x, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, *x > 10); }

uint64_t used() {
  uint64_t bytes = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
  return bytes;
}

void allocates(int* sum, bool frees) {
  cudaGraph_t graph;
  cudaGraphNode_t memory, first, second, freed, record, wait;
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams allocation = {};
  allocation.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.poolProps.location.type = cudaMemLocationTypeDevice;
  allocation.bytesize = count * sizeof(int);
  CHECK(cudaGraphAddMemAllocNode(&memory, graph, nullptr, 0, &allocation));
  EXPECT(allocation.dptr);
  cudaKernelNodeParams kernel = {};
  void* of_squares[] = {&allocation.dptr};
  kernel.func = (void*)squares;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(count);
  kernel.kernelParams = of_squares;
  CHECK(cudaGraphAddKernelNode(&first, graph, &memory, 1, &kernel));
  CHECK(cudaGraphAddEventRecordNode(&record, graph, &first, 1, event));
  CHECK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));
  void* of_total[] = {&allocation.dptr, &sum};
  kernel.func = (void*)total;
  kernel.blockDim = dim3(32);
  kernel.kernelParams = of_total;
  CHECK(cudaGraphAddKernelNode(&second, graph, &wait, 1, &kernel));
  if (frees) CHECK(cudaGraphAddMemFreeNode(&freed, graph, &second, 1, allocation.dptr));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(memory, &type));
  EXPECT(type == cudaGraphNodeTypeMemAlloc);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(used() == 0);
  for (int launch = 0; launch < 2; launch++) {
    CHECK(cudaMemset(sum, 0, sizeof(int)));
    CHECK(cudaGraphLaunch(exec, nullptr));
    int found = 0;
    CHECK(cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(found == (count - 1) * count * (2 * count - 1) / 6);
    EXPECT(used() == (frees ? 0 : count * sizeof(int)));
    if (frees) continue;
    EXPECT(cudaGraphLaunch(exec, nullptr) == cudaErrorInvalidValue);  // what it has allocated is in use
    cudaGetLastError();
    CHECK(launch ? cudaFree(allocation.dptr) : cudaFreeAsync(allocation.dptr, nullptr));
    EXPECT(used() == 0);
  }
  CHECK(cudaGraphExecDestroy(exec));
  if (!frees) {
    CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int launch = 0; launch < 3; launch++) CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaGraphExecDestroy(exec));
  }
  CHECK(cudaGraphDestroy(graph));
  EXPECT(used() == 0);
  CHECK(cudaEventDestroy(event));
}

void captured(int* sum) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int* memory;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&memory, count * sizeof(int), stream));
  squares<<<1, count, 0, stream>>>(memory);
  CHECK(cudaMemsetAsync(sum, 0, sizeof(int), stream));
  total<<<1, 32, 0, stream>>>(memory, sum);
  CHECK(cudaFreeAsync(memory, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int launch = 0; launch < 3; launch++) {
    CHECK(cudaGraphLaunch(exec, stream));
    int found = 0;
    CHECK(cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(found == (count - 1) * count * (2 * count - 1) / 6);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

void conditions(int* x, int* steps) {
  cudaGraph_t graph;
  cudaGraphNode_t repeat, deciding, maybe, inside;
  cudaGraphConditionalHandle again, wanted;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
  CHECK(cudaGraphConditionalHandleCreate(&wanted, graph));
  cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};
  loop.conditional.handle = again;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  CHECK(cudaGraphAddNode(&repeat, graph, nullptr, 0, &loop));
  void* of_halve[] = {&x, &steps, &again};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)halve;
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = of_halve;
  CHECK(cudaGraphAddKernelNode(&inside, loop.conditional.phGraph_out[0], nullptr, 0, &kernel));
  void* of_decide[] = {&steps, &wanted};
  kernel.func = (void*)decide;
  kernel.kernelParams = of_decide;
  CHECK(cudaGraphAddKernelNode(&deciding, graph, &repeat, 1, &kernel));
  cudaGraphNodeParams once = {cudaGraphNodeTypeConditional};
  once.conditional.handle = wanted;
  once.conditional.type = cudaGraphCondTypeIf;
  once.conditional.size = 1;
  CHECK(cudaGraphAddNode(&maybe, graph, &deciding, 1, &once));
  const cudaMemsetParams set = {x, 0, 77, 4, 1, 1};
  CHECK(cudaGraphAddMemsetNode(&inside, once.conditional.phGraph_out[0], nullptr, 0, &set));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const int starts[] = {6, 7, 6}, lengths[] = {8, 16, 8};
  for (int launch = 0; launch < 3; launch++) {
    int found[2];
    CHECK(cudaMemcpy(x, &starts[launch], sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(steps, 0, sizeof(int)));
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaMemcpy(&found[0], x, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&found[1], steps, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(found[1] == lengths[launch]);
    EXPECT(found[0] == (lengths[launch] > 10 ? 77 : 1));
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  int *sum, *steps;
  CHECK(cudaMalloc(&sum, sizeof(int)));
  CHECK(cudaMalloc(&steps, sizeof(int)));
  allocates(sum, true);
  allocates(sum, false);
  captured(sum);
  conditions(sum, steps);
  CHECK(cudaFree(sum));
  CHECK(cudaFree(steps));
  std::puts("PASS");
  return 0;
}
