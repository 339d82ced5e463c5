// The capture of streams. Streams that wait for events of each other are captured together.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "block.h"
#include "device.h"
#include "graph_parts.h"
#include "streams.h"

namespace simt {

namespace {

std::mutex mutex;
std::atomic<int> capturing{0};  // streams that are being captured: mostly none, and then nothing is looked up

struct Capture {
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  cudaStream_t origin = nullptr;
  unsigned long long id = 0;
  bool invalid = false;
};

struct Captured {
  std::shared_ptr<Capture> capture;
  std::vector<cudaGraphNode_t> last;  // what the stream's next work waits for
};

std::map<cudaStream_t, Captured>& captured_streams() {
  static auto* map = new std::map<cudaStream_t, Captured>;
  return *map;
}

// Every node that no other waits for is waited for by the stream that ends the capture.
bool is_joined(const Captured& ended) {
  std::set<cudaGraphNode_t> waited(ended.last.begin(), ended.last.end());
  for (const auto& node : ended.capture->graph->nodes) waited.insert(node->after.begin(), node->after.end());
  return waited.size() == ended.capture->graph->nodes.size();
}

}  // namespace

struct CapturedPoint {
  std::weak_ptr<Capture> capture;  // gone: the capture has ended
  std::vector<cudaGraphNode_t> last;
};

bool is_capturing(cudaStream_t stream) {
  if (capturing == 0 || current_block) return false;  // a kernel's own launches are part of the kernel
  std::lock_guard<std::mutex> lock(mutex);
  return captured_streams().count(stream) > 0;
}

cudaError_t check_null_stream(cudaStream_t stream) {
  if (stream || capturing == 0) return cudaSuccess;
  std::lock_guard<std::mutex> lock(mutex);
  bool found = false;
  for (auto& [captured, state] : captured_streams()) {
    if (!(captured->flags & cudaStreamNonBlocking)) state.capture->invalid = found = true;
  }
  return found ? set_last_error(cudaErrorStreamCaptureImplicit) : cudaSuccess;
}

cudaError_t add_captured(cudaStream_t stream, CapturedWork* work) {
  return add_captured(stream, std::shared_ptr<CapturedWork>(work));
}
cudaError_t add_captured(cudaStream_t stream, const std::shared_ptr<CapturedWork>& work) {
  std::lock_guard<std::mutex> lock(mutex);
  Captured& captured = captured_streams().at(stream);
  if (captured.capture->invalid) return set_last_error(cudaErrorStreamCaptureInvalidated);
  captured.last = {captured.capture->graph->add(work, captured.last)};
  return cudaSuccess;
}

std::shared_ptr<const CapturedPoint> captured_point(cudaStream_t stream) {
  if (capturing == 0) return nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = captured_streams().find(stream);
  if (found == captured_streams().end()) return nullptr;
  return std::make_shared<CapturedPoint>(CapturedPoint{found->second.capture, found->second.last});
}

cudaError_t wait_for_captured(cudaStream_t stream, const CapturedPoint& point) {
  std::lock_guard<std::mutex> lock(mutex);
  const std::shared_ptr<Capture> capture = point.capture.lock();
  if (!capture) return set_last_error(cudaErrorCapturedEvent);
  if (!stream) return set_last_error(cudaErrorStreamCaptureImplicit);
  const auto [found, joins] = captured_streams().try_emplace(stream, Captured{capture, {}});
  capturing += joins;
  if (found->second.capture != capture) {
    capture->invalid = found->second.capture->invalid = true;
    return set_last_error(cudaErrorStreamCaptureMerge);
  }
  std::vector<cudaGraphNode_t>& last = found->second.last;
  for (const cudaGraphNode_t node : point.last)
    if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  return cudaSuccess;
}

}  // namespace simt

using namespace simt;

// What it captures goes with it. Of a stream that joined a capture its nodes stay, and must have been waited for.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = captured_streams().find(stream);
    if (found != captured_streams().end()) {
      if (found->second.capture->origin == stream) found->second.capture->invalid = true;
      captured_streams().erase(found);
      capturing--;
    }
  }
  if (is_named(stream)) delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream) return set_last_error(cudaErrorStreamCaptureUnsupported);
  std::lock_guard<std::mutex> lock(mutex);
  if (captured_streams().count(stream)) return set_last_error(cudaErrorIllegalState);
  Captured& captured = captured_streams()[stream];
  captured.capture = std::make_shared<Capture>();
  captured.capture->origin = stream;
  static unsigned long long captures = 0;
  captured.capture->id = ++captures;
  capturing++;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = captured_streams().find(stream);
  *graph = nullptr;
  if (found == captured_streams().end()) return set_last_error(cudaErrorIllegalState);
  const Captured ended = found->second;
  Capture& capture = *ended.capture;
  if (capture.origin != stream) {
    capture.invalid = true;
    return set_last_error(cudaErrorStreamCaptureUnmatched);
  }
  for (auto each = captured_streams().begin(); each != captured_streams().end();) {
    const bool belongs = each->second.capture == ended.capture;
    capturing -= belongs;
    each = belongs ? captured_streams().erase(each) : std::next(each);
  }
  if (capture.invalid) return set_last_error(cudaErrorStreamCaptureInvalidated);
  if (!is_joined(ended)) return set_last_error(cudaErrorStreamCaptureUnjoined);
  *graph = capture.graph.release();
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = captured_streams().find(stream);
  *status = found == captured_streams().end() ? cudaStreamCaptureStatusNone
            : found->second.capture->invalid  ? cudaStreamCaptureStatusInvalidated
                                              : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** nodes, size_t* count) {
  if (!status) return set_last_error(cudaErrorInvalidValue);
  if (const cudaError_t error = cudaStreamIsCapturing(stream, status)) return error;
  const bool active = *status == cudaStreamCaptureStatusActive;
  std::lock_guard<std::mutex> lock(mutex);
  const Captured* const captured = active ? &captured_streams().at(stream) : nullptr;
  if (id) *id = active ? captured->capture->id : 0;
  if (graph) *graph = active ? captured->capture->graph.get() : nullptr;
  if (nodes) *nodes = active ? captured->last.data() : nullptr;
  if (count) *count = active ? captured->last.size() : 0;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  if (!mode) return set_last_error(cudaErrorInvalidValue);
  std::swap(*mode, current);
  return cudaSuccess;
}
