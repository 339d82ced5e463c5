// Graphs as programs use them: one that is built by hand, launched, changed and cloned; and one that is captured over
// two streams in every step of a loop, which updates what was instantiated in the first.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

constexpr int count = 1000, blocks = 8, threads = 128;

__global__ void partial_sums(const float* in, float* sums, int n) {
  __shared__ float shared[threads];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] += shared[0];
}

__global__ void total(const float* sums, float* result) {
  float sum = 0;
  for (int i = 0; i < blocks; i++) sum += sums[i];
  *result = sum;
}

__global__ void axpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

struct Told {
  float* result;
  float sum;
};

void CUDART_CB tell(void* data) {
  Told* const told = static_cast<Told*>(data);
  told->sum += *told->result;
}

float by_hand(const std::vector<float>& values) {
  float *in, *sums, *result, host = 0;
  CHECK(cudaMalloc(&in, count * sizeof(float)));
  CHECK(cudaMalloc(&sums, blocks * sizeof(float)));
  CHECK(cudaMalloc(&result, sizeof(float)));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));

  cudaMemcpy3DParms copy = {0};
  copy.srcPtr = make_cudaPitchedPtr((void*)values.data(), count * sizeof(float), count, 1);
  copy.dstPtr = make_cudaPitchedPtr(in, count * sizeof(float), count, 1);
  copy.extent = make_cudaExtent(count * sizeof(float), 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemsetParams set = {0};
  set.dst = sums;
  set.elementSize = sizeof(float);
  set.width = blocks;
  set.height = 1;
  std::vector<cudaGraphNode_t> before(2);
  CHECK(cudaGraphAddMemcpyNode(&before[0], graph, NULL, 0, &copy));
  CHECK(cudaGraphAddMemsetNode(&before[1], graph, NULL, 0, &set));

  int n = count;
  void* arguments[] = {(void*)&in, (void*)&sums, &n};
  cudaKernelNodeParams kernel = {0};
  kernel.func = (void*)partial_sums;
  kernel.gridDim = dim3(blocks, 1, 1);
  kernel.blockDim = dim3(threads, 1, 1);
  kernel.kernelParams = arguments;
  cudaGraphNode_t summed, added, back, told_node;
  CHECK(cudaGraphAddKernelNode(&summed, graph, before.data(), before.size(), &kernel));
  void* of_total[] = {&sums, &result};
  cudaKernelNodeParams last = {(void*)total, dim3(1), dim3(1), 0, of_total, NULL};
  CHECK(cudaGraphAddKernelNode(&added, graph, &summed, 1, &last));
  CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &added, 1, &host, result, sizeof(float), cudaMemcpyDeviceToHost));
  Told told = {&host, 0};
  cudaHostNodeParams call = {0};
  call.fn = tell;
  call.userData = &told;
  CHECK(cudaGraphAddHostNode(&told_node, graph, &back, 1, &call));

  cudaGraphExec_t exec, cloned_exec;
  cudaGraph_t cloned;
  CHECK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
  CHECK(cudaGraphClone(&cloned, graph));
  CHECK(cudaGraphInstantiate(&cloned_exec, cloned, NULL, NULL, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphLaunch(cloned_exec, stream));
  n = count / 2;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, summed, &kernel));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphExecDestroy(cloned_exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(cloned));
  CHECK(cudaStreamDestroy(stream));
  for (float* each : {in, sums, result}) CHECK(cudaFree(each));
  return told.sum;
}

float captured(const std::vector<float>& values) {
  float *x, *y, *z;
  for (float** each : {&x, &y, &z}) CHECK(cudaMalloc(each, count * sizeof(float)));
  CHECK(cudaMemcpy(x, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(y, 0, count * sizeof(float)));
  CHECK(cudaMemset(z, 0, count * sizeof(float)));
  cudaStream_t main_stream, side;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraphExec_t exec = nullptr;
  for (int step = 0; step < 4; step++) {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaEventRecord(fork, main_stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    axpy<<<(count + 255) / 256, 256, 0, main_stream>>>(float(step), x, y, count);
    axpy<<<(count + 255) / 256, 256, 0, side>>>(2 * float(step), x, z, count);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(main_stream, join));
    axpy<<<(count + 255) / 256, 256, 0, main_stream>>>(1, z, y, count);
    CHECK(cudaStreamEndCapture(main_stream, &graph));
    cudaGraphExecUpdateResultInfo info;
    if (!exec)
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
    else
      CHECK(cudaGraphExecUpdate(exec, graph, &info));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(exec, main_stream));
    CHECK(cudaStreamSynchronize(main_stream));
  }
  float last = 0;
  CHECK(cudaMemcpy(&last, y + count - 1, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaGraphExecDestroy(exec));
  for (float* each : {x, y, z}) CHECK(cudaFree(each));
  return last;
}

int main() {
  std::vector<float> values(count);
  float sum = 0, half = 0, y = 0, z = 0;
  for (int i = 0; i < count; i++) {
    values[i] = static_cast<float>(i % 7 + 1);
    sum += values[i];
    if (i < count / 2) half += values[i];
  }
  for (int step = 0; step < 4; step++) {
    y += step * values[count - 1];
    z += 2 * step * values[count - 1];
    y += z;
  }
  const float total_of_three = by_hand(values), last = captured(values);
  std::printf("%g %g\n", total_of_three, last);
  std::puts(total_of_three == 2 * sum + half && last == y ? "PASS" : "FAIL");
}
