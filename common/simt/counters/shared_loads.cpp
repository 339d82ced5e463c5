#include "shared_loads.h"

#include <algorithm>

namespace simt::counters {

namespace {

constexpr size_t most_groups = 256;  // of a warp; more than a thread has registers for
constexpr unsigned widest = 16;      // bytes of a lane

unsigned first_of(uint32_t lanes) { return static_cast<unsigned>(__builtin_ctz(lanes)); }

// The innermost loop with this block.
const timing::Loop* innermost(const timing::TableFunction& function, int block) {
  for (const timing::Loop& loop : function.loops) {
    if (loop.contains(block)) return &loop;
  }
  return nullptr;
}

}  // namespace

void SharedLoads::begin_block(unsigned warps) {
  if (!table_) return;
  if (warps_.size() < warps) warps_.resize(warps);
  used_ = warps;
}

void SharedLoads::end_block() {
  for (unsigned w = 0; w < used_; w++) settle(&warps_[w]);
}

const timing::FoundLoad& SharedLoads::fact(uint32_t pc) {
  Fact& cached = facts_[pc * 2654435769u >> 24];
  if (cached.pc != pc) cached = {pc, table_->joinable(pc + origin_)};
  return cached.found;
}

bool SharedLoads::load(unsigned warp_number, unsigned path, uint32_t pc, unsigned bytes, uint32_t lanes,
                       const uint64_t* addresses) {
  if (warp_number >= used_) return false;
  const timing::FoundLoad found = fact(pc);
  if (!found.load) return false;
  Warp& warp = warps_[warp_number];
  const uint64_t region = uint64_t{path + 1} << 48 | static_cast<uint64_t>(found.function + 1) << 24 |
                          static_cast<uint64_t>(found.load->number);
  if (warp.region != region) {
    settle(&warp);
    warp.region = region;
    warp.of = found;
  }
  // What all lanes begin at in a window of so many bytes; they need not if the compiler here places an array otherwise.
  unsigned window = std::max(bytes, std::min(widest, found.load->multiple));
  const uint64_t first = addresses[first_of(lanes)];
  uint64_t differ = 0;
  for (uint32_t left = lanes; left; left &= left - 1) differ |= addresses[first_of(left)] ^ first;
  if (differ & (window - 1)) window = bytes;
  uint64_t hash = (uint64_t{lanes} << 8 | window) * 0x9E3779B97F4A7C15;
  for (uint32_t left = lanes; left; left &= left - 1)
    hash = (hash ^ (addresses[first_of(left)] & ~uint64_t{window - 1})) * 0x100000001B3;
  Group* const group = group_of(&warp, hash, window, lanes, addresses);
  const auto offset = static_cast<uint8_t>(first & (window - 1));
  const auto round = static_cast<uint16_t>(warp.round);
  warp.last_round = warp.round;
  for (const Load& load : group->loads) {
    if (load.offset > offset || load.offset + load.bytes < offset + bytes) continue;
    // In straight code the executor's compiler has seen to that, but for what a structure holds.
    if (found.load->kind == 'e' && load.straight) return false;
    if (found.load->kind != 'p' || load.round == round) return true;
  }
  group->loads.push_back({pc, offset, static_cast<uint8_t>(bytes), found.load->kind == 'e', round});
  return true;
}

SharedLoads::Group* SharedLoads::group_of(Warp* warp, uint64_t hash, unsigned window, uint32_t lanes,
                                          const uint64_t* addresses) {
  for (size_t g = warp->hashes.size(); g-- > 0;) {
    if (warp->hashes[g] == hash) return &warp->groups[g];
  }
  if (warp->hashes.size() == most_groups) settle(warp, true);
  if (warp->groups.size() == warp->hashes.size()) warp->groups.emplace_back();
  Group& group = warp->groups[warp->hashes.size()];
  warp->hashes.push_back(hash);
  group.lanes = lanes;
  group.window = window;
  group.loads.clear();
  for (uint32_t left = lanes; left; left &= left - 1)
    group.begins[first_of(left)] = addresses[first_of(left)] & ~uint64_t{window - 1};
  return &group;
}

void SharedLoads::warp_operation(unsigned warp, uint32_t pc) {
  if (warp >= used_ || warps_[warp].hashes.empty()) return;
  const timing::Position at = table_->find(pc + origin_);
  if (at.operation >= 0 && table_->operation(at).kind != timing::Kind::syncwarp) return;
  settle(&warps_[warp]);
}

void SharedLoads::jump_back(unsigned warp_number, uint32_t to) {
  if (warp_number >= used_ || warps_[warp_number].region == 0) return;
  Warp& warp = warps_[warp_number];
  const timing::Position at = table_->find(to + origin_);
  if (at.function != warp.of.function) return settle(&warp);
  const timing::TableFunction& function = table_->functions()[static_cast<size_t>(at.function)];
  const timing::Loop* const loop = innermost(function, function.blocks[static_cast<size_t>(at.block)].number);
  if (!loop) return settle(&warp);
  if (warp.of.load->kind == 'p' && loop->header == warp.of.load->number) {
    if (warp.round + 1 < warp.of.load->rounds) {
      warp.round++;
    } else {
      settle(&warp, true);
    }
    return;
  }
  const auto region = function.regions.find(loop->header);
  if (region == function.regions.end() || region->second != warp.of.load->number) settle(&warp);
}

// stays: the warp goes on in the same region.
void SharedLoads::settle(Warp* warp, bool stays) {
  const bool by_round =
      !warp->hashes.empty() && warp->of.load->kind == 'p' && warp->last_round + 1 < warp->of.load->rounds;
  std::vector<const Load*> loads;
  for (size_t g = 0; g < warp->hashes.size(); g++) {
    const Group& group = warp->groups[g];
    // What is left over of a loop that is unrolled by four is done round by round.
    for (unsigned round = 0; round <= (by_round ? warp->last_round : 0); round++) {
      loads.clear();
      for (const Load& load : group.loads) {
        const bool covered = std::any_of(loads.begin(), loads.end(), [&](const Load* other) {
          return other->offset <= load.offset && other->offset + other->bytes >= load.offset + load.bytes;
        });
        if ((!by_round || load.round == round) && !covered) loads.push_back(&load);
      }
      join(group, loads.data(), loads.size());
    }
  }
  warp->hashes.clear();
  warp->round = warp->last_round = 0;
  if (!stays) warp->region = 0;
}

void SharedLoads::join(const Group& group, const Load* const* loads, size_t count) {
  join_half(group, loads, count, 0, group.window);
}

// What of the loads lies in a part of the window: one load where they fill it, else those of its halves.
void SharedLoads::join_half(const Group& group, const Load* const* loads, size_t count, unsigned offset,
                            unsigned bytes) {
  unsigned filled = 0, inside = 0;
  const Load *leader = nullptr, *whole = nullptr;
  for (size_t i = 0; i < count; i++) {
    const Load& load = *loads[i];
    if (load.offset < offset || load.offset + load.bytes > offset + bytes) continue;
    filled += load.bytes;
    inside++;
    if (!leader) leader = &load;
    if (load.bytes == bytes) whole = &load;
  }
  if (!inside) return;
  if (whole) leader = whole;
  if (!whole && filled < bytes) {
    join_half(group, loads, count, offset, bytes / 2);
    join_half(group, loads, count, offset + bytes / 2, bytes / 2);
    return;
  }
  uint64_t addresses[32];
  for (uint32_t left = group.lanes; left; left &= left - 1)
    addresses[first_of(left)] = group.begins[first_of(left)] + offset;
  made_(leader->pc, bytes, group.lanes, addresses);
}

}  // namespace simt::counters
