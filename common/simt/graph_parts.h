// What a graph is: nodes in the order in which they were added, each with the nodes that it waits for. Graphs come from
// captured streams (capture.cpp) or are built by hand (graph_nodes.cpp).
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

struct CUgraphNode_st {
  cudaGraph_t graph;
  std::shared_ptr<simt::CapturedWork> work;
  std::vector<cudaGraphNode_t> after;
  const CUgraphNode_st* origin;  // of a node of a clone, else null
  cudaGraph_t body = nullptr;    // a conditional node's own graph
};

namespace simt {
struct Condition;  // graph_conditions.cpp
}

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::vector<std::shared_ptr<simt::Condition>> conditions;

  cudaGraphNode_t add(std::shared_ptr<simt::CapturedWork> work, std::vector<cudaGraphNode_t> after) {
    nodes.push_back(
        std::make_unique<CUgraphNode_st>(CUgraphNode_st{this, std::move(work), std::move(after), nullptr, nullptr}));
    return nodes.back().get();
  }
};

namespace simt {

// A node in a graph that can be launched: it keeps the work alone, since the graph may be destroyed.
struct Step {
  const CUgraphNode_st* node;  // a name, which may be gone
  std::shared_ptr<CapturedWork> work;
  std::vector<size_t> after;  // numbers of steps, in the order of the graph's nodes
  bool enabled = true;
};
struct Steps {
  std::vector<Step> of_nodes;
  std::vector<size_t> order;  // in which they are done
  std::vector<std::shared_ptr<Condition>> conditions;
  bool frees_on_launch = false;  // what the launch before has left allocated
};

// Null if the nodes wait for each other in a circle.
std::shared_ptr<const Steps> steps_of(const CUgraph_st& graph);
cudaError_t run(const Steps& steps);
// Conditions get the values that a launch begins with.
void begin_launch(const Steps& steps);

template <typename Work>
std::shared_ptr<CapturedWork> work_of(const Work& work, cudaGraphNodeType type) {
  return std::make_shared<CapturedCall<Work>>(work, type);
}
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     const std::shared_ptr<CapturedWork>& work);
cudaError_t add_captured(cudaStream_t stream, const std::shared_ptr<CapturedWork>& work);

// Memory of a graph: its address stays, and it is allocated and freed by the work of nodes.
cudaError_t capture_allocation(cudaStream_t stream, void** pointer, size_t bytes);
// False: it is no graph's.
bool free_of_graph(const void* pointer);

// What an event that a captured stream records stands for, and the stream that waits for such an event.
struct CapturedPoint;
std::shared_ptr<const CapturedPoint> captured_point(cudaStream_t stream);
cudaError_t wait_for_captured(cudaStream_t stream, const CapturedPoint& point);

}  // namespace simt

// Launches under way keep the steps that they began with.
struct CUgraphExec_st {
  std::shared_ptr<const simt::Steps> steps;
};
