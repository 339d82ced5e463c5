// A JSON file that keeps its contents whatever goes wrong. Header only: J is nlohmann::json, which sorts its keys, or
// ordered_json, which does not.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "error.h"

namespace bench {

// The object in the file. Throws Error if there is none, or if it is no JSON object.
template <typename J>
J read_object(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(path + ": cannot be read: " + std::strerror(errno));
  J json;
  try {
    json = J::parse(in);
  } catch (const std::ios_base::failure&) {
    throw Error(path + ": cannot be read; is it a folder?");
  } catch (const typename J::parse_error& error) {
    throw Error(path + ": not valid JSON, near byte " + std::to_string(error.byte) + "; repair or delete it");
  }
  if (!json.is_object()) throw Error(path + ": expected a JSON object, got " + json.type_name());
  return json;
}

// Writes a new version beside the file and renames it. Throws Error if it cannot; the file is then as it was.
template <typename J>
void write_object(const std::string& path, const J& json) {
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  std::ofstream out(temporary);
  out << json.dump(1) << "\n";
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    throw Error(path + ": cannot be written: " + reason);
  }
}

}  // namespace bench
