// Where the __device__ variables of instrumented modules are: include/simt/device_variables.h reports a module.
#include <algorithm>
#include <map>
#include <mutex>

#include "loaded_module.h"
#include "memory.h"

namespace simt {

namespace {

// The module's memory for variables. Empty if it has none.
struct WritableData {
  uintptr_t begin = 0, end = 0;
};

WritableData writable_data(const LoadedModule& module) {
  WritableData data;
  uintptr_t read_only_end = 0;
  for (unsigned i = 0; i < module.header_count; i++) {
    const ElfW(Phdr)& segment = module.headers[i];
    const uintptr_t from = module.base + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && segment.p_flags & PF_W) data = {from, from + segment.p_memsz};
    if (segment.p_type == PT_GNU_RELRO) read_only_end = from + segment.p_memsz;
  }
  if (data.begin) data.begin = std::max(data.begin, read_only_end);
  return data;
}

// A module, by the address that reported it.
struct Module {
  Allocation parts[2];  // before and after the constants
  Allocation constants;
  bool counts_constants = false;
};
std::mutex mutex;
std::map<const void*, Module>& modules() {
  static auto* all = new std::map<const void*, Module>;
  return *all;
}

// By rising address; every file of a module reports it, and counts once.
template <typename PartsOf>
std::vector<Allocation> parts_of_modules(PartsOf parts_of) {
  std::lock_guard<std::mutex> lock(mutex);
  std::map<uintptr_t, size_t> parts;
  for (const auto& [code, module] : modules()) {
    for (const Allocation& part : parts_of(module)) {
      if (part.bytes) parts[part.begin] = part.bytes;
    }
  }
  std::vector<Allocation> list;
  for (const auto& [begin, bytes] : parts) list.push_back({begin, bytes});
  return list;
}

}  // namespace

void device_variables_loaded(const void* code, const void* constants, const void* constants_end) {
  const auto [begin, end] = writable_data(loaded_module(code));
  if (!begin) return;
  const auto first_constant = reinterpret_cast<uintptr_t>(constants);
  const auto after_constants = reinterpret_cast<uintptr_t>(constants_end);
  std::lock_guard<std::mutex> lock(mutex);
  Module& module = modules()[code];
  if (first_constant < after_constants) {
    module = {{{begin, first_constant - begin}, {after_constants, end - after_constants}},
              {first_constant, after_constants - first_constant}};
  } else {
    module = {{{begin, end - begin}, {}}, {}};
  }
}

void device_variables_unloaded(const void* code) {
  std::lock_guard<std::mutex> lock(mutex);
  modules().erase(code);
}

std::vector<Allocation> device_variables() {
  return parts_of_modules([](const Module& module) { return std::vector(module.parts, module.parts + 2); });
}
std::vector<Allocation> constant_variables() {
  return parts_of_modules([](const Module& module) { return std::vector{module.constants}; });
}
std::vector<Allocation> counted_constants() {
  return parts_of_modules([](const Module& module) {
    return module.counts_constants ? std::vector{module.constants} : std::vector<Allocation>();
  });
}
void count_constants_at(const void* address) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto& [code, module] : modules()) {
    const Allocation& constants = module.constants;
    if (reinterpret_cast<uintptr_t>(address) - constants.begin < constants.bytes) module.counts_constants = true;
  }
}

}  // namespace simt
