// An access of 8 or 16 bytes that the compiler has announced as one and does in pieces: uint4 is loaded as four words
// where only its words are used. If the pieces' addresses are known to be the announced one, that is all
// (is_announced). Where they were computed anew in another block than the announced one, it is not known, and the
// pieces are announced by the rewriter. Then a GPU's one access would be counted as four.
#include <algorithm>

#include "rewriter.h"

namespace announce {

// Before a jump, and before what did not happen is taken away at the end of a block.
void Rewriter::join_pieces() {
  for (Announced& hook : announced_) {
    if (!hook.used && !hook.joined && !hook.is_volatile && hook.loads != hook.stores &&
        (hook.bytes == 8 || hook.bytes == 16))
      join_pieces(hook);
  }
  seen_.clear();
}

// The first pieces, in the order of the code, that are neighbours and together as many bytes as were announced become
// one. It is announced before the first of them.
void Rewriter::join_pieces(Announced& hook) {
  const Kind kind = hook.stores ? Kind::store : Kind::load;
  const auto may_be_piece = [&](const Seen& seen) {
    // One that the compiler has announced by itself is no piece of another.
    const bool has_own = std::any_of(announced_.begin(), announced_.end(), [&](const Announced& other) {
      return !other.used && !other.joined && other.bytes == seen.access.bytes &&
             (hook.stores ? other.stores : other.loads);
    });
    return seen.access.kind == kind && seen.access.bytes < hook.bytes && !has_own;
  };
  for (size_t first = 0; first < seen_.size(); first++) {
    const int64_t at = seen_[first].address.constant;
    std::vector<size_t> pieces;
    std::set<int64_t> bytes;
    int64_t count = 0;
    for (size_t i = first; i < seen_.size() && count < hook.bytes; i++) {
      const Seen& seen = seen_[i];
      if (!may_be_piece(seen) || !is_same(seen.address, seen_[first].address)) continue;
      pieces.push_back(i);
      count += seen.access.bytes;
      for (unsigned b = 0; b < seen.access.bytes; b++) bytes.insert(seen.address.constant + b);
    }
    const auto wanted = static_cast<size_t>(hook.bytes);
    if (pieces.size() < 2 || pieces[0] != first || bytes.size() != wanted || count != hook.bytes ||
        *bytes.rbegin() - *bytes.begin() + 1 != hook.bytes)
      continue;
    const size_t place = seen_[first].output_line;
    const std::string joined = operand_text(seen_[first].memory, *bytes.begin() - at);
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      if (*piece != first)
        std::fill_n(output_.begin() + static_cast<long>(seen_[*piece].output_line), lines_of_seen, "");
      seen_.erase(seen_.begin() + static_cast<long>(*piece));
    }
    output_[place + 1] = made_.emplace_back("\tleaq\t" + joined + ", %rdi");
    output_[place + 2] = made_.emplace_back(std::string("\tcall\t*simt_seen_") + (hook.stores ? "store" : "load") +
                                            std::to_string(hook.bytes) + "@GOTPCREL(%rip)");
    hook.joined = true;
    return;
  }
}

}  // namespace announce
