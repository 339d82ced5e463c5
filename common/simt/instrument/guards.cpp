#include "guards.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

namespace simt {

namespace {

std::string module_path(const void* code) {
  Dl_info info;
  void* map = nullptr;
  if (!dladdr1(code, &info, &map, RTLD_DL_LINKMAP) || !map) return {};
  const char* const name = static_cast<link_map*>(map)->l_name;
  return *name ? name : "/proc/self/exe";
}

// Thread-local symbols that begin with _ZGV, the prefix of guard variables.
std::vector<uintptr_t> read_guards(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<uintptr_t> offsets;
  if (bytes.size() < sizeof(ElfW(Ehdr)) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return offsets;
  ElfW(Ehdr) header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  if (header.e_shoff + sections.size() * sizeof sections[0] > bytes.size()) return offsets;
  std::memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof sections[0]);
  for (const ElfW(Shdr) & section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const char* const names = bytes.data() + sections[section.sh_link].sh_offset;
    for (size_t at = 0; at + sizeof(ElfW(Sym)) <= section.sh_size; at += sizeof(ElfW(Sym))) {
      ElfW(Sym) symbol;
      std::memcpy(&symbol, bytes.data() + section.sh_offset + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && std::strncmp(names + symbol.st_name, "_ZGV", 4) == 0)
        offsets.push_back(symbol.st_value);
    }
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

}  // namespace

const std::vector<uintptr_t>& guard_offsets(const void* code) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, std::vector<uintptr_t>>;
  const std::string path = module_path(code);
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = known->find(path);
  return found != known->end() ? found->second : (*known)[path] = read_guards(path);
}

}  // namespace simt
