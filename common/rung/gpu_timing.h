// Times launches on a GPU: after a warm-up, many to a sample, queued so that the device never waits for the host.
#pragma once

#include <cuda_runtime.h>
#include <time.h>

#include <vector>

namespace rung {

// launch(0) .. launch(calls - 1), in order, on `stream`; each returns a cudaError_t.
//
// They are recorded once as a CUDA graph, so that the gap between two short kernels is the device's own and not the
// time of a call on the host, unless the caller wants that measured too (`record` false). A launch that cannot be
// recorded (it allocates, synchronises or uses another stream) is called again every time.
template <typename Launch>
class Pass {
 public:
  Pass(Launch launch, int calls, cudaStream_t stream, bool record) : launch_(launch), calls_(calls), stream_(stream) {
    if (record) this->record();
  }
  ~Pass() {
    if (graph_) cudaGraphExecDestroy(graph_);
  }
  Pass(const Pass&) = delete;

  bool recorded() const { return graph_ != nullptr; }

  cudaError_t operator()() const { return graph_ ? cudaGraphLaunch(graph_, stream_) : call(); }

 private:
  cudaError_t call() const {
    for (int i = 0; i < calls_; i++) {
      if (const cudaError_t error = launch_(i)) return error;
    }
    return cudaGetLastError();
  }

  void record() {
    if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
      const cudaError_t called = call();
      cudaGraph_t graph = nullptr;
      size_t nodes = 0;
      const cudaError_t captured = cudaStreamEndCapture(stream_, &graph);
      // Fewer nodes than calls: work went to a stream that was not recorded.
      if (called == cudaSuccess && captured == cudaSuccess &&
          cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess && nodes >= static_cast<size_t>(calls_) &&
          cudaGraphInstantiate(&graph_, graph, 0) != cudaSuccess) {
        graph_ = nullptr;
      }
      if (graph) cudaGraphDestroy(graph);
    }
    cudaGetLastError();  // that it could not be recorded is no error of the rung
  }

  Launch launch_;
  int calls_;
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

// Fills `seconds` with times of one launch, each the mean over a pass of `calls`. Returns the first error.
//
// Whether the device lowers its clock meanwhile is watched on the other side (bench/clocks.h).
template <typename Launch>
cudaError_t time_launches(Launch launch, int calls, cudaStream_t stream, std::vector<double>& seconds,
                          bool record = true) {
  constexpr double warm_up_seconds = 0.05;  // loads the kernel's code and raises the clock
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const Pass<Launch> pass(launch, calls, stream, record);
  for (const double start = now(); now() - start < warm_up_seconds;) {
    if (const cudaError_t error = pass()) return error;
    if (const cudaError_t error = cudaDeviceSynchronize()) return error;
  }

  cudaEvent_t begin = nullptr, end = nullptr;
  cudaError_t error = cudaEventCreate(&begin);
  if (!error) error = cudaEventCreate(&end);
  for (size_t i = 0; i < seconds.size() && !error; i++) {
    // The pass before the timed one keeps the device busy until the timed one is queued too.
    if (pass.recorded()) error = pass();
    if (!error) error = cudaEventRecord(begin, stream);
    if (!error) error = pass();
    // What could not be recorded may run on other streams: all of the device must be idle before the clock stops.
    if (!error && !pass.recorded()) error = cudaDeviceSynchronize();
    if (!error) error = cudaEventRecord(end, stream);
    if (!error) error = cudaDeviceSynchronize();
    float milliseconds = 0;
    if (!error) error = cudaEventElapsedTime(&milliseconds, begin, end);
    seconds[i] = 1e-3 * milliseconds / calls;
  }
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
  return error;
}

}  // namespace rung
