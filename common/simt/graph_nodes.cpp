// Graphs that are built by hand.
#include <algorithm>
#include <map>

#include "device.h"
#include "graph_parts.h"
#include "refusal.h"

using namespace simt;

namespace {

// Work that knows the parameters that it was made of.
template <typename Parameters, typename Work>
struct GivenWork final : CapturedWork {
  Parameters parameters;
  Work work;
  GivenWork(const Parameters& parameters, const Work& work, cudaGraphNodeType kind)
      : parameters(parameters), work(work) {
    type = kind;
  }
  cudaError_t run() override { return work(); }
  const void* given() const override { return &parameters; }
};
template <typename Parameters, typename Work>
std::shared_ptr<CapturedWork> given_work(const Parameters& parameters, const Work& work, cudaGraphNodeType type) {
  return std::make_shared<GivenWork<Parameters, Work>>(parameters, work, type);
}

// Null: nothing can be made of these parameters.
std::shared_ptr<CapturedWork> made_of(const cudaKernelNodeParams& parameters) {
  if (!parameters.func.address || parameters.extra) return nullptr;
  if (!parameters.func.work_of) {
    refuse_call(
        cudaErrorInvalidDeviceFunction,
        "a kernel node refused: the kernel came as a void*, and its parameters are not known\nAssign the kernel "
        "itself where the node's parameters are filled: parameters.func = (void*)kernel;");
    return nullptr;
  }
  return std::shared_ptr<CapturedWork>(parameters.func.work_of(parameters));
}
std::shared_ptr<CapturedWork> made_of(const cudaMemcpy3DParms& parameters) {
  return given_work(
      parameters, [parameters] { return cudaMemcpy3D(&parameters); }, cudaGraphNodeTypeMemcpy);
}
std::shared_ptr<CapturedWork> copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms parameters = {};
  parameters.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  parameters.dstPtr = {to, bytes, bytes, 1};
  parameters.extent = {bytes, 1, 1};
  parameters.kind = kind;
  return given_work(
      parameters, [=] { return cudaMemcpy(to, from, bytes, kind); }, cudaGraphNodeTypeMemcpy);
}
std::shared_ptr<CapturedWork> made_of(const cudaMemsetParams& set) {
  if (set.elementSize != 1 && set.elementSize != 2 && set.elementSize != 4) return nullptr;
  return given_work(
      set,
      [set] {
        std::vector<char> row(set.width * set.elementSize);
        for (size_t at = 0; at < row.size(); at += set.elementSize) std::memcpy(&row[at], &set.value, set.elementSize);
        const size_t pitch = set.height > 1 ? set.pitch : row.size();
        return cudaMemcpy2D(set.dst, pitch, row.data(), row.size(), row.size(), set.height, cudaMemcpyHostToDevice);
      },
      cudaGraphNodeTypeMemset);
}
std::shared_ptr<CapturedWork> made_of(const cudaHostNodeParams& parameters) {
  if (!parameters.fn) return nullptr;
  return given_work(
      parameters,
      [parameters] {
        parameters.fn(parameters.userData);
        return cudaSuccess;
      },
      cudaGraphNodeTypeHost);
}

template <typename Parameters>
cudaError_t add_of(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                   const Parameters* parameters) {
  return add_node(node, graph, after, count, parameters ? made_of(*parameters) : nullptr);
}

cudaError_t replace(cudaGraphExec_t exec, cudaGraphNode_t node, const std::shared_ptr<CapturedWork>& work) {
  if (!exec || !work) return set_last_error(cudaErrorInvalidValue);
  auto steps = std::make_shared<Steps>(*exec->steps);
  for (Step& step : steps->of_nodes) {
    if (step.node != node || step.work->type != work->type) continue;
    step.work = work;
    exec->steps = steps;
    return cudaSuccess;
  }
  return set_last_error(cudaErrorInvalidValue);
}
template <typename Parameters>
cudaError_t replace_of(cudaGraphExec_t exec, cudaGraphNode_t node, const Parameters* parameters) {
  return replace(exec, node, parameters ? made_of(*parameters) : nullptr);
}

template <typename Parameters>
cudaError_t change(cudaGraphNode_t node, const Parameters* parameters) {
  const auto work = node && parameters ? made_of(*parameters) : nullptr;
  if (!work || node->work->type != work->type) return set_last_error(cudaErrorInvalidValue);
  node->work = work;
  return cudaSuccess;
}

template <typename Parameters>
cudaError_t tell_given(cudaGraphNode_t node, cudaGraphNodeType type, Parameters* parameters,
                       const char* function = __builtin_FUNCTION()) {
  if (!node || !parameters || node->work->type != type) return set_last_error(cudaErrorInvalidValue);
  if (const void* const given = node->work->given()) {
    *parameters = *static_cast<const Parameters*>(given);
    return cudaSuccess;
  }
  refuse_call(cudaErrorNotSupported, std::string(function) +
                                         " refused: the node was captured\nOf copies, memsets and functions of the "
                                         "host only nodes that are built by hand tell their parameters.");
  return set_last_error(cudaErrorNotSupported);
}

cudaError_t tell(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t* nodes, size_t* count) {
  if (nodes) std::copy_n(all.begin(), std::min(*count, all.size()), nodes);
  *count = all.size();
  return cudaSuccess;
}

}  // namespace

cudaError_t simt::add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                           const std::shared_ptr<CapturedWork>& work) {
  if (!node || !graph || (count && !after) || !work) return set_last_error(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++)
    if (!after[i] || after[i]->graph != graph || std::count(after, after + i, after[i]))
      return set_last_error(cudaErrorInvalidValue);
  *node = graph->add(work, std::vector<cudaGraphNode_t>(after, after + count));
  return cudaSuccess;
}
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  if (!graph) return set_last_error(cudaErrorInvalidValue);
  *graph = new CUgraph_st;
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  if (!clone || !graph) return set_last_error(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraph_st>();
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
  for (const auto& node : graph->nodes) {
    copies[node.get()] = made->add(node->work, {});
    made->nodes.back()->origin = node.get();
  }
  for (const auto& node : graph->nodes)
    for (const cudaGraphNode_t before : node->after) copies[node.get()]->after.push_back(copies[before]);
  made->conditions = graph->conditions;
  *clone = made.release();
  return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  if (!node || !original || !clone) return set_last_error(cudaErrorInvalidValue);
  for (const auto& each : clone->nodes) {
    if (each->origin != original) continue;
    *node = each.get();
    return cudaSuccess;
  }
  return set_last_error(cudaErrorInvalidValue);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return add_of(node, graph, after, count, parameters);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add_of(node, graph, after, count, parameters);
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, copy(to, from, bytes, kind));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
  return add_of(node, graph, after, count, parameters);
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add_of(node, graph, after, count, parameters);
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  const auto steps = child ? steps_of(*child) : nullptr;
  if (!steps) return set_last_error(cudaErrorInvalidValue);
  return add_node(node, graph, after, count, work_of([steps] { return run(*steps); }, cudaGraphNodeTypeGraph));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) {
  return add_node(node, graph, after, count, work_of([] { return cudaSuccess; }, cudaGraphNodeTypeEmpty));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData*, size_t count) {
  if (!graph || (count && (!from || !to))) return set_last_error(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) {
    if (!from[i] || !to[i] || from[i]->graph != graph || to[i]->graph != graph ||
        std::count(to[i]->after.begin(), to[i]->after.end(), from[i]))
      return set_last_error(cudaErrorInvalidValue);
    to[i]->after.push_back(from[i]);
  }
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (!node || !type) return set_last_error(cudaErrorInvalidValue);
  *type = node->work->type;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!graph || !count) return set_last_error(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return tell(all, nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!graph || !count) return set_last_error(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> roots;
  for (const auto& node : graph->nodes)
    if (node->after.empty()) roots.push_back(node.get());
  return tell(roots, nodes, count);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  if (!node || !parameters || node->work->type != cudaGraphNodeTypeKernel) return set_last_error(cudaErrorInvalidValue);
  if (node->work->tell(parameters)) return cudaSuccess;
  refuse_call(cudaErrorNotSupported,
              "cudaGraphKernelNodeGetParams refused: the kernel's parameters are not known\nIts launch converts an "
              "argument to a parameter that is deduced, or has default arguments: name the kernel's template arguments "
              "and give every argument.");
  return set_last_error(cudaErrorNotSupported);
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return tell_given(node, cudaGraphNodeTypeMemcpy, parameters);
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return tell_given(node, cudaGraphNodeTypeMemset, parameters);
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return tell_given(node, cudaGraphNodeTypeHost, parameters);
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  return change(node, parameters);
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  return change(node, parameters);
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return change(node, parameters);
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return change(node, parameters);
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind) {
  if (!node || node->work->type != cudaGraphNodeTypeMemcpy) return set_last_error(cudaErrorInvalidValue);
  node->work = copy(to, from, bytes, kind);
  return cudaSuccess;
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  if (!exec || !node || node->work->type > cudaGraphNodeTypeMemset) return set_last_error(cudaErrorInvalidValue);
  auto steps = std::make_shared<Steps>(*exec->steps);
  for (Step& step : steps->of_nodes) {
    if (step.node != node) continue;
    step.enabled = enabled != 0;
    exec->steps = steps;
    return cudaSuccess;
  }
  return set_last_error(cudaErrorInvalidValue);
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  if (!exec || !enabled) return set_last_error(cudaErrorInvalidValue);
  for (const Step& step : exec->steps->of_nodes) {
    if (step.node != node) continue;
    *enabled = step.enabled;
    return cudaSuccess;
  }
  return set_last_error(cudaErrorInvalidValue);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return replace_of(exec, node, parameters);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return replace_of(exec, node, parameters);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from,
                                               size_t bytes, cudaMemcpyKind kind) {
  return replace(exec, node, copy(to, from, bytes, kind));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return replace_of(exec, node, parameters);
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return replace_of(exec, node, parameters);
}
