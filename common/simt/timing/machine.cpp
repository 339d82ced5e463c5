#include "machine.h"

#include <dirent.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#ifndef SIMT_MACHINES
#define SIMT_MACHINES "common/simt/timing/machines"
#endif

namespace simt::timing {

namespace {

struct Constant {
  const char* name;
  double Machine::*value;
  double low, high;
};
struct Count {
  const char* name;
  int Machine::*value;
  int low, high;
};

constexpr Constant constants[] = {
    {"clock_ghz", &Machine::clock_ghz, 0.3, 5},
    {"shared_kib", &Machine::shared_kib, 16, 1024},
    {"l1_kib", &Machine::l1_kib, 16, 1024},
    {"l2_mib", &Machine::l2_mib, 0.25, 1024},
    {"half_line", &Machine::half_line, 1, 4},
    {"l2_gbs", &Machine::l2_gbs, 50, 100000},
    {"l1_l2_bytes", &Machine::l1_l2_bytes, 8, 1024},
    {"dram_latency", &Machine::dram_latency, 50, 5000},
    {"l2_latency", &Machine::l2_latency, 20, 3000},
    {"l1_latency", &Machine::l1_latency, 5, 500},
    {"shared_latency", &Machine::shared_latency, 5, 500},
    {"shuffle_latency", &Machine::shuffle_latency, 1, 500},
    {"vote_latency", &Machine::vote_latency, 1, 500},
    {"atomic_latency", &Machine::atomic_latency, 20, 5000},
    {"mufu_latency", &Machine::mufu_latency, 1, 200},
    {"alu_latency", &Machine::alu_latency, 1, 50},
    {"alu_rate", &Machine::alu_rate, 0.05, 4},
    {"mufu_rate", &Machine::mufu_rate, 0.01, 4},
    {"double_rate", &Machine::double_rate, 0.001, 4},
    {"warp_issue", &Machine::warp_issue, 1, 20},
    {"barrier", &Machine::barrier, 0, 1000},
    {"barrier_warp", &Machine::barrier_warp, 0, 100},
    {"block_begin", &Machine::block_begin, 0, 10000},
    {"block_end", &Machine::block_end, 0, 10000},
    {"warp_interval", &Machine::warp_interval, 0, 200},
    {"block_interval_ns", &Machine::block_interval_ns, 0, 100},
    {"launch_us", &Machine::launch_us, 0, 100},
    {"drain", &Machine::drain, 0, 10000},
    {"atomics_ns", &Machine::atomics_ns, 0.001, 100},
    {"float_atomics_ns", &Machine::float_atomics_ns, 0.001, 100},
    {"partial_stores_ns", &Machine::partial_stores_ns, 0.1, 10000},
    {"residue", &Machine::residue, 0.5, 2},
    {"band", &Machine::band, 1, 10},
};
constexpr Count counts[] = {
    {"multiprocessors", &Machine::multiprocessors, 1, 1024},
    {"schedulers", &Machine::schedulers, 1, 16},
    {"warps", &Machine::warps, 1, 256},
    {"blocks", &Machine::blocks, 1, 256},
    {"registers", &Machine::registers, 1024, 1 << 24},
};

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
    std::snprintf(text, sizeof text, ": '%s' is %g; it must lie between %g and %g", name.c_str(), value, low, high);
    throw std::runtime_error(path + text);
  }
  return value;
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
  std::ifstream in(path);
  if (!in || (!is_path && name.find('/') != std::string::npos)) {
    if (is_path) throw std::runtime_error("cannot read " + path);
    throw std::runtime_error("there is no GPU '" + name + "'; there are: " + listed(machine_names()) +
                             ", or the path of a machine file");
  }
  nlohmann::json file;
  try {
    file = nlohmann::json::parse(in);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(path + " is no JSON: " + error.what());
  }
  Machine machine = {};
  if (!file.is_object() || !file.contains("name") || !file["name"].is_string())
    throw std::runtime_error(path + " lacks the GPU's \"name\"");
  machine.name = file["name"];
  const size_t slash = path.rfind('/');
  machine.short_name = path.substr(slash + 1, path.size() - slash - 6);
  for (const Constant& constant : constants)
    machine.*constant.value = number(file, constant.name, constant.low, constant.high, path);
  for (const Count& count : counts)
    machine.*count.value = static_cast<int>(number(file, count.name, count.low, count.high, path));
  const char* const shares[] = {"dram_gbs_written_0", "dram_gbs_written_25", "dram_gbs_written_50",
                                "dram_gbs_written_75", "dram_gbs_written_100"};
  for (int i = 0; i < 5; i++) machine.dram_gbs[i] = number(file, shares[i], 10, 100000, path);
  return machine;
}

}  // namespace simt::timing
