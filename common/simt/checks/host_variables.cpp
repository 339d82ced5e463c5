#include "host_variables.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <unordered_set>

#include "../loaded_module.h"
#include "../module_symbols.h"

namespace simt::checks {

namespace {

// Lines of simtcc: +name for a variable of the host, -name for one of the device. A name that is both is no one's.
std::vector<Allocation> find() {
  const LoadedModule module = loaded_module(reinterpret_cast<uintptr_t>(&find));
  std::istringstream lines(section_of(module.path(), ".simt_variables"));
  std::unordered_set<std::string> host, device;
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 1) (line[0] == '+' ? host : device).insert(line.substr(1));
  }
  for (const std::string& name : device) host.erase(name);
  std::vector<Allocation> found;
  if (!host.empty()) found = variables_called(module, host);
  std::sort(found.begin(), found.end(), [](const Allocation& a, const Allocation& b) { return a.begin < b.begin; });
  return found;
}

}  // namespace

const std::vector<Allocation>& host_variables() {
  static const auto* const variables = new std::vector<Allocation>(find());
  return *variables;
}

}  // namespace simt::checks
