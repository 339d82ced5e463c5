// At which shapes the judge counts moves. A kernel that does the move only at shapes that stand in the course, or only
// at widths of one kind, does not do it.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "cases.h"
#include "moves.h"

namespace testing_ {

// The shapes, at least one, in which a move that everybody knows at `known` is counted: where to, `widths` says. They
// follow from `number` alone. None has a width that is `named`, a power of two or a multiple of 100, or within two of
// the first two. Of Move::Widths::any there are several: four from a sixteenth of the known width to twice as much (of
// rows of hundreds two, from a quarter), and of rows that begin anywhere narrow and wide ones. Of Move::Widths::wider
// also rows that are wider than those, up to `widest` columns. The first has about as many elements as `known`, or a
// part of them, the others fewer rows.
std::vector<Shape> drawn_shapes(const Shape& known, Move::Widths widths, int widest, const std::set<int>& named,
                                uint64_t number);

}  // namespace testing_
