// Graphs that can be launched: what they do and in which order, and how they are updated.
#include <algorithm>
#include <map>

#include "device.h"
#include "device_queues.h"
#include "graph_parts.h"
#include "streams.h"

namespace simt {

cudaStream_t replay_stream() {
  static CUstream_st stream;
  return &stream;
}

namespace {
thread_local int replaying = 0;  // a graph may hold another's launch
}

bool is_replaying() { return replaying > 0; }

bool is_deferred() { return runs_later(); }
cudaError_t defer(cudaStream_t stream, CapturedWork* work) { return enqueue(stream, work); }

std::shared_ptr<const Steps> steps_of(const CUgraph_st& graph) {
  auto steps = std::make_shared<Steps>();
  steps->conditions = graph.conditions;
  std::map<const CUgraphNode_st*, size_t> numbers;
  for (const auto& node : graph.nodes) numbers.emplace(node.get(), numbers.size());
  for (const auto& node : graph.nodes) {
    Step step = {node.get(), node->work, {}, true};
    for (const cudaGraphNode_t before : node->after) step.after.push_back(numbers.at(before));
    std::sort(step.after.begin(), step.after.end());
    steps->of_nodes.push_back(std::move(step));
  }
  // As they were added, but for those that wait for later ones: mostly one round is enough.
  std::vector<bool> done(numbers.size());
  const auto is_done = [&](size_t number) { return done[number]; };
  for (size_t before = 0, round = 0; round == 0 || before < steps->order.size(); round++) {
    before = steps->order.size();
    for (size_t number = 0; number < done.size(); number++) {
      const std::vector<size_t>& after = steps->of_nodes[number].after;
      if (done[number] || !std::all_of(after.begin(), after.end(), is_done)) continue;
      done[number] = true;
      steps->order.push_back(number);
    }
  }
  return steps->order.size() == done.size() ? steps : nullptr;
}

namespace {
void free_what_is_left(const Steps& steps) {
  for (const Step& step : steps.of_nodes)
    if (const void* const memory = step.work->allocates()) free_of_graph(memory);
}
}  // namespace

cudaError_t run(const Steps& steps) {
  cudaError_t error = cudaSuccess;
  replaying++;
  for (size_t i = 0; i < steps.order.size() && error == cudaSuccess; i++)
    if (const Step& step = steps.of_nodes[steps.order[i]]; step.enabled) error = step.work->run();
  replaying--;
  return error;
}

}  // namespace simt

using namespace simt;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  if (!exec || !graph) return set_last_error(cudaErrorInvalidValue);
  const auto made = steps_of(*graph);
  if (!made) return set_last_error(cudaErrorInvalidValue);
  const auto steps = std::make_shared<Steps>(*made);
  steps->frees_on_launch = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
  *exec = new CUgraphExec_st{steps};
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  if (!exec || !graph || !info) return set_last_error(cudaErrorInvalidValue);
  *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  const auto old = exec->steps, now = steps_of(*graph);
  const auto fails = [&](cudaGraphExecUpdateResult why, cudaGraphNode_t node) {
    *info = {why, node, nullptr};
    return set_last_error(cudaErrorGraphExecUpdateFailure);
  };
  if (!now || now->of_nodes.size() != old->of_nodes.size())
    return fails(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  for (size_t i = 0; i < now->of_nodes.size(); i++) {
    const Step &before = old->of_nodes[i], &after = now->of_nodes[i];
    if (before.work->type != after.work->type)
      return fails(cudaGraphExecUpdateErrorNodeTypeChanged, graph->nodes[i].get());
    if (before.after != after.after) return fails(cudaGraphExecUpdateErrorTopologyChanged, graph->nodes[i].get());
  }
  // It keeps the names of the nodes that it was made of.
  auto updated = std::make_shared<Steps>(*now);
  updated->frees_on_launch = old->frees_on_launch;
  for (size_t i = 0; i < updated->of_nodes.size(); i++) {
    updated->of_nodes[i].node = old->of_nodes[i].node;
    updated->of_nodes[i].enabled = old->of_nodes[i].enabled;
  }
  exec->steps = updated;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!exec) return set_last_error(cudaErrorInvalidValue);
  return do_or_capture(
      stream,
      [steps = exec->steps] {
        begin_launch(*steps);
        if (steps->frees_on_launch) free_what_is_left(*steps);
        return run(*steps);
      },
      cudaGraphNodeTypeGraph);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return exec ? cudaSuccess : set_last_error(cudaErrorInvalidValue);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
