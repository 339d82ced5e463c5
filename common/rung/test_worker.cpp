// The worker and its client against rungs that crash, hang, exit, lie and overrun (testdata/).
//
// Tests with the tag [executor] are about what the CPU executor tells; on a GPU run the others, "~[executor]".
// Expects the worker at build/cpu/worker (or LADDER_WORKER) and the rungs built in build/cpu/common/rung/testdata (or
// LADDER_TESTDATA).
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "catch2_any.h"
#include "client.h"

namespace {

using rung::Client;
using rung::Job;
using rung::Outcome;

std::string environment(const char* name, const char* otherwise) {
  const char* value = getenv(name);
  return value && *value ? value : otherwise;
}

std::string worker() { return environment("LADDER_WORKER", "build/cpu/worker"); }
std::string testdata(const char* name) {
  return environment("LADDER_TESTDATA", "build/cpu/common/rung/testdata") + "/" + name;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Line of misbehaves.cu that has this text.
int line_with(const std::string& text) {
  std::ifstream file("common/rung/testdata/misbehaves.cu");
  int number = 1;
  for (std::string line; std::getline(file, line); number++) {
    if (contains(line, text)) return number;
  }
  return -1;
}

int find(Client& client, const std::string& name) {
  const auto& variants = client.variants();
  for (size_t i = 0; i < variants.size(); i++) {
    if (variants[i].name == name) return static_cast<int>(i);
  }
  FAIL("no variant " << name << " in testdata: " << client.problem());
  return -1;
}

constexpr int rows = 3, cols = 5;
const std::vector<float> input = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

Job job_for(Client& client, const std::string& name, double time_limit = 10) {
  Job job;
  job.variant = find(client, name);
  job.sizes = {rows, cols, {}};
  job.input = input.data();
  job.input_bytes = job.output_bytes[0] = input.size() * sizeof(float);
  job.time_limit = time_limit;
  return job;
}

bool output_is_twice_the_input(const Outcome& outcome) {
  std::vector<float> y(input.size());
  if (outcome.output[0].size() != y.size() * sizeof(float)) return false;
  memcpy(y.data(), outcome.output[0].data(), outcome.output[0].size());
  for (size_t i = 0; i < y.size(); i++) {
    if (!(y[i] == 2 * input[i])) return false;
  }
  return true;
}

// Whatever happened before: the next job of the same client must go well.
void check_recovery(Client& client) {
  const Outcome outcome = client.run(job_for(client, "good"));
  CHECK(outcome.kind == Outcome::Kind::returned);
  CHECK(outcome.message == "");
  CHECK(outcome.damage.empty());
  CHECK(output_is_twice_the_input(outcome));
}

int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

}  // namespace

TEST_CASE("a good rung returns its output and a time for every launch", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  REQUIRE(client.problem() == "");
  CHECK(client.variants()[0].name == "good");
  CHECK(client.variants()[0].op == rung::Op::softmax);
  CHECK(client.variants()[0].dtype == rung::Dtype::f32);

  Job job = job_for(client, "good");
  job.launches = 3;
  const Outcome outcome = client.run(job);
  CHECK(outcome.kind == Outcome::Kind::returned);
  CHECK(outcome.error == 0);
  CHECK(outcome.error_name == "cudaSuccess");
  CHECK(outcome.damage.empty());
  CHECK(output_is_twice_the_input(outcome));
  REQUIRE(outcome.seconds.size() == 3);
  for (double s : outcome.seconds) CHECK((s > 0 && s < 1));
}

TEST_CASE("null pointers and nonsense reach the variant as they are", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  Job job = job_for(client, "good");
  SECTION("null input") { job.null_argument = Job::Null::input; }
  SECTION("null output") { job.null_argument = Job::Null::output; }
  SECTION("negative rows") { job.sizes.rows = -1; }
  SECTION("cols far above the buffer") { job.sizes = {-2147483647, 2147483647, {}}; }
  const Outcome outcome = client.run(job);
  CHECK(outcome.kind == Outcome::Kind::returned);
  CHECK(outcome.error_name == "cudaErrorInvalidValue");
  CHECK(outcome.output[0] == std::vector<unsigned char>(input.size() * sizeof(float), rung::poison));
}

TEST_CASE("a job of zero bytes and a large one after it", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  Job job = job_for(client, "writes_nothing");
  job.input_bytes = job.output_bytes[0] = 0;
  CHECK(client.run(job).kind == Outcome::Kind::returned);
  const std::vector<float> large(3 << 20, 1.5f);
  job.variant = find(client, "good");
  job.sizes = {3, 1 << 20, {}};
  job.input = large.data();
  job.input_bytes = job.output_bytes[0] = large.size() * sizeof(float);
  const Outcome outcome = client.run(job);
  CHECK(outcome.kind == Outcome::Kind::returned);
  CHECK(outcome.damage.empty());
  REQUIRE(outcome.output[0].size() == large.size() * sizeof(float));
  float last = 0;
  memcpy(&last, outcome.output[0].data() + (large.size() - 1) * sizeof(float), sizeof last);
  CHECK(last == 3.0f);
}

TEST_CASE("a crash in a kernel names the line", "[worker][executor]") {
  Client client(worker(), testdata("misbehaves.so"));
  const Outcome outcome = client.run(job_for(client, "crashes"));
  CHECK(outcome.kind == Outcome::Kind::crashed);
  INFO(outcome.message);
  CHECK(contains(outcome.message, "thread (5,0,0)"));
  CHECK(contains(outcome.file, "misbehaves.cu"));
  CHECK(outcome.line == line_with("line of the crash"));
  check_recovery(client);
}

TEST_CASE("an error that came from the runtime says where and why", "[worker][executor]") {
  Client client(worker(), testdata("misbehaves.so"));
  Outcome outcome = client.run(job_for(client, "launches_badly"));
  CHECK(outcome.kind == Outcome::Kind::returned);
  INFO(outcome.message);
  CHECK(contains(outcome.message, "launch refused: more threads than the 1024 that a block can have\n"));
  CHECK(contains(outcome.message, "twice<<<(1,1,1), (5000,1,1), 0>>> asks for 5000 threads"));
  CHECK(contains(outcome.file, "misbehaves.cu"));
  CHECK(outcome.line == line_with("line of the refused launch"));
  outcome = client.run(job_for(client, "copies_badly"));
  CHECK(contains(outcome.message, "cudaMemcpy refused: it runs past the end of an allocation\n"));
  CHECK(outcome.line == line_with("line of the refused copy"));
  outcome = client.run(job_for(client, "returns_an_error"));
  CHECK(outcome.message == "no CUDA call returned this error: the file itself did, as where a TODO is not written yet");
  check_recovery(client);
}

TEST_CASE("a rung that ends its process costs one job", "[worker]") {
  struct {
    const char *variant, *message;
  } const table[] = {
      {"crashes_on_host", ""},  // "" : the words are the executor's on the CPU, the system's on a GPU
      {"aborts", "bort"},
      {"exits", "exit status 0"},
      {"exits_at_once", "exit status 7"},
      {"closes_the_socket", "killed"},
  };
  for (auto [variant, message] : table) {
    DYNAMIC_SECTION(variant) {
      Client client(worker(), testdata("misbehaves.so"));
      const Outcome outcome = client.run(job_for(client, variant));
      CHECK(outcome.kind == Outcome::Kind::crashed);
      INFO(outcome.message);
      CHECK(contains(outcome.message, message));
      CHECK(outcome.message != "");
      check_recovery(client);
    }
  }
}

TEST_CASE("a hang is ended by the caller's clock", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  const bool in_kernel = GENERATE(true, false);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = client.run(job_for(client, in_kernel ? "hangs" : "hangs_on_host", 0.3));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(outcome.kind == Outcome::Kind::timed_out);
  INFO(outcome.message);
  CHECK(contains(outcome.message, "0.3 s"));
  CHECK(seconds >= 0.3);
  CHECK(seconds < 3);
  check_recovery(client);
}

TEST_CASE("a hang in a kernel says where it was", "[worker][executor]") {
  Client client(worker(), testdata("misbehaves.so"));
  const Outcome outcome = client.run(job_for(client, "hangs", 0.3));
  CHECK(outcome.kind == Outcome::Kind::timed_out);
  INFO(outcome.message);
  CHECK(contains(outcome.message, "in block (0,0,0)"));
  CHECK(contains(outcome.file, "misbehaves.cu"));
  CHECK(std::abs(outcome.line - line_with("line of the hang")) <= 1);
  CHECK(!contains(outcome.message, "The kernel called"));
}

TEST_CASE("a hang in a function that the kernel calls names both lines", "[worker][executor]") {
  Client client(worker(), testdata("misbehaves.so"));
  const bool nested = GENERATE(false, true);
  const Outcome outcome = client.run(job_for(client, nested ? "hangs_in_a_nested_call" : "hangs_in_a_call", 0.3));
  CHECK(outcome.kind == Outcome::Kind::timed_out);
  INFO(outcome.message);
  CHECK(contains(outcome.file, "misbehaves.cu"));
  CHECK(std::abs(outcome.line - line_with("line of the inlined hang")) <= 1);
  const auto line = [](const char* text) { return "line " + std::to_string(line_with(text)); };
  CHECK(contains(outcome.message,
                 nested ? "\nThe kernel got there by calls at " + line("line of the nested call") + " and " +
                              line("line of the call in it") + "."
                        : "\nThe kernel called this function at " + line("line of the inlined call") + "."));
}

TEST_CASE("garbage on the worker's socket is a crash of the rung, not of the client", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  const char* variant = GENERATE("writes_garbage", "forges_a_reply");
  const Outcome outcome = client.run(job_for(client, variant, 2));
  CHECK(outcome.kind == Outcome::Kind::crashed);
  INFO(outcome.message);
  CHECK(contains(outcome.message, "connection"));
  check_recovery(client);
}

TEST_CASE("the shared memory cannot be cut short", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  const Outcome outcome = client.run(job_for(client, "cuts_the_memory"));
  CHECK(outcome.error_name == "cudaErrorUnknown");  // ftruncate failed
  check_recovery(client);
}

TEST_CASE("damage is seen: before, after, input", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  struct {
    const char *variant, *sentence;
  } const table[] = {
      {"writes_before", "wrote 4 bytes before the start of the output"},
      {"writes_after", "wrote 4 bytes past the end of the output, the nearest 0 bytes past it"},
      {"changes_input", "changed its input, first at element 3"},
  };
  for (auto [variant, sentence] : table) {
    DYNAMIC_SECTION(variant) {
      const Outcome outcome = client.run(job_for(client, variant));
      CHECK(outcome.kind == Outcome::Kind::returned);
      REQUIRE(outcome.damage.size() == 1);
      INFO(outcome.damage[0]);
      CHECK(contains(outcome.damage[0], sentence));
      check_recovery(client);  // guards and input are whole again
    }
  }
}

TEST_CASE("output that is not written is still the poison, also after a job that wrote it", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  check_recovery(client);
  const Outcome outcome = client.run(job_for(client, "writes_nothing"));
  CHECK(outcome.kind == Outcome::Kind::returned);
  CHECK(outcome.error == 0);
  CHECK(outcome.output[0] == std::vector<unsigned char>(input.size() * sizeof(float), rung::poison));
}

TEST_CASE("errors arrive by name, also those that the rung does not look at", "[worker]") {
  Client client(worker(), testdata("misbehaves.so"));
  CHECK(client.run(job_for(client, "returns_an_error")).error_name == "cudaErrorNotSupported");
  // cudaErrorInvalidConfiguration; CUDA 13.0 on an H200 said cudaErrorInvalidValue.
  CHECK(contains(client.run(job_for(client, "launches_badly")).error_name, "cudaErrorInvalid"));
  check_recovery(client);
}

TEST_CASE("a rung that cannot be loaded is a problem in words", "[worker]") {
  auto problem_of = [](const std::string& program, const std::string& rung) {
    Client client(program, rung);
    CHECK(client.variants().empty());
    CHECK(client.run(Job()).kind == Outcome::Kind::no_worker);
    return client.problem();
  };
  CHECK(contains(problem_of(worker(), testdata("missing.so")), "No such file"));
  CHECK(contains(problem_of(worker(), "/etc/passwd"), "invalid ELF header"));
  CHECK(contains(problem_of(worker(), testdata("no_table.so")), "RUNG_EXPORT"));
  CHECK(contains(problem_of(worker(), testdata("exits_at_load.so")), "exit status 0 while the rung was being loaded"));
  CHECK(contains(problem_of("no/such/worker", testdata("misbehaves.so")), "no/such/worker"));
  CHECK(contains(problem_of("/bin/true", testdata("misbehaves.so")), "exit status 0"));
}

// While it lives, testdata/predicts.cu does as this says.
class Predicting {
 public:
  explicit Predicting(const char* how) { setenv("LADDER_TEST_PREDICTIONS", how, 1); }
  ~Predicting() { unsetenv("LADDER_TEST_PREDICTIONS"); }
};

TEST_CASE("predictions arrive as they were made, whatever their values", "[worker]") {
  Client client(worker(), testdata("predicts.so"));
  REQUIRE(client.problem() == "");
  CHECK(client.variants().size() == 1);
  const auto& predictions = client.predictions();
  REQUIRE(predictions.size() == 4);
  CHECK(predictions[0].name == "sectors");
  CHECK(predictions[0].value == 4);
  CHECK(predictions[1].name == "later");
  CHECK(std::isnan(predictions[1].value));
  CHECK((std::isinf(predictions[2].value) && predictions[2].value < 0));
  CHECK(predictions[3].name.size() == 63);
  CHECK(predictions[3].value == 1e300);

  CHECK(Client(worker(), testdata("misbehaves.so")).predictions().empty());
  const Predicting predicting("as many as can be");
  CHECK(Client(worker(), testdata("predicts.so")).predictions().size() == rung::max_predictions);
}

TEST_CASE("a malformed table of predictions is a problem in words", "[worker]") {
  struct {
    const char *how, *part;
  } const table[] = {
      {"no table", "the table of its predictions is empty or absurdly long"},
      {"none", "the table of its predictions is empty or absurdly long"},
      {"fewer than none", "the table of its predictions is empty or absurdly long"},
      {"too many", "the table of its predictions is empty or absurdly long"},
      {"nameless", "one of its predictions has no name or one of more than 63 characters"},
      {"empty name", "one of its predictions has no name or one of more than 63 characters"},
      {"long name", "one of its predictions has no name or one of more than 63 characters"},
      // Messages that the rung itself wrote to the worker's socket:
      {"forged: too many", "it wrote to the worker's own connection"},
      {"forged: fewer than none", "it wrote to the worker's own connection"},
      {"forged: wrong magic", "it wrote to the worker's own connection"},
      {"forged: short message", "it wrote to the worker's own connection"},
      {"forged: no name", "it wrote to the worker's own connection"},
      {"forged: one missing", "it wrote to the worker's own connection"},
  };
  for (auto [how, part] : table) {
    DYNAMIC_SECTION(how) {
      const Predicting predicting(how);
      Client client(worker(), testdata("predicts.so"));
      INFO(client.problem());
      CHECK(contains(client.problem(), part));
      CHECK(client.variants().empty());
      CHECK(client.predictions().empty());
    }
  }
}

TEST_CASE("the name of a prediction ends where its array ends", "[worker]") {
  const Predicting predicting("forged: name without an end");
  Client client(worker(), testdata("predicts.so"));
  // On the executor the rung's messages do not come so far.
  if (contains(client.problem(), "it wrote to the worker's own connection")) return;
  REQUIRE(client.predictions().size() == 1);
  CHECK(client.predictions()[0].name == std::string(64, '?'));
}

TEST_CASE("clients leave no descriptors behind", "[worker]") {
  const int before = open_descriptors();
  for (int i = 0; i < 3; i++) {
    Client client(worker(), testdata("misbehaves.so"));
    client.run(job_for(client, "good"));
    client.run(job_for(client, "exits"));
    client.run(job_for(client, "good"));
  }
  CHECK(open_descriptors() == before);
}
