// CUDA graphs that come from stream capture: what is launched on a stream between cudaStreamBeginCapture and
// cudaStreamEndCapture is kept, in order, and done each time that the graph is launched. Kernel launches by <<<>>>,
// copies and memsets, functions of the host, what cuBLAS does, and other graphs can be captured; synchronising a stream
// that is being captured, or launching a kernel by its address on it, is an error, as is capturing the null stream. A
// stream that waits for an event of a captured stream is captured with it. graph_nodes.h has graphs that are built by
// hand.
#pragma once

// Included by runtime_api.h, which declares what it needs.

struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
using cudaGraph_t = CUgraph_st*;
using cudaGraphExec_t = CUgraphExec_st*;
using cudaGraphNode_t = CUgraphNode_st*;

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};

enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty,
  cudaGraphNodeTypeWaitEvent,
  cudaGraphNodeTypeEventRecord,
  cudaGraphNodeTypeMemAlloc = 10,
  cudaGraphNodeTypeMemFree,
  cudaGraphNodeTypeConditional = 13
};

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
// id: 0 if nothing is captured. nodes: what the stream's next work will wait for, until the next call on it.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id = nullptr, cudaGraph_t* graph = nullptr,
                                     const cudaGraphNode_t** nodes = nullptr, size_t* count = nullptr);
// With CUDA 13's argument for the edges, all of which are of the usual kind: null.
struct cudaGraphEdgeData;
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** nodes,
                                            const cudaGraphEdgeData** edges, size_t* count) {
  if (edges) *edges = nullptr;
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, count);
}
#define cudaStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo_v3 cudaStreamGetCaptureInfo
// Every mode is the same here: no call is unsafe while a stream is captured.
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
// nodes: null, or room for *count of them.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
// A graph whose allocations are still in use cannot be launched again, unless AutoFreeOnLaunch frees them.
constexpr unsigned long long cudaGraphInstantiateFlagAutoFreeOnLaunch = 1, cudaGraphInstantiateFlagUpload = 2,
                             cudaGraphInstantiateFlagDeviceLaunch = 4, cudaGraphInstantiateFlagUseNodePriority = 8;
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0);
// The form before CUDA 12: only the return value says what went wrong.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* failed, char* log,
                                        size_t log_bytes) {
  if (failed) *failed = nullptr;
  if (log && log_bytes) *log = 0;
  return cudaGraphInstantiate(exec, graph, 0);
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                 unsigned long long flags = 0) {
  return cudaGraphInstantiate(exec, graph, flags);
}
enum cudaGraphInstantiateResult {
  cudaGraphInstantiateSuccess,
  cudaGraphInstantiateError,
  cudaGraphInstantiateInvalidStructure,
  cudaGraphInstantiateNodeOperationNotSupported,
  cudaGraphInstantiateMultipleDevicesNotSupported,
  cudaGraphInstantiateConditionalHandleUnused
};
struct cudaGraphInstantiateParams {
  unsigned long long flags;
  cudaStream_t uploadStream;
  cudaGraphNode_t errNode_out;
  cudaGraphInstantiateResult result_out;
};
inline cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams* parameters) {
  const cudaError_t error = cudaGraphInstantiate(exec, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
  return error;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);

enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess,
  cudaGraphExecUpdateError,
  cudaGraphExecUpdateErrorTopologyChanged,
  cudaGraphExecUpdateErrorNodeTypeChanged,
  cudaGraphExecUpdateErrorFunctionChanged,
  cudaGraphExecUpdateErrorParametersChanged,
  cudaGraphExecUpdateErrorNotSupported,
  cudaGraphExecUpdateErrorUnsupportedFunctionChange,
  cudaGraphExecUpdateErrorAttributesChanged
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
// Updates the executable graph from `graph`, if that has the same nodes in the same order.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info);
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                       cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info = {};
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  if (error_node) *error_node = info.errorNode;
  if (result) *result = info.result;
  return error;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

struct cudaKernelNodeParams;

namespace simt {

// A piece of work that was captured.
struct CapturedWork {
  cudaGraphNodeType type = cudaGraphNodeTypeKernel;
  virtual ~CapturedWork() = default;
  virtual cudaError_t run() = 0;
  virtual const void* allocates() const { return nullptr; }  // the memory of a node that allocates
  // What the node was made of. False: it cannot be told.
  virtual bool tell(cudaKernelNodeParams*) const { return false; }
  virtual const void* given() const { return nullptr; }  // of another node built by hand: its parameters
};

template <typename Work>
struct CapturedCall final : CapturedWork {
  Work work;
  explicit CapturedCall(const Work& work, cudaGraphNodeType kind = cudaGraphNodeTypeKernel) : work(work) {
    type = kind;
  }
  cudaError_t run() override { return work(); }
};

// Whether work on this stream is to be captured, not done.
bool is_capturing(cudaStream_t stream);

// The null stream waits for all streams that were not created with cudaStreamNonBlocking. So work on it while one of
// them is being captured fails, with cudaErrorStreamCaptureImplicit, and makes that capture invalid.
cudaError_t check_null_stream(cudaStream_t stream);

// The work of a graph launch runs on this stream, which programs cannot name and nothing captures.
cudaStream_t replay_stream();

// Whether this thread is running the work of a graph launch.
bool is_replaying();

// Adds to what the stream captures; takes ownership.
cudaError_t add_captured(cudaStream_t stream, CapturedWork* work);

// cudaFreeAsync on a captured stream.
cudaError_t capture_free(cudaStream_t stream, void* pointer);

// With several devices work on a stream is done later (device_queues.h). Takes ownership.
bool is_deferred();
cudaError_t defer(cudaStream_t stream, CapturedWork* work);

// Does the work, or keeps a copy of it if the stream is being captured.
template <typename Work>
cudaError_t do_or_capture(cudaStream_t stream, const Work& work, cudaGraphNodeType type = cudaGraphNodeTypeKernel) {
  Work copy = work;
  if (const cudaError_t error = check_null_stream(stream)) return error;
  if (is_capturing(stream)) return add_captured(stream, new CapturedCall<Work>(copy, type));
  return is_deferred() ? defer(stream, new CapturedCall<Work>(copy)) : copy();
}

// The same for what is done at once where there is one device, captured or not.
template <typename Work>
cudaError_t do_in_order(cudaStream_t stream, const Work& work) {
  Work copy = work;
  return is_deferred() && !is_capturing(stream) ? defer(stream, new CapturedCall<Work>(copy)) : copy();
}

// The return value of cudaMemcpyAsync. error: that of adding the copy to the stream.
cudaError_t after_copy(cudaStream_t stream, const void* to, const void* from, cudaError_t error);

}  // namespace simt
