#include "racecheck.h"

#include <algorithm>

#include "report.h"

namespace simt::checks {

namespace {

Stamp at(uint32_t time) { return Stamp{time} << stamp_time_shift; }
bool is_atomic(Stamp stamp) { return stamp & stamp_atomic; }

}  // namespace

// After 2^32 synchronisations time begins again: what happened before is forgotten, so a race with it is not found.
uint32_t Racecheck::tick() {
  if (++time_ == 0) {
    shadow_.forget_stamps();
    std::fill(block_times_.begin(), block_times_.end(), 1);
    for (WarpClock& clock : clocks_) clock.everyone = 0, clock.known.clear();
    of_warps_.clear();
    meetings_.clear();
    time_ = launch_ = block_ = barrier_ = cluster_ = cluster_barrier_ = 1;
    time_++;
  }
  return time_;
}

void Racecheck::launch_begin(bool in_turns) {
  launch_ = tick();
  in_turns_ = in_turns;
  block_times_.clear();
  block_numbers_.clear();
  cluster_ = cluster_barrier_ = 0;
  publication_.launch_begin();
}

void Racecheck::block_begin(const BlockInfo& block) {
  block_ = barrier_ = tick();
  block_times_.push_back(block_);
  block_numbers_.push_back(block.number);
  publication_.block_begin(static_cast<uint32_t>(block_times_.size() - 1));
  clocks_.resize((block.threads + 31) / 32);
  for (size_t warp = 0; warp < clocks_.size(); warp++) {
    const size_t lanes = block.threads - warp * 32;
    clocks_[warp].everyone = 0;
    clocks_[warp].lanes = lanes >= 32 ? ~uint32_t{0} : (uint32_t{1} << lanes) - 1;
    clocks_[warp].known.clear();
  }
  last_loads_.assign(clocks_.size(), LastLoads{});
  of_warps_.clear();
  meetings_.clear();
  found_ = false;
}

void Racecheck::meeting_arrive(unsigned warp, uint64_t key, unsigned number) {
  if (of_warps_.empty()) of_warps_.resize(clocks_.size(), WarpTimes{});
  Phase& phase = meetings_[key][number % 4];
  if (phase.number != number) phase = {number, {}};
  for (size_t i = 0; i < phase.known.size(); i++) phase.known[i] = std::max(phase.known[i], of_warps_[warp][i]);
  phase.known[warp] = tick();
}

void Racecheck::meeting_left(unsigned warp, uint64_t key, unsigned number) {
  const auto found = meetings_.find(key);
  if (found == meetings_.end() || found->second[number % 4].number != number) return;
  const Phase& phase = found->second[number % 4];
  for (size_t i = 0; i < phase.known.size(); i++) of_warps_[warp][i] = std::max(of_warps_[warp][i], phase.known[i]);
}

void Racecheck::warp_complete(unsigned warp, unsigned arrived) {
  WarpClock& clock = clocks_[warp];
  const uint32_t now = tick();
  if (arrived == clock.lanes) {
    clock.everyone = now;
    clock.known.clear();
    return;
  }
  if (clock.known.empty()) clock.known.resize(32, {});
  std::array<uint32_t, 32> joined = {};
  for (unsigned lanes = arrived; lanes; lanes &= lanes - 1) {
    const auto& known = clock.known[static_cast<unsigned>(__builtin_ctz(lanes))];
    for (unsigned lane = 0; lane < 32; lane++) joined[lane] = std::max(joined[lane], known[lane]);
  }
  for (unsigned lane = 0; lane < 32; lane++) {
    if (arrived >> lane & 1) joined[lane] = now;
  }
  for (unsigned lanes = arrived; lanes; lanes &= lanes - 1)
    clock.known[static_cast<unsigned>(__builtin_ctz(lanes))] = joined;
}

// All that `lane` of the thread's warp did before this time is ordered before what the thread does now.
uint32_t Racecheck::known(unsigned thread, unsigned lane) const {
  const WarpClock& clock = clocks_[thread / 32];
  return clock.known.empty() ? clock.everyone : std::max(clock.everyone, clock.known[thread % 32][lane]);
}

bool Racecheck::has_synchronised(unsigned before, uint32_t time, unsigned thread) const {
  return before == thread || time < barrier_ || (before / 32 == thread / 32 && time < known(thread, before % 32)) ||
         (!of_warps_.empty() && time < of_warps_[thread / 32][before / 32]);
}

bool Racecheck::is_ordered(Stamp stamp, unsigned thread, uintptr_t but) const {
  const uint32_t time = stamp_time(stamp);
  const unsigned before = stamp_thread(stamp);
  if (time >= block_)
    return has_synchronised(before, time, thread) || publication_.orders_threads(before, time, thread, but);
  if (in_turns_ || (time >= cluster_ && time < cluster_barrier_)) return true;
  return publication_.orders_blocks(block_at(time), before, time, thread, but, [&](unsigned other, uint32_t when) {
    return has_synchronised(other, when, thread);
  });
}

uint32_t Racecheck::number_of(uintptr_t pc) {
  Numbered& recent = recent_pcs_[pc % recent_pcs_.size()];
  if (recent.pc == pc) return recent.number;
  auto [found, is_new] = pc_numbers_.try_emplace(pc, static_cast<uint32_t>(pcs_.size()));
  if (is_new) {
    if (pcs_.size() == max_stamp_pcs) {
      pc_numbers_.erase(found);
      return 0;  // one of the program's first lines will be named instead
    }
    pcs_.push_back(pc);
  }
  recent = {pc, found->second};
  return recent.number;
}

void Racecheck::access(Page& page, const BlockInfo& block, const LanesAccess& access, AddressSpace space,
                       uintptr_t address, unsigned thread, unsigned threads) {
  const bool is_global = space == AddressSpace::global;
  const bool is_volatile = access.kind == AccessKind::volatile_load || access.kind == AccessKind::volatile_store;
  const bool atomic =
      access.kind == AccessKind::atomic || access.kind == AccessKind::atomic_store || (is_volatile && is_global);
  const bool writes = !only_loads(access.kind);
  const uint32_t stale = is_global ? launch_ : space == AddressSpace::cluster ? cluster_ : block_;
  if (atomic) publication_.atomic(address, thread, tick(), barrier_);
  block_stamp_ = at(block_);
  barrier_stamp_ = at(barrier_);
  const uint32_t changes = !writes ? 0 : access.stored ? ~access.stored->same : ~uint32_t{0};
  Now now = {block, access, space, atomic, writes, at(stale), address - address % Page::bytes, address, changes};
  const unsigned first = page.cell(address, access.bytes), each = page.cells_in(access.bytes);
  const unsigned each_log2 = static_cast<unsigned>(__builtin_ctz(each)), end = first + (threads << each_log2);
  // Four bits would be needed for 16 cells, of one byte each: such a group is left to its cells.
  const Stamp stamp = at(time_) | Stamp{thread} << stamp_thread_shift | (atomic ? stamp_atomic : 0) |
                      Stamp{each_log2 & 3} << stamp_cells_shift | number_of(access.pc);
  if (is_global && !atomic && writes) note_store(now, thread, threads, stamp_pc(stamp));
  if (is_global && !atomic && !writes) note_load(now, thread, threads, stamp_pc(stamp));
  const auto stamp_of = [&](unsigned cell) { return stamp + ((cell - first) >> each_log2) * stamp_of_one_thread; };
  for (unsigned cell = first; cell < end;) {
    const unsigned next = std::min(end, cell - cell % Page::group + Page::group);
    if (next - cell < Page::group || each_log2 > 3 || !group(page, now, cell, stamp_of(cell))) {
      page.expand(cell);
      for (unsigned i = cell; i < next; i++) one_cell(page, now, i, stamp_of(i));
    }
    cell = next;
  }
  (writes ? page.last_write : page.last_read) = time_;
  if (writes && !atomic) page.make_stored().store(address % Page::bytes, access, thread % 32, threads, ~now.changes);
}

// A whole group at once, by neighbouring threads. False if that takes a closer look.
bool Racecheck::group(Page& page, const Now& now, unsigned cell, Stamp stamp) const {
  Stamp &write = page.group_write(cell), &read = page.group_read(cell);
  const uint32_t stale = stamp_time(now.stale);
  if (page.last_write >= stale && !is_group_past(write, stamp, now.stale)) return false;
  if (!is_group_past(read, stamp, now.stale) && page.last_read >= stale) return false;
  if (!now.writes) {
    read = stamp;
    return true;
  }
  if (page.last_read >= stale && (page.other_reads() || now.atomic)) return false;
  if (now.atomic && page.last_write >= stale && !is_atomic(write)) return false;
  write = stamp;
  read = Page::nobody;
  return true;
}

void Racecheck::one_cell(Page& page, Now& now, unsigned cell, Stamp stamp) {
  Stamp &write = page.writes()[cell], &read = page.reads()[cell];
  const bool is_global = now.space == AddressSpace::global;
  const uint32_t lane = uint32_t{1} << stamp_thread(stamp) % 32;
  if (!is_past(write, stamp, now.stale)) {
    const bool changed = !page.stored() || is_atomic(write) || !page.stored()->is_same(cell * page.cell_bytes());
    if (now.writes && stores_the_same(page, now, cell, write, stamp)) {
      if (changed && !is_ordered(write, stamp_thread(stamp))) now.changes |= lane;
    } else if (now.writes || changed || !is_global) {
      compare(page, now, cell, write, stamp, true);
    }
  }
  if (now.writes) {
    if (now.changes & lane || !is_global) compare_reads(page, now, cell, stamp);
    if (now.atomic) keep_store(page, now, cell, stamp);
    write = stamp;
  } else if (is_past(read, stamp, now.stale)) {
    read = stamp;
  } else {
    remember_read(page, cell, stamp, now.stale);
  }
}

// An atomic does not order a store before it: others' atomics may still come first.
void Racecheck::keep_store(Page& page, const Now& now, unsigned cell, Stamp stamp) {
  const Stamp write = page.writes()[cell];
  const Page::OtherReads* const others = page.other_reads() ? page.other_reads() + cell : nullptr;
  if (others && !is_past(others->store, stamp, now.stale) &&
      !is_ordered(others->store, stamp_thread(stamp), now.address))
    compare_with_store(page, now, cell, others->store, stamp);
  if (is_atomic(write) || write < now.stale || (write >= block_stamp_ && write < barrier_stamp_)) return;
  page.make_other_reads(cell).store = write;
}

void Racecheck::note_load(const Now& now, unsigned thread, unsigned threads, uint32_t pc) {
  LastLoads& last = last_loads_[thread / 32];
  if (last.barrier != barrier_) last = {barrier_, {}, {}};
  for (unsigned i = 0; i < threads; i++) {
    last.pc[thread % 32 + i] = pc;
    last.address[thread % 32 + i] = now.address + i * now.access.bytes;
  }
}

// Whether each thread that stores at this pc has read the element just before, and all store one value. A thread that
// has read another element, which some other thread stores to, does not decide about its own.
void Racecheck::note_store(const Now& now, unsigned thread, unsigned threads, uint32_t pc) {
  if (tested_.size() <= pc) tested_.resize(pc + 1);
  TestAndSet& known = tested_[pc];
  if (known.launch == launch_ && !known.holds) return;
  const StoredByLanes* const stored = now.access.stored;
  const LastLoads& last = last_loads_[thread / 32];
  for (unsigned i = 0; i < threads; i++) {
    const unsigned lane = thread % 32 + i;
    const bool has_read = last.barrier == barrier_ && last.address[lane] == now.address + i * now.access.bytes &&
                          stored && now.access.bytes <= 8 && stored->known >> lane & 1;
    const bool is_first = known.launch != launch_;
    if (is_first) known = {launch_, last.pc[lane], stored ? stored->low[lane] : 0, has_read, false};
    known.holds = has_read && last.pc[lane] == known.read && stored->low[lane] == known.value;
    if (known.holds) continue;
    known.updates = has_read && !is_first;
    return;
  }
}

// nullptr if nothing was stored at this pc in this launch.
const Racecheck::TestAndSet* Racecheck::tested(uint32_t store) const {
  return store < tested_.size() && tested_[store].launch == launch_ ? &tested_[store] : nullptr;
}

bool Racecheck::sets_what_it_tests(uint32_t store, uint32_t read) const {
  const TestAndSet* const known = tested(store);
  return known && known->holds && known->read == read;
}

bool Racecheck::stores_the_same(const Page& page, const Now& now, unsigned cell, Stamp before, Stamp stamp) const {
  if (!now.access.stored || !page.stored() || is_atomic(before)) return false;
  const unsigned width = page.cell_bytes();
  const uintptr_t offset = cell * width;
  const auto at = static_cast<unsigned>((now.page + offset - now.address) % now.access.bytes);
  return page.stored()->equals(offset, width, *now.access.stored, stamp_thread(stamp) % 32, at);
}

// Of another block, another warp and another thread of the warp one read each is kept.
void Racecheck::remember_read(Page& page, unsigned cell, Stamp stamp, Stamp stale) {
  Stamp& last = page.reads()[cell];
  Page::OtherReads& others = page.make_other_reads(cell);
  if (last < block_stamp_) {
    others = {0, 0, last, others.store};
  } else if (stamp_thread(last) / 32 == stamp_thread(stamp) / 32) {
    others.same_warp = last;
  } else {
    others.other_warp = last;
    others.same_warp = 0;
  }
  if (others.other_block < stale) others.other_block = 0;
  last = stamp;
}

// An atomic leaves the reads: they do not race with it, and may with a later store.
void Racecheck::compare_reads(Page& page, const Now& now, unsigned cell, Stamp stamp) {
  Stamp& last = page.reads()[cell];
  Page::OtherReads* const others = page.other_reads() ? page.other_reads() + cell : nullptr;
  for (const Stamp before :
       {last, others ? others->same_warp : 0, others ? others->other_warp : 0, others ? others->other_block : 0}) {
    if (!is_past(before, stamp, now.stale)) compare(page, now, cell, before, stamp, false);
  }
  if (now.atomic) return;
  last = 0;
  if (others) *others = {};
}

void Racecheck::compare(const Page& page, const Now& now, unsigned cell, Stamp before, Stamp stamp, bool before_wrote) {
  const uintptr_t address = now.page + cell * page.cell_bytes();
  if (found_ && address == raced_ && now.writes && stamp_thread(stamp) == reader_) is_update_ = true;
  // After the first of a block others tell whether threads of several warps race.
  if (found_ && scope_ != Scope::warp) return;
  const bool one_is_atomic = is_atomic(before) || now.atomic;
  if (is_atomic(before) && now.atomic) return;
  if (one_is_atomic && now.space == AddressSpace::global) {
    const bool other_loads = now.atomic ? !before_wrote : !now.writes;
    if (other_loads) return;
  }
  if (!one_is_atomic && now.space == AddressSpace::global && before_wrote != now.writes &&
      sets_what_it_tests(stamp_pc(now.writes ? stamp : before), stamp_pc(now.writes ? before : stamp)))
    return;
  const unsigned thread = stamp_thread(stamp);
  if (found_ && stamp_thread(before) / 32 == thread / 32 && stamp_time(before) >= block_) return;
  if (is_ordered(before, thread)) return;
  if (is_atomic(before) && now.space == AddressSpace::global && now.writes && stamp_time(before) < block_ &&
      publication_.has_asked(now.address, thread,
                             [&](unsigned other, uint32_t when) { return has_synchronised(other, when, thread); }))
    return;  // this thread waited for that atomic: `while (load_acquire(flag) != all); flag = 0;`
  note(now, address, stamp, before, before_wrote);
}

void Racecheck::compare_with_store(const Page& page, const Now& now, unsigned cell, Stamp before, Stamp stamp) {
  if (!found_ || scope_ == Scope::warp) note(now, now.page + cell * page.cell_bytes(), stamp, before, true);
}

void Racecheck::note(const Now& now, uintptr_t address, Stamp stamp, Stamp before, bool before_wrote) {
  if (found_ && stamp_time(before) >= block_)
    scope_ = Scope::warps;
  else if (!found_)
    note_race(now, address, stamp, before, before_wrote);
}

uint32_t Racecheck::block_at(uint32_t time) const {
  return static_cast<uint32_t>(std::upper_bound(block_times_.begin(), block_times_.end(), time) - block_times_.begin() -
                               1);
}

void Racecheck::note_race(const Now& now, uintptr_t address, Stamp stamp, Stamp before, bool before_wrote) {
  const unsigned thread = stamp_thread(stamp), other = stamp_thread(before);
  const bool same_block = stamp_time(before) >= block_, is_global = now.space == AddressSpace::global;
  const char* const now_does = !now.writes ? "reads" : now.access.kind == AccessKind::atomic ? "updates" : "writes";
  const char* const before_did = !before_wrote ? "read" : is_atomic(before) ? "updated" : "wrote";
  text_ = std::string("it ") + now_does + " " + describe(now.block, now.space, address, now.access.bytes) + " at " +
          line_of(now.access.pc) + ";\n" + name_of(thread_index(other));
  if (!same_block) text_ += " of " + name_of_block(block_numbers_[block_at(stamp_time(before))]);
  text_ += std::string(" ") + before_did + " the same bytes at " + line_of(pcs_[stamp_pc(before)]) +
           ", and nothing orders the two.\n" + past_the_row(now, address, stamp, before);
  scope_ = !same_block ? Scope::blocks : other / 32 == thread / 32 ? Scope::warp : Scope::warps;
  all_write_there_ = now.writes && before_wrote && now.access.pc == pcs_[stamp_pc(before)];
  const TestAndSet* const known = tested(stamp_pc(stamp));
  is_update_ = all_write_there_ && is_global && known && known->updates;
  raced_ = now.writes && before_wrote ? 0 : address;
  reader_ = now.writes ? other : thread;
  found_ = true;
  race_ = {{now.block.index, thread_index(thread), thread},
           now.access.pc,
           is_global ? "racecheck: race in global memory" : "racecheck: race in shared memory",
           ""};
}

}  // namespace simt::checks
