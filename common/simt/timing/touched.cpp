#include "touched.h"

#include <algorithm>
#include <unordered_map>

namespace simt::timing {

namespace {

// Atomics: a part of L2 takes a sector at a time. Of each 1024 bytes it has every other 256. Lanes with one address
// take turns, each with the sector anew, and a sum of floats waits for the one before it on the same line.
class Atomics {
 public:
  // turns: how often each sector is asked for
  void add(size_t block, const Entry& entry, uint64_t line, bool floats, double turns, const Machine& machine) {
    parts_[line / 1024 * 2 + line / 256 % 2].add(block, __builtin_popcount(line & 15) * turns / machine.atomics_ns);
    if (floats) lines_[line / 128].add(block, entry.passes / machine.float_atomics_ns);
  }
  // A store takes its turn like an atomic; what most blocks write is many times the same.
  void add_store(size_t block, uint64_t line, const Machine& machine) {
    stores_[line / 128].add(block, __builtin_popcount(line & 15) / machine.atomics_ns);
  }
  double busiest_stores(size_t blocks) const {
    double most = 0;
    for (const auto& [place, stores] : stores_) {
      if (2 * stores.blocks > blocks && blocks > 2) most = std::max(most, stores.ns);
    }
    return most;
  }
  // Of the places where one of the traced blocks is alone, or of those where several of them are.
  double busiest(bool alone) const {
    double most = 0;
    for (const auto* const map : {&parts_, &lines_})
      for (const auto& [number, place] : *map) {
        if ((place.blocks == 1) == alone) most = std::max(most, place.ns);
      }
    return most;
  }

 private:
  struct Place {
    double ns = 0;
    size_t blocks = 0, last = 0;
    void add(size_t block, double more) {
      ns += more;
      blocks += last != block + 1;
      last = block + 1;
    }
  };
  std::unordered_map<uint64_t, Place> parts_, lines_, stores_;
};

// Where each block has its atomics, and how long the busiest part of L2 is busy with those of one.
class OfBlocks {
 public:
  void add(uint64_t line) {
    begin_ = std::min(begin_, line);
    end_ = std::max(end_, line);
    sectors_[line / 128] |= line & 15;
  }
  void end_block(const Atomics& own) {
    if (sectors_.empty()) return;
    places_.push_back({begin_, end_});
    for (const auto& [line, sectors] : sectors_) count_ += __builtin_popcount(sectors);
    busiest_ += own.busiest(true);
    begin_ = UINT64_MAX, end_ = 0;
    sectors_.clear();
  }
  // If blocks that are neighbours in the grid have one place, and others another: into `found`.
  void put_into(Touched* found) const {
    if (places_.empty()) return;
    found->atomic_sectors = count_ / static_cast<double>(places_.size());
    std::vector<std::pair<uint64_t, uint64_t>> apart;  // by rising address
    std::vector<std::pair<uint64_t, uint64_t>> sorted = places_;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [first, last] : sorted) {
      if (apart.empty() || first / 128 > apart.back().second / 128) apart.push_back({first, last});
      apart.back().second = std::max(apart.back().second, last);
    }
    size_t changes = 0;
    for (size_t b = 1; b < places_.size(); b++) {
      const auto place = [&](size_t of) {
        return std::find_if(apart.begin(), apart.end(), [&](const auto& a) { return a.second >= places_[of].second; });
      };
      changes += place(b) != place(b - 1);
    }
    if (apart.size() < 2 || changes + 1 != apart.size()) return;
    found->atomics_of_block = busiest_ / static_cast<double>(places_.size());
  }

 private:
  uint64_t begin_ = UINT64_MAX, end_ = 0;
  std::unordered_map<uint64_t, unsigned> sectors_;
  std::vector<std::pair<uint64_t, uint64_t>> places_;
  double count_ = 0, busiest_ = 0;
};

double sectors_of(const Entry& entry, const uint64_t* lines) {
  double sectors = 0;
  for (unsigned i = 0; i < entry.lines; i++) sectors += __builtin_popcount(lines[i] & 15);
  return sectors;
}

// By what it costs (operations/costs.py): nothing else takes so many instructions around a reciprocal.
bool divides(const Operation& operation) {
  const bool of_floats = operation.mufu == 1 && operation.instructions == 10 && operation.fence;
  return of_floats || (operation.mufu == 3 && operation.instructions >= 22);
}

}  // namespace

double divisions_in(const LaunchTrace& trace, uint64_t origin, const Operations& operations) {
  double instructions = 0;
  for (const BlockTrace& block : trace.blocks) {
    for (const WarpTrace& warp : block.warps) {
      for (const Entry& entry : warp.entries) {
        const Position at = entry.did == Did::block ? operations.find(entry.pc + origin) : Position{};
        if (at.function < 0 || at.operation != -1) continue;
        const TableFunction& function = operations.functions()[static_cast<size_t>(at.function)];
        for (const Operation& operation : function.blocks[static_cast<size_t>(at.block)].operations)
          instructions += divides(operation) ? operation.instructions : 0;
      }
    }
  }
  return instructions;
}

Touched look_at(const LaunchTrace& trace, uint64_t origin, const Operations& operations, const Machine& machine) {
  Touched found;
  std::unordered_map<uint64_t, size_t> first;
  struct Read {
    unsigned sectors = 0;  // a bit for each
    size_t blocks = 0;
    double of_blocks = 0;  // distinct in a block, of all blocks
  };
  std::unordered_map<uint64_t, Read> reads;
  Atomics atomics;
  OfBlocks of_blocks;
  double late = 0, count = 0, in_part = 0, left = 0;
  for (size_t b = 0; b < trace.blocks.size(); b++) {
    std::unordered_map<uint64_t, unsigned> read, written;
    Atomics own;
    std::unordered_map<uint64_t, double> bytes;  // by sector, of stores that write sectors in part
    for (const WarpTrace& warp : trace.blocks[b].warps) {
      size_t at = 0;
      for (const Entry& entry : warp.entries) {
        if (entry.did == Did::atomic && entry.lines) {
          late += static_cast<double>(&entry - warp.entries.data()) / static_cast<double>(warp.entries.size());
          count++;
        }
        for (unsigned i = 0; i < entry.lines; i++, at++) {
          const uint64_t line = warp.lines[at] & ~uint64_t{15};
          const auto [place, is_new] = first.try_emplace(line, b);
          if (!is_new && place->second != b) found.shared_lines.insert(line);
          (entry.did == Did::store ? written : read)[line] |= warp.lines[at] & 15;
          if (entry.did == Did::store) {
            const double each = static_cast<double>(entry.lanes) * entry.bytes / sectors_of(entry, &warp.lines[at - i]);
            for (unsigned sector = 0; sector < 4 && each < 32; sector++) {
              if (warp.lines[at] >> sector & 1) bytes[line + sector * 32] += each;
            }
          }
          if (entry.did == Did::store) atomics.add_store(b, warp.lines[at], machine);
          if (entry.did != Did::atomic) continue;
          const Position of = operations.find(entry.pc + origin);
          const bool floats = of.operation >= 0 && operations.operation(of).floats,
                     of_all = of.operation >= 0 && operations.operation(of).of_all;
          // nvcc makes one of a warp's on an address that all threads have.
          const double turns = floats || of_all ? 1 : entry.wide / sectors_of(entry, &warp.lines[at - i]);
          for (Atomics* const all : {&atomics, &own}) all->add(b, entry, warp.lines[at], floats, turns, machine);
          of_blocks.add(warp.lines[at]);
        }
      }
    }
    of_blocks.end_block(own);
    for (const auto& [sector, stored] : bytes) {
      in_part++;
      left += stored < 31;
    }
    for (const auto& [line, sectors] : read) {
      reads[line].sectors |= sectors;
      reads[line].blocks++;
      reads[line].of_blocks += __builtin_popcount(sectors);
    }
    for (const auto& [line, sectors] : written) found.sectors_written += __builtin_popcount(sectors);
  }
  for (const auto& [line, of] : reads) {
    if (of.blocks > 2 && 2 * of.blocks > trace.blocks.size()) {
      found.common_lines.insert(line);
      found.common_sectors_read += __builtin_popcount(of.sectors);
    } else {
      found.other_sectors_read += of.of_blocks;
    }
  }
  found.busiest_of_several = std::max(atomics.busiest(false), atomics.busiest_stores(trace.blocks.size()));
  found.busiest_of_one = atomics.busiest(true);
  of_blocks.put_into(&found);
  found.blocks = trace.blocks.size();
  found.left_in_part = in_part > 0 ? left / in_part : 1;
  found.atomics_late = count > 0 ? late / count : 0;
  return found;
}

double nanoseconds_of_atomics(const Touched& touched, double blocks, double sectors_written, double at_one_time) {
  const double scale = blocks / static_cast<double>(touched.blocks), by_stores = touched.sectors_written * scale,
               by_atomics = std::max(1.0, sectors_written - by_stores);
  // So many blocks have a sector in common, on average.
  const double sharing = std::max(1.0, touched.atomic_sectors * blocks / by_atomics);
  const double of_neighbours =
      touched.atomics_of_block * blocks * std::min(1.0, sharing / std::min(blocks, at_one_time));
  return std::max(
      {touched.busiest_of_several * scale, touched.busiest_of_one * std::min(scale, sharing), of_neighbours});
}

}  // namespace simt::timing
