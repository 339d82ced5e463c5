// In which order a window's instructions are issued, and how many registers they take.
#include <algorithm>
#include <set>

#include "schedule.h"

namespace simt::timing {

namespace {

// ptxas keeps a kernel to the 32 registers with which a multiprocessor is full, where what lives through its code
// leaves room for loads. Of 47 launches (judgement/sixth*.cu, fifth_networks.cu) 43 have no more.
constexpr int full = 32;
constexpr int besides = 10;  // addresses and counters (registers_of in prediction.cpp)
constexpr int unit = 8;      // in which registers are given to a thread
constexpr size_t look_ahead = 48;

}  // namespace

// The registers that are alive while instructions are issued one after another.
class Scheduler::Pressure {
 public:
  explicit Pressure(const std::vector<Instance>& instances) : instances_(instances), uses_(instances.size(), 0) {
    std::set<int> from_before;
    for (const Instance& instance : instances) {
      for (const int need : instance.needs) {
        if (need >= 0) {
          uses_[static_cast<size_t>(need)]++;
        } else {
          from_before.insert(need);
        }
      }
    }
    live_ = static_cast<int>(from_before.size());
    most_ = std::max(full - besides, live_ + unit);
  }
  // How many more are alive after it.
  int change(int index) const {
    const Instance& instance = instances_[static_cast<size_t>(index)];
    int by = uses_[static_cast<size_t>(index)] ? instance.registers : 0;
    for (const int need : instance.needs) {
      if (need >= 0 && uses_[static_cast<size_t>(need)] == 1) by -= instances_[static_cast<size_t>(need)].registers;
    }
    return by;
  }
  bool has_room_for(int index) const { return live_ + change(index) <= most_; }
  void issue(int index) {
    live_ += change(index);
    for (const int need : instances_[static_cast<size_t>(index)].needs) {
      if (need >= 0) uses_[static_cast<size_t>(need)]--;
    }
  }

 private:
  const std::vector<Instance>& instances_;
  std::vector<int> uses_;  // of each one's value, that are still to come
  int live_, most_;
};

void Scheduler::set_levels() {
  for (Instance& instance : instances_) {
    for (const int need : instance.needs) {
      if (need < 0) continue;
      const Instance& other = instances_[static_cast<size_t>(need)];
      if (other.segment == instance.segment)
        instance.level = std::max(instance.level, other.level + (is_late(other) ? 1 : 0));
    }
    for (const int before : instance.after) {
      const Instance& other = instances_[static_cast<size_t>(before)];
      if (other.segment == instance.segment) instance.level = std::max(instance.level, other.level);
    }
  }
}

// By segment, then by how many late values stand before it; in that, loads before all else.
std::vector<int> Scheduler::by_level() {
  set_levels();
  const size_t count = instances_.size();
  // What a load's address is made of is as urgent as the load.
  std::vector<bool> urgent(count);
  for (size_t i = count; i-- > 0;) {
    if (is_late(instances_[i])) urgent[i] = true;
    if (!urgent[i]) continue;
    for (const int need : instances_[i].needs) {
      if (need >= 0 && instances_[static_cast<size_t>(need)].level == instances_[i].level)
        urgent[static_cast<size_t>(need)] = true;
    }
  }
  std::vector<int> sorted(count);
  for (size_t i = 0; i < count; i++) sorted[i] = static_cast<int>(i);
  std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) {
    const Instance &x = instances_[static_cast<size_t>(a)], &y = instances_[static_cast<size_t>(b)];
    if (x.segment != y.segment) return x.segment < y.segment;
    if (x.level != y.level) return x.level < y.level;
    return urgent[static_cast<size_t>(a)] > urgent[static_cast<size_t>(b)];
  });
  return sorted;
}

bool Scheduler::is_possible(int index, const std::vector<bool>& issued) const {
  const Instance& instance = instances_[static_cast<size_t>(index)];
  const auto is_there = [&](int other) { return other < 0 || issued[static_cast<size_t>(other)]; };
  return std::all_of(instance.needs.begin(), instance.needs.end(), is_there) &&
         std::all_of(instance.after.begin(), instance.after.end(), is_there);
}

// The first of what can be issued in its segment that takes no register more; -1: none.
int Scheduler::without_more_registers(const std::vector<int>& sorted, size_t first, const std::vector<bool>& issued,
                                      const Pressure& pressure) const {
  const unsigned segment = instances_[static_cast<size_t>(sorted[first])].segment;
  for (size_t at = first; at < sorted.size(); at++) {
    const int candidate = sorted[at];
    const Instance& instance = instances_[static_cast<size_t>(candidate)];
    if (instance.segment != segment) break;
    const bool uses = std::any_of(instance.needs.begin(), instance.needs.end(), [](int need) { return need >= 0; });
    if (!issued[static_cast<size_t>(candidate)] && uses && pressure.change(candidate) <= 0 &&
        is_possible(candidate, issued))
      return candidate;
  }
  return -1;
}

// By level; of the next few of a level, the one whose operands are there first. A load for which there is no register
// comes after what gives one back.
std::vector<int> Scheduler::order() {
  const size_t count = instances_.size();
  const std::vector<int> sorted = by_level();
  std::vector<float> done(count, 0);
  std::vector<bool> issued(count, false);
  std::vector<int> found;
  found.reserve(count);
  Pressure pressure(instances_);
  float now = 0;
  size_t first = 0;
  while (found.size() < count) {
    while (first < count && issued[static_cast<size_t>(sorted[first])]) first++;
    const Instance& head = instances_[static_cast<size_t>(sorted[first])];
    int best = -1;
    float best_ready = 0;
    for (size_t at = first, seen = 0; at < count && seen < look_ahead; at++) {
      const int candidate = sorted[at];
      if (issued[static_cast<size_t>(candidate)]) continue;
      seen++;
      const Instance& instance = instances_[static_cast<size_t>(candidate)];
      if (instance.segment != head.segment || instance.level != head.level) break;
      if (!is_possible(candidate, issued)) continue;
      float ready = 0;
      for (const int need : instance.needs) {
        if (need >= 0 && !is_late(instances_[static_cast<size_t>(need)]))
          ready = std::max(ready, done[static_cast<size_t>(need)]);
      }
      if (best < 0 || ready < best_ready) best = candidate, best_ready = ready;
      if (ready <= now) break;
    }
    if (best < 0) best = sorted[first];
    if (is_late(instances_[static_cast<size_t>(best)]) && !pressure.has_room_for(best)) {
      const int other = without_more_registers(sorted, first, issued, pressure);
      if (other >= 0) best = other, best_ready = now;
    }
    pressure.issue(best);
    const Instance& chosen = instances_[static_cast<size_t>(best)];
    now = std::max(now, best_ready) + chosen.instructions;
    done[static_cast<size_t>(best)] = now - chosen.instructions + chosen.latency;
    issued[static_cast<size_t>(best)] = true;
    found.push_back(best);
  }
  return found;
}

void Scheduler::count_registers(const std::vector<int>& order, Window* window) const {
  std::vector<int> last(instances_.size(), -1), position(instances_.size());
  std::set<int> from_before;
  for (size_t at = 0; at < order.size(); at++) {
    position[static_cast<size_t>(order[at])] = static_cast<int>(at);
    for (const int need : instances_[static_cast<size_t>(order[at])].needs) {
      if (need >= 0) {
        last[static_cast<size_t>(need)] = static_cast<int>(at);
      } else {
        from_before.insert(need);
      }
    }
  }
  // Loads of shared memory are short: they wait where registers are scarce.
  constexpr int most_from_shared = 24;
  std::vector<int> change[2];
  for (auto& list : change) list.assign(order.size() + 2, 0);
  for (size_t i = 0; i < instances_.size(); i++) {
    if (last[i] < 0) continue;
    std::vector<int>& list = change[instances_[i].from_shared];
    list[static_cast<size_t>(position[i])] += instances_[i].registers;
    list[static_cast<size_t>(last[i])] -= instances_[i].registers;
  }
  int live = 0, shared = 0, most = 0;
  for (size_t at = 0; at < change[0].size(); at++) {
    live += change[0][at];
    shared += change[1][at];
    most = std::max(most, live + std::min(shared, most_from_shared));
  }
  window->registers = most + static_cast<int>(from_before.size());
}

}  // namespace simt::timing
