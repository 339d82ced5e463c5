// NCCL's collectives and messages: arguments are looked at, groups gathered, and each rank's calls given to its stream.
#include <nccl.h>

#include "device_queues.h"
#include "devices.h"
#include "nccl_arithmetic.h"
#include "nccl_comm.h"
#include "streams.h"

using namespace simt;
using namespace simt::nccl;

namespace {

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

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

ncclResult_t end_group() {
  for (const auto& clique : group.joined) wait_until_joined(*clique);
  group.joined.clear();
  for (const auto& split : group.split) wait_until_split(*split);
  group.split.clear();
  for (const Group::Rank& rank : group.ranks) {
    if (group.result == ncclSuccess) enqueue_calls(rank);
  }
  group.ranks.clear();
  const ncclResult_t result = group.result;
  group.result = ncclSuccess;
  return result;
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
  // A reduction with a factor is a sum of what was multiplied before.
  const auto factor = [&] {
    const auto found = comm->factors.find(call.op);
    return found == comm->factors.end() ? Factor() : found->second;
  };
  ncclResult_t result = ncclSuccess;
  if (!comm) {
    result = invalid("the communicator is null");
  } else if (call.type < 0 || call.type >= ncclNumTypes) {
    result = invalid("there is no data type " + std::to_string(call.type));
  } else if (!is_complete(comm)) {
    result = refuse(ncclInvalidUsage, std::string(call.name) +
                                          " refused: not all ranks have joined the communicator yet. It can be used "
                                          "after ncclGroupEnd(), or when ncclCommGetAsyncError says ncclSuccess");
  } else if (call.op < 0 || (call.op >= ncclNumOps && !factor().used)) {
    result = invalid("there is no reduction " + std::to_string(call.op) + " of this communicator");
  } else if (call.op >= ncclNumOps && factor().type != call.type) {
    result = invalid("the data type is " + std::to_string(call.type) + ", and that of the reduction's scalar " +
                     std::to_string(factor().type));
  } else if (call.peer < -1 || call.peer >= comm->clique->ranks()) {
    result = invalid("there is no rank " + std::to_string(call.peer) + " of " + std::to_string(comm->clique->ranks()));
  } else if (is_named(stream) && stream->device != comm->device) {
    result = refuse(ncclUnhandledCudaError,
                    std::string(call.name) + " refused: the stream is of device " + std::to_string(stream->device) +
                        ", and rank " + std::to_string(comm->rank) + " is on device " + std::to_string(comm->device));
  } else {
    call.rank = comm->rank;
    if (call.op >= ncclNumOps) {
      call.factor = factor();
      call.op = ncclSum;
    }
    const size_t bytes = call.count * bytes_of(call.type);
    const std::string begin = std::string(call.name) + " of rank " + std::to_string(comm->rank) + " refused: its ";
    result = is_wrong_memory(begin + "send buffer", *comm, call.send, bytes * send_parts);
    if (result == ncclSuccess)
      result = is_wrong_memory(begin + "receive buffer", *comm, call.receive, bytes * receive_parts);
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
