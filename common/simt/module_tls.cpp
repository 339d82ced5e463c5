#include "module_tls.h"

#include "loaded_module.h"

// The dynamic loader's own: allocates a module's variables for this OS thread if it has not yet done so.
struct TlsIndex {
  unsigned long module, offset;
};
extern "C" void* __tls_get_addr(TlsIndex*);

namespace simt {

ModuleTls module_tls(const void* code) {
  const LoadedModule module = loaded_module(code);
  for (unsigned i = 0; i < module.header_count; i++) {
    const ElfW(Phdr)& variables = module.headers[i];
    if (variables.p_type != PT_TLS) continue;
    TlsIndex start = {module.tls_index, 0};
    return {static_cast<unsigned char*>(__tls_get_addr(&start)), variables.p_memsz, variables.p_filesz,
            module.is_program()};
  }
  return {};
}

}  // namespace simt
