// Graphs that are built by hand, captured over several streams, and updated.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "testing.h"

namespace {

__global__ void add(int* to, int number) { to[threadIdx.x] += number; }
__global__ void twice(int* to) { to[threadIdx.x] *= 2; }
template <typename T>
__global__ void copy_item(T* to, const T* from, int item) {
  if (threadIdx.x == 0) to[0] = from[item];
}

int* device_ints(int value) {
  int* data = nullptr;
  cudaMalloc(&data, 32 * sizeof(int));
  for (int i = 0; i < 32; i++) data[i] = value;
  return data;
}

void CUDART_CB count_up(void* counter) { ++*static_cast<int*>(counter); }

cudaKernelNodeParams kernel_node(simt::KernelAddress kernel, void** arguments) {
  cudaKernelNodeParams node = {};
  node.func = kernel;
  node.gridDim = 1;
  node.blockDim = 32;
  node.kernelParams = arguments;
  return node;
}

struct Graph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  Graph() { REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess); }
  void instantiate() { REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess); }
  void launch() { REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess); }
  ~Graph() {
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }
};

}  // namespace

TEST_CASE("nodes of every kind run in the order of what they wait for") {
  int* const data = device_ints(1);
  int host[32] = {}, calls = 0, number = 5, item = 3;
  for (int i = 0; i < 32; i++) host[i] = i;
  Graph graph;
  cudaGraphNode_t doubled, added, copied, called, set, picked, joined;
  int* pointer = data;
  int* out = device_ints(0);
  void* of_twice[] = {&pointer};
  void* of_add[] = {&pointer, &number};
  void* of_pick[] = {&out, &pointer, &item};
  // Added first, runs after the others.
  cudaKernelNodeParams node = kernel_node(twice, of_twice);
  REQUIRE(cudaGraphAddKernelNode(&doubled, graph.graph, nullptr, 0, &node) == cudaSuccess);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, sizeof host, 32, 1);
  copy.dstPtr = make_cudaPitchedPtr(data, sizeof host, 32, 1);
  copy.extent = make_cudaExtent(sizeof host, 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  REQUIRE(cudaGraphAddMemcpyNode(&copied, graph.graph, nullptr, 0, &copy) == cudaSuccess);
  node = kernel_node(add, of_add);
  REQUIRE(cudaGraphAddKernelNode(&added, graph.graph, &copied, 1, &node) == cudaSuccess);
  number = 100;  // the node has its copy
  REQUIRE(cudaGraphAddDependencies(graph.graph, &added, &doubled, 1) == cudaSuccess);
  cudaMemsetParams fill = {data + 30, 0, 7, sizeof(int), 2, 1};
  REQUIRE(cudaGraphAddMemsetNode(&set, graph.graph, &doubled, 1, &fill) == cudaSuccess);
  cudaHostNodeParams call = {count_up, &calls};
  REQUIRE(cudaGraphAddHostNode(&called, graph.graph, &set, 1, &call) == cudaSuccess);
  node = kernel_node(copy_item<int>, of_pick);
  REQUIRE(cudaGraphAddKernelNode(&picked, graph.graph, &doubled, 1, &node) == cudaSuccess);
  const cudaGraphNode_t both[] = {called, picked};
  REQUIRE(cudaGraphAddEmptyNode(&joined, graph.graph, both, 2) == cudaSuccess);
  cudaGraphNode_t back;
  REQUIRE(cudaGraphAddMemcpyNode1D(&back, graph.graph, &joined, 1, host, out, 4, cudaMemcpyDeviceToHost) ==
          cudaSuccess);
  graph.instantiate();
  REQUIRE(calls == 0);
  graph.launch();
  REQUIRE(data[4] == (4 + 5) * 2);
  REQUIRE(data[31] == 7);
  REQUIRE(calls == 1);
  REQUIRE(host[0] == (3 + 5) * 2);

  size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph.graph, nullptr, &count) == cudaSuccess);
  REQUIRE(count == 8);
  cudaGraphNode_t roots[8];
  REQUIRE(cudaGraphGetRootNodes(graph.graph, roots, &count) == cudaSuccess);
  REQUIRE(count == 1);
  REQUIRE(roots[0] == copied);
  cudaGraphNodeType type = cudaGraphNodeTypeKernel;
  REQUIRE(cudaGraphNodeGetType(called, &type) == cudaSuccess);
  REQUIRE(type == cudaGraphNodeTypeHost);

  // Of the executable graph alone.
  int more = 20;
  void* changed[] = {&pointer, &more};
  node = kernel_node(add, changed);
  REQUIRE(cudaGraphExecKernelNodeSetParams(graph.exec, added, &node) == cudaSuccess);
  REQUIRE(cudaGraphExecKernelNodeSetParams(graph.exec, called, &node) == cudaErrorInvalidValue);
  graph.launch();
  REQUIRE(data[4] == (4 + 20) * 2);
  cudaGraph_t clone = nullptr;
  cudaGraphExec_t of_clone = nullptr;
  cudaGraphNode_t in_clone = nullptr;
  REQUIRE(cudaGraphClone(&clone, graph.graph) == cudaSuccess);
  REQUIRE(cudaGraphNodeFindInClone(&in_clone, called, clone) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&of_clone, clone, 0) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(clone) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(of_clone, nullptr) == cudaSuccess);
  REQUIRE(data[4] == (4 + 5) * 2);
  cudaGraphExecDestroy(of_clone);
  cudaGetLastError();
  cudaFree(data);
  cudaFree(out);
}

TEST_CASE("what no graph can be") {
  int* data = device_ints(1);
  int number = 1;
  void* arguments[] = {&data, &number};
  Graph graph, other;
  cudaGraphNode_t a, b, c;
  cudaKernelNodeParams node = kernel_node(add, arguments);
  REQUIRE(cudaGraphAddKernelNode(&a, graph.graph, nullptr, 0, &node) == cudaSuccess);
  REQUIRE(cudaGraphAddKernelNode(&b, graph.graph, &a, 1, &node) == cudaSuccess);
  REQUIRE(cudaGraphAddKernelNode(&c, other.graph, &a, 1, &node) == cudaErrorInvalidValue);
  REQUIRE(cudaGraphAddDependencies(graph.graph, &a, &b, 1) == cudaErrorInvalidValue);  // there already
  node.func = static_cast<const void*>(data);
  REQUIRE(cudaGraphAddKernelNode(&c, graph.graph, nullptr, 0, &node) == cudaErrorInvalidValue);
  REQUIRE(cudaGraphAddDependencies(graph.graph, &b, &a, 1) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&graph.exec, graph.graph, 0) == cudaErrorInvalidValue);  // a circle
  cudaGetLastError();
  cudaFree(data);
}

namespace {

// Two streams, and a capture that goes from the first to the second and, if it is joined, back.
struct Forked {
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  int *data = device_ints(1), *other = device_ints(1), calls = 0;
  Forked() {
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
  }
  ~Forked() {
    cudaGetLastError();
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaFree(data);
    cudaFree(other);
  }
  void capture(int number, bool joined = true) {
    REQUIRE(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaEventRecord(fork, first) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(second, fork) == cudaSuccess);
    REQUIRE(cudaEventSynchronize(fork) == cudaErrorCapturedEvent);
    add<<<1, 32, 0, first>>>(data, number);
    add<<<1, 32, 0, second>>>(other, number);
    void* arguments[] = {&other};
    REQUIRE(cudaLaunchKernel(twice, 1, 32, arguments, 0, second) == cudaSuccess);
    REQUIRE(cudaLaunchHostFunc(second, count_up, &calls) == cudaSuccess);
    REQUIRE(cudaMemset2DAsync(other + 8, 16, 0, 4, 2, second) == cudaSuccess);
    REQUIRE(cudaEventRecord(join, second) == cudaSuccess);
    if (joined) REQUIRE(cudaStreamWaitEvent(first, join) == cudaSuccess);
  }
  cudaGraph_t end(cudaError_t error = cudaSuccess) {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(first, &graph) == error);
    return graph;
  }
};

}  // namespace

TEST_CASE("a stream that waits for a captured one is captured with it") {
  Forked forked;
  forked.capture(3);
  const cudaGraph_t graph = forked.end();
  REQUIRE(forked.calls == 0);
  REQUIRE(forked.other[0] == 1);
  add<<<1, 32, 0, forked.second>>>(forked.other, 1);  // no longer captured
  REQUIRE(forked.other[0] == 2);
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, forked.first) == cudaSuccess);
  REQUIRE(forked.data[0] == 4);
  REQUIRE(forked.other[0] == 10);
  REQUIRE(forked.other[8] == 0);
  REQUIRE(forked.other[9] == 10);
  REQUIRE(forked.other[12] == 0);
  REQUIRE(forked.calls == 1);

  // The same again with another number updates it; with a node more it does not.
  forked.capture(5);
  const cudaGraph_t again = forked.end();
  cudaGraphExecUpdateResultInfo info;
  REQUIRE(cudaGraphExecUpdate(exec, again, &info) == cudaSuccess);
  REQUIRE(info.result == cudaGraphExecUpdateSuccess);
  REQUIRE(cudaGraphLaunch(exec, forked.first) == cudaSuccess);
  REQUIRE(forked.data[0] == 9);
  forked.capture(7);
  twice<<<1, 32, 0, forked.first>>>(forked.data);
  const cudaGraph_t longer = forked.end();
  REQUIRE(cudaGraphExecUpdate(exec, longer, &info) == cudaErrorGraphExecUpdateFailure);
  REQUIRE(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  for (const cudaGraph_t each : {graph, again, longer}) cudaGraphDestroy(each);
  cudaGraphExecDestroy(exec);
}

TEST_CASE("captures over several streams that CUDA refuses") {
  Forked forked;
  forked.capture(3, false);
  forked.end(cudaErrorStreamCaptureUnjoined);
  REQUIRE(cudaStreamWaitEvent(forked.second, forked.join) == cudaErrorCapturedEvent);
  forked.capture(3);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(forked.second, &graph) == cudaErrorStreamCaptureUnmatched);
  forked.end(cudaErrorStreamCaptureInvalidated);
  REQUIRE(cudaEventRecord(forked.fork, forked.second) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(forked.first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(forked.first, forked.fork) == cudaErrorStreamCaptureIsolation);
}

TEST_CASE("pools count what was taken from them") {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = 1 << 20;
  cudaMemPool_t pool = nullptr, ours = nullptr;
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
  uint64_t threshold = 12345, used = 0;
  REQUIRE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  int *a = nullptr, *b = nullptr;
  REQUIRE(cudaMallocFromPoolAsync(&a, 4096, pool, nullptr) == cudaSuccess);
  REQUIRE(cudaDeviceSetMemPool(0, pool) == cudaSuccess);
  REQUIRE(cudaDeviceGetMemPool(&ours, 0) == cudaSuccess);
  REQUIRE(ours == pool);
  REQUIRE(cudaMallocAsync(&b, 1024, nullptr) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&b, 2 << 20, pool, nullptr) == cudaErrorMemoryAllocation);
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess);
  REQUIRE(used == 4096 + 1024);
  REQUIRE(cudaFreeAsync(a, nullptr) == cudaSuccess);
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess);
  REQUIRE(used == 1024);
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &used) == cudaSuccess);
  REQUIRE(used == 4096 + 1024);
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &used) == cudaSuccess);
  REQUIRE(used == 12345);
  REQUIRE(cudaMemPoolDestroy(pool) == cudaSuccess);
  REQUIRE(cudaDeviceGetDefaultMemPool(&ours, 0) == cudaSuccess);
  REQUIRE(cudaMemPoolDestroy(ours) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("shared memory that is left to a block beside others") {
  size_t bytes = 0;
  REQUIRE(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, twice, 8, 128) == cudaSuccess);
  int blocks = 0;
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, twice, 128, bytes) == cudaSuccess);
  REQUIRE(blocks == 8);
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, twice, 128, bytes + 128) == cudaSuccess);
  REQUIRE(blocks == 7);
  REQUIRE(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, twice, 1, 128) == cudaSuccess);
  REQUIRE(bytes == 48 * 1024);
  REQUIRE(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, twice, 17, 128) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("edges are told, taken away and written for Graphviz; nodes are destroyed and changed") {
  Graph graph;
  int calls = 0, others = 0, host = 7;
  int* const data = device_ints(1);
  cudaHostNodeParams count = {count_up, &calls};
  cudaMemsetParams set = {data, 0, 3, 4, 32, 1};
  cudaGraphNode_t first, second, third;
  REQUIRE(cudaGraphAddHostNode(&first, graph.graph, nullptr, 0, &count) == cudaSuccess);
  REQUIRE(cudaGraphAddMemsetNode(&second, graph.graph, &first, 1, &set) == cudaSuccess);
  const cudaGraphNode_t both[] = {first, second};
  REQUIRE(cudaGraphAddMemcpyNode1D(&third, graph.graph, both, 2, &host, data, 4, cudaMemcpyDeviceToHost) ==
          cudaSuccess);

  size_t edges = 0, before = 2, after = 2;
  REQUIRE(cudaGraphGetEdges(graph.graph, nullptr, nullptr, &edges) == cudaSuccess);
  REQUIRE(edges == 3);
  cudaGraphNode_t from[3], to[3], nodes[2], dependent[2];
  REQUIRE(cudaGraphGetEdges(graph.graph, from, to, &edges) == cudaSuccess);
  CHECK((from[0] == first && to[0] == second && from[2] == second && to[2] == third));
  REQUIRE(cudaGraphNodeGetDependencies(third, nodes, &before) == cudaSuccess);
  CHECK((before == 2 && nodes[0] == first && nodes[1] == second));
  REQUIRE(cudaGraphNodeGetDependentNodes(second, dependent, &after) == cudaSuccess);
  CHECK((after == 1 && dependent[0] == third && dependent[1] == nullptr));

  const std::string path = "/tmp/simt-graph-" + std::to_string(getpid()) + ".dot";
  REQUIRE(cudaGraphDebugDotPrint(graph.graph, path.c_str(), cudaGraphDebugDotFlagsVerbose) == cudaSuccess);
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::remove(path.c_str());
  CHECK(text.find("MEMSET") != std::string::npos);
  CHECK(text.find("node_1 -> node_2;") != std::string::npos);

  set.value = 5;
  REQUIRE(cudaGraphMemsetNodeSetParams(second, &set) == cudaSuccess);
  count.userData = &others;
  REQUIRE(cudaGraphHostNodeSetParams(first, &count) == cudaSuccess);
  CHECK(cudaGraphHostNodeSetParams(second, &count) == cudaErrorInvalidValue);  // no host node
  REQUIRE(cudaGraphRemoveDependencies(graph.graph, &first, &third, 1) == cudaSuccess);
  CHECK(cudaGraphRemoveDependencies(graph.graph, &first, &third, 1) == cudaErrorInvalidValue);
  cudaGetLastError();
  graph.instantiate();
  graph.launch();
  CHECK((calls == 0 && others == 1 && host == 5));
  REQUIRE(cudaGraphDestroyNode(second) == cudaSuccess);
  before = 0;
  REQUIRE(cudaGraphNodeGetDependencies(third, nullptr, &before) == cudaSuccess);
  CHECK(before == 0);
  cudaFree(data);
}
