// Thread block clusters: blocks that are resident together, wait for each other in cluster.sync(), and reach each
// other's shared memory. One OS thread runs a launch's clusters in turn, and the blocks of each in turns
// (resident.h). While a block does not run, its shared memory is a copy: that is where the others find it. Clusters
// that draw what they do from a queue take turns, too (LaunchState::in_turns).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch_state.h"
#include "module_tls.h"
#include "refusal.h"
#include "resident.h"

namespace simt {

void run_clusters(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes));

// The cluster whose blocks this OS thread runs; nullptr if the launch has none.
class Cluster;
class Observer;
extern __thread Cluster* current_cluster;

class Cluster {
 public:
  Cluster(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes));

  // Which of the launch it is, and where its blocks' shared memory is while they do not run.
  void be(uint3 index, std::vector<Allocation>* memory);
  // Until it has ended, or a block of it waits for its turn. go_on() returns false if there was nothing left to run.
  void begin();
  bool go_on();
  void end() { blocks_.end(); }

  // How often its blocks have waited for each other.
  unsigned barriers() const { return barriers_; }

  unsigned rank() const { return static_cast<unsigned>(blocks_.running()); }
  uint3 index() const { return index_; }

  // Where the byte of shared memory that is at this address of the running block is for block `rank` of the cluster.
  // 0: it is no shared memory. An address that another block's memory has here is taken as that block's own.
  uintptr_t map(uintptr_t address, unsigned rank);
  std::optional<unsigned> rank_of(uintptr_t address);

  // A byte of another block's shared memory: which block, where the byte would be if it ran, and what it is doing.
  struct Remote {
    unsigned rank;
    uint3 block;
    uintptr_t shared;
    Residents::State state;
  };
  std::optional<Remote> remote(uintptr_t address);

  // One address for each byte of the cluster's shared memory, whichever block runs: that in the copy.
  uintptr_t lasting(uintptr_t shared) { return blocks_.saved(blocks_.running()).saved(shared); }

 private:
  LaunchState* launch_;
  Residents blocks_;
  uint3 index_ = {};
  std::vector<uint64_t> numbers_;
  unsigned barriers_ = 0;
  Observer* const observer_;  // nullptr if there is none
};

// cudaFuncAttributeNonPortableClusterSizeAllowed.
void allow_large_clusters(const void* function, bool allowed);

Excess beyond_cluster(const LaunchConfig& config, const void* function);

}  // namespace simt
