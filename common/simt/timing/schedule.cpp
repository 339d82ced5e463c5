#include "schedule.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace simt::timing {

namespace {

// What the control words of nvcc 13's code for sm_90 say: a jump is issued 13 cycles after the comparison that it
// depends on, and the warp's next instruction 5 cycles after it.
constexpr float test_cycles = 13, jump_cycles = 5;
constexpr float double_latency = 2;  // of that of other arithmetic: 8 cycles (Jia et al., arXiv 1804.06826)
constexpr float longest_step = 12;   // issue slots, so that the warps of a scheduler take turns

bool is_access(Kind kind) {
  return kind == Kind::load || kind == Kind::store || kind == Kind::load_and_store || kind == Kind::atomic;
}
bool is_exchange(Kind kind) {
  return kind == Kind::shuffle || kind == Kind::vote || kind == Kind::match || kind == Kind::reduce;
}
bool is_barrier(Kind kind) { return kind == Kind::barrier || kind == Kind::grid_barrier; }

void join(std::vector<int>* to, const std::vector<int>& from) {
  for (const int one : from) {
    if (std::find(to->begin(), to->end(), one) == to->end()) to->push_back(one);
  }
}

}  // namespace

Scheduler::Producers Scheduler::producer(int value) const {
  const auto found = made_by_.find(value);
  return found == made_by_.end() ? Producers{-1 - value} : found->second;
}

Scheduler::Producers Scheduler::producers(const std::vector<int>& values) const {
  Producers all;
  for (const int value : values) join(&all, producer(value));
  return all;
}

bool Scheduler::is_late(const Instance& instance) const {
  return instance.kind == Kind::load || instance.kind == Kind::atomic || is_exchange(instance.kind);
}

void Scheduler::add_entry(float instructions) {
  Operation operation = {Kind::alu, instructions, 1, false, false, false, false, false, false, -1, {}, {}};
  add_instance(operation, nullptr);
}

int Scheduler::add_instance(const Operation& operation, const Entry* entry) {
  Instance instance;
  instance.kind = operation.kind;
  instance.instructions = operation.instructions + (operation.of_all ? 12 : 0);  // the warp's sum
  instance.mufu = operation.mufu;
  instance.segment = segment_;
  instance.needs = producers(operation.reads);
  // A function of several instructions is a chain of them.
  instance.latency = std::max(1.0f, operation.instructions * 0.75f) * static_cast<float>(machine_.alu_latency) +
                     static_cast<float>(operation.mufu * machine_.mufu_latency);
  if (operation.kind == Kind::double_precision) instance.latency *= double_latency;
  const int index = static_cast<int>(instances_.size());
  if (entry) {
    instance.access = accesses_++;
    instance.registers = std::max(1, entry->bytes / 4);
    instance.from_shared = entry->space == Space::shared && entry->did == Did::load;
    // Shared memory itself adds only integers of 32 bits.
    instance.tries =
        entry->space == Space::shared && entry->did == Did::atomic && (operation.floats || entry->bytes == 8);
    instance.by_one = operation.by_one;
    instances_.push_back(instance);
    keep_order(index, *entry, operation.counted);
    return index;
  }
  if (is_barrier(operation.kind)) {
    segment_++;
    instance.segment = segment_++;
  }
  // Divisions and roots jump to their rare cases, so that they come one after another.
  if (operation.fence && routine_ >= 0) join(&instance.needs, {routine_});
  instances_.push_back(instance);
  if (operation.fence) fence_ = routine_ = index;
  return index;
}

// Between accesses of the same memory, which the compiler cannot know to be of different addresses. Of addresses in
// shared memory that follow from the same loop's counters (counted) it knows that.
void Scheduler::keep_order(int index, const Entry& entry, bool counted) {
  Instance& instance = instances_[static_cast<size_t>(index)];
  const auto space = static_cast<size_t>(entry.space);
  const bool ordered = entry.space == Space::shared || !function_ || function_->ordered;
  const bool reads = instance.kind != Kind::store, writes = instance.kind != Kind::load;
  if (reads && fence_ >= 0) instance.after.push_back(fence_);
  if (reads && entry.space == Space::shared && shared_fence_ >= 0) instance.after.push_back(shared_fence_);
  const bool apart = counted && entry.space == Space::shared;
  Earlier& own = earlier_[space][apart];
  for (int other = 0; other < (ordered ? apart ? 1 : 2 : 0); other++) {
    Earlier& earlier = earlier_[space][other];
    join(&instance.after, earlier.stores);
    if (writes) join(&instance.after, earlier.loads);
    if (writes && !apart) earlier = {};
  }
  if (ordered && writes) own.stores.push_back(index);
  // Loads of global memory pass an atomic on shared memory.
  if (instance.kind == Kind::atomic) (entry.space == Space::shared ? shared_fence_ : fence_) = index;
  if (reads) own.loads.push_back(index);
}

// Do the sides of the predicated branches before this leave it different values? Two constants (-1) are different, or
// there would be nothing to choose.
bool Scheduler::is_chosen(const Phi& phi) const {
  int left = 0;
  bool any = false;
  for (const auto& [from, value] : phi.sources) {
    if (std::find(choice_.blocks.begin(), choice_.blocks.end(), from) == choice_.blocks.end()) continue;
    if (any && (value != left || value < 0)) return true;
    any = true;
    left = value;
  }
  return false;
}

void Scheduler::add_phis(const TableBlock& block) {
  std::vector<std::pair<int, Producers>> found;
  for (const Phi& phi : block.phis) {
    Producers made;
    bool known = false;
    for (const auto& [from, value] : phi.sources) {
      if (before_ < 0 || function_->blocks[static_cast<size_t>(before_)].number != from) continue;
      known = true;
      if (value >= 0) join(&made, producer(value));
    }
    for (const auto& [from, value] : phi.sources) {
      if (!known && value >= 0 && value != phi.value) join(&made, producer(value));
    }
    if (is_chosen(phi)) join(&made, choice_.tests);
    found.push_back({phi.value, made});
  }
  for (auto& [value, made] : found) made_by_[value] = std::move(made);
}

// What is predicated is issued, too, where no lane does it.
void Scheduler::add_skipped(const TableBlock& block) {
  if (before_ < 0) return;
  const TableBlock& from = function_->blocks[static_cast<size_t>(before_)];
  const std::vector<int>& next = from.next;
  if (!from.predicated || from.decided || from.transparent || next.size() != 2 ||
      (next[0] != block.number && next[1] != block.number))
    return;
  const int other = next[next[0] == block.number];
  for (const TableBlock& side : function_->blocks) {
    if (side.number != other || side.transparent) continue;
    if (side.next.size() != 1 || side.next[0] != block.number) continue;
    float issued = 0;
    for (const Operation& operation : side.operations)
      issued += operation.once ? 0 : std::max(0.0f, operation.instructions);
    if (issued > 0)
      add_instance({Kind::single_precision, issued, 0, false, false, false, false, false, false, -1, {}, {}}, nullptr);
  }
}

// Is it one side of a predicated branch, or another such branch in it?
bool Scheduler::is_predicated(const TableBlock& block) const {
  if (before_ < 0) return false;
  const TableBlock& from = function_->blocks[static_cast<size_t>(before_)];
  const std::vector<int>& next = from.next;
  if (!from.predicated || from.decided || from.transparent || next.size() != 2) return false;
  const int other = next[next[0] == block.number];
  return block.predicated || (block.next.size() == 1 && block.next[0] == other);
}

void Scheduler::add(int number, const std::vector<Access>& accesses, bool counts, uint64_t again) {
  const TableBlock& block = function_->blocks[static_cast<size_t>(number)];
  add_skipped(block);
  const bool goes_on = is_predicated(block);
  add_phis(block);
  if (!goes_on) choice_ = {};
  rounds_.go(*function_, before_ < 0 ? -1 : function_->blocks[static_cast<size_t>(before_)].number, block.number);
  before_ = number;
  const Loop* const loop = function_->loop_of(block.number);
  const bool rolled = loop && loop->unroll > 1 && !function_->is_unrolled(block.number);
  int test = -1;  // on which the block's jump depends
  for (size_t i = 0; i < block.operations.size(); i++) {
    const Operation& any_round = block.operations[i];
    const Operation with_words = any_round.of_elements ? rounds_.with_words(*function_, any_round) : Operation();
    const Operation& operation = any_round.of_elements ? with_words : any_round;
    if (operation.kind == Kind::copy) {
      const Producers made = producers(operation.reads);
      for (const int value : operation.writes) made_by_[value] = made;
      continue;
    }
    if (operation.once && (!rolled || !counts)) {
      for (const int value : operation.writes) made_by_[value] = {};
      continue;
    }
    const bool is_there = operation.unchanged_in & again;  // since the first round
    if (is_there && !is_access(operation.kind)) {
      for (const int value : operation.writes) made_by_[value] = {};
      continue;
    }
    if (is_access(operation.kind)) {
      Producers made;
      bool any = false;
      for (const Access& access : accesses) {
        if (access.operation != static_cast<int>(i)) continue;
        any = true;
        if (is_there && (access.entry->space == Space::global || !operation.stored_before.empty())) {
          accesses_++;
          join(&made, producers(operation.stored_before));
          continue;
        }
        const auto brought = bringing_.find(access.joined.with);
        if (access.joined.with >= 0 && access.joined.with != accesses_ && brought != bringing_.end()) {
          accesses_++;
          made.push_back(brought->second);
          continue;
        }
        const int number = accesses_, instance = add_instance(operation, access.entry);
        instances_[static_cast<size_t>(instance)].wide = access.joined.wide;
        if (access.joined.wide) instances_[static_cast<size_t>(instance)].registers = access.joined.wide / 4;
        bringing_[number] = instance;
        made.push_back(instance);
      }
      if (!any) {  // a local variable, which is in registers
        made = producers(operation.reads);
        for (const int value : operation.writes) {
          if (operation.kind == Kind::store) join(&made, producer(value));
        }
      }
      for (const int value : operation.writes) made_by_[value] = made;
      continue;
    }
    if (operation.instructions <= 0 && operation.mufu == 0 && !is_barrier(operation.kind)) {
      // The second half of a pair's instruction, or nothing.
      if (operation.instructions < 0) add_instance(operation, nullptr);
      for (const int value : operation.writes) made_by_[value] = producers(operation.reads);
      continue;
    }
    const int made = add_instance(operation, nullptr);
    if (operation.kind == Kind::alu && operation.writes.empty()) test = made;
    if (is_exchange(operation.kind) || is_barrier(operation.kind) || operation.kind == Kind::syncwarp) {
      for (const Access& access : accesses) accesses_ += access.operation == static_cast<int>(i);
    }
    for (const int value : operation.writes) made_by_[value] = {made};
  }
  for (const Access& access : accesses) {
    if (access.operation < 0) add_unknown({access});
  }
  // Inside a round of an unrolled loop: each round has its own, and nothing passes it.
  if (test >= 0 && block.predicated && !block.decided && !block.transparent) {
    choice_.tests.push_back(test);
    choice_.blocks.push_back(block.number);
    choice_.blocks.insert(choice_.blocks.end(), block.next.begin(), block.next.end());
  }
  const bool inner = rolled && block.next.size() > 1 && !block.predicated &&
                     std::all_of(block.next.begin(), block.next.end(), [&](int to) { return loop->contains(to); });
  if (block.branch > 0 && (!rolled || counts || inner)) {
    const Operation jump = {
        Kind::single_precision, block.branch, 0, false, false, false, false, false, false, -1, {}, {}};
    Instance& last = instances_[static_cast<size_t>(add_instance(jump, nullptr))];
    last.holds = jump_cycles;
    if (test >= 0) {
      instances_[static_cast<size_t>(test)].latency = test_cycles;
      last.needs.push_back(test);
    }
  }
  if (inner) segment_++;
}

void Scheduler::add_unknown(const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    Kind kind = Kind::load;
    switch (access.entry->did) {
      case Did::store: kind = Kind::store; break;
      case Did::atomic: kind = Kind::atomic; break;
      case Did::barrier: kind = Kind::barrier; break;
      case Did::warp_operation: kind = Kind::shuffle; break;
      default: break;
    }
    const bool memory = kind == Kind::load || kind == Kind::store || kind == Kind::atomic;
    if (!memory) accesses_++;
    add_instance({kind, 2, 0, false, false, false, false, false, false, -1, {}, {}}, memory ? access.entry : nullptr);
  }
}

Window Scheduler::finish() {
  Window window;
  const std::vector<int> sorted = order();
  count_registers(sorted, &window);
  const int values = function_ ? function_->values : 0;
  window.slots = values + static_cast<int>(instances_.size());
  std::vector<float> done(instances_.size(), 0);
  std::set<int> waited;
  Step step;
  float now = 0, begin = 0;
  bool empty = true;
  const auto close = [&] {
    if (empty) return;
    step.latency = now - begin;
    step.issue = std::max(step.issue, 0.0f);
    window.steps.push_back(std::move(step));
    step = {};
    begin = now;
    empty = true;
  };
  for (const int index : sorted) {
    const Instance& instance = instances_[static_cast<size_t>(index)];
    std::vector<int> waits;
    float ready = now;
    for (const int need : instance.needs) {
      const int slot = need < 0 ? -1 - need : values + need;
      if (need >= 0 && !is_late(instances_[static_cast<size_t>(need)])) {
        ready = std::max(ready, done[static_cast<size_t>(need)]);
      } else if (waited.insert(slot).second) {
        waits.push_back(slot);
      }
    }
    if (!waits.empty()) {
      close();
      step.waits = std::move(waits);
    }
    empty = false;
    done[static_cast<size_t>(index)] = ready + instance.latency;
    // Other warps' instructions come between those of a long function.
    const int parts =
        is_access(instance.kind) ? 1 : std::max(1, static_cast<int>(std::ceil(instance.instructions / longest_step)));
    const float part = instance.instructions / static_cast<float>(parts);
    for (int i = 0; i < parts; i++) {
      if (i > 0) close(), empty = false;
      now = (i > 0 ? now : ready) + std::max(instance.holds, part);
      step.issue += part;
      if (instance.kind == Kind::alu) step.alu += part;
      if (instance.kind == Kind::integer) step.alu += part / 2;
      if (instance.kind == Kind::double_precision) step.doubles += part;
    }
    step.mufu += static_cast<float>(instance.mufu) + (instance.kind == Kind::convert ? 1 : 0);
    if (is_access(instance.kind)) {
      step.unit = Unit::memory;
      step.access = instance.access;
      step.wide = instance.wide;
      step.tries = instance.tries;
      step.by_one = instance.by_one;
      if (is_late(instance)) step.writes = values + index;
      close();
    } else if (is_exchange(instance.kind)) {
      step.unit = instance.kind == Kind::vote ? Unit::vote : Unit::shuffle;
      step.wide = instance.kind == Kind::shuffle && instance.instructions > 1 ? 8 : 0;
      step.writes = values + index;
      close();
    } else if (is_barrier(instance.kind)) {
      step.unit = Unit::barrier;
      close();
    } else if (step.issue > longest_step) {
      close();
    }
  }
  close();
  for (const auto& [value, made] : made_by_) {
    for (const int producer : made) {
      const bool late = producer < 0 ? producer != -1 - value : is_late(instances_[static_cast<size_t>(producer)]);
      const int slot = producer < 0 ? -1 - producer : values + producer;
      if (late && !(producer >= 0 && waited.count(slot))) window.moves.push_back({value, slot});
    }
  }
  std::sort(window.moves.begin(), window.moves.end());
  return window;
}

}  // namespace simt::timing
