// Memory that graphs allocate, and events in graphs (include/simt/graph_memory.h).
#include "include/simt/graph_memory.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "checks/memory_events.h"
#include "device.h"
#include "device_queues.h"
#include "device_service.h"
#include "graph_parts.h"
#include "refusal.h"

namespace simt {

struct GraphMemory {
  void* at = nullptr;
  size_t bytes = 0;
  bool live = false;
  ~GraphMemory();
};

namespace {

std::mutex mutex;
struct Account {
  std::map<const void*, GraphMemory*> by_address;
  size_t used = 0, most_used = 0, reserved = 0, most_reserved = 0;
};
Account& account() {
  static auto* const all = new Account;
  return *all;
}

void set_live(GraphMemory* memory, bool live) {
  if (memory->live == live) return;
  memory->live = live;
  Account& sums = account();
  if (live) {
    checks::allocated(memory->at, memory->bytes);
    sums.used += memory->bytes;
    sums.most_used = std::max(sums.most_used, sums.used);
  } else {
    checks::freed(memory->at, memory->bytes);
    sums.used -= memory->bytes;
  }
}

}  // namespace

// Freed for good when no graph holds it any more.
GraphMemory::~GraphMemory() {
  {
    const Turn turn;
    const std::lock_guard<std::mutex> lock(mutex);
    // The device believes that it is allocated: so do the checks when it is freed.
    if (!live) checks::allocated(at, bytes);
    if (live) account().used -= bytes;
    account().by_address.erase(at);
    account().reserved -= bytes;
  }
  device().free(at);
}

bool free_of_graph(const void* pointer) {
  const Turn turn;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = account().by_address.find(pointer);
  if (found == account().by_address.end()) return false;
  set_live(found->second, false);
  return true;
}

namespace {

// Null: there is none left.
std::shared_ptr<GraphMemory> allocate_for_graph(size_t bytes) {
  auto memory = std::make_shared<GraphMemory>();
  if (!bytes || device().allocate(&memory->at, bytes, Sharing::device_only) != cudaSuccess) return nullptr;
  memory->bytes = bytes;
  const Turn turn;
  const std::lock_guard<std::mutex> lock(mutex);
  checks::freed(memory->at, bytes);
  account().by_address[memory->at] = memory.get();
  account().reserved += bytes;
  account().most_reserved = std::max(account().most_reserved, account().reserved);
  return memory;
}

struct Allocating final : CapturedWork {
  std::shared_ptr<GraphMemory> memory;
  explicit Allocating(std::shared_ptr<GraphMemory> memory) : memory(std::move(memory)) {
    type = cudaGraphNodeTypeMemAlloc;
  }
  cudaError_t run() override {
    const Turn turn;
    const std::lock_guard<std::mutex> lock(mutex);
    if (memory->live) return set_last_error(cudaErrorInvalidValue);  // the launch before has not freed it
    set_live(memory.get(), true);
    return cudaSuccess;
  }
  const void* allocates() const override { return memory->at; }
};

std::shared_ptr<CapturedWork> allocation_work(const std::shared_ptr<GraphMemory>& memory) {
  return std::make_shared<Allocating>(memory);
}
std::shared_ptr<CapturedWork> freeing_work(void* pointer) {
  return work_of([pointer] { return free_of_graph(pointer) ? cudaSuccess : cudaFree(pointer); },
                 cudaGraphNodeTypeMemFree);
}

}  // namespace

cudaError_t capture_free(cudaStream_t stream, void* pointer) { return add_captured(stream, freeing_work(pointer)); }
cudaError_t capture_allocation(cudaStream_t stream, void** pointer, size_t bytes) {
  const auto memory = allocate_for_graph(bytes);
  if (!memory) return set_last_error(cudaErrorMemoryAllocation);
  *pointer = memory->at;
  return add_captured(stream, allocation_work(memory));
}

}  // namespace simt

using namespace simt;

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, cudaMemAllocNodeParams* parameters) {
  if (!parameters || parameters->poolProps.allocType != cudaMemAllocationTypePinned ||
      parameters->poolProps.handleTypes != cudaMemHandleTypeNone)
    return set_last_error(cudaErrorInvalidValue);
  const auto memory = allocate_for_graph(parameters->bytesize);
  if (!memory) return set_last_error(cudaErrorMemoryAllocation);
  parameters->dptr = memory->at;
  return add_node(node, graph, after, count, allocation_work(memory));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    size_t count, void* pointer) {
  return add_node(node, graph, after, count, pointer ? freeing_work(pointer) : nullptr);
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        size_t count, cudaEvent_t event) {
  const auto record = [event] { return cudaEventRecord(event, replay_stream()); };
  return add_node(node, graph, after, count, event ? work_of(record, cudaGraphNodeTypeEventRecord) : nullptr);
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                      size_t count, cudaEvent_t event) {
  const auto wait = [event] { return cudaStreamWaitEvent(replay_stream(), event, 0); };
  return add_node(node, graph, after, count, event ? work_of(wait, cudaGraphNodeTypeWaitEvent) : nullptr);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType attribute, void* value) {
  if (!value) return set_last_error(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> lock(mutex);
  const Account& sums = account();
  const size_t values[] = {sums.used, sums.most_used, sums.reserved, sums.most_reserved};
  if (attribute < 0 || attribute > cudaGraphMemAttrReservedMemHigh) return set_last_error(cudaErrorInvalidValue);
  *static_cast<uint64_t*>(value) = values[attribute];
  return cudaSuccess;
}
cudaError_t cudaDeviceSetGraphMemAttribute(int, cudaGraphMemAttributeType attribute, void* value) {
  const bool is_high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  if (!value || !is_high || *static_cast<uint64_t*>(value)) return set_last_error(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> lock(mutex);
  Account& sums = account();
  (attribute == cudaGraphMemAttrUsedMemHigh ? sums.most_used : sums.most_reserved) =
      attribute == cudaGraphMemAttrUsedMemHigh ? sums.used : sums.reserved;
  return cudaSuccess;
}
// What no graph holds is given back at once.
cudaError_t cudaDeviceGraphMemTrim(int) { return cudaSuccess; }
