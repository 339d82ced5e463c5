// Where the __device__ variables of instrumented modules are: include/simt/device_variables.h reports a module.
#include <link.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "memory.h"

namespace simt {

namespace {

struct Query {
  uintptr_t address, begin, end, read_only_end;
};

int find_writable_data(dl_phdr_info* info, size_t, void* data) {
  auto* query = static_cast<Query*>(data);
  bool found = false;
  uintptr_t begin = 0, end = 0, read_only_end = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) found |= query->address - from < segment.p_memsz;
    if (segment.p_type == PT_LOAD && segment.p_flags & PF_W) begin = from, end = from + segment.p_memsz;
    if (segment.p_type == PT_GNU_RELRO) read_only_end = from + segment.p_memsz;
  }
  if (found) *query = {query->address, begin, end, read_only_end};
  return found;
}

// A module, by the address that reported it.
struct Module {
  Allocation parts[2];  // before and after the constants
};
std::mutex mutex;
std::map<const void*, Module>& modules() {
  static auto* all = new std::map<const void*, Module>;
  return *all;
}

}  // namespace

void device_variables_loaded(const void* code, const void* constants, const void* constants_end) {
  Query query = {reinterpret_cast<uintptr_t>(code), 0, 0, 0};
  if (!dl_iterate_phdr(find_writable_data, &query) || !query.begin) return;
  const uintptr_t begin = std::max(query.begin, query.read_only_end);
  const auto first_constant = reinterpret_cast<uintptr_t>(constants);
  const auto after_constants = reinterpret_cast<uintptr_t>(constants_end);
  std::lock_guard<std::mutex> lock(mutex);
  Module& module = modules()[code];
  if (first_constant < after_constants) {
    module = {{{begin, first_constant - begin}, {after_constants, query.end - after_constants}}};
  } else {
    module = {{{begin, query.end - begin}, {}}};
  }
}

void device_variables_unloaded(const void* code) {
  std::lock_guard<std::mutex> lock(mutex);
  modules().erase(code);
}

std::vector<Allocation> device_variables() {
  std::lock_guard<std::mutex> lock(mutex);
  std::map<uintptr_t, size_t> parts;  // every file of a module reports it
  for (const auto& [code, module] : modules()) {
    for (const Allocation& part : module.parts) {
      if (part.bytes) parts[part.begin] = part.bytes;
    }
  }
  std::vector<Allocation> list;
  for (const auto& [begin, bytes] : parts) list.push_back({begin, bytes});
  return list;
}

}  // namespace simt
