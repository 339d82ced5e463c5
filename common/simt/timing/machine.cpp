#include "machine.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#ifndef SIMT_MACHINES
#define SIMT_MACHINES "common/simt/timing/machines"
#endif

namespace simt::timing {

namespace {

// Where the files are: of the checkout that this was built in; if that is not here, as where a build was carried to
// another machine, of the checkout that is the current folder.
std::string folder_of_machines() {
  DIR* const built = opendir(SIMT_MACHINES);
  if (!built) return "common/simt/timing/machines";
  closedir(built);
  return SIMT_MACHINES;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

double number(const nlohmann::json& file, const std::string& name, double low, double high, const std::string& path) {
  const auto found = file.find(name);
  if (found == file.end()) throw std::runtime_error(path + " lacks the constant '" + name + "'");
  if (!found->is_object() || !found->contains("value") || !(*found)["value"].is_number())
    throw std::runtime_error(path + ": '" + name + "' has no number as its \"value\"");
  if (!found->contains("source") || !(*found)["source"].is_string())
    throw std::runtime_error(path + ": '" + name + "' does not say its \"source\"");
  const double value = (*found)["value"];
  if (!(value >= low && value <= high)) {
    char text[160];
    std::snprintf(text, sizeof text, ": '%s' is %.9g; it must lie between %.9g and %.9g", name.c_str(), value, low,
                  high);
    throw std::runtime_error(path + text);
  }
  return value;
}

int whole_number(const nlohmann::json& file, const std::string& name, double low, double high,
                 const std::string& path) {
  const double value = number(file, name, low, high, path);
  if (value == static_cast<int>(value)) return static_cast<int>(value);
  char text[160];
  std::snprintf(text, sizeof text, ": '%s' is %.9g; it must be a whole number", name.c_str(), value);
  throw std::runtime_error(path + text);
}

// Of each constant by itself the ranges are checked; of two of them together, here.
void check(const Machine& machine, const std::string& path) {
  if (machine.l1_kib >= machine.shared_kib) return;
  char text[160];
  std::snprintf(text, sizeof text,
                ": 'l1_kib' is %.9g and 'shared_kib' %.9g; the first is L1 and shared memory together, so that it must "
                "not be less",
                machine.l1_kib, machine.shared_kib);
  throw std::runtime_error(path + text);
}

std::string contents(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0)
    throw std::runtime_error("cannot read the machine file " + path + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw std::runtime_error("cannot read the machine file " + path + ": it is no file");
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read the machine file " + path + ": " + std::strerror(errno));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  if (DIR* const folder = opendir(folder_of_machines().c_str())) {
    while (const dirent* const entry = readdir(folder)) {
      const std::string name = entry->d_name;
      if (name.size() > 5 && name.substr(name.size() - 5) == ".json") names.push_back(name.substr(0, name.size() - 5));
    }
    closedir(folder);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Machine read_machine(const std::string& name) {
  const bool is_path = name.size() > 5 && name.substr(name.size() - 5) == ".json";
  const std::string path = is_path ? name : folder_of_machines() + "/" + name + ".json";
  const std::vector<std::string> names = machine_names();
  if (!is_path && std::find(names.begin(), names.end(), name) == names.end())
    throw std::runtime_error("there is no GPU '" + name + "'; there are: " + listed(names) +
                             ", or the path of a machine file, which ends in .json");
  nlohmann::json file;
  try {
    file = nlohmann::json::parse(contents(path));
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(path + " is no JSON: " + error.what());
  }
  Machine machine = {};
  if (!file.is_object() || !file.contains("name") || !file["name"].is_string())
    throw std::runtime_error(path + " lacks the GPU's \"name\"");
  machine.name = file["name"];
  const size_t slash = path.rfind('/');
  machine.short_name = path.substr(slash + 1, path.size() - slash - 6);
#define CONSTANT(name, least, most) machine.name = number(file, #name, least, most, path);
#define WHOLE(name, least, most) machine.name = whole_number(file, #name, least, most, path);
#define DRAM_GBS(share, least, most) \
  machine.dram_gbs[share / 25] = number(file, "dram_gbs_written_" #share, least, most, path);
#include "constants.inc"
  check(machine, path);
  return machine;
}

}  // namespace simt::timing
