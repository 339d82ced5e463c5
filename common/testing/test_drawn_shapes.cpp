// What a kernel gains that makes a move only at some widths: nothing, or next to nothing.
#include <algorithm>
#include <functional>
#include <limits>

#include "catch2_any.h"
#include "drawn_shapes.h"

using testing_::drawn_shapes;
using testing_::Move;
using testing_::Shape;

namespace {

constexpr int grades = 2000;
// As labs name them, and where "no thread does the work of others" is counted in most labs.
const std::set<int> named = {512, 600, 1000, 1023, 1024, 1025, 2049, 4096, 4097, 10000, 16384, 30001, 50257, 60001};
const Shape places[] = {{2, 16384, {}}, {80, 512, {}}, {48, 2049, {}}};

std::vector<Shape> of_a_grade(uint64_t number, Move::Widths widths, int widest) {
  std::vector<Shape> all;
  for (const Shape& known : places) {
    for (const Shape& shape : drawn_shapes(known, widths, widest, named, number)) all.push_back(shape);
  }
  return all;
}

// In how many of the grades all drawn shapes are such that the kernel makes the move there.
int missed_shapes(const std::function<bool(const Shape&)>& makes_the_move,
                  int widest = std::numeric_limits<int>::max()) {
  int count = 0;
  for (uint64_t number = 0; number < grades; number++) {
    const auto shapes = of_a_grade(number * 0x9e3779b97f4a7c15ull, Move::Widths::wider, widest);
    count += std::all_of(shapes.begin(), shapes.end(), makes_the_move);
  }
  return count;
}
int missed(const std::function<bool(int)>& makes_the_move, int widest = std::numeric_limits<int>::max()) {
  return missed_shapes([&](const Shape& shape) { return makes_the_move(shape.cols); }, widest);
}

}  // namespace

TEST_CASE("a kernel that makes a move only at widths of one kind is seen in every grade") {
  for (const int multiple : {2, 4, 8, 32, 64, 128, 256, 1000}) {
    CAPTURE(multiple);
    CHECK(missed([=](int cols) { return cols % multiple == 0; }) == 0);
    // Or everywhere else.
    if (multiple <= 256) CHECK(missed([=](int cols) { return cols % multiple != 0; }) == 0);
  }
  CHECK(missed([](int cols) { return named.count(cols) > 0; }) == 0);
  CHECK(missed([](int cols) { return cols % 2 == 1; }) == 0);
  CHECK(missed([](int cols) { return cols % 64 == 0 || cols % 256 < 64; }) <= grades / 200);
}

TEST_CASE("a kernel that makes a move only above or below a limit is seen in every grade") {
  for (const int limit : {512, 1024, 2048, 4096, 8192, 12288, 16384, 32768, 50257, 65536, 100000, 131072}) {
    CAPTURE(limit);
    CHECK(missed([=](int cols) { return cols <= limit; }) == 0);
    CHECK(missed([=](int cols) { return cols >= limit; }) == 0);
  }
  // Where the known shapes lie, and a quarter above them.
  CHECK(missed([](int cols) {
          for (const int width : {512, 1025, 2049, 4096, 16384, 60001})
            if (cols >= width && cols < width + width / 4) return true;
          return cols < 400;
        }) == 0);
}

TEST_CASE("a kernel that does something else within a band of widths is seen in nearly every grade") {
  for (int begin = 1024; begin <= 30000; begin += begin / 4) {
    CAPTURE(begin);
    // Wherever it begins: half as wide again.
    CHECK(missed([=](int cols) { return cols < begin || cols >= begin + begin / 2; }) == 0);
    // A tenth wider.
    CHECK(missed([=](int cols) { return cols < begin || cols >= begin + begin / 10; }) <= grades / 12);
  }
  // Wider rows: where they are kept in shared memory, and where they are not.
  for (const int widest : {50257, std::numeric_limits<int>::max()}) {
    for (const int begin : {34000, 37000, 40000, 43000}) {
      CAPTURE(widest, begin);
      CHECK(missed([=](int cols) { return cols < begin || cols >= begin + begin / 10; }, widest) <= grades / 5);
      CHECK(missed([=](int cols) { return cols < begin || cols >= begin + begin / 5; }, widest) == 0);
    }
  }
  CHECK(missed([](int cols) { return cols < 4096 || cols >= 8192; }) == 0);
  CHECK(missed([](int cols) { return cols % 4 != 2; }) <= grades / 100);
  CHECK(missed([](int cols) { return cols % 8 != 4; }) <= grades / 10);
}

TEST_CASE("a kernel that does something else only where there are many rows is seen") {
  for (const int least : {2, 4, 8, 16, 24}) {
    CAPTURE(least);
    CHECK(missed_shapes([=](const Shape& shape) { return shape.rows < least || shape.cols < 1024; }) == 0);
    CHECK(missed_shapes(
              [=](const Shape& shape) { return shape.rows < least || shape.cols % 8 || shape.cols < 4096; }) == 0);
  }
  CHECK(missed_shapes([](const Shape& shape) { return shape.rows < 64 || shape.cols < 4096; }) == 0);
  CHECK(missed_shapes([](const Shape& shape) { return shape.rows <= 500 || shape.cols < 900; }) == 0);
  CHECK(missed_shapes([](const Shape& shape) { return shape.rows <= 680 || shape.cols < 160; }) == 0);
  CHECK(missed_shapes([](const Shape& shape) { return shape.rows <= 100 || shape.rows * shape.cols <= 480000; }) == 0);
  // Of two variants one has the turn.
  const auto makes = [](const Shape& shape) { return shape.rows < 64 || shape.cols % 8 || shape.cols < 200; };
  int missed_by_both = 0;
  for (uint64_t number = 0; number < grades; number++) {
    bool all = true;
    for (const int variant : {1, 2}) {
      const auto shapes = drawn_shapes(places[0], Move::Widths::wider, 50257, named, number, {0, 1, variant});
      all = all && std::all_of(shapes.begin(), shapes.end(), makes);
    }
    missed_by_both += all;
  }
  CHECK(missed_by_both == 0);
}

TEST_CASE("a kernel that does something else where many of a row's largest are asked for is seen") {
  constexpr int most_k = 1024;
  int missed_above_64 = 0, missed_above_256 = 0;
  for (uint64_t number = 0; number < grades; number++) {
    const auto shapes =
        drawn_shapes({1, 32768, {8}}, Move::Widths::wider, std::numeric_limits<int>::max(), named, number);
    int most = 0;
    for (const Shape& shape : shapes) {
      const int k = testing_::drawn_results(shape, most_k, number);
      REQUIRE((k > 0 && k <= most_k && (k <= 64 || k <= shape.cols / 128)));
      REQUIRE(testing_::drawn_results(shape, 64, number) <= 64);
      most = std::max(most, k);
    }
    missed_above_64 += most <= 64;
    missed_above_256 += most <= 256;
  }
  CHECK(missed_above_64 == 0);
  CHECK(missed_above_256 <= grades / 2);
}

TEST_CASE("the widths of which some are timed leave out no factor of two, and rows may be many") {
  const auto timed = [](uint64_t number, int widest, const testing_::Turn& turn) {
    return testing_::paced_shapes({32, 4096, {}}, widest, named, number, turn);
  };
  for (uint64_t number = 0; number < grades; number++) {
    for (const int widest : {50257, 131072}) {
      const std::vector<Shape> shapes = timed(number, widest, {});
      for (int begin = 384; 2 * begin <= widest; begin += begin / 3) {
        CAPTURE(number, begin);
        REQUIRE(std::any_of(shapes.begin(), shapes.end(),
                            [=](const Shape& shape) { return shape.cols >= begin && shape.cols < 2 * begin; }));
      }
      int most_rows = 0;
      for (const Shape& shape : shapes) {
        CAPTURE(shape.rows, shape.cols);
        REQUIRE((shape.cols >= 384 && shape.cols <= widest));
        // What it costs.
        REQUIRE((shape.rows == 1 || shape.rows * shape.cols <= 400000));
        for (int near = -2; near <= 2; near++) REQUIRE(named.count(shape.cols + near) == 0);
        if (shape.cols >= 480) most_rows = std::max(most_rows, shape.rows);
      }
      REQUIRE(most_rows >= 64);
    }
    // Types of one variant have a part of the steps each, and one of them the many rows.
    size_t of_parts = 0;
    for (int part = 0; part < 3; part++) of_parts += timed(number, 131072, {part, 3, part}).size();
    REQUIRE(of_parts == timed(number, 131072, {}).size());
  }
}

TEST_CASE("of narrow rows blocks for several of them are full") {
  for (uint64_t number = 0; number < grades; number++) {
    for (const Shape& shape : of_a_grade(number, Move::Widths::wider, 50257)) {
      CAPTURE(shape.rows, shape.cols);
      REQUIRE((shape.cols < 2048 || shape.rows <= 32 || shape.rows >= 42));
      REQUIRE((shape.cols >= 512 || shape.rows % 64 == 0));
      REQUIRE((shape.cols >= 1024 || shape.rows % 32 == 0));
      REQUIRE((shape.cols >= 2048 || shape.rows % 8 == 0));
    }
  }
}

TEST_CASE("no width is drawn that the course names, nor one that anybody would list") {
  for (uint64_t number = 0; number < grades; number++) {
    for (const Move::Widths widths : {Move::Widths::near, Move::Widths::any, Move::Widths::wider}) {
      for (const Shape& shape : of_a_grade(number, widths, 50257)) {
        CAPTURE(shape.cols);
        REQUIRE(shape.rows > 0);
        REQUIRE(shape.cols <= 50257);
        REQUIRE(shape.cols % 100 != 0);
        REQUIRE((shape.cols & (shape.cols - 1)) != 0);
        for (int near = -2; near <= 2; near++) REQUIRE(named.count(shape.cols + near) == 0);
      }
    }
  }
}

TEST_CASE("rows begin where those of the known shape begin, and the same grade has the same shapes") {
  for (uint64_t number = 0; number < grades; number++) {
    for (const Shape& known : places) {
      const auto drawn = [&](Move::Widths widths) { return drawn_shapes(known, widths, 50257, named, number); };
      for (const Shape& shape : drawn(Move::Widths::any)) REQUIRE((shape.cols % 8 == 0) == (known.cols % 8 == 0));
      const auto near = drawn(Move::Widths::near);
      REQUIRE(near.size() == 1);
      REQUIRE(near[0].cols % 8 == known.cols % 8);
      if (known.cols % 256 == 0) REQUIRE(near[0].cols % 256 == 0);
      REQUIRE(drawn(Move::Widths::near)[0].cols == near[0].cols);
    }
  }
}
