#include "cluster.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "block.h"
#include "checks/observer.h"
#include "device_limits.h"
#include "failure.h"
#include "launch_bounds.h"

namespace simt {

namespace {

constexpr uint64_t portable_blocks = 8, most_blocks = 16;

std::mutex mutex;
std::set<const void*>& large_ones() {
  static auto* kernels = new std::set<const void*>;
  return *kernels;
}

uint64_t count(dim3 d) { return uint64_t{d.x} * d.y * d.z; }

std::string text_of(dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

}  // namespace

__thread Cluster* current_cluster = nullptr;

void allow_large_clusters(const void* function, bool allowed) {
  std::lock_guard<std::mutex> lock(mutex);
  if (allowed)
    large_ones().insert(function);
  else
    large_ones().erase(function);
}

Excess beyond_cluster(const LaunchConfig& config, const void* function) {
  const dim3 grid = config.grid, cluster = config.cluster;
  const std::string asks = "asks for clusters of " + text_of(cluster) + " blocks";
  if (count(cluster) == 0)
    return {cudaErrorInvalidClusterSize, "a dimension of the cluster is 0, and must be at least 1", asks + "."};
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return {
        cudaErrorInvalidClusterSize, "each dimension of the grid must be a multiple of the cluster's",
        asks + " and a grid of " + text_of(grid) + ".\nRound the grid up, and let the blocks beyond it do nothing."};
  const dim3 own = cluster_asked(function);
  if (count(own) > 1 && (own.x != cluster.x || own.y != cluster.y || own.z != cluster.z))
    return {cudaErrorInvalidClusterSize, "another cluster than the kernel's __cluster_dims__",
            asks + ", and the kernel for " + text_of(own) + "."};
  std::lock_guard<std::mutex> lock(mutex);
  const uint64_t most = large_ones().count(function) ? most_blocks : portable_blocks;
  if (count(cluster) > most)
    return {cudaErrorInvalidClusterSize, "more blocks than the " + std::to_string(most) + " that a cluster can have",
            asks + "." +
                (most < most_blocks ? "\nUp to 16 are allowed after cudaFuncSetAttribute(kernel, "
                                      "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)."
                                    : "")};
  return {};
}

// An H200 answers 528 to pairs of blocks of 64 threads: 8 blocks per multiprocessor. To larger clusters it answers up
// to an eighth less than this does, since only multiprocessors of one group hold a cluster.
cudaError_t clusters_at_once(int* clusters, dim3 cluster, const void* kernel, int block_threads,
                             size_t dynamic_shared_bytes) {
  constexpr int blocks_in_clusters = 8;
  if (!count(cluster)) cluster = cluster_asked(kernel);
  int blocks = 0;
  const cudaError_t error = occupancy(&blocks, kernel, block_threads, dynamic_shared_bytes);
  blocks = std::min(blocks, blocks_in_clusters);
  *clusters =
      error == cudaSuccess ? static_cast<int>(static_cast<uint64_t>(blocks) * multiprocessors / count(cluster)) : 0;
  return error;
}

cudaError_t largest_cluster(int* blocks, const void* kernel, int block_threads, size_t dynamic_shared_bytes) {
  int resident = 0;
  const cudaError_t error = occupancy(&resident, kernel, block_threads, dynamic_shared_bytes);
  std::lock_guard<std::mutex> lock(mutex);
  *blocks = resident == 0 ? 0 : static_cast<int>(large_ones().count(kernel) ? most_blocks : portable_blocks);
  return error;
}

Cluster::Cluster(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes))
    : launch_(launch),
      blocks_(launch, static_shared, poison),
      numbers_(count(launch->config.cluster)),
      observer_(launch->record ? current_observer() : nullptr) {}

void Cluster::be(uint3 index, std::vector<Allocation>* memory) {
  const dim3 grid = launch_->config.grid, size = launch_->config.cluster;
  index_ = index;
  for (size_t i = 0; i < numbers_.size(); i++) {
    const uint64_t x = index.x * size.x + i % size.x, y = index.y * size.y + i / size.x % size.y,
                   z = index.z * size.z + i / size.x / size.y;
    numbers_[i] = (z * grid.y + y) * grid.x + x;
    memory->push_back(blocks_.saved(i).memory());
  }
}

void Cluster::begin() {
  current_cluster = this;
  barriers_ = 0;
  blocks_.begin(numbers_);
}

bool Cluster::go_on() {
  current_cluster = this;
  return blocks_.go_on([&] {
    barriers_++;
    if (observer_) observer_->cluster_complete();
  });
}

uintptr_t Cluster::map(uintptr_t address, unsigned rank) {
  if (const auto found = remote(address)) address = found->shared;
  const uintptr_t lasting_one = lasting(address);
  if (!lasting_one || rank >= blocks_.count()) return 0;
  return rank == this->rank() ? address : blocks_.saved(rank).saved(address);
}

std::optional<unsigned> Cluster::rank_of(uintptr_t address) {
  if (const auto found = remote(address)) return found->rank;
  if (lasting(address)) return rank();
  return std::nullopt;
}

std::optional<Cluster::Remote> Cluster::remote(uintptr_t address) {
  for (unsigned i = 0; i < blocks_.count(); i++) {
    if (const uintptr_t shared = blocks_.saved(i).shared(address))
      return Remote{i, launch_->block_index(numbers_[i]), shared, blocks_.state(i)};
  }
  return std::nullopt;
}

void run_clusters(LaunchState* launch, const ModuleTls& static_shared, void (*poison)(size_t dynamic_bytes)) {
  const dim3 grid = launch->config.grid, size = launch->config.cluster;
  const dim3 in_grid(grid.x / size.x, grid.y / size.y, grid.z / size.z);
  const uint64_t all = count(in_grid), at_once = launch->resident_blocks() / launch->cluster_blocks();
  std::vector<std::unique_ptr<Cluster>> clusters;
  for (uint64_t i = 0; i < at_once; i++) clusters.push_back(std::make_unique<Cluster>(launch, static_shared, poison));
  for (uint64_t first = 0; first < all; first += at_once) {
    const uint64_t here = std::min(at_once, all - first);
    std::vector<Allocation> memory;
    for (uint64_t i = 0; i < here; i++) {
      const uint64_t number = first + i, row = number / in_grid.x;
      clusters[i]->be({static_cast<unsigned>(number % in_grid.x), static_cast<unsigned>(row % in_grid.y),
                       static_cast<unsigned>(row / in_grid.y)},
                      &memory);
    }
    if (launch->record && current_observer()) current_observer()->cluster_begin(memory);
    for (uint64_t i = 0; i < here; i++) clusters[i]->begin();
    for (bool any = true; any;) {
      any = false;
      for (uint64_t i = 0; i < here; i++) any |= clusters[i]->go_on();
    }
    for (uint64_t i = 0; i < here; i++) clusters[i]->end();
  }
  current_cluster = nullptr;
  if (at_once > 1) forget_resident_blocks();
}

// ---- What a kernel calls ---------------------------------------------------------------------------

// A launch without clusters is one of clusters of one block.
void cluster_barrier(Place place) {
  if (current_cluster)
    current_block->grid_barrier(place);
  else
    block_barrier(0, place);
}
unsigned cluster_rank() noexcept { return current_cluster ? current_cluster->rank() : 0; }
uint3 cluster_index() noexcept { return current_cluster ? current_cluster->index() : current_block->index(); }
dim3 cluster_size() noexcept {
  const dim3 size = current_block->launch().config.cluster;
  return size.x ? size : dim3(1, 1, 1);
}

void* map_shared_rank(const void* address, unsigned rank, Place place) {
  const auto own = reinterpret_cast<uintptr_t>(address);
  if (rank >= count(cluster_size()))
    fail_in_kernel("cluster.map_shared_rank",
                   "There is no block of rank " + std::to_string(rank) + ": the cluster has " +
                       std::to_string(count(cluster_size())) +
                       (current_cluster ? "." : ", since the launch asks for none."),
                   place);
  if (!current_cluster) return const_cast<void*>(address);
  const uintptr_t mapped = current_cluster->map(own, rank);
  if (!mapped)
    fail_in_kernel("cluster.map_shared_rank",
                   "The address is none of shared memory: only that can be mapped to another block.", place);
  return reinterpret_cast<void*>(mapped);
}

unsigned query_shared_rank(const void* address) noexcept {
  if (!current_cluster) return 0;
  return current_cluster->rank_of(reinterpret_cast<uintptr_t>(address)).value_or(0);
}

}  // namespace simt
