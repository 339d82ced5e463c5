// Graphs with conditional nodes: a graph of their own that is done if a value is not 0, or as long as it is not. A
// kernel sets the value.
#pragma once

#include "graph_nodes.h"

using cudaGraphConditionalHandle = unsigned long long;
constexpr unsigned cudaGraphCondAssignDefault = 1;
enum cudaGraphConditionalNodeType { cudaGraphCondTypeIf, cudaGraphCondTypeWhile };
struct cudaConditionalNodeParams {
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalNodeType type;
  unsigned int size;         // 1
  cudaGraph_t* phGraph_out;  // told by the call: where the node's own graph is
};
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  cudaKernelNodeParams kernel;
  cudaMemcpy3DParms memcpy;
  cudaMemsetParams memset;
  cudaHostNodeParams host;
  cudaConditionalNodeParams conditional;
};

// With cudaGraphCondAssignDefault each launch of the graph begins with the default value.
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value = 0, unsigned flags = 0);
// In a kernel of the graph.
__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
// A kernel, a copy, a memset, a function of the host, or a condition. CUDA 12's form, and that of CUDA 13.
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                             cudaGraphNodeParams* parameters);
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    const cudaGraphEdgeData*, size_t count, cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, after, count, parameters);
}
