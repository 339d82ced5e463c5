// Conditional nodes of graphs (include/simt/graph_conditions.h).
#include "include/simt/graph_conditions.h"

#include <atomic>

#include "device.h"
#include "graph_parts.h"
#include "refusal.h"

namespace simt {

struct Condition {
  std::atomic<unsigned> value;
  unsigned default_value;
  bool assigns_default;
};

void begin_launch(const Steps& steps) {
  for (const auto& condition : steps.conditions)
    if (condition->assigns_default) condition->value = condition->default_value;
}

namespace {

cudaError_t run_conditional(const Condition& condition, bool repeats, const CUgraph_st& body) {
  const auto steps = steps_of(body);
  if (!steps) return set_last_error(cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  while (condition.value && error == cudaSuccess) {
    error = run(*steps);
    if (!repeats) break;
  }
  return error;
}

cudaError_t add_conditional(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                            cudaConditionalNodeParams* parameters) {
  if (parameters->size != 1 || parameters->type > cudaGraphCondTypeWhile) {
    refuse_call(cudaErrorNotSupported,
                "a conditional node refused: it may be cudaGraphCondTypeIf or cudaGraphCondTypeWhile with one graph");
    return set_last_error(cudaErrorNotSupported);
  }
  std::shared_ptr<Condition> condition;
  if (graph)
    for (const auto& each : graph->conditions)
      if (reinterpret_cast<cudaGraphConditionalHandle>(each.get()) == parameters->handle) condition = each;
  if (!condition) return set_last_error(cudaErrorInvalidValue);
  const auto body = std::make_shared<CUgraph_st>();
  body->conditions = graph->conditions;  // kernels of its own may decide about it
  const auto work = [condition, body, repeats = parameters->type == cudaGraphCondTypeWhile] {
    return run_conditional(*condition, repeats, *body);
  };
  const cudaError_t error = add_node(node, graph, after, count, work_of(work, cudaGraphNodeTypeConditional));
  if (error != cudaSuccess) return error;
  (*node)->body = body.get();
  parameters->phGraph_out = &(*node)->body;
  return cudaSuccess;
}

}  // namespace
}  // namespace simt

using namespace simt;

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
  if (!handle || !graph || flags & ~cudaGraphCondAssignDefault) return set_last_error(cudaErrorInvalidValue);
  auto* const condition = new Condition{{default_value}, default_value, (flags & cudaGraphCondAssignDefault) != 0};
  graph->conditions.emplace_back(condition);
  *handle = reinterpret_cast<cudaGraphConditionalHandle>(condition);
  return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  reinterpret_cast<Condition*>(handle)->value = value;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                             cudaGraphNodeParams* parameters) {
  if (!parameters) return set_last_error(cudaErrorInvalidValue);
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel: return cudaGraphAddKernelNode(node, graph, after, count, &parameters->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphAddMemcpyNode(node, graph, after, count, &parameters->memcpy);
    case cudaGraphNodeTypeMemset: return cudaGraphAddMemsetNode(node, graph, after, count, &parameters->memset);
    case cudaGraphNodeTypeHost: return cudaGraphAddHostNode(node, graph, after, count, &parameters->host);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeConditional: return add_conditional(node, graph, after, count, &parameters->conditional);
    default: return set_last_error(cudaErrorNotSupported);
  }
}
