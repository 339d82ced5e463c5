// The ranks of one communicator and what they have called: collectives are matched by their order, messages by their
// ends. Whoever comes last does the work for all, and the others wait for it.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace simt::nccl {

enum class Kind { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };

// What ncclRedOpCreatePreMulSum has made: a sum whose terms are multiplied first.
struct Factor {
  bool used = false;
  const void* on_device = nullptr;  // if it is not in `bytes`
  char bytes[8] = {};
  ncclDataType_t type = ncclFloat;
};

struct RankCall {
  Kind kind;
  const char* name;  // as the program wrote it
  const void* send;
  void* receive;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int peer;  // or the root; -1 if there is none
  int rank;
  uintptr_t pc;  // where it was called
  Factor factor = {};
};

// ncclCommSplit of all ranks, until the last one has called it.
struct Split {
  struct Wish {
    bool called = false;
    int color = 0, key = 0;
    ncclComm* part = nullptr;  // to be filled in
  };
  std::vector<Wish> wishes;  // by rank
  bool done = false;
};

// A collective, or both ends of a message. Under the lock of with_ranks() (device_queues.h) but for its work.
struct Meeting {
  std::vector<RankCall> calls;  // by arrival
  bool done = false;
};

struct Clique {
  explicit Clique(int ranks) : devices(static_cast<size_t>(ranks), -1), posted(static_cast<size_t>(ranks)) {}

  std::vector<int> devices;                                                      // by rank; -1: has not joined
  std::vector<uint64_t> posted;                                                  // collectives, by rank
  std::map<uint64_t, std::shared_ptr<Meeting>> collectives;                      // that not all ranks have called
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Meeting>>> messages;  // by sender and receiver: half called
  struct Caller {
    std::thread::id thread;
    int rank;
  };
  std::map<uint64_t, std::shared_ptr<Split>> splits;  // by how many a rank has called before
  std::map<uint64_t, Caller> outside_of_groups;       // who called a collective first, if that was outside of a group

  int ranks() const { return static_cast<int>(devices.size()); }
};

// Does what the calls of one rank ask for, in a group: all are posted before any is waited for. On the rank's device.
void run_calls(Clique* clique, const std::vector<RankCall>& calls);

// Ends the program: the call cannot be what was meant.
[[noreturn]] void fail_at(const RankCall& call, const char* what, const std::string& detail);

// All that somebody waits for, of all communicators, for a standstill.
void watch(const std::shared_ptr<Clique>& clique);

}  // namespace simt::nccl
