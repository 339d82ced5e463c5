#include "module_symbols.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "loaded_module.h"

namespace simt {

namespace {

// A file in memory, for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0) {
      bytes_ = static_cast<size_t>(status.st_size);
      data_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (data_ == MAP_FAILED) data_ = nullptr;
    }
    if (descriptor >= 0) close(descriptor);
  }
  ~MappedFile() {
    if (data_) munmap(data_, bytes_);
  }
  MappedFile(const MappedFile&) = delete;

  // nullptr if the file is not that long.
  template <typename T>
  const T* at(size_t offset, size_t count = 1) const {
    if (!data_ || offset > bytes_ || count > (bytes_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(static_cast<const char*>(data_) + offset);
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

// Calls visit(symbol, its name) for every symbol of the file's symbol table.
template <typename Visit>
void for_each_symbol(const std::string& path, Visit visit) {
  const MappedFile file(path);
  const auto* header = file.at<ElfW(Ehdr)>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  if (!sections) return;
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
    const auto& strings = sections[sections[i].sh_link];
    const size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
    const auto* symbols = file.at<ElfW(Sym)>(sections[i].sh_offset, count);
    const auto* names = file.at<char>(strings.sh_offset, strings.sh_size);
    if (!symbols || !names || strings.sh_size == 0 || names[strings.sh_size - 1] != '\0') return;
    for (size_t s = 0; s < count; s++) {
      if (symbols[s].st_name < strings.sh_size) visit(symbols[s], names + symbols[s].st_name);
    }
  }
}

std::string read_mangled_name(const void* function) {
  const auto address = reinterpret_cast<uintptr_t>(function);
  const LoadedModule module = loaded_module(address);
  std::string found;
  for_each_symbol(module.path(), [&](const ElfW(Sym) & symbol, const char* name) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && module.base + symbol.st_value == address) found = name;
  });
  return found;
}

}  // namespace

std::string mangled_name(const void* function) {
  static std::mutex mutex;
  static auto* const known = new std::map<const void*, std::string>;
  std::lock_guard<std::mutex> lock(mutex);
  const auto [name, is_new] = known->try_emplace(function);
  if (is_new) name->second = read_mangled_name(function);
  return name->second;
}

std::vector<TlsSymbol> tls_symbols(const void* code) {
  std::vector<TlsSymbol> found;
  for_each_symbol(loaded_module(code).path(), [&](const ElfW(Sym) & symbol, const char* name) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF && symbol.st_size)
      found.push_back({name, symbol.st_value, symbol.st_size});
  });
  std::sort(found.begin(), found.end(), [](const TlsSymbol& a, const TlsSymbol& b) { return a.offset < b.offset; });
  return found;
}

// A variable of the function _Z7reversePf is called _ZZ7reversePfE3row; one of the extern "C" function reverse,
// _ZZ7reverseE3row.
static std::string prefix_of_variables(const std::string& function) {
  const bool is_mangled = function.rfind("_Z", 0) == 0;
  return "_ZZ" + (is_mangled ? function.substr(2) : std::to_string(function.size()) + function) + "E";
}

std::vector<TlsSymbol> without_other_kernels(std::vector<TlsSymbol> symbols, const void* kernel) {
  const LoadedModule module = loaded_module(kernel);
  const uintptr_t place = reinterpret_cast<uintptr_t>(kernel) - module.base;
  for_each_symbol(module.path(), [&](const ElfW(Sym) & symbol, const char* name) {
    const bool is_kernel =
        ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && ELF64_ST_VISIBILITY(symbol.st_other) == STV_PROTECTED;
    if (!is_kernel || symbol.st_value == place) return;
    const std::string prefix = prefix_of_variables(name);
    const auto is_its_own = [&](const TlsSymbol& variable) { return variable.name.rfind(prefix, 0) == 0; };
    symbols.erase(std::remove_if(symbols.begin(), symbols.end(), is_its_own), symbols.end());
  });
  return symbols;
}

std::string demangled(const std::string& mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  const std::string name = status == 0 ? text : mangled;
  std::free(text);
  return name;
}

std::string without_scope(const std::string& name) {
  const size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

std::string function_name(const void* function) {
  std::string name = demangled(mangled_name(function));
  const std::string nobody = "(anonymous namespace)::";
  for (size_t at; (at = name.find(nobody)) != std::string::npos;) name.erase(at, nobody.size());
  if (name.rfind("void ", 0) == 0) name.erase(0, 5);
  int depth = 0;  // of template arguments, which may have parentheses
  for (size_t i = 0; i < name.size(); i++) {
    depth += (name[i] == '<') - (name[i] == '>');
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
  }
  return name;
}

std::string section_of(const std::string& path, const std::string& wanted) {
  const MappedFile file(path);
  const auto* header = file.at<ElfW(Ehdr)>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return "";
  const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  if (!sections || header->e_shstrndx >= header->e_shnum) return "";
  const ElfW(Shdr)& strings = sections[header->e_shstrndx];
  const auto* names = file.at<char>(strings.sh_offset, strings.sh_size);
  if (!names || strings.sh_size == 0 || names[strings.sh_size - 1] != '\0') return "";
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_name >= strings.sh_size || wanted != names + sections[i].sh_name) continue;
    const auto* data = file.at<char>(sections[i].sh_offset, sections[i].sh_size);
    return data ? std::string(data, sections[i].sh_size) : "";
  }
  return "";
}

FunctionOffsets function_offsets(const std::string& path) {
  FunctionOffsets found;
  for_each_symbol(path, [&](const ElfW(Sym) & symbol, const char* name) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
      found[name].push_back(symbol.st_value);
  });
  return found;
}

std::string variable_name(uintptr_t address) {
  const LoadedModule module = loaded_module(address);
  std::string found;
  for_each_symbol(module.path(), [&](const ElfW(Sym) & symbol, const char* name) {
    const bool is_object = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF;
    if (is_object && address - (module.base + symbol.st_value) < symbol.st_size) found = name;
  });
  return without_scope(demangled(found));
}

std::vector<Allocation> variables_called(const LoadedModule& module, const std::unordered_set<std::string>& names) {
  std::vector<Allocation> found;
  for_each_symbol(module.path(), [&](const ElfW(Sym) & symbol, const char* name) {
    const bool is_object = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF;
    if (is_object && symbol.st_size && names.count(without_scope(demangled(name))))
      found.push_back({module.base + symbol.st_value, symbol.st_size});
  });
  return found;
}

namespace {

size_t read_static_shared_bytes(const void* kernel) {
  const LoadedModule module = loaded_module(kernel);
  const uintptr_t place = reinterpret_cast<uintptr_t>(kernel) - module.base;
  // Each of several files may have a static kernel of this name, and variables for it. What is of one file follows the
  // symbol that names the file.
  int file = 0, of_kernel = 0;
  std::string function;
  for_each_symbol(module.path(), [&](const ElfW(Sym) & symbol, const char* name) {
    file += ELF64_ST_TYPE(symbol.st_info) == STT_FILE;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value != place) return;
    function = name;
    of_kernel = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? file : 0;
  });
  if (function.empty()) return 0;
  const std::string prefix = prefix_of_variables(function);
  size_t bytes = 0;
  file = 0;
  for_each_symbol(module.path(), [&](const ElfW(Sym) & symbol, const char* name) {
    file += ELF64_ST_TYPE(symbol.st_info) == STT_FILE;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) return;
    if ((of_kernel == 0 || of_kernel == file) && std::strncmp(name, prefix.c_str(), prefix.size()) == 0)
      bytes += symbol.st_size;
  });
  return bytes;
}

}  // namespace

size_t static_shared_bytes(const void* kernel) {
  static std::mutex mutex;
  static std::map<const void*, size_t> known;
  std::lock_guard<std::mutex> lock(mutex);
  const auto [bytes, is_new] = known.try_emplace(kernel, 0);
  if (is_new) bytes->second = read_static_shared_bytes(kernel);
  return bytes->second;
}

}  // namespace simt
