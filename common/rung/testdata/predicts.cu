// A rung for test_worker.cpp that makes predictions: good ones, tables that the worker must refuse, and, past the
// worker, messages of its own that the client must refuse. Which, says LADDER_TEST_PREDICTIONS.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "protocol.h"
#include "rung.h"

namespace {

constexpr char name_of_63[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk";
constexpr char name_of_64[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl";
static_assert(sizeof name_of_63 == 64 && sizeof name_of_64 == 65, "as they say");

const rung::Prediction good[] = {
    {"sectors", 4},
    {"later", rung::unknown},
    {"absurd", -std::numeric_limits<double>::infinity()},
    {name_of_63, 1e300},
};
rung::Prediction many[rung::max_predictions + 1];
const rung::Prediction nameless[] = {{"first", 1}, {nullptr, 2}}, empty_name[] = {{"", 1}},
                       long_name[] = {{name_of_64, 1}};

template <typename T>
void write_to_client(const T& message, size_t size = sizeof(T)) {
  if (write(rung::control_descriptor, &message, size) < 0) _exit(9);
}

// What the worker would send, but for the number of predictions.
void forge_tables(int predictions) {
  static rung::Reply reply;
  reply.magic = rung::reply_magic;
  reply.kind = rung::Reply::table;
  reply.count = 1;
  reply.predictions = predictions;
  write_to_client(reply);
  rung::TableEntry entry{};
  entry.magic = rung::reply_magic;
  strcpy(entry.name, "forged");
  write_to_client(entry);
}

[[noreturn]] void forge(const std::string& how) {
  rung::PredictionEntry entry{};
  entry.magic = rung::reply_magic;
  strcpy(entry.name, "sectors");
  entry.value = 4;
  if (how == "forged: too many") {
    forge_tables(1 << 30);
  } else if (how == "forged: fewer than none") {
    forge_tables(-1);
  } else if (how == "forged: wrong magic") {
    forge_tables(1);
    entry.magic++;
    write_to_client(entry);
  } else if (how == "forged: short message") {
    forge_tables(1);
    write_to_client(entry, 5);
  } else if (how == "forged: no name") {
    forge_tables(1);
    entry.name[0] = 0;
    write_to_client(entry);
  } else if (how == "forged: one missing") {
    forge_tables(2);
    write_to_client(entry);
    _exit(0);
  } else if (how == "forged: name without an end") {
    forge_tables(1);
    memset(entry.name, '\a', sizeof entry.name);
    write_to_client(entry);
  }
  for (;;) pause();
}

cudaError_t nothing(const float*, float*, int, int, cudaStream_t) { return cudaSuccess; }

}  // namespace

extern "C" const rung::Prediction* rung_predictions(int* count) {
  const char* variable = getenv("LADDER_TEST_PREDICTIONS");
  const std::string how = variable ? variable : "";
  if (how.rfind("forged", 0) == 0) forge(how);
  *count = 1;
  if (how == "no table") return nullptr;
  if (how == "empty name") return empty_name;
  if (how == "long name") return long_name;
  if (how == "nameless") return *count = 2, nameless;
  if (how == "none") return *count = 0, good;
  if (how == "fewer than none") return *count = -1, good;
  for (rung::Prediction& p : many) p = {"again", 1};
  if (how == "too many") return *count = rung::max_predictions + 1, many;
  if (how == "as many as can be") return *count = rung::max_predictions, many;
  *count = sizeof good / sizeof good[0];
  return good;
}

RUNG_EXPORT(rung::softmax("nothing", nothing))
