// Tests of the benchmark's command line: what is read, and what is refused in which words.
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <map>
#include <string>
#include <vector>

#include "error.h"
#include "options.h"

namespace {

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Parses the five options that must be there and then `more`.
bench::Options parse(std::vector<const char*> more) {
  std::vector<const char*> words = {"bench",       "--worker", "w",        "--rung",    "r.so",  "--lab",
                                    "lab01_naive", "--source", "solution", "--results", "x.json"};
  words.insert(words.end(), more.begin(), more.end());
  return bench::parse_options(static_cast<int>(words.size()), const_cast<char**>(words.data()));
}

std::string complaint(std::vector<const char*> more) {
  try {
    parse(std::move(more));
  } catch (const bench::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the command line is read as written") {
  const bench::Options options =
      parse({"--rows", "64", "--cols", "4096", "--quadratic", "per_element=2", "other=3", "--k", "7"});
  CHECK(options.worker == "w");
  CHECK(options.rows == 64);
  CHECK(options.cols == 4096);
  CHECK(options.k == 7);
  CHECK(options.quadratic == std::map<std::string, int>{{"per_element", 2}, {"other", 3}});

  const bench::Options matrix =
      parse({"--input", "bigrams", "--matrix", "m", "--matrix-rows", "30", "--matrix-cols", "60", "--rows", "20"});
  CHECK(matrix.rows == 20);
  CHECK(matrix.cols == 60);
}

TEST_CASE("by default the rung's worker counts") {
  const bench::Options own = parse({"--rows", "1", "--cols", "9", "--checked", "c.so", "--counter", "cw"});
  CHECK(own.checked == "c.so");
  CHECK(own.counter == "cw");
  CHECK(parse({"--rows", "1", "--cols", "9", "--checked", "c.so"}).counter == "w");
}

TEST_CASE("a wrong command line is refused in words that name the option") {
  CHECK(contains(complaint({}), "--rows and --cols"));
  CHECK(contains(complaint({"--rows", "64", "--cols", "0"}), "--cols wants a whole number"));
  CHECK(contains(complaint({"--rows", "64", "--cols", "4k"}), "--cols wants a whole number"));
  CHECK(contains(complaint({"--rows", "64", "--cols", "9", "--k", "1025"}), "--k wants a whole number from 1 to 1024"));
  CHECK(contains(complaint({"--rows", "--cols", "9"}), "--rows wants a value"));
  CHECK(contains(complaint({"--rows"}), "--rows wants a value"));
  CHECK(contains(complaint({"--row", "9"}), "unknown option '--row'"));
  CHECK(contains(complaint({"--rows", "1", "--cols", "9", "extra"}), "unknown option 'extra'"));
  CHECK(contains(complaint({"--rows", "1", "--cols", "9", "--quadratic", "tree"}), "NAME=ROWS"));
  CHECK(contains(complaint({"--rows", "1", "--cols", "9", "--worker", ""}), "--worker is missing"));
  CHECK(contains(complaint({"--rows", "1", "--cols", "9", "--input", "bigrams"}), "wants its --matrix"));
  CHECK(contains(complaint({"--rows", "1", "--cols", "9", "--backend", "gpu"}), "--backend is cpu or cuda"));
  const std::vector<const char*> matrix = {"--matrix", "m", "--matrix-rows", "30", "--matrix-cols", "60"};
  CHECK(contains(complaint(matrix), "wants a name"));
  CHECK(contains(complaint({"--rows", "1", "--cols", "9", "--backend", "cuda", "--machine", "m", "--checked", "c.so"}),
                 "--checked on a GPU wants --counter"));
  std::vector<const char*> more = matrix;
  more.insert(more.end(), {"--input", "bigrams", "--rows", "31"});
  CHECK(contains(complaint(more), "--rows is more than"));
}
