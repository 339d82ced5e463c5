// Which node of a graph waits for which.
#include <algorithm>
#include <cstdio>
#include <map>

#include "device.h"
#include "graph_parts.h"

using namespace simt;

namespace {

struct Edges {
  std::vector<cudaGraphNode_t> from, to;
};
Edges edges_of(const CUgraph_st& graph) {
  Edges edges;
  for (const auto& node : graph.nodes) {
    for (const cudaGraphNode_t before : node->after) {
      edges.from.push_back(before);
      edges.to.push_back(node.get());
    }
  }
  return edges;
}

// *count: how much room there is; after that, how many there are.
void tell(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t* nodes, size_t room) {
  if (!nodes) return;
  std::copy_n(all.begin(), std::min(room, all.size()), nodes);
  if (room > all.size()) std::fill(nodes + all.size(), nodes + room, nullptr);
}

const char* name_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel: return "KERNEL";
    case cudaGraphNodeTypeMemcpy: return "MEMCPY";
    case cudaGraphNodeTypeMemset: return "MEMSET";
    case cudaGraphNodeTypeHost: return "HOST";
    case cudaGraphNodeTypeGraph: return "GRAPH";
    case cudaGraphNodeTypeEmpty: return "EMPTY";
    case cudaGraphNodeTypeWaitEvent: return "WAIT_EVENT";
    case cudaGraphNodeTypeEventRecord: return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc: return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree: return "MEM_FREE";
    case cudaGraphNodeTypeConditional: return "CONDITIONAL";
  }
  return "NODE";
}

}  // namespace

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  if (!graph || !count || !from != !to) return set_last_error(cudaErrorInvalidValue);
  const Edges edges = edges_of(*graph);
  tell(edges.from, from, *count);
  tell(edges.to, to, *count);
  *count = edges.from.size();
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  if (!node || !count) return set_last_error(cudaErrorInvalidValue);
  tell(node->after, nodes, *count);
  *count = node->after.size();
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  if (!node || !count) return set_last_error(cudaErrorInvalidValue);
  const Edges edges = edges_of(*node->graph);
  std::vector<cudaGraphNode_t> dependent;
  for (size_t i = 0; i < edges.from.size(); i++)
    if (edges.from[i] == node) dependent.push_back(edges.to[i]);
  tell(dependent, nodes, *count);
  *count = dependent.size();
  return cudaSuccess;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, size_t count) {
  if (!graph || (count && (!from || !to))) return set_last_error(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) {
    if (!from[i] || !to[i] || to[i]->graph != graph) return set_last_error(cudaErrorInvalidValue);
    auto& after = to[i]->after;
    const auto found = std::find(after.begin(), after.end(), from[i]);
    if (found == after.end()) return set_last_error(cudaErrorInvalidValue);
    after.erase(found);
  }
  return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  if (!node) return set_last_error(cudaErrorInvalidValue);
  auto& nodes = node->graph->nodes;
  for (const auto& other : nodes) {
    auto& after = other->after;
    after.erase(std::remove(after.begin(), after.end(), node), after.end());
  }
  nodes.erase(std::find_if(nodes.begin(), nodes.end(), [&](const auto& each) { return each.get() == node; }));
  return cudaSuccess;
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  if (!graph || !path) return set_last_error(cudaErrorInvalidValue);
  std::FILE* const file = std::fopen(path, "w");
  if (!file) return set_last_error(cudaErrorOperatingSystem);
  std::map<cudaGraphNode_t, size_t> numbers;
  std::fprintf(file, "digraph dot {\n");
  for (const auto& node : graph->nodes) {
    const size_t number = numbers.size();
    numbers[node.get()] = number;
    std::fprintf(file, "  node_%zu [shape=\"box\" label=\"%zu\\n%s\"];\n", number, number, name_of(node->work->type));
  }
  const Edges edges = edges_of(*graph);
  for (size_t i = 0; i < edges.from.size(); i++)
    std::fprintf(file, "  node_%zu -> node_%zu;\n", numbers[edges.from[i]], numbers[edges.to[i]]);
  std::fprintf(file, "}\n");
  std::fclose(file);
  return cudaSuccess;
}
