#include "loaded_module.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace simt {

namespace {

// One is enough: a rung's, in the process that loads it for its kernels.
uintptr_t named_base = 0;
const char* named_path = nullptr;

struct Query {
  uintptr_t address;
  LoadedModule found;
};

int visit(dl_phdr_info* info, size_t, void* data) {
  auto* query = static_cast<Query*>(data);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || query->address - (info->dlpi_addr + segment.p_vaddr) >= segment.p_memsz) continue;
    query->found = {info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum, info->dlpi_tls_modid};
    return 1;
  }
  return 0;
}

}  // namespace

LoadedModule loaded_module(uintptr_t address) {
  Query query = {address, {}};
  dl_iterate_phdr(visit, &query);
  return query.found;
}

void name_module(uintptr_t base, const std::string& path) {
  named_base = base;
  named_path = strdup(path.c_str());
}

void LoadedModule::path(char* to, size_t size) const {
  if (named_path && base == named_base) {
    std::snprintf(to, size, "%s", named_path);
    return;
  }
  if (!is_program()) {
    std::snprintf(to, size, "%s", name ? name : "");
    return;
  }
  const ssize_t length = readlink("/proc/self/exe", to, size - 1);
  to[length > 0 ? length : 0] = '\0';
}

std::string LoadedModule::path() const {
  char text[4096];
  path(text, sizeof text);
  return text;
}

}  // namespace simt
