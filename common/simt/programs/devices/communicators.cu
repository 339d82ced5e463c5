// NCCL beyond its collectives, on all devices of one process: communicators with a configuration, by one thread that
// does not wait and by a thread for each rank; communicators that are split; sums with a factor; NCCL's own memory.
// What can be made wrong: FACTOR_ALONE (a rank's sum has no factor), SPLIT_ALONE (a rank does not call ncclCommSplit).
#include <cuda_fp16.h>
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

template <typename T>
T* on_device(int device, T value) {
  void* memory;
  OK(cudaSetDevice(device));
  OK(ncclMemAlloc(&memory, sizeof(T)));
  OK(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice));
  return static_cast<T*>(memory);
}

template <typename T>
T from_device(int device, T* memory) {
  T value;
  OK(cudaSetDevice(device));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  OK(ncclMemFree(memory));
  return value;
}

// The sum of 1, 2, ... over the ranks of a communicator is right on each of them.
void expect_sum(const std::vector<ncclComm_t>& parts) {
  std::vector<int*> data;
  for (const ncclComm_t part : parts) {
    int device, rank;
    OK(ncclCommCuDevice(part, &device));
    OK(ncclCommUserRank(part, &rank));
    data.push_back(on_device(device, rank + 1));
  }
  OK(ncclGroupStart());
  for (size_t i = 0; i < parts.size(); i++) OK(ncclAllReduce(data[i], data[i], 1, ncclInt, ncclSum, parts[i], nullptr));
  OK(ncclGroupEnd());
  for (size_t i = 0; i < parts.size(); i++) {
    int device, count;
    OK(ncclCommCuDevice(parts[i], &device));
    OK(ncclCommCount(parts[i], &count));
    EXPECT(from_device(device, data[i]) == count * (count + 1) / 2);
  }
}

// One thread that does not wait: the communicators are there when the last rank has joined.
void without_waiting() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id));
  std::vector<ncclComm_t> all(ranks);
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(r));
    const ncclResult_t result = ncclCommInitRankConfig(&all[r], ranks, id, r, &config);
    EXPECT(result == (r < ranks - 1 ? ncclInProgress : ncclSuccess));
    ncclResult_t state;
    OK(ncclCommGetAsyncError(all[0], &state));
    EXPECT(state == (r < ranks - 1 ? ncclInProgress : ncclSuccess));
  }
  expect_sum(all);
  for (const ncclComm_t comm : all) OK(ncclCommFinalize(comm));
  for (const ncclComm_t comm : all) OK(ncclCommDestroy(comm));
}

// Even and odd ranks, in reverse order; then all but rank 0.
void split() {
  std::vector<ncclComm_t> parts(ranks), rest(ranks);
  OK(ncclGroupStart());
  for (int r = 0; r < ranks; r++) OK(ncclCommSplit(comms[r], r % 2, -r, &parts[r], nullptr));
  OK(ncclGroupEnd());
  for (int r = 0; r < ranks; r++) {
    int count, rank, device;
    OK(ncclCommCount(parts[r], &count));
    OK(ncclCommUserRank(parts[r], &rank));
    OK(ncclCommCuDevice(parts[r], &device));
    EXPECT(count == (ranks + 1 - r % 2) / 2);
    EXPECT(rank == count - 1 - r / 2);
    EXPECT(device == r);
  }
  expect_sum(parts);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; r++) {
#ifdef SPLIT_ALONE
    if (r == 1) continue;
#endif
    threads.emplace_back([&, r] { OK(ncclCommSplit(comms[r], r ? 5 : NCCL_SPLIT_NOCOLOR, 0, &rest[r], nullptr)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT(rest[0] == NCCL_COMM_NULL);
  rest.erase(rest.begin());
  if (!rest.empty()) expect_sum(rest);
  for (const ncclComm_t comm : parts) OK(ncclCommDestroy(comm));
  for (const ncclComm_t comm : rest) OK(ncclCommAbort(comm));
}

// Each rank's factor is its own: 1/2 and 3/2, by turns. On the device it is read late.
template <typename T>
void with_factors(ncclDataType_t type, bool late) {
  std::vector<T*> data(ranks), factors(ranks);
  std::vector<ncclRedOp_t> ops(ranks);
  float expected = 0;
  for (int r = 0; r < ranks; r++) {
    const float factor = r % 2 ? 1.5f : 0.5f;
    expected += factor * static_cast<float>(r + 1);
    data[r] = on_device(r, static_cast<T>(static_cast<float>(r + 1)));
    factors[r] = on_device(r, static_cast<T>(late ? 0.0f : factor));
    T now = static_cast<T>(factor);
    OK(ncclRedOpCreatePreMulSum(&ops[r], late ? factors[r] : &now, type,
                                late ? ncclScalarDevice : ncclScalarHostImmediate, comms[r]));
    OK(cudaMemcpy(factors[r], &now, sizeof now, cudaMemcpyHostToDevice));
  }
  OK(ncclGroupStart());
  for (int r = 0; r < ranks; r++) {
    ncclRedOp_t op = ops[r];
#ifdef FACTOR_ALONE
    if (r == 1) op = ncclSum;
#endif
    OK(ncclAllReduce(data[r], data[r], 1, type, op, comms[r], nullptr));
    OK(ncclRedOpDestroy(ops[r], comms[r]));
  }
  OK(ncclGroupEnd());
  for (int r = 0; r < ranks; r++) {
    EXPECT(static_cast<float>(from_device(r, data[r])) == expected);
    from_device(r, factors[r]);
  }
}

void wrong_uses() {
  ncclRedOp_t op;
  float factor = 2;
  float* data = on_device(0, 1.0f);
  OK(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarHostImmediate, comms[0]));
  EXPECT(ncclAllReduce(data, data, 1, ncclInt, op, comms[0], nullptr) == ncclInvalidArgument);  // another type
  OK(ncclRedOpDestroy(op, comms[0]));
  EXPECT(ncclAllReduce(data, data, 1, ncclFloat, op, comms[0], nullptr) == ncclInvalidArgument);  // it is gone
  EXPECT(ncclRedOpDestroy(op, comms[0]) == ncclInvalidArgument);
  EXPECT(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarDevice, comms[0]) == ncclInvalidArgument);
  void* handle;
  OK(ncclCommRegister(comms[0], data, sizeof *data, &handle));
  OK(ncclCommDeregister(comms[0], handle));
  EXPECT(ncclCommRegister(comms[0], &factor, sizeof factor, &handle) == ncclInvalidArgument);
  EXPECT(ncclCommRegister(comms[0], data, 8, &handle) == ncclInvalidArgument);
  ncclConfig_t config = {};
  ncclUniqueId id;
  ncclComm_t comm;
  OK(ncclGetUniqueId(&id));
  EXPECT(ncclCommInitRankConfig(&comm, 1, id, 0, &config) == ncclInvalidArgument);
  EXPECT(ncclCommSplit(comms[0], -2, 0, &comm, nullptr) == ncclInvalidArgument);
  OK(ncclMemFree(data));
}

int main() {
  OK(cudaGetDeviceCount(&ranks));
  OK(ncclCommInitAll(comms, ranks, nullptr));
  with_factors<float>(ncclFloat, false);
  with_factors<__half>(ncclHalf, true);
  without_waiting();
  split();
  wrong_uses();
  for (int r = 0; r < ranks; r++) OK(ncclCommDestroy(comms[r]));
  std::puts("PASS");
}
