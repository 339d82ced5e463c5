// Launches for the client's clock (timed.h), with the rungs of testdata/.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "catch2_any.h"
#include "client.h"
#include "timed.h"
#include "timed_inputs.h"

namespace {

using rung::Client;
using rung::Outcome;
using rung::Pick;
using rung::TimedSets;

constexpr const char *worker = "build/cpu/worker", *misbehaves = "build/cpu/common/rung/testdata/misbehaves.so";
constexpr int rows = 3, cols = 5, sets = 4;
const std::vector<Pick> picks = {{0, 0}, {3, 2}, {1, 1}};

TimedSets sets_of(Client& client, const std::string& name, uint64_t seed = 7) {
  for (size_t i = 0; i < client.variants().size(); i++) {
    if (client.variants()[i].name == name) return {static_cast<int>(i), {rows, cols, {}}, sets, seed, size_t{4} << 20};
  }
  FAIL("no variant " << name << " in testdata: " << client.problem());
  return {};
}

std::vector<float> fetched(Client& client, const TimedSets& timed) {
  std::vector<unsigned char> bytes;
  REQUIRE(client.fetch(timed, picks, &bytes).kind == Outcome::Kind::returned);
  REQUIRE(bytes.size() == picks.size() * cols * sizeof(float));
  std::vector<float> values(picks.size() * cols);
  memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void check_twice_the_input(Client& client, uint64_t seed) {
  const TimedSets timed = sets_of(client, "good", seed);
  REQUIRE(client.prepare(timed).kind == Outcome::Kind::returned);
  for (const float value : fetched(client, timed)) CHECK(std::isnan(value));  // poisoned
  const Outcome launched = client.launch(timed);
  CHECK(launched.kind == Outcome::Kind::returned);
  CHECK(launched.error == 0);
  CHECK(launched.waited > 0);
  const std::vector<float> values = fetched(client, timed);
  for (size_t i = 0; i < values.size(); i++) {
    const Pick pick = picks[i / cols];
    CHECK(values[i] == 2 * timed::logit(timed::row_key(seed, pick.set, pick.row), static_cast<int>(i % cols)));
  }
}

}  // namespace

TEST_CASE("timed launches run once on every set, and the rows that are picked come back", "[timed]") {
  Client client(worker, misbehaves);
  check_twice_the_input(client, 7);
  check_twice_the_input(client, 8);
}

TEST_CASE("what was never prepared is not launched, and the next request goes well", "[timed]") {
  Client client(worker, misbehaves);
  const Outcome outcome = client.launch(sets_of(client, "good"));
  CHECK(outcome.kind == Outcome::Kind::crashed);
  CHECK(outcome.message == "a launch without its prepare");
  check_twice_the_input(client, 7);
  TimedSets many = sets_of(client, "good");
  many.sets = 100;  // more than the memory holds
  CHECK(client.prepare(many).message == "the client asks for more sets than the memory holds");
  check_twice_the_input(client, 7);
  std::vector<unsigned char> bytes;
  const TimedSets timed = sets_of(client, "good");
  CHECK(client.prepare(timed).kind == Outcome::Kind::returned);
  CHECK(client.fetch(timed, {{0, rows}}, &bytes).message == "a wrong pick");
}

TEST_CASE("a rung that misbehaves in a timed launch loses that launch", "[timed]") {
  struct {
    const char *variant, *message;
  } const wrong[] = {{"crashes", "null pointer"},
                     {"crashes_on_host", "null pointer"},
                     {"exits", "the process ended with exit status 0"},
                     {"writes_garbage", "connection"},
                     {"forges_a_reply", "connection"},
                     {"closes_the_socket", "it closed its connection"}};
  Client client(worker, misbehaves);
  for (const auto& [variant, message] : wrong) {
    INFO(variant);
    const TimedSets timed = sets_of(client, variant);
    REQUIRE(client.prepare(timed).kind == Outcome::Kind::returned);
    const Outcome outcome = client.launch(timed);
    CHECK(outcome.kind == Outcome::Kind::crashed);
    INFO(outcome.message);
    CHECK(outcome.message.find(message) != std::string::npos);
    check_twice_the_input(client, 7);
  }
  const TimedSets timed = sets_of(client, "returns_an_error");
  REQUIRE(client.prepare(timed).kind == Outcome::Kind::returned);
  CHECK(client.launch(timed).error != 0);
}
