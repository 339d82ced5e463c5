#include "paths.h"

namespace simt {

unsigned Paths::add(unsigned path, uint32_t call_pc) {
  if (nodes_.size() == limit) return path;
  const auto number = static_cast<unsigned>(nodes_.size());
  nodes_.push_back({path, 0, nodes_[path].first_child, nodes_[path].depth + 1, call_pc});
  nodes_[path].first_child = number;
  return number;
}

bool Paths::before(unsigned path_a, uint64_t a, unsigned path_b, uint64_t b) const {
  // Go up to the call that both are in; on the way the position becomes that of the call there.
  while (path_a != path_b) {
    if (nodes_[path_a].depth >= nodes_[path_b].depth) {
      a = uint64_t{nodes_[path_a].call_pc} * 2;
      path_a = nodes_[path_a].parent;
    } else {
      b = uint64_t{nodes_[path_b].call_pc} * 2;
      path_b = nodes_[path_b].parent;
    }
  }
  return a < b;
}

}  // namespace simt
