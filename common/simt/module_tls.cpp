#include "module_tls.h"

#include <link.h>

#include <cstdint>

// The dynamic loader's own: allocates a module's variables for this OS thread if it has not yet done so.
struct TlsIndex {
  unsigned long module, offset;
};
extern "C" void* __tls_get_addr(TlsIndex*);

namespace simt {

namespace {

struct Query {
  uintptr_t code;
  ModuleTls tls;
};

int visit(dl_phdr_info* info, size_t, void* data) {
  auto* query = static_cast<Query*>(data);
  bool holds_code = false;
  const ElfW(Phdr)* variables = nullptr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_TLS) variables = &segment;
    holds_code |= segment.p_type == PT_LOAD && query->code - (info->dlpi_addr + segment.p_vaddr) < segment.p_memsz;
  }
  if (!holds_code) return 0;
  if (variables) {
    TlsIndex start = {info->dlpi_tls_modid, 0};
    query->tls = {static_cast<unsigned char*>(__tls_get_addr(&start)), variables->p_memsz, variables->p_filesz,
                  info->dlpi_name[0] == '\0'};
  }
  return 1;
}

}  // namespace

ModuleTls module_tls(const void* code) {
  Query query = {reinterpret_cast<uintptr_t>(code), {}};
  dl_iterate_phdr(visit, &query);
  return query.tls;
}

}  // namespace simt
