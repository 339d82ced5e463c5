// NCCL's communicators: how ranks join one, split it and leave it; registered memory; reductions with a factor.
#include "nccl_comm.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>

#include "device_queues.h"
#include "device_service.h"
#include "devices.h"
#include "failure.h"
#include "memory.h"
#include "nccl_arithmetic.h"

using namespace simt;
using namespace simt::nccl;

namespace simt::nccl {

thread_local Group group;
thread_local std::string last_error;
std::mutex ids_mutex;

ncclResult_t refuse(ncclResult_t result, const std::string& text) {
  if (last_error != text) std::fprintf(stderr, "simt: %s\n", text.c_str());
  last_error = text;
  return result;
}

}  // namespace simt::nccl

namespace {

// By id, until all ranks have joined.
std::map<std::string, std::shared_ptr<Clique>>& ids() {
  static auto* const all = new std::map<std::string, std::shared_ptr<Clique>>;
  return *all;
}

// The ranks for which it holds: "1, 2".
std::string ranks_where(size_t ranks, const std::function<bool(size_t)>& is_so) {
  std::string text;
  for (size_t rank = 0; rank < ranks; rank++) {
    if (is_so(rank)) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text;
}
std::string missing_ranks(const Clique& clique) {
  return ranks_where(clique.devices.size(), [&](size_t rank) { return clique.devices[rank] < 0; });
}
std::string missing_ranks(const Split& split) {
  return ranks_where(split.wishes.size(), [&](size_t rank) { return !split.wishes[rank].called; });
}

// Until all ranks have come, which other host threads see to.
template <typename Awaited>
void wait_for_all(const Awaited& awaited, const std::string& call, size_t ranks) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(ids_mutex);
      const std::string missing = missing_ranks(awaited);
      if (missing.empty()) return;
      if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(patience()))
        fail_in_host("nccl: a communicator that not all ranks have joined",
                     call + " waits for rank " + missing + " of " + std::to_string(ranks) +
                         ".\nEach rank is a host thread that calls it, or one thread calls it for all of them between "
                         "ncclGroupStart() and ncclGroupEnd().");
    }
    usleep(1000);
  }
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

// ncclSuccess: there is none, or it can be used.
ncclResult_t is_wrong_config(const char* name, const ncclConfig_t* config) {
  const ncclConfig_t begun = NCCL_CONFIG_INITIALIZER;
  if (!config || (config->magic == begun.magic && config->size == begun.size)) return ncclSuccess;
  return refuse(ncclInvalidArgument, std::string(name) +
                                         " refused: the configuration was not begun as "
                                         "ncclConfig_t config = NCCL_CONFIG_INITIALIZER");
}
bool is_blocking(const ncclConfig_t* config, bool otherwise) {
  return config && config->blocking != NCCL_CONFIG_UNDEF_INT ? config->blocking != 0 : otherwise;
}

// The communicators of a split that all ranks have called.
void make_parts(Split* split) {
  std::map<int, std::vector<size_t>> by_color;
  for (size_t rank = 0; rank < split->wishes.size(); rank++) {
    if (split->wishes[rank].part) by_color[split->wishes[rank].color].push_back(rank);
  }
  for (auto& [color, members] : by_color) {
    std::stable_sort(members.begin(), members.end(),
                     [&](size_t a, size_t b) { return split->wishes[a].key < split->wishes[b].key; });
    const auto clique = std::make_shared<Clique>(static_cast<int>(members.size()));
    for (size_t rank = 0; rank < members.size(); rank++) {
      ncclComm& part = *split->wishes[members[rank]].part;
      clique->devices[rank] = part.device;
      part.clique = clique;
      part.rank = static_cast<int>(rank);
    }
    watch(clique);
  }
  split->done = true;
}

}  // namespace

namespace simt::nccl {

void wait_until_joined(const Clique& clique) { wait_for_all(clique, "ncclCommInitRank", clique.devices.size()); }
void wait_until_split(const Split& split) { wait_for_all(split, "ncclCommSplit", split.wishes.size()); }

bool is_complete(ncclComm* comm) {
  if (comm->joined) return true;
  std::lock_guard<std::mutex> lock(ids_mutex);
  return comm->joined = comm->clique && missing_ranks(*comm->clique).empty();
}

ncclResult_t is_wrong_memory(const std::string& begin, const ncclComm& comm, const void* pointer, size_t bytes) {
  Allocation found;
  Sharing sharing;
  if (!bytes) return ncclSuccess;
  if (!pointer) return refuse(ncclInvalidArgument, begin + " is a null pointer");
  if (!device().find(pointer, &found, &sharing)) {
    if (is_device_memory(pointer, bytes)) return ncclSuccess;  // a variable of the program
    return refuse(ncclInvalidArgument, begin + " is not device memory");
  }
  const int owner = owner_of(reinterpret_cast<uintptr_t>(pointer));
  if (owner != no_device && owner != comm.device)
    return refuse(ncclInvalidArgument, begin + " is memory of device " + std::to_string(owner) +
                                           ", and the rank is on device " + std::to_string(comm.device));
  const size_t left = found.begin + found.bytes - reinterpret_cast<uintptr_t>(pointer);
  if (bytes > left)
    return refuse(ncclInvalidArgument,
                  begin + " has " + std::to_string(left) + " bytes, and the call takes " + std::to_string(bytes));
  return ncclSuccess;
}

}  // namespace simt::nccl

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
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (!comm || ranks < 1 || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, "ncclCommInitRank refused: there is no rank " + std::to_string(rank) + " of " +
                                           std::to_string(ranks));
  if (const ncclResult_t result = is_wrong_config("ncclCommInitRankConfig", config)) return result;
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
    (*comm)->blocking = is_blocking(config, true);
    if (missing_ranks(*clique).empty()) ids().erase(key);
  }
  if (is_new) watch(clique);
  if (group.depth)
    group.joined.push_back(clique);
  else if ((*comm)->blocking)
    wait_until_joined(*clique);
  else if (!is_complete(*comm))
    return ncclInProgress;
  return ncclSuccess;
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config) {
  if (!comm || !part) return refuse(ncclInvalidArgument, "ncclCommSplit refused: a null pointer");
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR)
    return refuse(ncclInvalidArgument,
                  "ncclCommSplit refused: color " + std::to_string(color) + " is below 0 and not NCCL_SPLIT_NOCOLOR");
  if (const ncclResult_t result = is_wrong_config("ncclCommSplit", config)) return result;
  if (!is_complete(comm))
    return refuse(ncclInvalidUsage, "ncclCommSplit refused: not all ranks have joined the communicator yet");
  *part = color == NCCL_SPLIT_NOCOLOR ? nullptr : new ncclComm{nullptr, -1, comm->device};
  if (*part) (*part)->blocking = is_blocking(config, comm->blocking);
  std::shared_ptr<Split> split;
  bool done = false;
  {
    std::lock_guard<std::mutex> lock(ids_mutex);
    const uint64_t number = comm->split++;
    std::shared_ptr<Split>& entry = comm->clique->splits[number];
    if (!entry) {
      entry = std::make_shared<Split>();
      entry->wishes.resize(comm->clique->devices.size());
    }
    split = comm->last_split = entry;
    split->wishes[static_cast<size_t>(comm->rank)] = {true, color, key, *part};
    done = missing_ranks(*split).empty();
    if (done) {
      make_parts(split.get());
      comm->clique->splits.erase(number);
    }
  }
  if (group.depth)
    group.split.push_back(split);
  else if (comm->blocking)
    wait_until_split(*split);
  else if (!done)
    return ncclInProgress;
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
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (!comm || !error) return refuse(ncclInvalidArgument, "ncclCommGetAsyncError refused: a null pointer");
  *error = is_complete(comm) ? ncclSuccess : ncclInProgress;
  std::lock_guard<std::mutex> lock(ids_mutex);
  if (comm->last_split && !comm->last_split->done) *error = ncclInProgress;
  return ncclSuccess;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (!comm || !count) return refuse(ncclInvalidArgument, "ncclCommCount refused: a null pointer");
  if (!is_complete(comm)) return refuse(ncclInvalidUsage, "ncclCommCount refused: not all ranks have joined yet");
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
  if (!is_complete(comm)) return refuse(ncclInvalidUsage, "ncclCommUserRank refused: not all ranks have joined yet");
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
  if (!pointer) return refuse(ncclInvalidArgument, "ncclMemAlloc refused: a null pointer");
  return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclCommRegister(ncclComm_t comm, void* buffer, size_t bytes, void** handle) {
  if (!comm || !handle) return refuse(ncclInvalidArgument, "ncclCommRegister refused: a null pointer");
  *handle = buffer;
  return is_wrong_memory("ncclCommRegister of rank " + std::to_string(comm->rank) + " refused: its buffer", *comm,
                         buffer, bytes);
}
ncclResult_t ncclCommDeregister(ncclComm_t comm, void*) {
  return comm ? ncclSuccess : refuse(ncclInvalidArgument, "ncclCommDeregister refused: the communicator is null");
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  // Of the whole program, so that another communicator's is known for what it is.
  static std::atomic<int> next{ncclNumOps};
  const std::string begin = "ncclRedOpCreatePreMulSum refused: ";
  if (!op || !scalar || !comm) return refuse(ncclInvalidArgument, begin + "a null pointer");
  if (type < 0 || type >= ncclNumTypes)
    return refuse(ncclInvalidArgument, begin + "there is no data type " + std::to_string(type));
  Factor factor;
  factor.used = true;
  factor.type = type;
  if (residence == ncclScalarDevice) {
    if (const ncclResult_t result = is_wrong_memory(begin + "its scalar", *comm, scalar, bytes_of(type))) return result;
    factor.on_device = scalar;
  } else if (residence == ncclScalarHostImmediate) {
    std::memcpy(factor.bytes, scalar, bytes_of(type));
  } else {
    return refuse(ncclInvalidArgument, begin + "there is no residence " + std::to_string(residence));
  }
  const int number = next++;
  comm->factors[number] = factor;
  *op = static_cast<ncclRedOp_t>(number);
  return ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  if (!comm || !comm->factors.erase(op))
    return refuse(ncclInvalidArgument, "ncclRedOpDestroy refused: the communicator has no reduction " +
                                           std::to_string(op) + " of ncclRedOpCreatePreMulSum");
  return ncclSuccess;
}
