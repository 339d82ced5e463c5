#include "program.h"

#include <algorithm>
#include <cstring>

#include "schedule.h"

namespace simt::timing {

namespace {

// Of a window; and of one that every warp goes through in the same way, as loops that are unrolled to their end.
constexpr size_t most_visits = 160, most_alike = 4000;

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
  uint64_t again = 0;  // a bit for each of the function's loops that is in its second or a later round
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
    size_t visit = visits.size() - 1, back = 0;
    const auto is_of = [&](const Visit& v) {
      if (v.function != at.function || v.block != at.block) return false;
      unsigned lanes = entry.lanes;  // that did it there; a later round's are others
      for (const auto& [operation, number] : v.did) lanes += operation == at.operation ? warp.entries[number].lanes : 0;
      return &v == &visits.back() || lanes <= 32;
    };
    while (back < 8 && back <= visit && !is_of(visits[visit - back])) back++;
    if (at.function >= 0 && (back == 8 || back > visit)) {
      visits.push_back({at.function, at.block, entry.lanes, {}});
      visit++;
    } else if (at.function >= 0) {
      visit -= back;
    }
    unknown_ += at.function < 0;
    visits[visit].did.push_back({at.operation, i});
  }
  // The executor's compiler may have exchanged loads of a block; the table's order counts.
  for (Visit& visit : visits) {
    std::stable_sort(visit.did.begin(), visit.did.end(), [](const auto& a, const auto& b) {
      return static_cast<unsigned>(a.first) < static_cast<unsigned>(b.first);  // unknown ones last
    });
  }
  count_rounds(&visits);
  return visits;
}

// Which loops are in their second or a later round, where some operation of theirs is done in the first one alone.
void Compiler::count_rounds(std::vector<Visit>* visits) const {
  std::vector<uint64_t> in(operations_.functions().size(), 0), again(in);
  for (Visit& visit : *visits) {
    if (visit.function < 0 || visit.block < 0) continue;
    const auto f = static_cast<size_t>(visit.function);
    const TableFunction& function = operations_.functions()[f];
    if (!function.repeats) continue;
    const int number = function.blocks[static_cast<size_t>(visit.block)].number;
    for (size_t l = 0; l < std::min<size_t>(function.loops.size(), 64); l++) {
      const uint64_t bit = uint64_t{1} << l;
      if (!(function.repeats & bit)) continue;
      if (!function.loops[l].contains(number)) {
        in[f] &= ~bit;
        again[f] &= ~bit;
      } else if (number == function.loops[l].header) {
        again[f] |= in[f] & bit;
        in[f] |= bit;
      }
    }
    visit.again = again[f];
  }
}

// The rounds of a loop, from the header to the header, as far as its code is one piece.
Compiler::Rounds Compiler::rounds_from(const std::vector<Visit>& visits, size_t begin, const Loop& loop) const {
  const TableFunction& function = operations_.functions()[static_cast<size_t>(visits[begin].function)];
  Rounds rounds = {&loop, begin + 1, 0, {}};
  for (size_t i = begin + 1; i < visits.size(); i++) {
    if (visits[i].function != visits[begin].function || visits[i].block < 0) break;
    const TableBlock &from = function.blocks[static_cast<size_t>(visits[i - 1].block)],
                     &to = function.blocks[static_cast<size_t>(visits[i].block)];
    if (!loop.contains(to.number)) break;
    const bool jumps = from.next.size() > 1 && !from.predicated && !from.transparent && !leaves(loop, from);
    if (jumps && !function.loop_of(from.number)) break;
    if (to.number == loop.header) rounds.begins.push_back(i);
    rounds.end = i;
  }
  rounds.left = rounds.begins.size();
  return rounds;
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
    if (rounds_.loop != loop || begin >= rounds_.end) rounds_ = rounds_from(visits, begin, *loop);
    // nvcc does first what is left over by its four (or a pragma's number), a round at a time; ptxas then repeats its
    // four up to four times.
    const unsigned own = loop->unroll == 16 ? 4 : loop->unroll;
    size_t count = rounds_.left % own ? 1 : own;
    while (count * 2 <= loop->unroll && count * 2 <= rounds_.left && rounds_.left % own == 0) count *= 2;
    if (count > 1 && count <= rounds_.left) {
      const size_t last = rounds_.begins.size() - rounds_.left + count - 1;
      rounds_.left -= count;
      *together = static_cast<unsigned>(count);
      return rounds_.begins[last];
    }
    if (rounds_.left > 0) rounds_.left--;
  }
  size_t end = begin + 1;
  bool alike = true;
  for (; end < visits.size() && end - begin < (alike ? most_alike : most_visits); end++) {
    const Visit &from = visits[end - 1], &to = visits[end];
    if (to.function != from.function || to.block < 0) break;
    const TableBlock& block = block_of(from);
    alike &= !block.predicated;
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

// Loads of shared memory between two stores to it: nvcc loads an address once, and neighbouring words that surely begin
// at a multiple of 8 or 16 bytes with one instruction.
std::vector<Joined> Compiler::join_loads(const WarpTrace& warp, const std::vector<Visit>& visits, size_t begin,
                                         size_t end) {
  std::vector<Joined> joined;
  struct Block {
    uint32_t pattern, place;
    int words[4];  // the first access of each, -1: none
    bool halves;   // nvcc does not know that they begin at a multiple of 16 bytes
  };
  std::vector<Block> blocks;
  std::unordered_map<uint64_t, int> first;
  const auto settle = [&] {
    for (const Block& block : blocks) {
      const auto join = [&](int from, int count) {
        const int leader = *std::min_element(block.words + from, block.words + from + count);
        for (int word = from; word < from + count; word++)
          joined[static_cast<size_t>(block.words[word])] = {leader, block.words[word] == leader ? count * 4 : 0};
      };
      const bool low = block.words[0] >= 0 && block.words[1] >= 0, high = block.words[2] >= 0 && block.words[3] >= 0;
      const bool whole = low && high && !block.halves;
      if (whole) join(0, 4);
      if (low && !whole) join(0, 2);
      if (high && !whole) join(2, 2);
    }
    blocks.clear();
    first.clear();
  };
  for (size_t i = begin; i < end; i++) {
    const TableFunction* const function =
        visits[i].function < 0 ? nullptr : &operations_.functions()[static_cast<size_t>(visits[i].function)];
    for (const auto& [operation, number] : visits[i].did) {
      const Entry& entry = warp.entries[number];
      const int own = static_cast<int>(joined.size());
      joined.push_back({});
      const bool fence =
          function && operation >= 0 &&
          function->blocks[static_cast<size_t>(visits[i].block)].operations[static_cast<size_t>(operation)].kind ==
              Kind::syncwarp;
      if (entry.did == Did::barrier || fence || (entry.space == Space::shared && entry.did != Did::load)) settle();
      if (entry.did != Did::load || entry.space != Space::shared || operation < 0) continue;
      const auto [same, is_new] = first.try_emplace(uint64_t{entry.pattern} << 32 | entry.place, own);
      if (!is_new) {
        joined.back() = {same->second, 0};
        continue;
      }
      const JoinableLoad* const load = operations_.joinable(entry.pc + origin_).load;
      if (entry.bytes != 4 || !entry.wide || !load || load->multiple < 8) continue;
      auto block = std::find_if(blocks.begin(), blocks.end(), [&](const Block& b) {
        return b.pattern == entry.pattern && b.place == entry.place / 16;
      });
      if (block == blocks.end())
        block = blocks.insert(block, {entry.pattern, entry.place / 16, {-1, -1, -1, -1}, false});
      block->words[entry.place / 4 % 4] = own;
      if (load->multiple < 16) block->halves = true;
    }
  }
  settle();
  // Of the same address as one that was joined itself.
  for (Joined& one : joined) {
    if (one.with < 0) continue;
    const int with = joined[static_cast<size_t>(one.with)].with;
    if (with >= 0) one.with = with;
  }
  return joined;
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
  const std::vector<Joined> joined = join_loads(warp, visits, begin, end);
  std::string key;
  size_t number = 0;
  const auto put = [&](int number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
  put(visits[begin].function);
  put(before);
  put(static_cast<int>(together) * 2 + enters);
  if (function && !function->elements.empty()) {
    for (const Loop& l : function->loops) {
      if (l.unroll == 0 && l.contains(function->blocks[static_cast<size_t>(visits[begin].block)].number))
        put(in_round_.of(l.header));
    }
  }
  for (size_t i = begin; i < end; i++) {
    put(visits[i].block);
    put(static_cast<int>(visits[i].again));
    put(static_cast<int>(visits[i].again >> 32));
    for (const auto& [operation, entry] : visits[i].did) {
      put(operation);
      put(static_cast<int>(warp.entries[entry].space) << 8 | warp.entries[entry].bytes);
      const Joined& with = joined[number++];
      if (with.with >= 0) put(with.with << 8 | with.wide << 1 | 1);
    }
    put(-1);
  }
  std::unique_ptr<Window>& made = windows_[key];
  if (made) return made.get();
  Scheduler scheduler(function, machine_, in_round_);
  if (function) scheduler.come_from(before);
  if (enters) scheduler.add_entry(loop->entry);
  unsigned round = 0;
  number = 0;
  for (size_t i = begin; i < end; i++) {
    const bool header = loop && function->blocks[static_cast<size_t>(visits[i].block)].number == loop->header;
    if (i > begin && header && together > 1) round++;
    std::vector<Scheduler::Access> accesses;
    for (const auto& [operation, entry] : visits[i].did)
      accesses.push_back({operation, &warp.entries[entry], joined[number++]});
    const bool counts = together == 1 || round + 1 == together;  // what all rounds do once
    if (function) {
      scheduler.add(visits[i].block, accesses, counts, visits[i].again);
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
  rounds_ = {};
  in_round_ = {};
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
      if (visits[i].function < 0) continue;
      const TableFunction& function = operations_.functions()[static_cast<size_t>(visits[i].function)];
      const bool within = i > 0 && visits[i - 1].function == visits[i].function;
      in_round_.go(function, within ? function.blocks[static_cast<size_t>(visits[i - 1].block)].number : -1,
                   function.blocks[static_cast<size_t>(visits[i].block)].number);
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
