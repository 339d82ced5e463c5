#include "readings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace simt::counters {

namespace {

constexpr size_t columns = 5 + warp_lanes;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  if (!line.empty() && line.back() == ',') fields.emplace_back();
  return fields;
}

std::string header() {
  std::string text = "space,op,bytes_per_lane,requests_or_wavefronts,sectors_or_conflicts";
  for (unsigned lane = 0; lane < warp_lanes; lane++) text += ",lane" + std::to_string(lane);
  return text;
}

long long number(const std::string& text, long long lowest, long long highest, const char* what) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || *end || errno || value < lowest || value > highest) {
    throw std::runtime_error(std::string(what) + " is \"" + text + "\"; expected a number from " +
                             std::to_string(lowest) + " to " + std::to_string(highest));
  }
  return value;
}

Reading parse(const std::vector<std::string>& fields) {
  if (fields.size() != columns) {
    throw std::runtime_error(std::to_string(fields.size()) + " fields; expected " + std::to_string(columns));
  }
  Reading reading = {};
  if (fields[0] != "global" && fields[0] != "shared") {
    throw std::runtime_error("space is \"" + fields[0] + "\"; expected global or shared");
  }
  reading.space = fields[0] == "global" ? Space::global : Space::shared;
  const char* const names[] = {"ld", "st", "atom", "red"};
  unsigned op = 0;
  while (op < 4 && fields[1] != names[op]) op++;
  if (op == 4) throw std::runtime_error("op is \"" + fields[1] + "\"; expected ld, st, atom or red");
  reading.op = static_cast<Op>(op);
  reading.bytes = static_cast<unsigned>(number(fields[2], 1, 16, "bytes_per_lane"));
  if (reading.bytes & (reading.bytes - 1)) throw std::runtime_error("bytes_per_lane must be 1, 2, 4, 8 or 16");
  reading.first = static_cast<unsigned>(number(fields[3], 0, 1 << 20, "requests_or_wavefronts"));
  reading.second = static_cast<unsigned>(number(fields[4], 0, 1 << 20, "sectors_or_conflicts"));
  for (unsigned lane = 0; lane < warp_lanes; lane++) {
    const long long offset = number(fields[5 + lane], -1, 1ll << 46, "a lane's offset");
    if (offset < 0) continue;
    if (offset % reading.bytes) throw std::runtime_error("lane " + std::to_string(lane) + " is misaligned");
    reading.active |= 1u << lane;
    reading.addresses[lane] = static_cast<uint64_t>(offset);
  }
  return reading;
}

}  // namespace

std::vector<Reading> read_readings(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    const std::string reason = !file && errno ? std::strerror(errno) : "the file is empty";
    throw std::runtime_error(path + ": cannot be read: " + reason);
  }
  const auto drop_return = [&] {
    if (!line.empty() && line.back() == '\r') line.pop_back();
  };
  drop_return();
  if (line != header()) throw std::runtime_error(path + ":1: expected the header " + header());
  std::vector<Reading> readings;
  for (int number = 2; std::getline(file, line); number++) {
    drop_return();
    if (line.empty()) continue;
    try {
      readings.push_back(parse(split(line)));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
    readings.back().line = number;
  }
  if (readings.empty()) throw std::runtime_error(path + ": no rows after the header");
  return readings;
}

Counted count(const Reading& reading) {
  const WarpAccess access = {reading.space, reading.op, reading.bytes, reading.active, reading.addresses};
  if (reading.space == Space::global) {
    const GlobalCount got = count_global(access);
    return {got.requests, got.sectors};
  }
  const SharedCount got = count_shared(access);
  return {got.wavefronts, got.conflicts};
}

}  // namespace simt::counters
