// What a launch costs, and a block.
#include "probe.h"

namespace probe {

namespace {

__global__ void nothing() {}

constexpr int launches_in_a_graph = 1000;

}  // namespace

void launches(const cudaDeviceProp& device, Constants* found) {
  (void)device;
  Constants& f = *found;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  // blocks: of each launch. Returns microseconds per launch.
  const auto in_a_graph = [&](int blocks) {
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < launches_in_a_graph; i++) nothing<<<blocks, 32, 0, stream>>>();
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&replay, graph, 0));
    const double ms = best_ms([&] {
      check(cudaGraphLaunch(replay, stream));
      check(cudaStreamSynchronize(stream));
    });
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    return ms * 1e3 / launches_in_a_graph;
  };
  const double one = in_a_graph(1);
  constexpr int many = 20000;
  f["launch_us"] = one;
  f["block_interval_ns"] = (in_a_graph(many) - one) * 1e3 / many;
  f["launch in a stream, us (not in the model as such)"] = best_ms([&] {
                                                             for (int i = 0; i < launches_in_a_graph; i++)
                                                               nothing<<<1, 32, 0, stream>>>();
                                                             check(cudaStreamSynchronize(stream));
                                                           }) *
                                                           1e3 / launches_in_a_graph;
  cudaStreamDestroy(stream);
}

}  // namespace probe
