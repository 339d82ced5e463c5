// At which shapes the judge counts moves. A kernel that does the move only at shapes that stand in the course, or only
// at widths of one kind, does not do it.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "cases.h"
#include "moves.h"

namespace testing_ {

// Variants of one name, each for another type, share some of the draws: which of the `parts` this one has. variant: its
// number in the file.
struct Turn {
  int part = 0, parts = 1, variant = 0;
};

// The shapes, at least one, in which a move that everybody knows at `known` is counted: where to, `widths` says. They
// follow from `number` and `turn` alone. None has a width that is `named`, a power of two or a multiple of 100, or
// within two of the first two. Of Move::Widths::any there are many: some from a sixteenth of the known width to twice
// as much (of rows of hundreds from a quarter), of rows that begin anywhere narrow and wide ones, few rows in each step
// between, and many rows of many columns. Of Move::Widths::wider also rows that are wider than those, up to `widest`
// columns. The first has about as many elements as `known`, or a part of them, the others fewer rows.
std::vector<Shape> drawn_shapes(const Shape& known, Move::Widths widths, int widest, const std::set<int>& named,
                                uint64_t number, const Turn& turn = {});

// The shapes of which some are drawn to predict a time there that is known at `known` (timed_shapes): a width in each
// step from rows of hundreds to 131,072 columns, or to `widest`, of few rows, so that it costs little; and, last, some
// dozens of rows, or hundreds. So no range of widths is left out of the draw.
std::vector<Shape> paced_shapes(const Shape& known, int widest, const std::set<int>& named, uint64_t number,
                                const Turn& turn = {});

// How many of each row's largest a top-K variant is asked for there, evenly in the logarithm: up to 64, and of two wide
// rows in three more than that, up to one of 128 columns: the selection is still little beside the row.
int drawn_results(const Shape& shape, int most, uint64_t number);

}  // namespace testing_
