// The capture of streams, and graphs as lists of what was captured.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime.h>

#include "device.h"
#include "device_queues.h"
#include "streams.h"

using Works = std::vector<std::unique_ptr<simt::CapturedWork>>;

// The list is shared: an instantiated graph lives on when the graph is destroyed.
struct CUgraph_st {
  std::shared_ptr<Works> works = std::make_shared<Works>();
};
struct CUgraphExec_st {
  std::shared_ptr<Works> works;
};

namespace simt {
namespace {

std::mutex mutex;
std::atomic<int> capturing{0};  // streams that are being captured: mostly none, and then nothing is looked up

struct Capture {
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  bool invalid = false;
};

std::map<cudaStream_t, Capture>& captures() {
  static auto* map = new std::map<cudaStream_t, Capture>;
  return *map;
}

}  // namespace

bool is_capturing(cudaStream_t stream) {
  if (capturing == 0) return false;
  std::lock_guard<std::mutex> lock(mutex);
  return captures().count(stream) > 0;
}

cudaError_t check_null_stream(cudaStream_t stream) {
  if (stream || capturing == 0) return cudaSuccess;
  std::lock_guard<std::mutex> lock(mutex);
  bool found = false;
  for (auto& [captured, capture] : captures()) {
    if (!(captured->flags & cudaStreamNonBlocking)) capture.invalid = found = true;
  }
  return found ? set_last_error(cudaErrorStreamCaptureImplicit) : cudaSuccess;
}

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

cudaError_t add_captured(cudaStream_t stream, CapturedWork* work) {
  std::unique_ptr<CapturedWork> owned(work);
  std::lock_guard<std::mutex> lock(mutex);
  Capture& capture = captures().at(stream);
  if (capture.invalid) return set_last_error(cudaErrorStreamCaptureInvalidated);
  capture.graph->works->push_back(std::move(owned));
  return cudaSuccess;
}

}  // namespace simt

using namespace simt;

// What it captures goes with it.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    capturing -= static_cast<int>(captures().erase(stream));
  }
  if (is_named(stream)) delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream) return set_last_error(cudaErrorStreamCaptureUnsupported);
  std::lock_guard<std::mutex> lock(mutex);
  if (captures().count(stream)) return set_last_error(cudaErrorIllegalState);
  captures()[stream] = Capture();
  capturing++;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto capture = captures().find(stream);
  *graph = nullptr;
  if (capture == captures().end()) return set_last_error(cudaErrorIllegalState);
  Capture ended = std::move(capture->second);
  captures().erase(capture);
  capturing--;
  if (ended.invalid) return set_last_error(cudaErrorStreamCaptureInvalidated);
  *graph = ended.graph.release();
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto capture = captures().find(stream);
  *status = capture == captures().end() ? cudaStreamCaptureStatusNone
            : capture->second.invalid   ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!graph || !count) return set_last_error(cudaErrorInvalidValue);
  for (size_t i = 0; nodes && i < *count && i < graph->works->size(); i++) {
    nodes[i] = reinterpret_cast<cudaGraphNode_t>((*graph->works)[i].get());
  }
  *count = graph->works->size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (!exec || !graph) return set_last_error(cudaErrorInvalidValue);
  *exec = new CUgraphExec_st{graph->works};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!exec) return set_last_error(cudaErrorInvalidValue);
  return do_or_capture(stream, [works = exec->works] {
    cudaError_t error = cudaSuccess;
    replaying++;
    for (size_t i = 0; i < works->size() && error == cudaSuccess; i++) error = (*works)[i]->run();
    replaying--;
    return error;
  });
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
