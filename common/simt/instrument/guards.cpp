#include "guards.h"

#include <map>
#include <mutex>
#include <string>

#include "../loaded_module.h"
#include "../module_symbols.h"

namespace simt {

namespace {

// Symbols that begin with _ZGV, the prefix of guard variables.
std::vector<uintptr_t> read_guards(const void* code) {
  std::vector<uintptr_t> offsets;
  for (const TlsSymbol& symbol : tls_symbols(code)) {
    if (symbol.name.rfind("_ZGV", 0) == 0) offsets.push_back(symbol.offset);
  }
  return offsets;
}

}  // namespace

const std::vector<uintptr_t>& guard_offsets(const void* code) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, std::vector<uintptr_t>>;
  const std::string path = loaded_module(code).path();
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = known->find(path);
  return found != known->end() ? found->second : (*known)[path] = read_guards(code);
}

}  // namespace simt
