// A rung's host code and its kernels have no memory in common (rung_apart.h, testdata/apart.cu), in the plain and in
// the instrumented build.
#include <stdlib.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "catch2_any.h"
#include "client.h"

namespace {

using rung::Client;
using rung::Outcome;

constexpr int rows = 3, cols = 20;
const char* const builds[] = {"build/cpu/common/rung/testdata/apart.so",
                              "build/cpu/checked/common/rung/testdata/apart.so"};

std::string worker() { return getenv("LADDER_WORKER") ? getenv("LADDER_WORKER") : "build/cpu/worker"; }
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int line_with(const std::string& text) {
  std::ifstream file("common/rung/testdata/apart.cu");
  int number = 1;
  for (std::string line; std::getline(file, line); number++) {
    if (contains(line, text)) return number;
  }
  return -1;
}

std::vector<float> input() {
  std::vector<float> x(rows * cols);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i + 1);
  return x;
}

Outcome run(Client& client, const std::string& name) {
  const std::vector<float> x = input();
  rung::Job job;
  job.variant = -1;
  for (size_t i = 0; i < client.variants().size(); i++) {
    if (client.variants()[i].name == name) job.variant = static_cast<int>(i);
  }
  INFO(client.problem());
  REQUIRE(job.variant >= 0);
  job.sizes = {rows, cols, {}};
  job.input = x.data();
  job.input_bytes = job.output_bytes[0] = x.size() * sizeof(float);
  return client.run(job);
}

bool is_twice_the_input(const Outcome& outcome) {
  std::vector<float> y(rows * cols), x = input();
  if (outcome.output[0].size() != y.size() * sizeof(float)) return false;
  memcpy(y.data(), outcome.output[0].data(), outcome.output[0].size());
  for (size_t i = 0; i < y.size(); i++) {
    if (y[i] != 2 * x[i]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("what a GPU allows works, with the device in another process", "[worker][executor]") {
  for (const char* build : builds) {
    Client client(worker(), build);
    for (const char* name :
         {"good", "by_way_of_the_host", "looked_at", "reads_a_flag", "managed_for_both", "pinned_for_kernels",
          "symbols", "large_argument", "kernel_in_a_variable", "kernel_allocates", "mathematics", "constructed",
          "printf_writes_nothing", "bulk_copies"}) {
      INFO(build << " " << name);
      const Outcome outcome = run(client, name);
      INFO(outcome.message << " " << outcome.error_name);
      CHECK(outcome.kind == Outcome::Kind::returned);
      CHECK(outcome.error_name == "cudaSuccess");
      CHECK(is_twice_the_input(outcome));
    }
  }
}

TEST_CASE("host code cannot touch device memory, in no build", "[worker][executor]") {
  for (const char* build : builds) {
    Client client(worker(), build);
    for (const auto& [name, line] :
         {std::pair("host_reads", "the host reads"), std::pair("host_writes", "the host writes")}) {
      INFO(build << " " << name);
      const Outcome outcome = run(client, name);
      CHECK(outcome.kind == Outcome::Kind::crashed);
      INFO(outcome.message);
      CHECK(contains(outcome.message, "host code touches device memory"));
      CHECK(outcome.line == line_with(line));
      CHECK(is_twice_the_input(run(client, "good")));
    }
  }
}

TEST_CASE("a kernel cannot touch the host's memory, in no build", "[worker][executor]") {
  for (const char* build : builds) {
    Client client(worker(), build);
    for (const char* name : {"kernel_writes_stack", "kernel_writes_global"}) {
      INFO(build << " " << name);
      const Outcome outcome = run(client, name);
      CHECK(outcome.kind == Outcome::Kind::crashed);
      INFO(outcome.message);
      CHECK(contains(outcome.message, "host memory"));
      // Optimised code of two kernels may be one.
      if (build == builds[1]) CHECK(outcome.line == line_with("y[i] = 2 * x[i]"));
    }
    const Outcome outcome = run(client, "one_name_two_variables");
    CHECK(outcome.kind == Outcome::Kind::returned);
    CHECK(is_twice_the_input(outcome));
  }
}

TEST_CASE("what a kernel prints is read as a load of its own", "[worker][executor]") {
  Client client(worker(), builds[1]);
  const Outcome outcome = run(client, "prints_past_the_end");
  CHECK(outcome.kind == Outcome::Kind::crashed);
  INFO(outcome.message);
  CHECK(contains(outcome.message, "out of bounds"));
  CHECK(outcome.line == line_with("one after the last"));
}

TEST_CASE("the host's process can ask for nothing that is not its own", "[worker][executor]") {
  for (const char* build : builds) {
    Client client(worker(), build);
    for (const auto& [name, error] :
         {std::pair("frees_its_input", "cudaErrorInvalidValue"), std::pair("copies_too_much", "cudaErrorInvalidValue"),
          std::pair("copies_the_workers_memory", "cudaErrorInvalidValue"),
          std::pair("launches_half_a_function", "cudaErrorInvalidDeviceFunction")}) {
      INFO(build << " " << name);
      const Outcome outcome = run(client, name);
      CHECK(outcome.kind == Outcome::Kind::returned);
      CHECK(outcome.error_name == error);
      CHECK(outcome.damage.empty());
    }
  }
}

TEST_CASE("a kernel that calls the host's functions is told so", "[worker][executor]") {
  Client client(worker(), builds[0]);
  const Outcome outcome = run(client, "kernel_calls_host");
  CHECK(outcome.kind == Outcome::Kind::crashed);
  INFO(outcome.message);
  CHECK(contains(outcome.message, "a kernel calls a function of the host"));
  CHECK(contains(outcome.message, "strncpy"));
  CHECK(outcome.line == line_with("a call of the host"));
}

TEST_CASE("the worker says what a call had of the device", "[worker][executor]") {
  struct {
    const char* name;
    int launches;
    size_t to_host;
    bool used_after;
  } const table[] = {{"good", 1, 0, false},
                     {"by_way_of_the_host", 1, rows * cols * 4, true},
                     {"looked_at", 1, rows * cols * 4, false},
                     {"reads_a_flag", 2, 4, false},
                     {"managed_for_both", 2, 4096, true},
                     {"pinned_for_kernels", 1, 0, false}};
  for (const auto& [name, launches, to_host, used_after] : table) {
    Outcome::Work works[2];
    for (int build = 0; build < 2; build++) {
      Client client(worker(), builds[build]);
      const Outcome outcome = run(client, name);
      INFO(builds[build] << " " << name);
      works[build] = outcome.work;
      CHECK(works[build].launches == launches);
      CHECK(works[build].bytes_to_host == to_host);
      CHECK(works[build].used_after == used_after);
      CHECK_FALSE(works[build].atomics);
    }
    CHECK(works[0].shapes == works[1].shapes);
    CHECK(works[0].first_ones == works[1].first_ones);
  }
  Client client(worker(), builds[0]);
  CHECK(run(client, "good").work.first_ones == "twice<<<(1,1,1), (128,1,1), 0>>>");
  CHECK(run(client, "good").work.shapes != run(client, "symbols").work.shapes);
}
