// The module, the program itself or a shared object, that holds an address of this process.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace simt {

// Valid while the module is loaded.
struct LoadedModule {
  uintptr_t base = 0;          // where offset 0 of its file was loaded
  const char* name = nullptr;  // as the dynamic loader has it: "" for the program itself, nullptr for no module
  const ElfW(Phdr) * headers = nullptr;
  unsigned header_count = 0;
  size_t tls_index = 0;  // the loader's number for its thread-local variables; 0 if it has none

  explicit operator bool() const { return name != nullptr; }
  bool is_program() const { return name && *name == '\0'; }

  // The file that it was loaded from; "" for no module.
  void path(char* to, size_t size) const;
  std::string path() const;
};

// What was loaded at this base is called by this path from now on, wherever its file came from.
void name_module(uintptr_t base, const std::string& path);

// Looks at headers in memory alone, so that a signal handler may call it.
LoadedModule loaded_module(uintptr_t address);
inline LoadedModule loaded_module(const void* address) { return loaded_module(reinterpret_cast<uintptr_t>(address)); }

}  // namespace simt
