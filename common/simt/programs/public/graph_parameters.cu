// Graphs whose nodes are asked for what they were made of: a captured kernel gets another pointer, as inference engines
// do it once per token; nodes are switched off and on; and every asynchronous copy that a capture can hold waits for
// the graph's launch.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

constexpr int n = 64;
__constant__ float factors[n];
__device__ float kept[n];

__global__ void scale(const float* in, float* out, float by, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = by * in[i] + factors[i];
}

float* device_floats(float value) {
  float* pointer;
  const std::vector<float> values(n, value);
  CHECK(cudaMalloc(&pointer, n * sizeof(float)));
  CHECK(cudaMemcpy(pointer, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  return pointer;
}
float first_of(const float* pointer) {
  float value;
  CHECK(cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void captured_kernels(cudaStream_t stream) {
  float *in = device_floats(3), *other = device_floats(5), *out = device_floats(0), *second = device_floats(0);
  cudaStreamCaptureStatus status;
  unsigned long long id, number;
  cudaGraph_t graph, captured;
  const cudaGraphNode_t* last;
  size_t count;
  CHECK(cudaStreamGetId(stream, &number));
  EXPECT(number > 2);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  scale<<<2, n / 2, 0, stream>>>(in, out, 2.f, n);
  CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &captured, &last, &count));
  EXPECT(status == cudaStreamCaptureStatusActive && id > 0 && count == 1);
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(last[0], &type));
  EXPECT(type == cudaGraphNodeTypeKernel);
  scale<<<1, n, 0, stream>>>(in, second, 7.f, n);
  CHECK(cudaStreamEndCapture(stream, &graph));
  EXPECT(graph == captured);
  CHECK(cudaStreamGetCaptureInfo(stream, &status, &id));
  EXPECT(status == cudaStreamCaptureStatusNone && id == 0);

  count = 2;
  cudaGraphNode_t nodes[2];
  CHECK(cudaGraphGetNodes(graph, nodes, &count));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(first_of(out) == 6 && first_of(second) == 21);

  cudaKernelNodeParams parameters;
  CHECK(cudaGraphKernelNodeGetParams(nodes[0], &parameters));
  EXPECT(parameters.gridDim.x == 2 && parameters.blockDim.x == n / 2 && parameters.func == (void*)scale);
  EXPECT(*(float**)parameters.kernelParams[1] == out && *(float*)parameters.kernelParams[2] == 2);
  float factor = 4;
  parameters.kernelParams[0] = &other;
  parameters.kernelParams[2] = &factor;
  CHECK(cudaGraphKernelNodeSetParams(nodes[0], &parameters));
  CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes[0], &parameters));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(first_of(out) == 20);
  CHECK(cudaGraphKernelNodeGetParams(nodes[0], &parameters));
  EXPECT(*(float**)parameters.kernelParams[0] == other && *(float*)parameters.kernelParams[2] == 4);

  unsigned enabled;
  CHECK(cudaGraphNodeGetEnabled(exec, nodes[1], &enabled));
  EXPECT(enabled == 1);
  CHECK(cudaGraphNodeSetEnabled(exec, nodes[1], 0));
  CHECK(cudaMemset(second, 0, n * sizeof(float)));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(first_of(second) == 0);
  CHECK(cudaGraphNodeSetEnabled(exec, nodes[1], 1));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(first_of(second) == 21);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void nodes_built_by_hand() {
  float *from = device_floats(2), *to = device_floats(0);
  cudaGraph_t graph;
  cudaGraphNode_t set, copy;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams zeros = {};
  zeros.dst = from;
  zeros.elementSize = 4;
  zeros.width = n;
  zeros.height = 1;
  CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zeros));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, to, from, n * sizeof(float), cudaMemcpyDeviceToDevice));
  cudaMemsetParams told_set;
  cudaMemcpy3DParms told_copy;
  CHECK(cudaGraphMemsetNodeGetParams(set, &told_set));
  CHECK(cudaGraphMemcpyNodeGetParams(copy, &told_copy));
  EXPECT(told_set.dst == from && told_set.width == n);
  EXPECT(told_copy.dstPtr.ptr == to && told_copy.srcPtr.ptr == from && told_copy.extent.width == n * sizeof(float));
  CHECK(cudaGraphMemcpyNodeSetParams1D(copy, to + 1, from, sizeof(float), cudaMemcpyDeviceToDevice));
  cudaGraphNode_t symbol;
  const float five = 5;
  CHECK(
      cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, kept, &five, sizeof five, 8, cudaMemcpyHostToDevice));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaMemset(to, 255, n * sizeof(float)));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(first_of(to) != first_of(to) && first_of(to + 1) == 0);
  float word;
  CHECK(cudaMemcpyFromSymbol(&word, kept, sizeof word, 8));
  EXPECT(word == 5);
}

// None of these may happen while it is captured.
void captured_copies(cudaStream_t stream) {
  float *from = device_floats(9), *to = device_floats(1), *back = device_floats(1);
  std::vector<float> host(n, 4), told(n, 0), row(n, 0);
  const cudaExtent extent = make_cudaExtent(n * sizeof(float), 1, 1);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, n));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, from, n * 4, n * 4, 1, cudaMemcpyDeviceToDevice));
  cudaChannelFormatDesc told_format;
  CHECK(cudaGetChannelDesc(&told_format, array));
  EXPECT(told_format.x == 32 && told_format.f == cudaChannelFormatKindFloat);

  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemcpyToSymbolAsync(factors, host.data(), n * sizeof(float), 0, cudaMemcpyHostToDevice, stream));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(from, n * sizeof(float), n, 1);
  copy.dstPtr = make_cudaPitchedPtr(to, n * sizeof(float), n, 1);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3DAsync(&copy, stream));
  CHECK(cudaMemset3DAsync(make_cudaPitchedPtr(back, n * sizeof(float), n, 1), 0, extent, stream));
  CHECK(cudaMemcpyFromSymbolAsync(told.data(), factors, n * sizeof(float), 0, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaMemcpy2DFromArrayAsync(row.data(), n * 4, array, 0, 0, n * 4, 1, cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 5);
  EXPECT(first_of(to) == 1 && first_of(back) == 1 && told[0] == 0 && row[0] == 0);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 1; round < 3; round++) {
    host[1] = static_cast<float>(round);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(first_of(to) == 9 && first_of(back) == 0 && told[0] == 4 && told[1] == static_cast<float>(round));
    EXPECT(row[n - 1] == 9);
  }
}

int main() {
  const std::vector<float> zeros(n, 0);
  CHECK(cudaMemcpyToSymbol(factors, zeros.data(), n * sizeof(float)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  captured_kernels(stream);
  nodes_built_by_hand();
  captured_copies(stream);
  std::printf("PASS\n");
  return 0;
}
