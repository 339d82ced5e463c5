// Every collective of NCCL and messages in a ring, on all devices of one process, by one thread with groups and by a
// thread for each rank. What can be made wrong: COUNTS (a rank has more elements), FORGET (a rank does not call), OTHER
// (it calls something else), NO_GROUP (one thread calls for all ranks outside of a group), WRONG_MEMORY (a neighbour's
// buffer).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "expect.h"

constexpr int most = 16;
int ranks = 0;
ncclComm_t comms[most];
cudaStream_t streams[most];

// Small values that every type has, different by rank and place.
template <typename T>
T value(int rank, size_t i) {
  return static_cast<T>(static_cast<float>(1 + (static_cast<size_t>(rank) * 3 + i) % 4));
}

template <typename T>
__global__ void fill(T* data, int rank, size_t count) {
  for (size_t i = threadIdx.x; i < count; i += blockDim.x)
    data[i] = static_cast<T>(static_cast<float>(1 + (rank * 3 + i) % 4));
}

template <typename T, typename Enqueue, typename Expected>
void test(ncclDataType_t type, size_t send, size_t receive, Enqueue enqueue, Expected expected) {
  std::vector<T*> in(ranks), out(ranks);
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(r));
    OK(cudaMalloc(&in[r], send * sizeof(T)));
    OK(cudaMalloc(&out[r], receive * sizeof(T)));
    OK(cudaMemset(out[r], 0, receive * sizeof(T)));
    fill<<<1, 64, 0, streams[r]>>>(in[r], r, send);
  }
  OK(ncclGroupStart());
  for (int r = 0; r < ranks; r++) OK(enqueue(r, in[r], out[r], type));
  OK(ncclGroupEnd());
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(r));
    OK(cudaStreamSynchronize(streams[r]));
    std::vector<T> values(receive);
    OK(cudaMemcpy(values.data(), out[r], receive * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < receive; i++) EXPECT(static_cast<double>(static_cast<float>(values[i])) == expected(r, i));
    OK(cudaFree(in[r]));
    OK(cudaFree(out[r]));
  }
}

double reduced(ncclRedOp_t op, size_t i, bool integers) {
  double result = value<float>(0, i);
  for (int r = 1; r < ranks; r++) {
    const double other = value<float>(r, i);
    result = op == ncclProd  ? result * other
             : op == ncclMax ? (result < other ? other : result)
             : op == ncclMin ? (other < result ? other : result)
                             : result + other;
  }
  if (op != ncclAvg) return result;
  return integers ? static_cast<long long>(result) / ranks : static_cast<float>(result / ranks);
}

template <typename T>
void test_type(ncclDataType_t type, bool integers, bool exact_average) {
  constexpr size_t n = 37;
  for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
    if ((op == ncclAvg && !exact_average) || (op == ncclProd && ranks > 4)) continue;  // rounded, or too large
    test<T>(
        type, n, n,
        [&](int r, T* in, T* out, ncclDataType_t t) { return ncclAllReduce(in, out, n, t, op, comms[r], streams[r]); },
        [&](int, size_t i) { return reduced(op, i, integers); });
  }
  test<T>(
      type, n * ranks, n,
      [&](int r, T* in, T* out, ncclDataType_t t) {
        return ncclReduceScatter(in, out, n, t, ncclSum, comms[r], streams[r]);
      },
      [&](int r, size_t i) { return reduced(ncclSum, r * n + i, integers); });
  test<T>(
      type, n, n * ranks,
      [&](int r, T* in, T* out, ncclDataType_t t) { return ncclAllGather(in, out, n, t, comms[r], streams[r]); },
      [&](int, size_t i) { return static_cast<double>(value<float>(static_cast<int>(i / n), i % n)); });
  const int root = ranks - 1;
  test<T>(
      type, n, n,
      [&](int r, T* in, T* out, ncclDataType_t t) { return ncclBroadcast(in, out, n, t, root, comms[r], streams[r]); },
      [&](int, size_t i) { return static_cast<double>(value<float>(root, i)); });
  test<T>(
      type, n, n,
      [&](int r, T* in, T* out, ncclDataType_t t) {
        return ncclReduce(in, out, n, t, ncclMax, root, comms[r], streams[r]);
      },
      [&](int r, size_t i) { return r == root ? reduced(ncclMax, i, integers) : 0.0; });
  test<T>(
      type, n, n,
      [&](int r, T* in, T* out, ncclDataType_t t) {
        const ncclResult_t sent = ncclSend(in, n, t, (r + 1) % ranks, comms[r], streams[r]);
        return sent ? sent : ncclRecv(out, n, t, (r + ranks - 1) % ranks, comms[r], streams[r]);
      },
      [&](int r, size_t i) { return static_cast<double>(value<float>((r + ranks - 1) % ranks, i)); });
}

// A thread for each rank, without groups.
void by_threads() {
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; r++) {
    threads.emplace_back([=] {
      ncclComm_t comm;
      int count = 0, rank = -1, device = -1;
      float *data, sum;
      OK(cudaSetDevice(r));
      OK(ncclCommInitRank(&comm, ranks, id, r));
      OK(ncclCommCount(comm, &count));
      OK(ncclCommUserRank(comm, &rank));
      OK(ncclCommCuDevice(comm, &device));
      EXPECT(count == ranks && rank == r && device == r);
      OK(cudaMalloc(&data, sizeof(float)));
      const float own = static_cast<float>(r + 1);
      OK(cudaMemcpy(data, &own, sizeof own, cudaMemcpyHostToDevice));
      for (int round = 0; round < 3; round++) OK(ncclAllReduce(data, data, 1, ncclFloat, ncclSum, comm, nullptr));
      OK(cudaDeviceSynchronize());
      OK(cudaMemcpy(&sum, data, sizeof sum, cudaMemcpyDeviceToHost));
      EXPECT(sum == static_cast<float>(ranks * (ranks + 1) / 2 * ranks * ranks));
      OK(cudaFree(data));
      OK(ncclCommDestroy(comm));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// All-reduce of 64 floats, or what is wrong.
void once() {
  std::vector<float*> data(ranks);
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(r));
    OK(cudaMalloc(&data[r], 128 * sizeof(float)));
    fill<<<1, 64, 0, streams[r]>>>(data[r], r, 128);
  }
#ifndef NO_GROUP
  OK(ncclGroupStart());
#endif
  for (int r = 0; r < ranks; r++) {
    size_t count = 64;
    float* own = data[r];
#ifdef COUNTS
    if (r == 1) count = 65;
#endif
#ifdef FORGET
    if (r == 1) continue;
#endif
#ifdef WRONG_MEMORY
    if (r == 1) own = data[0];
#endif
#ifdef OTHER
    if (r == 1) {
      OK(ncclBroadcast(own, own, count, ncclFloat, 0, comms[r], streams[r]));
      continue;
    }
#endif
    OK(ncclAllReduce(own, own, count, ncclFloat, ncclSum, comms[r], streams[r]));
  }
#ifndef NO_GROUP
  OK(ncclGroupEnd());
#endif
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(r));
    OK(cudaStreamSynchronize(streams[r]));
    OK(cudaFree(data[r]));
  }
}

int main() {
  OK(cudaGetDeviceCount(&ranks));
  OK(ncclCommInitAll(comms, ranks, nullptr));
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(r));
    OK(cudaStreamCreate(&streams[r]));
  }
  once();
#ifndef ONCE_ONLY
  const bool power_of_2 = (ranks & (ranks - 1)) == 0;
  test_type<signed char>(ncclInt8, true, true);
  test_type<unsigned char>(ncclUint8, true, true);
  test_type<int>(ncclInt32, true, true);
  test_type<unsigned>(ncclUint32, true, true);
  test_type<long long>(ncclInt64, true, true);
  test_type<unsigned long long>(ncclUint64, true, true);
  test_type<__half>(ncclFloat16, false, power_of_2);
  test_type<float>(ncclFloat32, false, true);
  test_type<double>(ncclFloat64, false, power_of_2);
  test_type<__nv_bfloat16>(ncclBfloat16, false, power_of_2);
  test_type<__nv_fp8_e4m3>(ncclFloat8e4m3, false, power_of_2);
  if (power_of_2) test_type<__nv_fp8_e5m2>(ncclFloat8e5m2, false, true);  // else 9, which it does not have
#endif
  by_threads();
  EXPECT(ncclAllReduce(nullptr, nullptr, 1, ncclFloat, ncclSum, comms[0], streams[0]) == ncclInvalidArgument);
  EXPECT(ncclCommInitAll(comms, ranks + 1, nullptr) != ncclSuccess);
  std::puts("PASS");
}
