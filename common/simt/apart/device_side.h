// The process with the device: has a host do tasks in a process of its own, and answers what the host's code asks for.
//
// The host's code is a stranger's, and so is every message: a copy must lie in memory that is the device's, a launch
// must begin at a function of the rung, what is freed must be the host's own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../memory.h"
#include "channel.h"

namespace simt::apart {

// What a task had of the device.
struct TaskRecord {
  struct Launched {
    uint32_t grid[3], block[3];
    uint64_t shared_bytes;
    std::string kernel;
    bool by_graph;
  };
  std::vector<Launched> launches;  // also of a library, whose name it then has: its products have no grid
  // What the host has learnt of the device's memory, in bytes; and whether the device got anything from the host
  // after that.
  uint64_t bytes_to_host = 0;
  bool used_after = false;
};

class Host {
 public:
  // From now on the host is this process, at the other end of the socket.
  Host(int descriptor, pid_t process) : channel_(descriptor), process_(process) {}

  // The module with the kernels, as this process has it.
  void set_module(uintptr_t base, std::set<uint64_t> functions);

  struct Result {
    enum class Kind { done, failed, gone, garbage } kind;
    int value = 0;
    std::vector<unsigned char> data;
    HostFailure failure;
  };
  // Has the host do a task, whose data are at most max_piece bytes, and serves it meanwhile.
  Result run(const void* task, size_t bytes);

  const TaskRecord& record() const { return record_; }
  pid_t process() const { return process_; }

 private:
  int32_t serve(const Message& call, size_t data_bytes, Header* answer, const void** answer_data, size_t* answer_bytes);
  int32_t launch(const Message& call, size_t data_bytes);
  int32_t multiply(const Message& call, size_t data_bytes);
  int32_t give(const Header& call, bool page, const void** answer_data, size_t* answer_bytes);
  void used() { record_.used_after |= record_.bytes_to_host > free_bytes; }

  // What a host may learn without having computed anything with it: a flag, a counter.
  static constexpr uint64_t free_bytes = 64;

  Channel channel_;
  pid_t process_;
  uintptr_t base_ = 0;
  std::set<uint64_t> functions_;                // offsets
  std::map<uint64_t, size_t> own_;              // the host's allocations
  std::map<uint64_t, uint64_t> known_to_host_;  // pages of managed memory: a hash of what the host last saw there
  TaskRecord record_;
};

}  // namespace simt::apart
