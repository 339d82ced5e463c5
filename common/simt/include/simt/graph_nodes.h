// CUDA graphs that are built by hand: kernels, copies, memsets, functions of the host, other graphs. Allocations
// and events are in graph_memory.h, conditions in graph_conditions.h. A kernel's node tells its parameters, also if it
// was captured; one of a copy, a memset or a function does if it was built by hand.
#pragma once

#include "launch_kernel.h"
#include "memory_3d.h"

struct cudaKernelNodeParams;

namespace simt {

// A kernel's address that keeps the types of the kernel's parameters. simtcc removes the cast to void* that CUDA's own
// type requires.
struct KernelAddress {
  const void* address;
  CapturedWork* (*work_of)(const cudaKernelNodeParams&);  // null: it was a void*, and nothing is known of it

  KernelAddress() = default;
  KernelAddress(const void* address) : address(address), work_of(nullptr) {}
  template <typename... Parameters>
  KernelAddress(void (*kernel)(Parameters...));
  operator void*() const { return const_cast<void*>(address); }
};

}  // namespace simt

struct cudaKernelNodeParams {
  simt::KernelAddress func;
  dim3 gridDim, blockDim;
  unsigned int sharedMemBytes;
  void **kernelParams, **extra;  // they are copied when a node is made
};
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned int value, elementSize;
  size_t width, height;  // in elements
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};
struct cudaGraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

template <typename... Parameters>
simt::KernelAddress::KernelAddress(void (*kernel)(Parameters...))
    : address(reinterpret_cast<const void*>(kernel)), work_of([](const cudaKernelNodeParams& node) -> CapturedWork* {
        const auto function = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(node.func.address));
        const LaunchConfig config(node.gridDim, node.blockDim, node.sharedMemBytes, replay_stream(), nullptr, 0);
        const auto call = bound_kernel(function, node.kernelParams);
        return new CapturedKernel<std::decay_t<decltype(call)>>(config, call, by_address, node.func.address);
      }) {}

namespace simt {
template <typename Callee, typename... Parameters>
bool tell_kernel(const CapturedKernel<BoundCall<Callee, Parameters...>>& kernel, cudaKernelNodeParams* parameters) {
  if (!kernel.function) return false;
  if (!kernel.arguments)
    kernel.arguments =
        std::apply([](auto&... each) { return new void* [sizeof...(each) + 1] { &each... }; }, kernel.bound.arguments);
  const auto function = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel.function));
  const LaunchConfig& config = kernel.config;
  *parameters = {KernelAddress(function), config.grid, config.block, static_cast<unsigned>(config.shared_bytes),
                 kernel.arguments,        nullptr};
  return true;
}
}  // namespace simt

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone);

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
template <typename T>
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                           size_t count, const T& symbol, const void* from, size_t bytes, size_t offset,
                                           cudaMemcpyKind kind) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return cudaGraphAddMemcpyNode1D(node, graph, after, count, simt::symbol_address(&symbol) + offset, from, bytes, kind);
}
template <typename T>
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                             size_t count, void* to, const T& symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return cudaGraphAddMemcpyNode1D(node, graph, after, count, to, simt::symbol_address(&symbol) + offset, bytes, kind);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count);

// CUDA 13's form, and that of CUDA 12.
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* data, size_t count);
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* data, size_t count);
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
// The node, and that others wait for it.
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
// What nodes wait for. `nodes`, `from` and `to`: null, or room for *count of them.
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count);
// Writes the graph as text that Graphviz draws: each node's kind, and the arrows between them, whatever the flags ask
// for.
enum cudaGraphDebugDotFlags { cudaGraphDebugDotFlagsVerbose = 1 };
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);

// What a kernel's pointers point to lives as long as the node, or until its parameters are set.
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters);
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters);
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters);
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters);
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind);
// A kernel, copy or memset that an instantiated graph leaves out, or does again.
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled);
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters);
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters);
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters);
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters);
// Sets the parameters in an instantiated graph; its later launches use them.
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters);
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from,
                                               size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters);
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters);
