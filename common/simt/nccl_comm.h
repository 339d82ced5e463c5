// A rank's communicator, what a thread has gathered in a group, and how wrong calls are refused.
#pragma once

#include <nccl.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nccl_clique.h"

struct ncclComm {
  std::shared_ptr<simt::nccl::Clique> clique;  // null until all ranks have called ncclCommSplit
  int rank, device;
  bool blocking = true;                                // false: nobody waits for the other ranks to join
  bool joined = false;                                 // all of them, as far as this rank has looked
  uint64_t collectives = 0, split = 0;                 // called
  std::shared_ptr<simt::nccl::Split> last_split = {};  // that this rank has called
  std::map<int, simt::nccl::Factor> factors = {};      // reductions of ncclRedOpCreatePreMulSum
};

namespace simt::nccl {

// Of this thread's group.
struct Group {
  int depth = 0;
  ncclResult_t result = ncclSuccess;
  struct Rank {
    ncclComm_t comm;
    cudaStream_t stream;
    std::vector<RankCall> calls;
  };
  std::vector<Rank> ranks;
  std::vector<std::shared_ptr<Clique>> joined;  // to wait for
  std::vector<std::shared_ptr<Split>> split;    // likewise
};
extern thread_local Group group;
extern thread_local std::string last_error;

// Of joining, splitting, and who has called what outside of a group.
extern std::mutex ids_mutex;

// `result`, after the text was told.
ncclResult_t refuse(ncclResult_t result, const std::string& text);

// Ends the program if the other ranks do not come.
void wait_until_joined(const Clique& clique);
void wait_until_split(const Split& split);

// Whether all ranks have joined.
bool is_complete(ncclComm* comm);

// ncclSuccess: a rank's device has these bytes there. `begin`: the text of the refusal up to the buffer's name.
ncclResult_t is_wrong_memory(const std::string& begin, const ncclComm& comm, const void* pointer, size_t bytes);

}  // namespace simt::nccl
