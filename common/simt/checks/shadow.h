// Shadow memory: a cell for every word of 4 bytes of the memory that kernels touch, made when it is first asked for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace simt::checks {

constexpr unsigned word_bytes = 4;

template <typename Cell>
class Shadow {
 public:
  Cell& at(uintptr_t address) {
    const uintptr_t page = address / page_bytes;
    Recent& recent = recent_[page % recent_pages];
    if (recent.page != page) {
      auto& cells = pages_[page];
      if (!cells) cells = std::make_unique<Cell[]>(cells_per_page);
      recent = {page, cells.get()};
    }
    return recent.cells[address % page_bytes / word_bytes];
  }

  // Gives back the cells of the pages that lie in the range altogether.
  void forget(uintptr_t begin, size_t bytes) {
    for (uintptr_t page = (begin + page_bytes - 1) / page_bytes; page < (begin + bytes) / page_bytes; page++) {
      pages_.erase(page);
      if (recent_[page % recent_pages].page == page) recent_[page % recent_pages] = {};
    }
  }

 private:
  static constexpr uintptr_t page_bytes = 4096;
  static constexpr size_t cells_per_page = page_bytes / word_bytes;
  static constexpr size_t recent_pages = 1024;

  // Pages used lately, found without hashing.
  struct Recent {
    uintptr_t page = ~uintptr_t{0};
    Cell* cells = nullptr;
  };
  std::unordered_map<uintptr_t, std::unique_ptr<Cell[]>> pages_;
  std::array<Recent, recent_pages> recent_ = {};
};

// Calls visit(word's address, mask of the bytes in it) for every word that an access touches.
template <typename Visit>
void for_each_word(uintptr_t address, size_t bytes, Visit visit) {
  const uintptr_t end = address + bytes;
  for (uintptr_t word = address & ~uintptr_t{word_bytes - 1}; word < end; word += word_bytes) {
    const unsigned first = word < address ? static_cast<unsigned>(address - word) : 0;
    const unsigned last = end - word < word_bytes ? static_cast<unsigned>(end - word) : word_bytes;
    visit(word, ((1u << last) - 1) & ~((1u << first) - 1));
  }
}

}  // namespace simt::checks
