#include "collector.h"

#include <algorithm>
#include <utility>

#include "../cluster.h"
#include "../device_heap.h"
#include "../devices.h"
#include "../recording.h"
#include "rules.h"

namespace simt::counters {

namespace {

constexpr uint32_t all_lanes = 0xffffffffu;
constexpr uint64_t is_place = uint64_t{1} << 63;  // in a key of lines_: not a pc; so lines go up to 32767

AccessOp op_of(Event event) { return event == Event::load ? load : event == Event::store ? store : atomic; }
Op rule_of(Event event) { return event == Event::load ? Op::load : event == Event::store ? Op::store : Op::atomic; }
unsigned first_of(uint32_t lanes) { return static_cast<unsigned>(__builtin_ctz(lanes)); }
unsigned count_of(uint32_t lanes) { return static_cast<unsigned>(__builtin_popcount(lanes)); }

void mark(Region* region, Event event, uint64_t first, uint64_t last) {
  const size_t from = region->sector(first), to = region->sector(last);
  if (event != Event::store) region->read.add(from, to);
  if (event != Event::load) region->written.add(from, to);
}

// Of two threads, the one with more accesses counts; if they have the same number, the one with the larger share.
void keep_longest(uint64_t accesses, uint64_t block, uint64_t* longest, uint64_t* its_block) {
  if (accesses < *longest || (accesses == *longest && block >= *its_block)) return;
  *longest = accesses;
  *its_block = block;
}

}  // namespace

bool is_shared(uint64_t address) {
  return address - recording.dynamic_shared < recording.dynamic_bytes ||
         address - recording.static_shared < recording.static_bytes;
}

Counts& Collector::line(uint64_t key) {
  Cached& cached = cache_[(key >> 32 ^ key) * 2654435769u >> 26 & 63];
  if (cached.key != key) cached = {key, &lines_[key]};
  return *cached.counts;
}

Region* Collector::region_of(uint64_t address) {
  if (region_ && region_->contains(address)) return region_;
  Region* const region = launch_.footprint.find(address);
  if (region) region_ = region;
  return region;
}

// The part of it that goes over a link to another device.
void count_links(Event event, unsigned bytes, uint32_t lanes, const uint64_t* addresses) {
  for (uint32_t left = lanes; left; left &= left - 1) {
    const uint64_t address = addresses[first_of(left)];
    const int owner = is_shared(address) ? no_device : owner_of(address);
    if (event != Event::store) count_link_bytes(owner, current_device(), bytes);
    if (event != Event::load) count_link_bytes(current_device(), owner, bytes);
  }
}

Collector::Collector(LaunchCounters& launch, uintptr_t base)
    : launch_(launch),
      base_(base),
      shared_loads_(launch.operations, base - launch.module_base,
                    [this](uint32_t pc, unsigned bytes, uint32_t lanes, const uint64_t* addresses) {
                      count_shared(&line(pc), Event::load, bytes, lanes, addresses);
                    }) {}

uint32_t Collector::access(unsigned warp, uint64_t key, uint32_t lanes, const uint64_t* addresses) {
  const Event event = key_event(key);
  const unsigned bytes = key_bytes(key);
  const uint32_t pc = key_pc(key);
  since_barrier_[warp]++;
  block_instructions_++;
  if (has_several_devices()) count_links(event, bytes, lanes, addresses);
  uint32_t global = 0, shared = 0;
  if (watching_ && event == Event::load) {
    for (uint32_t left = lanes; left; left &= left - 1) {
      if (is_watched(reinterpret_cast<const void*>(addresses[first_of(left)]))) watched_bytes_read_ += bytes;
    }
  }
  if (lanes == all_lanes && is_contiguous(addresses, bytes)) {
    const uint64_t last = addresses[0] + warp_lanes * bytes - 1;
    if (is_shared(addresses[0])) {
      shared = all_lanes;
    } else if (Region* const region = region_of(addresses[0]); region && region->contains(last)) {
      GlobalCounts& counts = line(pc).global[op_of(event)];
      counts.requests++;
      counts.sectors += last / sector_bytes - addresses[0] / sector_bytes + 1;
      counts.bytes += warp_lanes * bytes;
      (event == Event::load ? block_.loads : block_.stores) += warp_lanes * bytes;
      mark(region, event, addresses[0], last);
      return all_lanes;
    }
  }
  if (!shared) {
    for (uint32_t left = lanes; left; left &= left - 1) {
      const unsigned lane = first_of(left);
      if (is_shared(addresses[lane])) {
        shared |= 1u << lane;
      } else if (Region* const region = region_of(addresses[lane])) {
        global |= 1u << lane;
        mark(region, event, addresses[lane], addresses[lane] + bytes - 1);
      } else if (device_heap::contains(addresses[lane])) {
        global |= 1u << lane;  // of no footprint: it is the kernel's own
      }
    }
  }
  uint64_t handed = 0;
  for (uint32_t left = lanes & ~global; left; left &= left - 1) {
    const unsigned lane = first_of(left);
    if (shared >> lane & 1) {
      handed += count_handed_over(&line(pc), event, bytes, warp * warp_lanes + lane, addresses[lane]);
    } else if (current_cluster && current_cluster->remote(addresses[lane])) {
      handed += count_between_blocks(&line(pc), event, bytes, warp, addresses[lane]);
    }
  }
  if (handed) block_.handed_over[base_ + pc] += handed;
  if (global) count_global(&line(pc), event, bytes, global, addresses);
  if (shared && event != Event::load) shared_loads_.fence(warp);
  const bool joinable = event == Event::load && !global && !key_is_volatile(key);
  if (shared && !(joinable && shared_loads_.load(warp, key_path(key), pc, bytes, shared, addresses)))
    count_shared(&line(pc), event, bytes, shared, addresses);
  return global | shared;
}

// Of all that lanes copy at a time, 32 pieces are a request.
void Collector::copy_in_bulk(uint64_t key, uint32_t lanes, const uint64_t* values) {
  for (const bool shared : {false, true}) {
    uint64_t addresses[bulk_pieces] = {};
    unsigned count = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
      const uint64_t begin = values[first_of(left)];
      if (is_shared(begin) != shared) continue;
      for (unsigned at = 0; at < key_bytes(key); at += bulk_piece) {
        addresses[count++] = begin + at;
        if (count == bulk_pieces) count_bulk(key, shared, std::exchange(count, 0), addresses);
      }
    }
    if (count > 0) count_bulk(key, shared, count, addresses);
  }
}

void Collector::count_bulk(uint64_t key, bool shared, unsigned count, const uint64_t* addresses) {
  const Event event = key_event(key);
  const uint32_t pieces = all_lanes >> (bulk_pieces - count);
  Counts& counts = line(key_pc(key));
  if (has_several_devices()) count_links(event, bulk_piece, pieces, addresses);
  if (shared) {
    for (unsigned i = 0; i < count && event == Event::store; i++) {
      const uint64_t in_dynamic = addresses[i] - recording.dynamic_shared;
      if (in_dynamic < recording.dynamic_bytes)
        dynamic_words_.clear(in_dynamic, bulk_piece);
      else
        static_words_.clear(addresses[i] - recording.static_shared, bulk_piece);
    }
    return count_shared(&counts, event, bulk_piece, pieces, addresses);
  }
  for (unsigned i = 0; i < count; i++) {
    if (watching_ && event == Event::load && is_watched(reinterpret_cast<const void*>(addresses[i])))
      watched_bytes_read_ += bulk_piece;
    if (Region* const region = region_of(addresses[i]))
      mark(region, event, addresses[i], addresses[i] + bulk_piece - 1);
  }
  count_global(&counts, event, bulk_piece, pieces, addresses);
}

void Collector::count_global(Counts* counts, Event event, unsigned bytes, uint32_t lanes, const uint64_t* addresses) {
  const GlobalCount count = counters::count_global({Space::global, rule_of(event), bytes, lanes, addresses});
  GlobalCounts& sum = counts->global[op_of(event)];
  sum.requests += count.requests;
  sum.sectors += count.sectors;
  sum.bytes += count_of(lanes) * bytes;
  (event == Event::load ? block_.loads : block_.stores) += count_of(lanes) * bytes;
}

void Collector::count_shared(Counts* counts, Event event, unsigned bytes, uint32_t lanes, const uint64_t* addresses) {
  const SharedCount count = counters::count_shared({Space::shared, rule_of(event), bytes, lanes, addresses});
  SharedCounts& sum = counts->shared[op_of(event)];
  sum.requests++;
  sum.wavefronts += count.wavefronts;
  sum.conflicts += count.conflicts;
  sum.bytes += count_of(lanes) * bytes;
}

uint64_t Collector::count_handed_over(Counts* counts, Event event, unsigned bytes, unsigned thread, uint64_t address) {
  const uint64_t in_dynamic = address - recording.dynamic_shared;
  const bool dynamic = in_dynamic < recording.dynamic_bytes;
  HandedOver& words = dynamic ? dynamic_words_ : static_words_;
  const uint64_t offset = dynamic ? in_dynamic : address - recording.static_shared;
  HandedOver::Bytes handed = {};
  if (event != Event::store) handed = words.load(thread, offset, bytes);
  counts->handed_over += handed.from_others;
  counts->between_warps += handed.from_other_warps;
  if (event != Event::load) words.store(thread, offset, bytes);
  return handed.from_others;
}

// A word that several warps read between two barriers counts once, as one of the block's own memory does.
uint64_t Collector::count_between_blocks(Counts* counts, Event event, unsigned bytes, unsigned warp, uint64_t address) {
  constexpr unsigned address_bits = 48;
  uint64_t handed = bytes;
  if (event == Event::load) {
    handed = 0;
    const uint64_t barriers = barriers_[warp];
    for (uint64_t word = address / HandedOver::word_bytes; word <= (address + bytes - 1) / HandedOver::word_bytes;
         word++)
      handed += remote_words_.insert(barriers << address_bits | word).second ? HandedOver::word_bytes : 0;
  }
  counts->handed_over += handed;
  counts->between_warps += handed;
  return handed;
}

// Warps come to their barriers one after the other: which one it is says the number of those before it.
void Collector::note_barrier(unsigned warp) {
  const size_t number = barriers_[warp];
  if (number >= before_barrier_.size()) before_barrier_.resize(number + 1);
  before_barrier_[number] = std::max(before_barrier_[number], since_barrier_[warp]);
  of_warp_[warp] += since_barrier_[warp];
  since_barrier_[warp] = 0;
}

void Collector::barrier_completed(unsigned of_cluster) {
  turns_.resize(*std::max_element(barriers_.begin(), barriers_.end()), turn_);
  turn_ = of_cluster;
}

void Collector::note_cluster(unsigned warps) {
  const uint3 index = current_cluster->index();
  BetweenClusterBarriers block;
  block.cluster = index.x + (uint64_t{index.y} << 32) + (uint64_t{index.z} << 48);
  for (size_t number = 0; number < before_barrier_.size(); number++) {
    const unsigned turn = number < turns_.size() ? turns_[number] : turn_;
    if (turn >= block.longest.size()) block.longest.resize(turn + 1);
    block.longest[turn] += before_barrier_[number];
  }
  block.busiest = *std::max_element(of_warp_.begin(), of_warp_.end());
  block.instructions = block_instructions_;
  block.warps = warps;
  of_clusters_.push_back(std::move(block));
}

void Collector::synchronisation(unsigned warp, uint64_t key, uint64_t place) {
  const bool barrier = key_event(key) == Event::barrier;
  if (barrier) {
    block_.barriers++;
    note_barrier(warp);
    barriers_[warp]++;
    shared_loads_.fence(warp);
  } else {
    shared_loads_.warp_operation(warp, key_pc(key));
  }
  Counts& counts = line(place | is_place);
  (barrier ? counts.barriers : counts.warp_operations)++;
}

void Collector::end_block(const uint64_t* accesses, const uint64_t* received, const uint64_t* loaded, unsigned threads,
                          uint64_t exchanged, uint64_t waited) {
  exchanged_ += exchanged;
  shared_loads_.end_block();
  uint64_t longest = 0, block = 0;
  for (unsigned thread = 0; thread < threads; thread++) {
    block += accesses[thread];
    if (accesses[thread] > longest) longest = accesses[thread];
    received_.keep_most({received[thread], std::max(block_.loads / threads, loaded[thread / warp_lanes] / warp_lanes)});
  }
  const unsigned warps = (threads + warp_lanes - 1) / warp_lanes;
  for (unsigned warp = 0; warp < warps; warp++) {
    busiest_warp_.keep_most({loaded[warp], block_.loads, warps});
    note_barrier(warp);
  }
  uint64_t chain = 0;
  for (const uint32_t instructions : before_barrier_) chain += instructions;
  chain -= *std::max_element(of_warp_.begin(), of_warp_.end());
  one_by_one_.keep_most({std::max(chain, waited), block_instructions_, warps});
  if (current_cluster) note_cluster(warps);
  before_barrier_.clear();
  block_instructions_ = 0;
  block_.accesses = block;
  blocks_.push_back(std::move(block_));
  block_ = {};
  keep_longest(longest, block, &longest_thread_accesses_, &its_block_accesses_);
}

// Between two barriers of a cluster the others wait for the block that takes longest, and for its longest warp.
OneByOne blocks_one_by_one(const std::vector<BetweenClusterBarriers>& blocks) {
  struct Cluster {
    std::vector<uint64_t> longest;
    uint64_t busiest = 0, instructions = 0;
    unsigned warps = 0;
  };
  std::map<uint64_t, Cluster> clusters;
  for (const BetweenClusterBarriers& block : blocks) {
    Cluster& all = clusters[block.cluster];
    all.longest.resize(std::max(all.longest.size(), block.longest.size()));
    for (size_t turn = 0; turn < block.longest.size(); turn++)
      all.longest[turn] = std::max(all.longest[turn], block.longest[turn]);
    all.busiest = std::max(all.busiest, block.busiest);
    all.instructions += block.instructions;
    all.warps += block.warps;
  }
  OneByOne most;
  for (const auto& [number, all] : clusters) {
    uint64_t chain = 0;
    for (const uint64_t instructions : all.longest) chain += instructions;
    most.keep_most({chain - all.busiest, all.instructions, all.warps});
  }
  return most;
}

void Collector::add_to_launch() {
  std::lock_guard<std::mutex> lock(launch_.mutex);
  for (const auto& [key, counts] : lines_) {
    Counts& sum = key & is_place ? launch_.by_place[key & ~is_place] : launch_.by_pc[base_ + key];
    sum.add(counts);
  }
  launch_.watched_bytes_read += watched_bytes_read_;
  launch_.exchanged += exchanged_;
  launch_.received.keep_most(received_);
  launch_.busiest_warp.keep_most(busiest_warp_);
  launch_.one_by_one.keep_most(one_by_one_);
  launch_.of_clusters.insert(launch_.of_clusters.end(), std::make_move_iterator(of_clusters_.begin()),
                             std::make_move_iterator(of_clusters_.end()));
  launch_.blocks.insert(launch_.blocks.end(), std::make_move_iterator(blocks_.begin()),
                        std::make_move_iterator(blocks_.end()));
  keep_longest(longest_thread_accesses_, its_block_accesses_, &launch_.longest_thread_accesses,
               &launch_.its_block_accesses);
}

}  // namespace simt::counters
