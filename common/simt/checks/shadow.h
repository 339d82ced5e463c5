// Shadow memory: what the checks remember of each byte that kernels touch. Pages are made when they are first asked
// for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "stored_values.h"

namespace simt::checks {

// Who made an access, and when: | time 32 | thread 10 | atomic 1 | cells 2 | pc 19 |. Time is racecheck's, which begins
// at 1: a stamp of 0 is no access. `pc` is a number that racecheck gave to the program counter; 2^cells are the cells
// that each thread accessed.
using Stamp = uint64_t;
constexpr unsigned stamp_time_shift = 32, stamp_thread_shift = 22, stamp_atomic_shift = 21, stamp_cells_shift = 19;
constexpr Stamp stamp_of_one_thread = Stamp{1} << stamp_thread_shift;
constexpr Stamp stamp_atomic = Stamp{1} << stamp_atomic_shift;
constexpr uint32_t max_stamp_pcs = 1u << stamp_cells_shift;

inline uint32_t stamp_time(Stamp stamp) { return static_cast<uint32_t>(stamp >> stamp_time_shift); }
inline unsigned stamp_thread(Stamp stamp) { return static_cast<unsigned>(stamp >> stamp_thread_shift) & 1023; }
inline uint32_t stamp_pc(Stamp stamp) { return static_cast<uint32_t>(stamp) & (max_stamp_pcs - 1); }
inline unsigned stamp_cells_log2(Stamp stamp) { return static_cast<unsigned>(stamp >> stamp_cells_shift) & 3; }
inline bool is_same_thread(Stamp a, Stamp b) { return ((a ^ b) & (Stamp{1023} << stamp_thread_shift)) == 0; }

// 4 KiB of memory. A cell stands for 4 bytes; once an access has touched less than that, for 2 bytes or for 1.
//
// Neighbouring threads mostly access neighbouring cells: then one stamp, that of the first thread, stands for a group
// of cells. It hides the stamps of the cells until expand() writes it to them.
class Page {
 public:
  static constexpr uintptr_t bytes = 4096;
  static constexpr unsigned group = 32;  // cells
  static constexpr Stamp nobody = 1;     // a group that nobody has accessed: older than every access

  // Other reads of a cell than the last: by another thread of its warp, by another warp of its block, by another block.
  // And the last plain store, if an atomic has followed it.
  struct OtherReads {
    Stamp same_warp = 0, other_warp = 0, other_block = 0, store = 0;
  };

  // The cell of an address; makes cells small enough for an access of `width` bytes there.
  unsigned cell(uintptr_t address, unsigned width) {
    if (__builtin_expect((address | width) & ((1u << shift_) - 1), 0)) split(address | width);
    if (__builtin_expect(!groups_, 0)) make_groups();
    return static_cast<unsigned>(address % bytes) >> shift_;
  }
  unsigned cells_in(unsigned width) const { return width >> shift_; }
  unsigned cell_bytes() const { return 1u << shift_; }

  // By group: the last write, the last read; 0 if that is to be asked of the cells.
  Stamp& group_write(unsigned cell) { return groups_[cell / group]; }
  Stamp& group_read(unsigned cell) { return groups_[(cells() + cell) / group]; }

  // By cell, after expand().
  Stamp* writes() { return stamps_.get(); }
  Stamp* reads() { return stamps_.get() + cells(); }

  // Makes the stamps of the cells in the group of this cell hold.
  void expand(unsigned cell) {
    if (!stamps_) stamps_ = std::make_unique<Stamp[]>(2 * cells());
    for (const size_t first : {size_t{cell - cell % group}, cells() + cell - cell % group}) {
      const Stamp stamp = groups_[first / group];
      if (!stamp) continue;
      groups_[first / group] = 0;
      for (unsigned i = 0; i < group; i++)
        stamps_[first + i] = stamp == nobody ? 0 : stamp + (i >> stamp_cells_log2(stamp)) * stamp_of_one_thread;
    }
  }

  // nullptr if no cell has any.
  OtherReads* other_reads() { return others_.get(); }
  OtherReads& make_other_reads(unsigned cell) {
    if (!others_) others_ = std::make_unique<OtherReads[]>(cells());
    return others_[cell];
  }

  // What the last plain stores left; nullptr if there was none.
  StoredValues* stored() { return stored_.get(); }
  const StoredValues* stored() const { return stored_.get(); }
  StoredValues& make_stored() {
    if (!stored_) stored_ = std::make_unique<StoredValues>();
    return *stored_;
  }

  // The times of the page's last write and read.
  uint32_t last_write = 0, last_read = 0;

  void forget_stamps() {
    groups_ = nullptr;
    stamps_ = nullptr;
    others_ = nullptr;
    last_write = last_read = 0;
  }

  // initcheck's: which bytes have been written, one bit per byte.
  using WrittenBytes = std::array<uint64_t, bytes / 64>;
  const WrittenBytes& written_bytes() const { return written_; }
  // In a range within the page.
  void restore_written(size_t offset, size_t width, const WrittenBytes& from) {
    for_each_word(offset, width,
                  [&](size_t word, uint64_t mask) { written_[word] = (written_[word] & ~mask) | (from[word] & mask); });
  }

  // `offset` is within the page.
  void set_written(size_t offset, size_t width, bool value) {
    for_each_word(offset, width, [&](size_t word, uint64_t mask) {
      written_[word] = value ? written_[word] | mask : written_[word] & ~mask;
    });
  }

  // The offset of the first byte in the range that has not been written; Page::bytes if all have.
  size_t first_unwritten(size_t offset, size_t width) const {
    size_t first = bytes;
    for_each_word(offset, width, [&](size_t word, uint64_t mask) {
      const uint64_t unwritten = ~written_[word] & mask;
      if (unwritten && first == bytes) first = word * 64 + static_cast<size_t>(__builtin_ctzll(unwritten));
    });
    return first;
  }

 private:
  size_t cells() const { return bytes >> shift_; }

  // Calls visit(index into written_, mask of the bits there) for a range of bytes.
  template <typename Visit>
  static void for_each_word(size_t offset, size_t width, Visit visit) {
    for (size_t end = offset + width; offset < end;) {
      const size_t bit = offset % 64, count = end - offset < 64 - bit ? end - offset : 64 - bit;
      visit(offset / 64, ~uint64_t{0} >> (64 - count) << bit);
      offset += count;
    }
  }

  void make_groups() {
    groups_ = std::make_unique<Stamp[]>(2 * cells() / group);
    std::fill_n(groups_.get(), 2 * cells() / group, nobody);
  }

  // Cells of the largest size that divides `alignment`, which is less than they have.
  void split(uintptr_t alignment) {
    const unsigned shift = alignment & 1 ? 0 : 1;
    const unsigned parts = 1u << (shift_ - shift);
    const size_t before = cells();
    if (groups_) {
      for (unsigned cell = 0; cell < before; cell += group) expand(cell);
      groups_ = nullptr;
      auto stamps = std::make_unique<Stamp[]>(2 * before * parts);
      for (size_t i = 0; i < 2 * before * parts; i++) stamps[i] = stamps_[i / parts];
      stamps_ = std::move(stamps);
      groups_ = std::make_unique<Stamp[]>(2 * before * parts / group);
    }
    if (others_) {
      auto others = std::make_unique<OtherReads[]>(before * parts);
      for (size_t i = 0; i < before * parts; i++) others[i] = others_[i / parts];
      others_ = std::move(others);
    }
    shift_ = shift;
  }

  unsigned shift_ = 2;
  WrittenBytes written_ = {};
  std::unique_ptr<Stamp[]> groups_, stamps_;  // writes, then reads
  std::unique_ptr<OtherReads[]> others_;
  std::unique_ptr<StoredValues> stored_;
};

class Shadow {
 public:
  Page& page(uintptr_t address) {
    const uintptr_t number = address / Page::bytes;
    Recent& recent = recent_[number % recent_pages];
    if (__builtin_expect(recent.number != number, 0)) {
      auto& page = pages_[number];
      if (!page) page = std::make_unique<Page>();
      recent = {number, page.get()};
    }
    return *recent.page;
  }

  void set_written(uintptr_t begin, size_t bytes, bool value) {
    for_each_page(begin, bytes, [&](uintptr_t address, size_t part) {
      page(address).set_written(address % Page::bytes, part, value);
    });
  }

  // Which bytes of the range have been written; and makes it so again.
  using Written = std::vector<Page::WrittenBytes>;
  Written written(uintptr_t begin, size_t bytes) {
    Written pages;
    for_each_page(begin, bytes, [&](uintptr_t address, size_t) { pages.push_back(page(address).written_bytes()); });
    return pages;
  }
  void restore_written(uintptr_t begin, size_t bytes, const Written& pages) {
    auto next = pages.begin();
    for_each_page(begin, bytes, [&](uintptr_t address, size_t part) {
      page(address).restore_written(address % Page::bytes, part, *next++);
    });
  }

  // Gives back the pages that lie in the range altogether.
  void forget(uintptr_t begin, size_t bytes) {
    for (uintptr_t number = (begin + Page::bytes - 1) / Page::bytes; number < (begin + bytes) / Page::bytes; number++) {
      pages_.erase(number);
      if (recent_[number % recent_pages].number == number) recent_[number % recent_pages] = {};
    }
  }
  void forget_stamps() {
    for (auto& entry : pages_) entry.second->forget_stamps();
  }

  // Calls visit(address, bytes) for the part of the range in each page.
  template <typename Visit>
  static void for_each_page(uintptr_t begin, size_t bytes, Visit visit) {
    while (bytes) {
      const size_t room = Page::bytes - begin % Page::bytes, part = bytes < room ? bytes : room;
      visit(begin, part);
      begin += part;
      bytes -= part;
    }
  }

 private:
  static constexpr size_t recent_pages = 1024;

  // Pages used lately, found without hashing.
  struct Recent {
    uintptr_t number = ~uintptr_t{0};
    Page* page = nullptr;
  };
  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
  std::array<Recent, recent_pages> recent_ = {};
};

}  // namespace simt::checks
