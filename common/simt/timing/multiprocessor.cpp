#include "multiprocessor.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <unordered_map>

#include "resident.h"

namespace simt::timing {

namespace {

constexpr double most_stores_ahead = 1500;  // cycles that stores may be behind before a warp has to wait
constexpr size_t most_segments = 256;
constexpr double loop_jump = 13;  // cycles that a jump waits for its test

class Multiprocessor {
 public:
  Multiprocessor(const Work& work, const Machine& machine)
      : work_(work), machine_(machine), schedulers_(static_cast<size_t>(machine.schedulers)) {
    interval_ = machine.block_interval_ns * machine.clock_ghz * machine.multiprocessors;
  }

  Outcome run() {
    residents_.resize(std::min<uint64_t>(work_.resident, work_.blocks));
    for (size_t slot = 0; slot < residents_.size(); slot++) start_block(slot, 0);
    for (;;) {
      while (!events_.empty()) {
        const Event event = events_.top();
        events_.pop();
        go_on(event);
      }
      if (!release_stuck()) break;
    }
    Outcome& out = outcome_;
    // What is still to be written holds up the next launch.
    out.cycles = std::max(end_ + (stores_ ? machine_.drain : 0), std::max(dram_.free(), l2_.free()));
    for (const Scheduler& s : schedulers_) {
      out.issue += s.issue.busy() / machine_.schedulers;
      out.alu += s.alu.busy() / machine_.schedulers;
      out.mufu += s.mufu.busy() / machine_.schedulers;
      out.doubles += s.doubles.busy() / machine_.schedulers;
    }
    out.lsu = lsu_.busy();
    out.port = port_.busy();
    out.l2 = l2_.busy();
    out.dram = dram_.busy();
    return out;
  }

 private:
  struct Scheduler {
    Server issue, alu, mufu, doubles, conflicts;
  };
  struct Event {
    double at;
    uint64_t order;
    uint32_t slot, warp;
    bool operator<(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  void push(double at, size_t slot, size_t warp) {
    events_.push({at, order_++, static_cast<uint32_t>(slot), static_cast<uint32_t>(warp)});
  }

  void start_block(size_t slot, double now) {
    if (started_ >= work_.blocks) return;
    Resident& block = residents_[slot];
    block.program = work_.programs[started_ % work_.programs.size()];
    block.instance = started_;
    const double at = std::max(now, static_cast<double>(started_) * interval_) + machine_.block_begin;
    started_++;
    const size_t warps = block.program->warps.size();
    block.warps.assign(warps, {});
    block.live = static_cast<unsigned>(warps);
    block.arrived = 0;
    block.tried.clear();
    outcome_.warps += warps;
    for (size_t w = 0; w < warps; w++) {
      Warp& warp = block.warps[w];
      warp.program = &block.program->warps[w];
      warp.trace = &block.program->trace->warps[w];
      int slots = 0;
      for (const WindowUse& use : warp.program->windows) slots = std::max(slots, use.window->slots);
      warp.values.resize(static_cast<size_t>(slots));
      push(at + static_cast<double>(w) * machine_.warp_interval, slot, w);
    }
  }

  void charge(const Warp& warp, Cause cause, double cycles) {
    const size_t segment = std::min<size_t>(warp.segment, most_segments - 1);
    if (segment >= outcome_.segments.size()) outcome_.segments.resize(segment + 1);
    outcome_.segments[segment].cycles[static_cast<size_t>(cause)] += cycles;
  }

  void go_on(const Event& event) {
    Resident& block = residents_[event.slot];
    Warp& warp = block.warps[event.warp];
    double now = event.at;
    const auto& windows = warp.program->windows;
    while (warp.window < windows.size() && warp.step == windows[warp.window].window->steps.size()) {
      end_window(warp, *windows[warp.window].window);
      warp.window++;
      warp.step = 0;
    }
    if (warp.window == windows.size()) return finish_warp(event, now);
    const WindowUse& use = windows[warp.window];
    const Step& step = use.window->steps[warp.step];
    Late until;
    for (const int slot : step.waits) {
      const Late& value = warp.values[static_cast<size_t>(slot)];
      if (value.at > until.at) until = value;
    }
    if (until.at > now) {
      charge(warp, until.cause, until.at - now);
      return push(until.at, event.slot, event.warp);  // the units belong to others until then
    }
    warp.step++;
    Scheduler& scheduler = schedulers_[(event.slot * 7 + event.warp) % schedulers_.size()];
    now = execute(warp, step, now, scheduler);
    switch (step.unit) {
      case Unit::none: break;
      case Unit::memory: {
        const uint32_t entry = warp.program->accesses[use.first_access + static_cast<uint32_t>(step.access)];
        now = access(block, warp, entry, step, now, scheduler);
        break;
      }
      case Unit::shuffle: {
        const double done = lsu_.serve(now, step.wide ? 2 : 1);
        set(warp, step, done + machine_.shuffle_latency, Cause::shuffle);
        break;
      }
      case Unit::vote: set(warp, step, now + machine_.vote_latency, Cause::shuffle); break;
      case Unit::barrier: return arrive(event, now);
    }
    push(now, event.slot, event.warp);
  }

  double execute(Warp& warp, const Step& step, double now, Scheduler& s) {
    const double begun = s.issue.serve(now, step.issue) - step.issue;
    charge(warp, Cause::issue, begun - now);
    double end = begun + std::max<double>(step.latency, step.issue * machine_.warp_issue);
    charge(warp, Cause::running, end - begun);
    double units = end;
    if (step.alu > 0) units = std::max(units, s.alu.serve(begun, step.alu / machine_.alu_rate));
    if (step.doubles > 0) units = std::max(units, s.doubles.serve(begun, step.doubles / machine_.double_rate));
    if (units > end) charge(warp, Cause::issue, units - end);
    end = units;
    if (step.mufu > 0) units = std::max(units, s.mufu.serve(begun, step.mufu / machine_.mufu_rate));
    if (units > end) charge(warp, Cause::mufu, units - end);
    return units;
  }

  void set(Warp& warp, const Step& step, double at, Cause cause) {
    if (step.writes >= 0) warp.values[static_cast<size_t>(step.writes)] = {static_cast<float>(at), cause};
  }

  void end_window(Warp& warp, const Window& window) {
    int last = -1;
    for (const auto& [value, slot] : window.moves) {
      const Late late = warp.values[static_cast<size_t>(slot)];
      Late& to = warp.values[static_cast<size_t>(value)];
      if (value != last || late.at > to.at) to = late;
      last = value;
    }
  }

  void finish_warp(const Event& event, double now) {
    Resident& block = residents_[event.slot];
    Warp& warp = block.warps[event.warp];
    if (warp.done) return;
    warp.done = true;
    block.live--;
    end_ = std::max(end_, now);
    if (block.live == 0) {
      end_ = std::max(end_, now + machine_.block_end);
      // Blocks that follow one another are in other parts of their work on each multiprocessor: what a block leaves of
      // the share of L2 others take, and give it back within its time. Where it is not alone, its neighbours do.
      if (residents_.size() == 1) l2_.lend(now);
      return start_block(event.slot, now + machine_.block_end);
    }
    if (block.arrived == block.live) release(event.slot, now);
  }

  void arrive(const Event& event, double now) {
    Resident& block = residents_[event.slot];
    Warp& warp = block.warps[event.warp];
    warp.waits = true;
    warp.arrived = now;
    // Warps are counted one after another, those of all blocks.
    block.counted = barriers_.serve(now, machine_.barrier_warp);
    if (++block.arrived == block.live) release(event.slot, now);
  }

  void release(size_t slot, double now) {
    Resident& block = residents_[slot];
    const double at = std::max(now, block.counted) + machine_.barrier;
    block.arrived = 0;
    for (size_t w = 0; w < block.warps.size(); w++) {
      Warp& warp = block.warps[w];
      if (!warp.waits) continue;
      warp.waits = false;
      charge(warp, Cause::barrier, at - warp.arrived);
      warp.segment++;
      push(at, slot, w);
    }
  }

  // Traces that were cut off may hold barriers that not all warps come to.
  bool release_stuck() {
    bool any = false;
    for (size_t slot = 0; slot < residents_.size(); slot++) {
      if (residents_[slot].live == 0 || residents_[slot].arrived == 0) continue;
      double latest = 0;
      for (const Warp& warp : residents_[slot].warps) latest = std::max(latest, warp.waits ? warp.arrived : 0);
      release(slot, latest);
      any = true;
    }
    return any;
  }

  Line& line_at(const Resident& block, uint64_t address) {
    uint64_t key = address & ~uint64_t{15};
    const bool shared = work_.shared_lines->count(key);
    if (!shared) key ^= (block.instance + 1) * 0x9E3779B97F4A7C15u;
    Line& line = lines_[key];
    line.common = shared && work_.common_lines->count(key);
    return line;
  }

  // Sectors of a line that is not in L1: when they arrive, and from where.
  Late fetch(Line& line, unsigned sectors, double now) {
    const unsigned known = line.touched & sectors;
    const bool forgotten = known && !line.common && static_cast<double>(came_in_ - line.stamp) > work_.reuse_bytes;
    if (forgotten) line.touched = 0;
    const unsigned fresh = sectors & ~line.touched;
    const double bytes = 32.0 * __builtin_popcount(sectors);
    double arrives = std::max(port_.serve(now, bytes / machine_.l1_l2_bytes), l2_.serve(now, bytes / work_.l2_share));
    Late late = {0, Cause::l2};
    double latency = machine_.l2_latency;
    if (fresh) {
      // DRAM is read by 64 bytes.
      const double pairs = ((fresh & 3) != 0) + ((fresh & 12) != 0);
      // What most blocks read, the others keep in L2, or fetch again together.
      first_touches_ += line.common ? work_.first_common_touch : forgotten ? 1 : work_.first_touch;
      // What several multiprocessors read for the first time they read at about the same time: DRAM gives it once, and
      // all of them wait for it.
      if (first_touches_ >= 1) {
        first_touches_ -= 1;
        const double cost = pairs == 2 ? 128 : 64 * machine_.half_line;
        arrives = std::max(arrives, dram_.serve(now, cost / work_.dram_share));
      }
      latency = machine_.dram_latency;
      late.cause = Cause::dram;
      line.touched |= static_cast<uint8_t>(pairs == 2 ? 15 : fresh & 3 ? 3 : 12);
    }
    late.at = static_cast<float>(arrives + latency);
    // A sector that DRAM gives together with one that was asked for before comes no earlier than that one.
    for (unsigned half = 0; half < 2; half++) {
      const unsigned of_half = 3u << 2 * half;
      if (fresh & of_half) line.from_dram[half] = late.at;
      if (sectors & of_half && line.from_dram[half] > late.at) late = {line.from_dram[half], Cause::dram};
    }
    came_in_ += static_cast<uint64_t>(bytes);
    outcome_.byte_cycles += bytes * (late.at - now);
    return late;
  }

  double access(Resident& block, Warp& warp, uint32_t number, const Step& step, double now, Scheduler& scheduler) {
    const Entry& entry = warp.trace->entries[number];
    if (entry.space == Space::shared) {
      if (step.tries) return try_until_done(block, warp, entry, step, now);
      // Shared memory counts the lanes at an address by itself.
      const double passes = step.wide ? step.wide / 16.0 * entry.wide : step.by_one ? entry.wide : entry.passes;
      double done = lsu_.serve(now, passes);
      // The wavefronts of a conflict come to one scheduler's warps at every second cycle.
      if (passes > 1 && entry.did != Did::atomic) done = std::max(done, scheduler.conflicts.serve(now, 2 * passes));
      if (entry.did == Did::store) {
        if (done - now > most_stores_ahead / 8) return charge(warp, Cause::shared, done - now), done;
        return now;
      }
      const double latency =
          entry.did == Did::atomic ? machine_.shared_latency * (1 + passes) : machine_.shared_latency;
      set(warp, step, done + latency, Cause::shared);
      return now;
    }
    if (warp.line_of.empty()) find_lines(warp);
    const uint64_t* const lines = &warp.trace->lines[warp.line_of[number]];
    if (entry.did == Did::load) return load(block, warp, entry, lines, step, now), now;
    return store(block, warp, entry, lines, step, now);
  }

  // A loop: load, add, compare and swap. Of the lanes that meet at an address one gets through in each round, of all
  // warps of the block. What stands elsewhere in the code is taken to have other addresses.
  double try_until_done(Resident& block, Warp& warp, const Entry& entry, const Step& step, double now) {
    const int arithmetic = entry.bytes == 8 ? 3 : 1;
    const double round = 2 * machine_.shared_latency + arithmetic * machine_.alu_latency + loop_jump;
    const double sent = lsu_.serve(now, 2.0 * entry.passes);
    const double done = block.tried[entry.pc].serve(sent, (entry.passes - 1) * round) + round;
    charge(warp, Cause::shared, done - now);
    set(warp, step, done, Cause::shared);
    return done;
  }

  void find_lines(Warp& warp) {
    warp.line_of.resize(warp.trace->entries.size());
    uint32_t at = 0;
    for (size_t i = 0; i < warp.line_of.size(); i++) {
      warp.line_of[i] = at;
      at += warp.trace->entries[i].lines;
    }
    if (warp.trace->lines.empty()) warp.line_of.assign(warp.line_of.size(), 0);
  }

  void load(Resident& block, Warp& warp, const Entry& entry, const uint64_t* lines, const Step& step, double now) {
    const double done = lsu_.serve(now, l1_passes(entry, lines));
    Late latest = {static_cast<float>(done + machine_.l1_latency), Cause::l1};
    for (unsigned i = 0; i < entry.lines; i++) {
      Line& line = line_at(block, lines[i]);
      const unsigned sectors = lines[i] & 15;
      if (line.in_l1 && static_cast<double>(came_in_ - line.stamp) > work_.l1_bytes) line.in_l1 = 0;
      const unsigned missing = sectors & ~line.in_l1;
      Late late = {0, Cause::l2};
      for (unsigned s = 0; s < 4; s++) {
        if (sectors & ~missing & 1u << s) late.at = std::max(late.at, line.ready[s]);
      }
      if (missing) {
        const Late fetched = fetch(line, missing, done);
        if (fetched.at > late.at) late = fetched;
        line.in_l1 |= static_cast<uint8_t>(missing);
        line.stamp = came_in_;
        for (unsigned s = 0; s < 4; s++) {
          if (missing & 1u << s) line.ready[s] = fetched.at;
        }
      }
      if (late.at > latest.at) latest = late;
    }
    set(warp, step, latest.at, latest.cause);
  }

  double store(Resident& block, Warp& warp, const Entry& entry, const uint64_t* lines, const Step& step, double now) {
    stores_ = true;
    const double sent = lsu_.serve(now, 2.0 * entry.lines);
    double done = sent;
    unsigned sectors = 0;
    for (unsigned i = 0; i < entry.lines; i++) sectors += static_cast<unsigned>(__builtin_popcount(lines[i] & 15));
    const unsigned missing = sectors * 32 - std::min(sectors * 32, static_cast<unsigned>(entry.lanes) * entry.bytes);
    for (unsigned i = 0; i < entry.lines; i++) {
      Line& line = line_at(block, lines[i]);
      const unsigned of_line = lines[i] & 15, fresh = of_line & ~line.written;
      if (fresh) {
        double bytes = 32.0 * __builtin_popcount(fresh);
        // An atomic needs what was there before; of the blocks that touch a sector, the first one waits for DRAM.
        if (entry.did == Did::atomic) bytes = (bytes + to_fill(fresh & ~line.touched, machine_)) * work_.first_touch;
        done = std::max(done, dram_.serve(now, bytes / work_.dram_share));
      }
      // DRAM is read for the rest of a sector that is written in part: of a run of bytes the first and the last one.
      unsigned in_part = missing == 0 || entry.did == Did::atomic ? 0 : of_line;
      if (missing < 64)
        in_part &=
            (i == 0 ? of_line & -of_line : 0) | (i + 1u == entry.lines ? 1u << (31 - __builtin_clz(of_line)) : 0);
      in_part &= ~line.touched;
      const double bytes = to_fill(in_part, machine_) * work_.first_write * (missing < 64 ? 1 : work_.left_in_part);
      if (bytes > 0) done = std::max(done, dram_.serve(now, bytes / work_.dram_share));
      line.touched |= static_cast<uint8_t>(of_line);
      line.written |= static_cast<uint8_t>(of_line);
    }
    // Stores and what they write are masked by bytes.
    const double bytes = 32.0 * sectors - missing;
    done = std::max(done, port_.serve(now, bytes / machine_.l1_l2_bytes));
    done = std::max(done, l2_.serve(now, bytes / work_.l2_share));
    if (entry.did == Did::atomic || missing > 0)
      done = std::max(done, partial_.serve(now, entry.lines / (entry.did == Did::atomic ? work_.atomic_share
                                                                                        : work_.partial_share)));
    if (entry.did == Did::atomic) set(warp, step, done + machine_.atomic_latency, Cause::atomic);
    if (done - now <= most_stores_ahead) return now;
    charge(warp, Cause::stores, done - most_stores_ahead - now);
    return done - most_stores_ahead;
  }

  const Work& work_;
  const Machine& machine_;
  double interval_;
  std::vector<Scheduler> schedulers_;
  Server lsu_, port_, l2_, dram_, partial_, barriers_;
  std::vector<Resident> residents_;
  std::priority_queue<Event> events_;
  std::unordered_map<uint64_t, Line> lines_;
  Outcome outcome_;
  uint64_t order_ = 0, started_ = 0, came_in_ = 0;
  double end_ = 0, first_touches_ = 0;
  bool stores_ = false;
};

}  // namespace

Outcome simulate(const Work& work, const Machine& machine) { return Multiprocessor(work, machine).run(); }

}  // namespace simt::timing
