// In which round a warp is of each loop that the compiler unrolls to its end: it decides which element of an array in
// registers an address means.
#pragma once

#include <map>
#include <vector>

#include "operations.h"

namespace simt::timing {

class RoundsOfLoops {
 public:
  // From one block to the next, by number; before: -1 if another function's.
  void go(const TableFunction& function, int before, int block) {
    if (function.elements.empty()) return;
    for (const Loop& loop : function.loops) {
      if (loop.unroll != 0 || loop.header != block) continue;
      const bool again = before >= 0 && loop.contains(before);
      number_[block] = again ? number_[block] + 1 : 0;
    }
  }
  int of(int header) const {
    const auto found = number_.find(header);
    return found == number_.end() ? 0 : found->second;
  }
  // An operation whose elements are the words that they mean in this round.
  Operation with_words(const TableFunction& function, const Operation& operation) const {
    Operation found = operation;
    for (auto* const list : {&found.writes, &found.reads}) {
      list->clear();
      for (const int value : list == &found.writes ? operation.writes : operation.reads) {
        const auto number = static_cast<size_t>(first_element - value);
        if (value > first_element) {
          list->push_back(value);
        } else if (number < function.elements.size()) {
          add_words(function.elements[number], list);
        }
      }
    }
    return found;
  }

 private:
  void add_words(const Element& element, std::vector<int>* values) const {
    int offset = element.offset;
    for (const auto& [header, step] : element.steps) offset += step * of(header);
    for (int word = offset / 4; element.words > 0 && word <= (offset + element.bytes - 1) / 4; word++) {
      if (word >= 0 && word < element.words) values->push_back(element.begin + word);
    }
  }

  std::map<int, int> number_;  // by header
};

}  // namespace simt::timing
