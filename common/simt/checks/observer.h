// What a check sees of a running kernel: accesses, synchronisation, the beginning and end of launches and blocks. Only
// a kernel from an instrumented build is seen.
//
// Blocks run one after the other, in order, while there is an observer; those of a cooperative launch each up to
// grid.sync(), and from there again one after the other, in order. No call may switch fibers or launch a kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../memory.h"

namespace simt {

enum class AddressSpace : uint8_t {
  global,  // device memory: allocations and __device__ variables
  shared_dynamic,
  shared_static,  // anywhere among the module's thread-local variables
  cluster,        // shared memory in a cluster, whosever: at its lasting address (cluster.h)
  other           // none of these: host memory, constants, a wild address
};

// A volatile access of device memory orders others as an atomic one does: flags are written so.
// An atomic store reads nothing.
enum class AccessKind : uint8_t { load, store, atomic, volatile_load, volatile_store, atomic_store };
inline bool only_loads(AccessKind kind) { return kind == AccessKind::load || kind == AccessKind::volatile_load; }
inline bool only_stores(AccessKind kind) {
  return kind == AccessKind::store || kind == AccessKind::volatile_store || kind == AccessKind::atomic_store;
}

// One thread's access. `pc` is the return address of a call just before the access: pc - 1 is on the source line.
struct Access {
  uintptr_t pc, address;
  unsigned bytes;
  bool aligned;  // false: an access that the compiler itself knows to be less than naturally aligned
  AccessKind kind;
};

// What the lanes of a warp store, by lane: `high` has the upper half of 16 bytes. `known`: lanes of which that is
// known; `same`: whose store left the memory as it was.
struct StoredByLanes {
  const uint64_t *low, *high;
  uint32_t known, same;
};

// An access that several lanes of a warp make at one program counter, each at its own address.
struct LanesAccess {
  uintptr_t pc;
  unsigned bytes;
  AccessKind kind;
  unsigned warp;                // counts the block's warps from 0
  uint32_t lanes;               // a bit each
  const uint64_t* addresses;    // 32, by lane
  const StoredByLanes* stored;  // of plain stores; nullptr if it is not known
};

// The thread that does something. `number` counts the block's threads from 0, x fastest; its warp is number / 32.
struct ThreadId {
  uint3 block, thread;
  unsigned number;
};

struct BlockInfo {
  uint3 index;
  uint64_t number;  // in the launch, x fastest
  unsigned threads;
  size_t dynamic_shared_bytes;
  uintptr_t dynamic_shared, static_shared;  // where they begin
  size_t static_shared_bytes;
  Allocation variables;  // a range that holds all __device__ variables
  uint64_t launch;       // launches are numbered from 1
};

struct LaunchInfo {
  uint64_t number;        // launches are numbered from 1
  const char* kernel;     // as the launch spells it
  const void* code;       // in the kernel's module
  Allocation arguments;   // the kernel's, as they were bound
  bool in_turns = false;  // a block may go on after others have begun (LaunchState::in_turns)
};

class Observer {
 public:
  virtual ~Observer() = default;

  // With no block of the launch running.
  virtual void launch_begin(const LaunchInfo& launch) = 0;
  virtual void launch_end(uint64_t launch) = 0;

  // A block's shared memory has its initial contents, and none of its threads has run; all of them have returned.
  virtual void block_begin(const BlockInfo& block) = 0;
  virtual void block_end(const BlockInfo& block) = 0;

  // All threads of the block have come to grid.sync(): others run before it goes on, with shared memory of their own.
  virtual void block_suspend(const BlockInfo& block) = 0;
  // All blocks have come to grid.sync(); then each goes on in turn.
  virtual void grid_complete() = 0;
  virtual void block_resume(const BlockInfo& block) = 0;

  // From now on blocks of the launch may go on after others have begun (LaunchInfo::in_turns).
  virtual void blocks_take_turns() {}

  // A cluster's blocks begin: their shared memory is in these places while they do not run. All that have not returned
  // have come to cluster.sync(); then each goes on in turn.
  virtual void cluster_begin(const std::vector<Allocation>& /*memory*/) {}
  virtual void cluster_complete() {}

  // An access that is about to happen. Returns a range that holds it and in which, until the launch ends, naturally
  // aligned accesses need not be asked about again: empty if there is none.
  virtual Allocation before_access(const ThreadId& thread, const Access& access) = 0;

  // Accesses of shared and device memory, a while after they happened: before anything orders a later access of the
  // same threads after others. Each thread's come in its order.
  virtual void accesses(const LanesAccess& access) = 0;

  // The thread has come to a barrier of the block; all that were to come have done so, and go on.
  virtual void barrier_arrive(const ThreadId& thread, Place place) = 0;
  virtual void barrier_complete(const BlockInfo& block) = 0;

  // The thread has come to a warp operation for the lanes of `mask`, which its own is not among.
  virtual void warp_caller_outside(const ThreadId& thread, unsigned mask, Place place) = 0;

  // A warp operation is complete: `arrived` are the lanes that came; `warp` counts the block's warps from 0.
  virtual void warp_complete(const BlockInfo& block, unsigned warp, unsigned mask, unsigned arrived) = 0;

  // What the thread's warp has done comes before what the warp of a thread does that has left this phase of the
  // meeting.
  virtual void meeting_arrive(const ThreadId&, uint64_t /*key*/, unsigned /*phase*/) {}
  virtual void meeting_left(const ThreadId&, uint64_t /*key*/, unsigned /*phase*/) {}

  // The running thread called __threadfence().
  virtual void fence() = 0;
};

// Sets the observer of the launches that follow; nullptr for none. Not while a kernel runs. The observer stays the
// caller's.
void set_observer(Observer* observer);
Observer* current_observer();

}  // namespace simt
