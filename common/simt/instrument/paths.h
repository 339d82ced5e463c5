// Chains of calls, numbered. In the order of Paths::before, functions take the place of their calls: as if all were
// inlined.
#pragma once

#include <cstdint>
#include <vector>

namespace simt {

class Paths {
 public:
  static constexpr unsigned root = 0;
  static constexpr unsigned limit = 1 << 16;

  Paths() { clear(); }
  void clear() { nodes_.assign(1, {0, 0, 0, 0, 0}); }

  // The path that calls from `path` at pc, relative to the module. Beyond the limit (a deep recursion that takes many
  // turns) paths are no longer told apart.
  unsigned enter(unsigned path, uint32_t call_pc) {
    for (unsigned child = nodes_[path].first_child; child; child = nodes_[child].sibling) {
      if (nodes_[child].call_pc == call_pc) return child;
    }
    return add(path, call_pc);
  }
  unsigned leave(unsigned path) const { return nodes_[path].parent; }
  uint32_t call_pc(unsigned path) const { return nodes_[path].call_pc; }

  // Does position a on path_a come before position b on path_b? Positions are twice the pc, plus 1 for what comes after
  // it.
  bool before(unsigned path_a, uint64_t a, unsigned path_b, uint64_t b) const;

 private:
  struct Node {
    unsigned parent, first_child, sibling, depth;
    uint32_t call_pc;
  };
  unsigned add(unsigned path, uint32_t call_pc);

  std::vector<Node> nodes_;
};

}  // namespace simt
