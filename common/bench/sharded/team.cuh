// All devices of this process with a host thread for each: communicators, streams, the memory that they share, and
// rows whose columns are cut into shards.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "library_variants.cuh"

namespace sharded {

#define SHARDED_OK(call)                                                                                    \
  do {                                                                                                      \
    const int error = static_cast<int>(call);                                                               \
    if (error) std::printf("FAIL %s:%d: error %d of %s\n", __FILE__, __LINE__, error, #call), std::exit(1); \
  } while (0)

// Columns per device, as evenly as possible: the first devices have one more.
inline std::vector<int> even_shards(int devices, int cols) {
  std::vector<int> shards(devices, cols / devices);
  for (int d = 0; d < cols % devices; d++) shards[d]++;
  return shards;
}

class Team {
 public:
  // words: the largest number of words that all devices' messages of one round have: devices * rows * (k + 1).
  Team(int devices, size_t words) : devices(devices), comms(devices), streams(devices), rounds(devices) {
    SHARDED_OK(ncclCommInitAll(comms.data(), devices, nullptr));
    peers.half = words;
    each([&](int d) {
      SHARDED_OK(cudaStreamCreate(&streams[d]));
      for (int p = 0; p < devices; p++) {
        if (p != d) SHARDED_OK(cudaDeviceEnablePeerAccess(p, 0));
      }
      peers.inbox[d] = zeros<Key>(2 * words);
      peers.packets[d] = zeros<Key>(4 * words);
      peers.flags[d] = zeros<unsigned>(static_cast<size_t>(devices) * most_blocks);
      rounds[d] = zeros<Round>(1);
    });
  }
  Team(const Team&) = delete;

  // Runs work(device) in one host thread per device, which has made the device current. Returns when all have ended.
  void each(const std::function<void(int device)>& work) const {
    std::vector<std::thread> threads;
    for (int d = 0; d < devices; d++) {
      threads.emplace_back([&, d] {
        SHARDED_OK(cudaSetDevice(d));
        work(d);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Memory for `count` elements on the current device, filled with zeros.
  template <typename T>
  static T* zeros(size_t count) {
    void* memory = nullptr;
    SHARDED_OK(cudaMalloc(&memory, (count ? count : 1) * sizeof(T)));
    SHARDED_OK(cudaMemset(memory, 0, (count ? count : 1) * sizeof(T)));
    SHARDED_OK(cudaDeviceSynchronize());
    return static_cast<T*>(memory);
  }

  const int devices;
  std::vector<ncclComm_t> comms;
  std::vector<cudaStream_t> streams;
  std::vector<Round*> rounds;
  Peers peers = {};
};

// A problem's memory on all devices. The logits are zero until they are set.
template <typename T>
class Problem {
 public:
  Problem(const Team& team, int rows, const std::vector<int>& cols, int k) : team_(team), cols_(cols) {
    shards.resize(team.devices);
    int all = 0;
    for (const int one : cols) all += one;
    team.each([&](int d) {
      const size_t results = static_cast<size_t>(rows) * k;
      shards[d] = {d,
                   team.devices,
                   rows,
                   k,
                   cols_.data(),
                   Team::zeros<T>(static_cast<size_t>(rows) * cols[d]),
                   Team::zeros<int>(results),
                   Team::zeros<float>(results),
                   Team::zeros<unsigned char>(workspace_bytes<T>(team.devices, rows, all, k)),
                   team.peers,
                   team.rounds[d],
                   team.comms[d],
                   team.streams[d]};
    });
  }
  Problem(const Problem&) = delete;
  ~Problem() {
    team_.each([&](int d) {
      const Shard<T>& shard = shards[d];
      SHARDED_OK(cudaDeviceSynchronize());
      for (void* memory : {static_cast<void*>(const_cast<T*>(shard.logits)), static_cast<void*>(shard.index),
                           static_cast<void*>(shard.prob), static_cast<void*>(shard.workspace)})
        SHARDED_OK(cudaFree(memory));
    });
  }

  // whole: (rows, all columns).
  void set_logits(const std::vector<T>& whole) {
    const size_t all = shards[0].all_cols();
    team_.each([&](int d) {
      const Shard<T>& shard = shards[d];
      const size_t cols = cols_[d];
      std::vector<T> own(shard.rows * cols);
      for (size_t r = 0; r < static_cast<size_t>(shard.rows); r++)
        std::copy_n(&whole[r * all + shard.first()], cols, own.begin() + r * cols);
      if (!own.empty())
        SHARDED_OK(
            cudaMemcpy(const_cast<T*>(shard.logits), own.data(), own.size() * sizeof(T), cudaMemcpyHostToDevice));
    });
  }

  std::vector<Shard<T>> shards;

 private:
  const Team& team_;
  const std::vector<int> cols_;
};

template <typename T>
struct Variant {
  const char* name;
  cudaError_t (*call)(const Shard<T>&);
};
template <typename T>
constexpr Variant<T> variants[] = {{"gather_logits", gather_logits<T>},
                                   {"three_reductions", three_reductions<T>},
                                   {"packed", packed<T>},
                                   {"one_shot", one_shot<T>},
                                   {"one_shot_ll", one_shot_ll<T>}};

}  // namespace sharded
