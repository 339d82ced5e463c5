// How long is left: estimated from what has run, said of cases that are worth it.
#include "catch2_any.h"
#include "pace.h"

using testing_::Pace;

TEST_CASE("what is left is estimated from the cost of what has run") {
  Pace pace;
  pace.plan({{"serial / rows / 7x33", "serial", 1e3, false},
             {"serial / widths / 7x1024", "serial", 1e6},
             {"serial / widths / 7x2048", "serial", 2e6},
             {"tree / widths / 7x2048", "tree", 2e6}});
  CHECK(pace.line("serial / rows / 7x33").empty());
  CHECK(pace.line("no case").empty());
  pace.ended("serial / rows / 7x33", 50);  // too small to tell
  CHECK(pace.estimate("serial", 1e6) == 0);
  CHECK(pace.line("serial / widths / 7x1024") == "serial / widths / 7x1024: case 2 of 4");
  pace.ended("serial / widths / 7x1024", 10);
  CHECK(pace.estimate("serial", 3e6) == 30);
  CHECK(pace.line("serial / widths / 7x2048") == "serial / widths / 7x2048: case 3 of 4, about 20 s left");
  pace.ended("serial / widths / 7x2048", 50);  // 60 s for 3e6 now
  CHECK(pace.estimate("serial", 1e6) == 20);
  CHECK(pace.line("tree / widths / 7x2048") == "tree / widths / 7x2048: case 4 of 4");  // nothing of its kind has run
  pace.ended("no case", 50);
  CHECK(pace.line("tree / widths / 7x2048") == "tree / widths / 7x2048: case 4 of 4");
}

TEST_CASE("less than a second is not worth a word, minutes are minutes") {
  Pace pace;
  pace.plan({{"tree / widths / a", "tree", 1e6}, {"tree / widths / b", "tree", 1e6}});
  pace.ended("tree / widths / a", 0.4);
  CHECK(pace.line("tree / widths / b") == "tree / widths / b: case 2 of 2");
  CHECK(testing_::about(89.5) == "about 90 s");
  CHECK(testing_::about(91) == "about 2 min");
}

TEST_CASE("a limit of time is multiplied by what a busy machine takes longer") {
  CHECK(testing_::times_longer(0.5, 2) == 1);
  CHECK(testing_::times_longer(2, 2) == 1);
  CHECK(testing_::times_longer(7, 2) == 3.5);
  CHECK(testing_::times_longer(1000, 2) == 8);
  CHECK(testing_::times_longer(-1, 2) == 1);
  CHECK(testing_::times_longer(4, 0) == 1);
  CHECK(testing_::times_longer() >= 1);
}
