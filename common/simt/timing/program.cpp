#include "program.h"

#include <algorithm>
#include <cstring>

#include "schedule.h"

namespace simt::timing {

namespace {

constexpr size_t most_visits = 160;  // of a window

bool leaves(const Loop& loop, const TableBlock& block) {
  return std::any_of(block.next.begin(), block.next.end(), [&](int to) { return !loop.contains(to); });
}

bool may_wait(const TableBlock& block) {
  return std::any_of(block.operations.begin(), block.operations.end(),
                     [](const Operation& o) { return o.kind == Kind::call; });
}

}  // namespace

struct Compiler::Visit {
  int function, block;  // indices; -1: of code that the table does not have
  uint32_t lanes;
  std::vector<std::pair<int, uint32_t>> did;  // operation's index (-1: unknown), entry
};

std::vector<Compiler::Visit> Compiler::visits_of(const WarpTrace& warp) {
  std::vector<Visit> visits;
  for (uint32_t i = 0; i < warp.entries.size(); i++) {
    const Entry& entry = warp.entries[i];
    const Position at = operations_.find(entry.pc + origin_);
    if (entry.did == Did::block && at.operation == -2) continue;
    if (entry.did == Did::block || visits.empty()) {
      visits.push_back({at.function, at.block, entry.lanes, {}});
      if (entry.did == Did::block) continue;
    }
    // Of lanes that went different ways the one's accesses may come after the other's blocks.
    size_t visit = visits.size() - 1;
    for (size_t back = 0; at.function >= 0 && back < 8 && back < visits.size(); back++) {
      const Visit& earlier = visits[visits.size() - 1 - back];
      if (earlier.function != at.function || earlier.block != at.block) continue;
      visit = visits.size() - 1 - back;
      break;
    }
    unknown_ += at.function < 0;
    visits[visit].did.push_back({at.operation, i});
  }
  return visits;
}

// How many visits from `begin` on the compiler has in one piece, and how many rounds of a loop these are.
size_t Compiler::end_of_window(const std::vector<Visit>& visits, size_t begin, unsigned* together) {
  *together = 1;
  const Visit& first = visits[begin];
  if (first.function < 0) return begin + 1;
  const TableFunction& function = operations_.functions()[static_cast<size_t>(first.function)];
  const auto block_of = [&](const Visit& visit) -> const TableBlock& {
    return function.blocks[static_cast<size_t>(visit.block)];
  };
  const Loop* const loop = function.loop_of(block_of(first).number);
  if (loop && loop->unroll > 1 && block_of(first).number == loop->header) {
    // Rounds: from the header to the header.
    size_t ends[17] = {begin};
    unsigned rounds = 0;
    for (size_t i = begin + 1; i < visits.size() && rounds < loop->unroll && i - begin < 16 * most_visits; i++) {
      if (visits[i].function != first.function || !loop->contains(block_of(visits[i]).number)) break;
      const TableBlock& from = block_of(visits[i - 1]);
      const bool jumps = from.next.size() > 1 && !from.predicated && !from.transparent && !leaves(*loop, from);
      if (jumps && !function.loop_of(from.number)) break;
      if (block_of(visits[i]).number == loop->header) ends[++rounds] = i;
    }
    for (const unsigned count : {16u, 8u, 4u, 2u}) {
      if (count > loop->unroll || rounds < count) continue;
      *together = count;
      return ends[count];
    }
  }
  size_t end = begin + 1;
  for (; end < visits.size() && end - begin < most_visits; end++) {
    const Visit &from = visits[end - 1], &to = visits[end];
    if (to.function != from.function || to.block < 0) break;
    const TableBlock& block = block_of(from);
    const TableBlock& next = block_of(to);
    if (may_wait(block)) break;
    const Loop* const of_next = function.loop_of(next.number);
    if (of_next && next.number == of_next->header) break;
    if (block.next.size() <= 1 || block.predicated || block.transparent) continue;
    // The test of a loop that is unrolled to its end is none.
    const bool unrolled = std::any_of(function.loops.begin(), function.loops.end(), [&](const Loop& l) {
      return l.unroll == 0 && l.contains(block.number) && leaves(l, block);
    });
    if (!unrolled) break;
  }
  return end;
}

const Window* Compiler::window(const WarpTrace& warp, const std::vector<Visit>& visits, size_t begin, size_t end,
                               unsigned together) {
  const TableFunction* const function =
      visits[begin].function < 0 ? nullptr : &operations_.functions()[static_cast<size_t>(visits[begin].function)];
  const Loop* const loop =
      function ? function->loop_of(function->blocks[static_cast<size_t>(visits[begin].block)].number) : nullptr;
  const bool enters = loop && loop->entry > 0 && together > 1 &&
                      (begin == 0 || visits[begin - 1].function != visits[begin].function ||
                       !loop->contains(function->blocks[static_cast<size_t>(visits[begin - 1].block)].number));
  const int before = begin > 0 && visits[begin - 1].function == visits[begin].function ? visits[begin - 1].block : -1;
  std::string key;
  const auto put = [&](int number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
  put(visits[begin].function);
  put(before);
  put(static_cast<int>(together) * 2 + enters);
  for (size_t i = begin; i < end; i++) {
    put(visits[i].block);
    for (const auto& [operation, entry] : visits[i].did) {
      put(operation);
      put(static_cast<int>(warp.entries[entry].space) << 8 | warp.entries[entry].bytes);
    }
    put(-1);
  }
  std::unique_ptr<Window>& made = windows_[key];
  if (made) return made.get();
  Scheduler scheduler(function, machine_);
  if (function) scheduler.come_from(before);
  if (enters) scheduler.add_entry(loop->entry);
  unsigned round = 0;
  for (size_t i = begin; i < end; i++) {
    const bool header = loop && function->blocks[static_cast<size_t>(visits[i].block)].number == loop->header;
    if (i > begin && header && together > 1) round++;
    std::vector<Scheduler::Access> accesses;
    for (const auto& [operation, entry] : visits[i].did) accesses.push_back({operation, &warp.entries[entry]});
    const bool counts = together == 1 || round + 1 == together;  // what all rounds do once
    if (function) {
      scheduler.add(visits[i].block, accesses, counts);
    } else {
      scheduler.add_unknown(accesses);
    }
  }
  made = std::make_unique<Window>(scheduler.finish());
  registers_ = std::max(registers_, made->registers);
  return made.get();
}

WarpProgram Compiler::compile(const WarpTrace& warp) {
  const std::vector<Visit> visits = visits_of(warp);
  used_.resize(operations_.functions().size());
  WarpProgram program;
  for (size_t begin = 0; begin < visits.size();) {
    unsigned together;
    const size_t end = end_of_window(visits, begin, &together);
    const auto first = static_cast<uint32_t>(program.accesses.size());
    const Window* const made = window(warp, visits, begin, end, together);
    program.windows.push_back({made, first});
    if (visits[begin].function >= 0) used_[static_cast<size_t>(visits[begin].function)] = true;
    for (size_t i = begin; i < end; i++) {
      for (const auto& [operation, entry] : visits[i].did) program.accesses.push_back(entry);
    }
    begin = end;
  }
  return program;
}

std::vector<std::string> Compiler::problems() const {
  std::vector<std::string> found;
  for (size_t f = 0; f < used_.size(); f++) {
    if (!used_[f]) continue;
    const TableFunction& function = operations_.functions()[f];
    for (const std::string& why : function.unknown) found.push_back("the cost of " + why + " is not known");
    if (!function.matched) found.push_back("the compiler's output of " + function.symbol + " could not be read");
  }
  return found;
}

}  // namespace simt::timing
