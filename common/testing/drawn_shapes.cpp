#include "drawn_shapes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>

namespace testing_ {
namespace {

// Rows of fewer elements are of hundreds: the widest of them has twice as many as the known shape.
constexpr int hundreds_end = 1024;
// Up to the first, widths are drawn in fine steps, and up to its multiples where a move asks for wider rows: up to the
// second a variant may keep a row in shared memory (session.cpp). Beyond, of other variants, in steps that are coarse.
constexpr int fine_end = 16384, shared_end = 49152, widest_begin = 65792, widest_end = 262144;

// SplitMix64: the same numbers with every library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // least and most included.
  int from(int least, int most) {
    return least + static_cast<int>(next() % static_cast<uint64_t>(std::max(1, most - least + 1)));
  }

 private:
  uint64_t state_;
};

// Widths by what they are multiples of: of 256, of 64, of 8, of 8 and not of 16; of 2 and not of 8, of nothing, one of
// these two. Rows of the last three kinds begin anywhere.
enum class Kind { whole_warps, whole_half_warps, packs, odd_packs, even, odd, anywhere };

int made(int cols, Kind kind, Random* random) {
  switch (kind) {
    case Kind::whole_warps: return cols / 256 * 256;
    case Kind::whole_half_warps: return cols / 64 * 64;
    case Kind::packs: return cols / 8 * 8;
    case Kind::odd_packs: return cols / 16 * 16 + 8;
    case Kind::even: return cols / 8 * 8 + 2 * random->from(1, 3);
    case Kind::odd: return cols / 2 * 2 + 1;
    case Kind::anywhere: return cols / 8 * 8 + random->from(1, 7);
  }
  return cols;
}

// Does it stand in the course, or is it, or nearly, a width that somebody would list: a power of two, or so many
// hundreds?
bool is_known(int cols, const std::set<int>& named) {
  constexpr int near = 2;
  if (cols % 100 == 0) return true;
  const auto next = named.lower_bound(cols - near);
  if (next != named.end() && *next <= cols + near) return true;
  for (int power = 1; power <= cols + near; power *= 2) {
    if (std::abs(power - cols) <= near) return true;
  }
  return false;
}

int drawn_width(int least, int most, Kind kind, const std::set<int>& named, Random* random) {
  int cols = least;
  for (int tries = 0; tries < 100; tries++) {
    // Between two limits near to each other there may be no multiple that is not known.
    if (tries == 50 && (kind == Kind::whole_warps || kind == Kind::whole_half_warps)) kind = Kind::packs;
    cols = made(random->from(least, most), kind, random);
    if (cols >= least && !is_known(cols, named)) break;
  }
  return cols;
}

// Of narrow rows so many, or a multiple, that blocks for several of them are full: threads without a row of their own
// may load another's.
int full_blocks(int rows, int cols) {
  const int full = cols < hundreds_end / 2 ? 64 : cols < hundreds_end ? 32 : cols < 2 * hundreds_end ? 8 : 1;
  // If each warp has a row, of 33 to 41 the last block has as few as one: that looks like a warp that works alone.
  if (full == 1 && rows > 32 && rows < 42) return 42;
  return std::max(full, rows / full * full);
}

// About this many elements.
Shape shaped(const Shape& known, int cols, double elements) {
  Shape shape = known;
  shape.cols = cols;
  shape.rows = full_blocks(static_cast<int>(elements / cols), cols);
  return shape;
}

// Single rows, or of narrow ones as few as are counted: of each step from `least` to `most` a width, of the kinds in
// turn. Each step is wider than the one before by this factor, or a little less, so that a kernel that does something
// else within a band of widths is met there. Of variants that share them each has its part of the steps: every third,
// so that there are two or four kinds.
void draw_each_step(const Shape& known, int least, int most, double factor, std::initializer_list<Kind> kinds,
                    const Turn& turn, const std::set<int>& named, Random* random, std::vector<Shape>* shapes) {
  const double whole = static_cast<double>(most) / least;
  const int steps = static_cast<int>(std::ceil(std::log(whole) / std::log(factor)));
  const int first = random->from(0, static_cast<int>(kinds.size()) - 1), begin = random->from(0, turn.parts - 1);
  for (int i = 0; i < steps; i++) {
    const int from = static_cast<int>(least * std::pow(whole, static_cast<double>(i) / steps)),
              to = static_cast<int>(least * std::pow(whole, (i + 1.0) / steps));
    const Kind kind = kinds.begin()[static_cast<size_t>(first + i) % kinds.size()];
    const int cols = drawn_width(from, to, kind, named, random);  // for all of them, so that they draw the same
    if ((begin + i) % turn.parts == turn.part) shapes->push_back(shaped(known, cols, 1));
  }
}

// Many rows of many columns, for a kernel that does something else only there: some dozens of rows, less and many more.
// Three variants that share them have one each; one that shares with none has the dozens and one of the others. All
// have more than 64 rows of 4096 columns. The last three, more elements than those and more or many more rows, cost
// most: of variants that share them one has each.
void draw_many_rows(const Shape& known, const Turn& turn, const std::set<int>& named, Random* random,
                    std::vector<Shape>* shapes) {
  struct Rows {
    int least, most;
    double elements;
  };
  constexpr Rows all[] = {{24, 48, 225000},   {8, 24, 98304},     {64, 400, 98304},   {64, 100, 480000},
                          {110, 250, 640000}, {510, 640, 700000}, {760, 2000, 393216}};
  constexpr int for_all = 3, largest = 4, most_rows = 6;
  const int begin = random->from(0, 2);
  for (int i = 0; i <= most_rows; i++) {
    Shape shape = known;
    const double part = random->from(0, 255) / 255.0;  // evenly in their logarithm
    shape.rows = static_cast<int>(all[i].least * std::pow(static_cast<double>(all[i].most) / all[i].least, part));
    const int cols = static_cast<int>(all[i].elements / shape.rows);
    shape.cols = drawn_width(cols * 7 / 8, cols, Kind::packs, named, random);
    shape.rows = full_blocks(shape.rows, shape.cols);
    const bool has_turn =
        turn.parts > 1 ? (begin + i) % turn.parts == turn.part : i == 0 || i == 1 + (begin + turn.variant) % 2;
    const bool mine = i == for_all || (i >= largest && turn.parts == 1) || has_turn;
    if (mine) shapes->push_back(shape);
  }
}

std::vector<Shape> of_any_width(const Shape& known, bool wider, int widest, const std::set<int>& named,
                                const Turn& turn, uint64_t number) {
  constexpr double fine = 1.07, middle = 1.09, coarse = 1.3, narrow = 1.6;
  Random own(number);
  Random* const random = &own;
  const double known_elements = known.rows * static_cast<double>(known.cols);
  // As many elements as there, or down to half of them: then the rows do not tell that it is this move.
  const auto elements = [&] { return known_elements * (0.5 + random->from(0, 255) / 510.0); };
  std::vector<Shape> shapes;
  const auto draw = [&](int least, int most, Kind kind, double wanted) {
    shapes.push_back(shaped(known, drawn_width(least, most, kind, named, random), wanted));
  };
  const auto each_step = [&](int least, int most, double factor, std::initializer_list<Kind> kinds) {
    draw_each_step(known, least, most, factor, kinds, turn, named, random, &shapes);
  };
  if (known.cols < hundreds_end) {
    // So many rows that no one block has threads for all.
    const int least = known.cols / 4, middle = least * 11 / 4, most = known.cols * 2;
    const bool lower = random->from(0, 1);
    draw(lower ? least : middle, lower ? middle : most, Kind::whole_half_warps, elements() + 1.5 * known_elements);
    each_step(least, most, narrow, {Kind::packs, Kind::odd_packs, Kind::whole_half_warps, Kind::packs});
    return shapes;
  }
  if (known.cols % 2) {
    draw(known.cols / 8, known.cols * 2, Kind::odd, elements());
    each_step(hundreds_end / 8, hundreds_end, narrow, {Kind::odd, Kind::even});
    each_step(hundreds_end, known.cols * 8, coarse, {Kind::odd, Kind::even});
    if (wider) draw(known.cols * 8, shared_end, Kind::anywhere, 1);
    return shapes;
  }
  // Whole warps of packs, or no pair of them, or neither.
  const Kind kinds[] = {Kind::whole_warps, Kind::odd_packs, Kind::packs};
  draw(known.cols / 8, known.cols * 3 / 8, kinds[random->from(0, 2)], elements() / 4);
  if (known.cols > fine_end) draw(known.cols, known.cols * 2, Kind::packs, 1);
  each_step(hundreds_end, fine_end, fine, {Kind::packs, Kind::odd_packs, Kind::whole_half_warps, Kind::whole_warps});
  each_step(fine_end, 2 * fine_end, fine, {Kind::packs, Kind::odd_packs});
  if (wider && widest > widest_end) {
    each_step(2 * fine_end, widest_begin, middle, {Kind::packs, Kind::odd_packs});
    each_step(widest_begin, widest_end, narrow, {Kind::packs, Kind::odd_packs});
  } else if (wider) {
    each_step(2 * fine_end, shared_end, middle, {Kind::packs, Kind::odd_packs});
  }
  // The same for all moves that are counted here, whatever else they draw.
  Random of_rows(number + 1);
  draw_many_rows(known, turn, named, &of_rows, &shapes);
  return shapes;
}

}  // namespace

std::vector<Shape> drawn_shapes(const Shape& known, Move::Widths widths, int widest, const std::set<int>& named,
                                uint64_t number, const Turn& turn) {
  constexpr int narrow = 64, rows = 128, columns = 256, pack = 8, few_places = 3, places = 12, below = 24;
  number ^= static_cast<uint64_t>(known.cols) << 32 | static_cast<uint64_t>(known.rows);
  Random random(number);
  if (widths == Move::Widths::any || widths == Move::Widths::wider)
    return of_any_width(known, widths == Move::Widths::wider, widest, named, turn, number);
  Shape shape = known;
  if (known.cols < narrow) {
    shape.rows += rows * random.from(1, few_places);
    return {shape};
  }
  // Rows begin and end as they do there, in whole packs of whole warps or not.
  const bool whole_warps = known.cols % columns == 0;
  for (int tries = 0; tries < 100; tries++) {
    if (widths == Move::Widths::up_to) {
      shape.cols = known.cols - pack * random.from(1, below);
    } else {
      // Of many rows, for a predicted time, not much wider.
      shape.cols = known.cols + columns * random.from(1, known.rows >= columns ? few_places : places) +
                   (whole_warps ? 0 : pack * random.from(0, columns / pack - 1));
    }
    if (!is_known(shape.cols, named)) break;
  }
  if (known.rows < columns) {
    const int as_many = static_cast<int>(2.0 * known.rows * known.cols / shape.cols);
    shape.rows = std::min(known.rows, std::max(4, as_many));
    // Where rows share a block, it is full of them.
    if (shape.rows > 8) shape.rows = shape.rows / 8 * 8;
  }
  return {shape};
}

std::vector<Shape> paced_shapes(const Shape& known, int widest, const std::set<int>& named, uint64_t number,
                                const Turn& turn) {
  constexpr int narrowest = 384, end = 131072, elements = 32768;
  constexpr double factor = 1.4;
  number ^= static_cast<uint64_t>(known.cols) << 32 | static_cast<uint64_t>(known.rows);
  Random random(number + 2);
  std::vector<Shape> shapes;
  draw_each_step(known, narrowest, std::min(end, widest), factor,
                 {Kind::packs, Kind::odd, Kind::whole_warps, Kind::anywhere}, turn, named, &random, &shapes);
  for (Shape& shape : shapes) shape.rows = std::max(1, elements / shape.cols);
  // And more rows than a kernel may compare with a GPU's processors, or fewer: of variants that share, of the first.
  constexpr int least_rows = 64, most_rows = 700, many_elements = 400000;
  const double part = random.from(0, 255) / 255.0;
  Shape many = known;
  many.rows = static_cast<int>(least_rows * std::pow(1.0 * most_rows / least_rows, part));
  many.cols = drawn_width(many_elements / many.rows * 7 / 8, many_elements / many.rows, Kind::packs, named, &random);
  if (turn.variant % turn.parts == 0) shapes.push_back(many);
  return shapes;
}

int drawn_results(const Shape& shape, int most, uint64_t number) {
  constexpr int few = 64, largest = 1024, part = 128, single_rows = 2;
  Random random(number ^ (static_cast<uint64_t>(shape.cols) << 32 | static_cast<uint64_t>(shape.rows)));
  const double drawn = random.from(0, 1023) / 1024.0;
  const int end = std::min({most, largest, shape.cols / part});
  if (shape.rows <= single_rows && end > few && random.from(0, 2))
    return few + static_cast<int>(std::pow(end - few + 1.0, drawn));
  const int end_of_few = std::min({most, few, shape.cols});
  return std::min(end_of_few, static_cast<int>(std::pow(end_of_few + 1.0, drawn)));
}

}  // namespace testing_
