#include "tracer.h"

#include <algorithm>
#include <iterator>

#include "../counters/collector.h"
#include "../counters/rules.h"

namespace simt::timing {

namespace {

constexpr uint64_t line_bytes = 128;
constexpr double most_apart = 1.5;  // shares of blocks that are not idle, as a factor
constexpr size_t told = 256;        // entries, after which a block says that it has so many more
// Entries of a block that is looked at for its length only. Each OS thread may have one.
constexpr size_t room_of_another = room / 4;
using counters::sector_bytes;

unsigned count_of(uint32_t lanes) {  // without an instruction for it, which not all CPUs have, the first is much faster
  return lanes == 0xffffffffu ? 32 : static_cast<unsigned>(__builtin_popcount(lanes));
}

// The lines that lanes touch, each once, in the order of the lanes.
uint16_t add_lines(std::vector<uint64_t>* lines, unsigned bytes, uint32_t lanes, const uint64_t* addresses) {
  const size_t begin = lines->size();
  for (; lanes; lanes &= lanes - 1) {
    const uint64_t first = addresses[__builtin_ctz(lanes)], last = first + bytes - 1;
    for (uint64_t sector = first / sector_bytes; sector <= last / sector_bytes; sector++) {
      const uint64_t line = sector * sector_bytes / line_bytes * line_bytes, mask = 1u << sector % 4;
      size_t at = lines->size();
      while (at > begin && (*lines)[at - 1] / line_bytes * line_bytes != line) at--;
      if (at > begin) {
        (*lines)[at - 1] |= mask;
      } else {
        lines->push_back(line | mask);
      }
    }
  }
  return static_cast<uint16_t>(lines->size() - begin);
}

// What tells whether a load of shared memory can be joined with another one.
void add_place(Entry* entry, unsigned bytes, uint32_t lanes, const uint64_t* addresses) {
  const uint64_t first = addresses[__builtin_ctz(lanes)];
  uint64_t around[32], differ = 0;
  uint32_t pattern = lanes * 2654435761u + bytes;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    pattern = (pattern ^ static_cast<uint32_t>(addresses[lane] - first)) * 16777619u;
    differ |= addresses[lane] ^ first;
    around[lane] = addresses[lane] & ~uint64_t{15};
  }
  entry->place = static_cast<uint32_t>(first);
  entry->pattern = pattern;
  if (differ & 15) return;
  const unsigned wavefronts =
      counters::count_shared({counters::Space::shared, counters::Op::load, 16, lanes, around}).wavefronts;
  // 128 bytes per cycle come back; only where all lanes have the same 16 it is faster.
  const bool one = ((differ | 15) == 15);
  entry->wide = static_cast<uint16_t>(one ? wavefronts : std::max(4u, wavefronts));
}

// The most lanes that want the same address.
uint16_t most_on_one(uint32_t lanes, const uint64_t* addresses) {
  uint64_t wanted[32];
  unsigned count = 0, most = 0, same = 0;
  for (; lanes; lanes &= lanes - 1) wanted[count++] = addresses[__builtin_ctz(lanes)];
  std::sort(wanted, wanted + count);
  for (unsigned i = 0; i < count; i++) {
    same = i && wanted[i] == wanted[i - 1] ? same + 1 : 1;
    most = std::max(most, same);
  }
  return static_cast<uint16_t>(most);
}

size_t entries_of(const BlockTrace& block) {
  size_t entries = 0;
  for (const WarpTrace& warp : block.warps) entries += warp.entries.size();
  return entries;
}

}  // namespace

bool LaunchTracer::is_sample(uint64_t block) const {
  if (blocks_ <= traced_blocks + 1 || block == blocks_ - 1) return true;
  // One of each twelfth, at another place in each: what blocks do often goes by their number's remainder.
  const uint64_t number = block * traced_blocks / blocks_;
  const uint64_t first = (number * blocks_ + traced_blocks - 1) / traced_blocks,
                 next = ((number + 1) * blocks_ + traced_blocks - 1) / traced_blocks;
  return block == first + number * 0x9E3779B9 % (next - first);
}

bool LaunchTracer::keeps(uint64_t sample, size_t entries) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (sample >= first_left_out_) return false;
  sizes_[sample] += entries;
  used_ += entries;
  while (used_ > room) {
    const auto last = std::prev(sizes_.end());
    first_left_out_ = last->first;
    used_ -= last->second;
    sizes_.erase(last);
  }
  return sample < first_left_out_;
}

BlockTrace LaunchTracer::add(BlockTrace block, bool whole) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!whole) return block;  // what is cut off would pass for a short one
  if (!work_.empty()) {
    work_[block.number] = static_cast<uint32_t>(entries_of(block));
    known_++;
  }
  if (is_sample(block.number)) {
    trace_.blocks.push_back(std::move(block));
    return {};
  }
  // Of equally long ones the first, whichever thread ran it.
  const size_t entries = entries_of(block), most = entries_of(longest_);
  if (entries > most || (entries == most && block.number < longest_.number)) std::swap(longest_, block);
  return block;
}

// One in twelve blocks says little of how many are idle. Where the traced ones have far too many of them, or too few,
// the idle ones are counted instead, and the others stand for the others.
void LaunchTracer::leave_out_idle() {
  std::vector<BlockTrace>& blocks = trace_.blocks;
  const auto working = static_cast<double>(
      std::count_if(blocks.begin(), blocks.end(), [](const BlockTrace& block) { return !is_idle(block); }));
  const double traced = working / static_cast<double>(blocks.size()),
               all = static_cast<double>(blocks_ - idle_) / static_cast<double>(blocks_);
  if (working == 0 || (traced <= most_apart * all && all <= most_apart * traced)) return;
  trace_.idle = idle_;
  const auto first_idle =
      std::stable_partition(blocks.begin(), blocks.end(), [](const BlockTrace& block) { return !is_idle(block); });
  if (first_idle == blocks.end()) return;
  trace_.idle_block = std::move(*first_idle);
  blocks.erase(first_idle, blocks.end());
}

// Of a grid without idle blocks: the others' numbers, and their work.
void LaunchTracer::number_without_idle() {
  std::vector<uint32_t>& work = trace_.work;
  size_t number = 0, next = 0;
  for (size_t block = 0; block < work.size(); block++) {
    if (rests_[block]) continue;
    if (next < trace_.blocks.size() && trace_.blocks[next].number == block) trace_.blocks[next++].number = number;
    work[number++] = work[block];
  }
  work.resize(number);
}

LaunchTrace LaunchTracer::take() {
  std::vector<BlockTrace>& blocks = trace_.blocks;
  blocks.erase(std::remove_if(
                   blocks.begin(), blocks.end(),
                   [&](const BlockTrace& block) { return is_sample(block.number) && block.number >= first_left_out_; }),
               blocks.end());
  trace_.complete = first_left_out_ == ~uint64_t{0};
  trace_.cut_off = trace_.complete ? 0 : room - used_;
  if (known_ == blocks_) trace_.work = std::move(work_);
  const bool is_longest = std::all_of(trace_.blocks.begin(), trace_.blocks.end(), [&](const BlockTrace& block) {
    return entries_of(block) < entries_of(longest_);
  });
  if (is_longest && entries_of(longest_) > 0) trace_.blocks.push_back(std::move(longest_));
  std::sort(trace_.blocks.begin(), trace_.blocks.end(),
            [](const BlockTrace& a, const BlockTrace& b) { return a.number < b.number; });
  leave_out_idle();
  if (trace_.idle > 0) number_without_idle();
  return std::move(trace_);
}

void BlockTracer::begin(LaunchTracer* launch, uint64_t block, unsigned warps) {
  launch_ = launch;
  count_ = 0;
  whole_ = true;
  sample_ = launch->is_sample(block);
  block_.number = block;
  block_.warps.resize(warps);
  for (WarpTrace& warp : block_.warps) {  // what the block before took stays for this one
    warp.entries.clear();
    warp.lines.clear();
  }
}

void BlockTracer::end() {
  if (whole_ && sample_) whole_ = launch_->keeps(block_.number, count_ % told);
  block_ = launch_->add(std::move(block_), whole_);
  launch_ = nullptr;
}

// Asked for every entry.
bool BlockTracer::has_room() {
  if (!whole_) return false;
  if (++count_ % told != 0) return true;
  whole_ = sample_ ? launch_->keeps(block_.number, told) : count_ <= room_of_another;
  if (!whole_) {
    for (WarpTrace& warp : block_.warps) warp = {};
  }
  return whole_;
}

void BlockTracer::enter(unsigned warp, uint32_t pc, uint32_t lanes) {
  if (!has_room()) return;
  block_.warps[warp].entries.push_back({pc, Did::block, Space::none, 0, static_cast<uint8_t>(count_of(lanes)), 0, 0});
}

void BlockTracer::synchronise(unsigned warp, Event event, uint32_t pc, uint32_t lanes) {
  if (!has_room()) return;
  const Did did = event == Event::barrier ? Did::barrier : Did::warp_operation;
  block_.warps[warp].entries.push_back({pc, did, Space::none, 0, static_cast<uint8_t>(count_of(lanes)), 0, 0});
}

void BlockTracer::access(unsigned warp_number, Event event, unsigned bytes, uint32_t pc, uint32_t lanes,
                         const uint64_t* addresses) {
  if (!lanes || !has_room()) return;
  WarpTrace& warp = block_.warps[warp_number];
  const bool shared = counters::is_shared(addresses[__builtin_ctz(lanes)]);
  Entry entry = {pc,
                 event == Event::load    ? Did::load
                 : event == Event::store ? Did::store
                                         : Did::atomic,
                 shared ? Space::shared : Space::global,
                 static_cast<uint8_t>(bytes),
                 static_cast<uint8_t>(count_of(lanes)),
                 1,
                 0};
  if (event == Event::atomic) entry.passes = most_on_one(lanes, addresses);
  if (shared) {
    const auto op = event == Event::load    ? counters::Op::load
                    : event == Event::store ? counters::Op::store
                                            : counters::Op::atomic;
    entry.passes = static_cast<uint16_t>(
        counters::count_shared({counters::Space::shared, op, bytes, lanes, addresses}).wavefronts);
    if (event == Event::load) add_place(&entry, bytes, lanes, addresses);
    if (event == Event::atomic)
      entry.wide = static_cast<uint16_t>(
          counters::count_shared({counters::Space::shared, counters::Op::load, bytes, lanes, addresses}).wavefronts);
  } else {
    entry.lines = add_lines(&warp.lines, bytes, lanes, addresses);
    if (event == Event::atomic)
      entry.wide = static_cast<uint16_t>(
          counters::count_global({counters::Space::global, counters::Op::atomic, bytes, lanes, addresses}).sectors);
  }
  warp.entries.push_back(entry);
}

}  // namespace simt::timing
