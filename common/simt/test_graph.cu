// Stream capture and graphs: what is captured is not done, and is done each time that the graph is launched.
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include "counters/counters.h"
#include "testing.h"

namespace {

__global__ void add(int* to, int number) { to[threadIdx.x] += number; }
__global__ void twice(int* to) { to[threadIdx.x] *= 2; }

struct Capture {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  Capture() {
    cudaStreamCreate(&stream);
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  }
  void end() {
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    cudaGraphExec_t as_before_cuda_12 = nullptr;
    REQUIRE(cudaGraphInstantiate(&as_before_cuda_12, graph, nullptr, nullptr, 0) == cudaSuccess);
    REQUIRE(cudaGraphExecDestroy(as_before_cuda_12) == cudaSuccess);
  }
  ~Capture() {
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  }
};

int* device_ints(int value) {
  int* data = nullptr;
  cudaMalloc(&data, 32 * sizeof(int));
  for (int i = 0; i < 32; i++) data[i] = value;
  return data;
}

}  // namespace

TEST_CASE("captured launches run in order, at each launch of the graph, and not before") {
  int* const data = device_ints(1);
  cudaStream_t other = nullptr;
  cudaStreamCreate(&other);
  Capture capture;
  for (int number : {3, 4}) add<<<1, 32, 0, capture.stream>>>(data, number);  // arguments are kept by value
  twice<<<1, 32, 0, capture.stream>>>(data);
  add<<<1, 32, 0, other>>>(data, 100);  // another stream: now
  capture.end();
  REQUIRE(data[31] == 101);
  REQUIRE(cudaGraphLaunch(capture.exec, capture.stream) == cudaSuccess);
  REQUIRE(data[31] == 216);
  REQUIRE(cudaGraphLaunch(capture.exec, nullptr) == cudaSuccess);
  REQUIRE(data[31] == 446);
  size_t nodes = 0;
  REQUIRE(cudaGraphGetNodes(capture.graph, nullptr, &nodes) == cudaSuccess);
  REQUIRE(nodes == 3);
  cudaStreamDestroy(other);
  cudaFree(data);
}

TEST_CASE("a graph that was instantiated can go, the executable one cannot") {
  int* const data = device_ints(1);
  Capture capture;
  add<<<1, 32, 0, capture.stream>>>(data, 5);
  capture.end();
  cudaGraphDestroy(capture.graph);
  capture.graph = nullptr;
  Capture another;  // may lie where the first one was
  twice<<<1, 32, 0, another.stream>>>(data);
  another.end();
  REQUIRE(cudaGraphLaunch(capture.exec, nullptr) == cudaSuccess);
  REQUIRE(data[31] == 6);
  cudaFree(data);
}

TEST_CASE("copies, memsets, cuBLAS and other graphs are captured too") {
  int *const data = device_ints(1), *const other = device_ints(7);
  float* const numbers = reinterpret_cast<float*>(device_ints(0));
  numbers[0] = 3;
  numbers[1] = 5;
  Capture inner;
  add<<<1, 32, 0, inner.stream>>>(data, 1);
  inner.end();
  Capture capture;
  cudaMemcpyAsync(data, other, 32 * sizeof(int), cudaMemcpyDeviceToDevice, capture.stream);
  cudaMemsetAsync(other, 0, 32 * sizeof(int), capture.stream);
  cudaGraphLaunch(inner.exec, capture.stream);
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  cublasSetStream(handle, capture.stream);
  {
    const float one = 1, zero = 0;  // gone before the graph runs
    REQUIRE(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, numbers, 1, numbers + 1, 1, &zero, numbers + 2,
                        1) == CUBLAS_STATUS_SUCCESS);
  }
  capture.end();
  REQUIRE(data[0] == 1);
  REQUIRE(other[0] == 7);
  REQUIRE(numbers[2] == 0);
  REQUIRE(cudaGraphLaunch(capture.exec, nullptr) == cudaSuccess);
  REQUIRE(data[0] == 8);
  REQUIRE(other[0] == 0);
  REQUIRE(numbers[2] == 15);
  cublasDestroy(handle);
  for (void* p : {static_cast<void*>(data), static_cast<void*>(other), static_cast<void*>(numbers)}) cudaFree(p);
}

TEST_CASE("what a stream that is being captured cannot do") {
  cudaGraph_t graph = nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  REQUIRE(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  Capture capture;
  REQUIRE(cudaStreamBeginCapture(capture.stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
  REQUIRE(cudaStreamSynchronize(capture.stream) == cudaErrorStreamCaptureUnsupported);
  REQUIRE(cudaStreamIsCapturing(capture.stream, &status) == cudaSuccess);
  REQUIRE(status == cudaStreamCaptureStatusActive);
  int* const data = device_ints(1);
  int number = 2;
  void* arguments[] = {const_cast<int**>(&data), &number};
  REQUIRE(cudaLaunchCooperativeKernel(add, 1, 32, arguments, 0, capture.stream) == cudaErrorStreamCaptureUnsupported);
  REQUIRE(data[0] == 1);
  cudaFree(data);
  capture.end();
  REQUIRE(cudaStreamEndCapture(capture.stream, &graph) == cudaErrorIllegalState);
  REQUIRE(cudaStreamSynchronize(capture.stream) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(nullptr, nullptr) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("work on the null stream makes the capture of a blocking stream invalid, and that of another not") {
  int* const data = device_ints(1);
  Capture capture;
  add<<<1, 32>>>(data, 2);
  REQUIRE(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
  REQUIRE(data[0] == 1);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  REQUIRE(cudaStreamIsCapturing(capture.stream, &status) == cudaSuccess);
  REQUIRE(status == cudaStreamCaptureStatusInvalidated);
  add<<<1, 32, 0, capture.stream>>>(data, 2);
  REQUIRE(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
  REQUIRE(cudaStreamEndCapture(capture.stream, &capture.graph) == cudaErrorStreamCaptureInvalidated);
  REQUIRE(capture.graph == nullptr);
  cudaGetLastError();
  REQUIRE(cudaStreamBeginCapture(capture.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaMemsetAsync(data, 0, sizeof(int)) == cudaErrorStreamCaptureImplicit);
  REQUIRE(cudaStreamEndCapture(capture.stream, &capture.graph) == cudaErrorStreamCaptureInvalidated);

  cudaStream_t other = nullptr;
  unsigned flags = 0;
  REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamGetFlags(other, &flags) == cudaSuccess);
  REQUIRE(flags == cudaStreamNonBlocking);
  REQUIRE(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal) == cudaSuccess);
  add<<<1, 32>>>(data, 2);
  add<<<1, 32, 0, other>>>(data, 5);
  REQUIRE(data[0] == 3);
  REQUIRE(cudaStreamEndCapture(other, &capture.graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&capture.exec, capture.graph, 0) == cudaSuccess);
  // A graph that is launched while a blocking stream captures is no work on the null stream, nor what it holds itself.
  REQUIRE(cudaStreamBeginCapture(capture.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(capture.exec, other) == cudaSuccess);
  REQUIRE(data[0] == 8);
  // A graph in it, and a launch after that.
  cudaGraph_t both = nullptr;
  cudaGraphExec_t both_exec = nullptr;
  REQUIRE(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(capture.exec, other) == cudaSuccess);
  twice<<<1, 32, 0, other>>>(data);
  REQUIRE(cudaStreamEndCapture(other, &both) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&both_exec, both, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(both_exec, other) == cudaSuccess);
  REQUIRE(data[0] == 26);
  cudaGraphExecDestroy(both_exec);
  cudaGraphDestroy(both);
  REQUIRE(cudaGraphLaunch(capture.exec, nullptr) == cudaErrorStreamCaptureImplicit);
  cudaGraph_t none = nullptr;
  REQUIRE(cudaStreamEndCapture(capture.stream, &none) == cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  cudaStreamDestroy(other);
  cudaFree(data);
}

TEST_CASE("a stream that is destroyed while it is being captured keeps nothing from running") {
  int* const data = device_ints(1);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  add<<<1, 32>>>(data, 2);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(data[0] == 3);
  cudaFree(data);
}

TEST_CASE("cublasGemmEx: bfloat16 with sums in float, and its operands in the counts") {
  // C (2 x 2) = A^T (2 x 3) B (3 x 2), column-major.
  __nv_bfloat16* in = nullptr;
  float* out = nullptr;
  cudaMalloc(&in, 12 * sizeof *in);
  cudaMalloc(&out, 4 * sizeof *out);
  for (int i = 0; i < 12; i++) in[i] = __float2bfloat16(static_cast<float>(i + 1));
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  simt::counters::watch(in, 6 * sizeof *in);
  simt::counters::start();
  REQUIRE(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 3, &one, in, CUDA_R_16BF, 3, in + 6, CUDA_R_16BF, 3,
                       &zero, out, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  const simt::counters::Report report = simt::counters::finish();
  simt::counters::watch(nullptr, 0);
  REQUIRE(out[0] == 1 * 7 + 2 * 8 + 3 * 9);
  REQUIRE(out[1] == 4 * 7 + 5 * 8 + 6 * 9);
  REQUIRE(out[2] == 1 * 10 + 2 * 11 + 3 * 12);
  REQUIRE(report.library_calls.size() == 1);
  REQUIRE(report.library_calls[0].bytes_read == 24);
  REQUIRE(report.library_calls[0].bytes_written == 16);
  REQUIRE(report.library_calls[0].watched_bytes_read == 12);
  REQUIRE(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 3, &one, in, CUDA_R_64F, 3, in + 6, CUDA_R_64F, 3, &zero,
                       out, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
  cublasDestroy(handle);
  cudaFree(in);
  cudaFree(out);
}
