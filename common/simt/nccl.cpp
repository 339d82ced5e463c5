// NCCL's functions: arguments are looked at, groups gathered, and each rank's calls given to its stream.
#include <nccl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

#include "device_queues.h"
#include "device_service.h"
#include "devices.h"
#include "failure.h"
#include "memory.h"
#include "nccl_arithmetic.h"
#include "nccl_clique.h"
#include "streams.h"

using namespace simt;
using namespace simt::nccl;

struct ncclComm {
  std::shared_ptr<Clique> clique;
  int rank, device;
  uint64_t collectives = 0;  // called
};

namespace {

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

thread_local std::string last_error;

ncclResult_t refuse(ncclResult_t result, const std::string& text) {
  if (last_error != text) std::fprintf(stderr, "simt: %s\n", text.c_str());
  last_error = text;
  return result;
}

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
};
thread_local Group group;

// By id, until all ranks have joined.
std::mutex ids_mutex;
std::map<std::string, std::shared_ptr<Clique>>& ids() {
  static auto* const all = new std::map<std::string, std::shared_ptr<Clique>>;
  return *all;
}

void enqueue_calls(const Group::Rank& rank) {
  const int before = current_device();
  set_current_device(rank.comm->device);  // which the null stream is of
  const auto work = [clique = rank.comm->clique, calls = rank.calls] {
    run_calls(clique.get(), calls);
    return cudaSuccess;
  };
  if (!is_capturing(rank.stream) && runs_later())
    enqueue(rank.stream, work, rank.calls.front().name);
  else
    do_or_capture(rank.stream, work);
  set_current_device(before);
}

std::string missing_ranks(const Clique& clique) {
  std::string text;
  for (int rank = 0; rank < clique.ranks(); rank++) {
    if (clique.devices[static_cast<size_t>(rank)] < 0) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text;
}

// Until all ranks have joined, which other host threads see to.
void wait_until_joined(const Clique& clique) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(ids_mutex);
      if (missing_ranks(clique).empty()) return;
      if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(patience()))
        fail_in_host("nccl: a communicator that not all ranks have joined",
                     "ncclCommInitRank waits for rank " + missing_ranks(clique) + " of " +
                         std::to_string(clique.ranks()) +
                         ".\nEach rank is a host thread that calls it, or one thread calls it for all of them between "
                         "ncclGroupStart() and ncclGroupEnd().");
    }
    usleep(1000);
  }
}

ncclResult_t end_group() {
  for (const auto& clique : group.joined) wait_until_joined(*clique);
  group.joined.clear();
  for (const Group::Rank& rank : group.ranks) {
    if (group.result == ncclSuccess) enqueue_calls(rank);
  }
  group.ranks.clear();
  const ncclResult_t result = group.result;
  group.result = ncclSuccess;
  return result;
}

ncclResult_t is_wrong_memory(const RankCall& call, const ncclComm& comm, const char* which, const void* pointer,
                             size_t bytes) {
  Allocation found;
  Sharing sharing;
  const std::string begin = std::string(call.name) + " of rank " + std::to_string(comm.rank) + " refused: its " + which;
  if (!bytes) return ncclSuccess;
  if (!pointer) return refuse(ncclInvalidArgument, begin + " buffer is a null pointer");
  if (!device().find(pointer, &found, &sharing)) {
    if (is_device_memory(pointer, bytes)) return ncclSuccess;  // a variable of the program
    return refuse(ncclInvalidArgument, begin + " buffer is not device memory");
  }
  const int owner = owner_of(reinterpret_cast<uintptr_t>(pointer));
  if (owner != no_device && owner != comm.device)
    return refuse(ncclInvalidArgument, begin + " buffer is memory of device " + std::to_string(owner) +
                                           ", and the rank is on device " + std::to_string(comm.device));
  const size_t left = found.begin + found.bytes - reinterpret_cast<uintptr_t>(pointer);
  if (bytes > left)
    return refuse(ncclInvalidArgument, begin + " buffer has " + std::to_string(left) + " bytes, and the call takes " +
                                           std::to_string(bytes));
  return ncclSuccess;
}

// One thread that calls for several ranks must do so in a group: on a GPU a call may wait for the others.
void look_for_group(ncclComm* comm, const RankCall& call) {
  Clique& clique = *comm->clique;
  const uint64_t number = comm->collectives++;
  std::lock_guard<std::mutex> lock(ids_mutex);
  const auto first = clique.outside_of_groups.find(number);
  if (first != clique.outside_of_groups.end() && first->second.thread == std::this_thread::get_id() &&
      first->second.rank != comm->rank)
    fail_at(call, "nccl: one thread calls for several ranks outside of a group",
            "It has called " + std::string(call.name) + " for rank " + std::to_string(first->second.rank) +
                " and now calls it for rank " + std::to_string(comm->rank) +
                ". On a GPU the first call may wait for the second, which then never comes: put them between "
                "ncclGroupStart() and ncclGroupEnd().");
  if (group.depth == 0)
    clique.outside_of_groups.try_emplace(number, Clique::Caller{std::this_thread::get_id(), comm->rank});
  clique.outside_of_groups.erase(clique.outside_of_groups.begin(),
                                 clique.outside_of_groups.lower_bound(number < 1000 ? 0 : number - 1000));
}

ncclResult_t give(RankCall call, ncclComm_t comm, cudaStream_t stream, size_t send_parts, size_t receive_parts) {
  const auto invalid = [&](const std::string& text) {
    return refuse(ncclInvalidArgument, std::string(call.name) + " refused: " + text);
  };
  ncclResult_t result = ncclSuccess;
  if (!comm) {
    result = invalid("the communicator is null");
  } else if (call.type < 0 || call.type >= ncclNumTypes) {
    result = invalid("there is no data type " + std::to_string(call.type));
  } else if (call.op < 0 || call.op >= ncclNumOps) {
    result = invalid("there is no reduction " + std::to_string(call.op));
  } else if (call.peer < -1 || call.peer >= comm->clique->ranks()) {
    result = invalid("there is no rank " + std::to_string(call.peer) + " of " + std::to_string(comm->clique->ranks()));
  } else if (is_named(stream) && stream->device != comm->device) {
    result = refuse(ncclUnhandledCudaError,
                    std::string(call.name) + " refused: the stream is of device " + std::to_string(stream->device) +
                        ", and rank " + std::to_string(comm->rank) + " is on device " + std::to_string(comm->device));
  } else {
    call.rank = comm->rank;
    const size_t bytes = call.count * bytes_of(call.type);
    result = is_wrong_memory(call, *comm, "send", call.send, bytes * send_parts);
    if (result == ncclSuccess) result = is_wrong_memory(call, *comm, "receive", call.receive, bytes * receive_parts);
  }
  if (result != ncclSuccess) {
    if (group.depth) group.result = result;
    return result;
  }
  const bool message = call.kind == Kind::send || call.kind == Kind::receive;
  if (!message && comm->clique->ranks() > 1) look_for_group(comm, call);
  Group::Rank* own = nullptr;
  for (Group::Rank& rank : group.ranks) own = rank.comm == comm ? &rank : own;
  if (!own) own = &group.ranks.emplace_back(Group::Rank{comm, stream, {}});
  own->calls.push_back(call);
  return group.depth ? ncclSuccess : end_group();
}

// A device is of one rank only.
ncclResult_t join(ncclComm_t* comm, const std::shared_ptr<Clique>& clique, int rank, int device) {
  for (int other = 0; other < clique->ranks(); other++) {
    if (clique->devices[static_cast<size_t>(other)] == device)
      return refuse(ncclInvalidUsage, "ncclCommInit refused: ranks " + std::to_string(other) + " and " +
                                          std::to_string(rank) + " are both on device " + std::to_string(device) +
                                          ": call cudaSetDevice before each");
  }
  if (clique->devices[static_cast<size_t>(rank)] >= 0)
    return refuse(ncclInvalidUsage, "ncclCommInitRank refused: there is a rank " + std::to_string(rank) + " already");
  clique->devices[static_cast<size_t>(rank)] = device;
  *comm = new ncclComm{clique, rank, device};
  return ncclSuccess;
}

}  // namespace

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError: return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    default: return "unknown result code";
  }
}
const char* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }
ncclResult_t ncclGetVersion(int* version) {
  if (!version) return refuse(ncclInvalidArgument, "ncclGetVersion refused: a null pointer");
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  if (!comms || count < 1) return refuse(ncclInvalidArgument, "ncclCommInitAll refused: no communicators");
  const auto clique = std::make_shared<Clique>(count);
  for (int rank = 0; rank < count; rank++) {
    const int device = devices ? devices[rank] : rank;
    if (!is_device(device))
      return refuse(ncclUnhandledCudaError, "ncclCommInitAll refused: there is no device " + std::to_string(device) +
                                                "; start the program with SIMT_DEVICES=" + std::to_string(device + 1));
    if (const ncclResult_t result = join(&comms[rank], clique, rank, device)) return result;
  }
  watch(clique);
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> last{0};
  if (!id) return refuse(ncclInvalidArgument, "ncclGetUniqueId refused: a null pointer");
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->internal, sizeof id->internal, "simt %d", ++last);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  if (!comm || ranks < 1 || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, "ncclCommInitRank refused: there is no rank " + std::to_string(rank) + " of " +
                                           std::to_string(ranks));
  const std::string key(id.internal, strnlen(id.internal, sizeof id.internal));
  std::shared_ptr<Clique> clique;
  bool is_new = false;
  {
    std::lock_guard<std::mutex> lock(ids_mutex);
    std::shared_ptr<Clique>& known = ids()[key];
    is_new = !known;
    if (!known) known = std::make_shared<Clique>(ranks);
    clique = known;
    if (clique->ranks() != ranks)
      return refuse(ncclInvalidUsage, "ncclCommInitRank refused: rank " + std::to_string(rank) +
                                          " says that there are " + std::to_string(ranks) +
                                          " ranks, and another says " + std::to_string(clique->ranks()));
    if (const ncclResult_t result = join(comm, clique, rank, current_device())) return result;
    if (missing_ranks(*clique).empty()) ids().erase(key);
  }
  if (is_new) watch(clique);
  if (group.depth)
    group.joined.push_back(clique);
  else
    wait_until_joined(*clique);
  return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (!comm) return refuse(ncclInvalidArgument, "ncclCommFinalize refused: the communicator is null");
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (!comm || !count) return refuse(ncclInvalidArgument, "ncclCommCount refused: a null pointer");
  *count = comm->clique->ranks();
  return ncclSuccess;
}
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  if (!comm || !device) return refuse(ncclInvalidArgument, "ncclCommCuDevice refused: a null pointer");
  *device = comm->device;
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (!comm || !rank) return refuse(ncclInvalidArgument, "ncclCommUserRank refused: a null pointer");
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  group.depth++;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (group.depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd refused: there was no ncclGroupStart");
  return --group.depth ? ncclSuccess : end_group();
}

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return give({Kind::all_reduce, "ncclAllReduce", send, receive, count, type, op, -1, 0, CALLER}, comm, stream, 1, 1);
}
ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return give({Kind::reduce, "ncclReduce", send, receive, count, type, op, root, 0, CALLER}, comm, stream, 1,
              comm && comm->rank == root);
}
ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return give({Kind::broadcast, "ncclBroadcast", send, receive, count, type, ncclSum, root, 0, CALLER}, comm, stream,
              comm && comm->rank == root, 1);
}
ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return give({Kind::broadcast, "ncclBcast", buffer, buffer, count, type, ncclSum, root, 0, CALLER}, comm, stream, 1,
              1);
}
ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return give({Kind::all_gather, "ncclAllGather", send, receive, count, type, ncclSum, -1, 0, CALLER}, comm, stream, 1,
              comm ? comm->clique->devices.size() : 1);
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return give({Kind::reduce_scatter, "ncclReduceScatter", send, receive, count, type, op, -1, 0, CALLER}, comm, stream,
              comm ? comm->clique->devices.size() : 1, 1);
}
ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return give({Kind::send, "ncclSend", send, nullptr, count, type, ncclSum, peer, 0, CALLER}, comm, stream, 1, 0);
}
ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return give({Kind::receive, "ncclRecv", nullptr, receive, count, type, ncclSum, peer, 0, CALLER}, comm, stream, 0, 1);
}
