#include "host_calls.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "../block.h"
#include "../failure.h"
#include "../loaded_module.h"
#include "../module_symbols.h"
#include "device_functions.h"

namespace simt::apart {

namespace {

#if defined(__x86_64__)
bool is_address(unsigned type) {
  return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64;
}
#elif defined(__aarch64__)
bool is_address(unsigned type) {
  return type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_ABS64;
}
#endif

constexpr size_t max_stopped = 512;
std::array<std::string, max_stopped>& stopped_names() {
  static auto* const names = new std::array<std::string, max_stopped>;
  return *names;
}

[[noreturn]] void stopped(size_t number, uintptr_t caller) {
  const std::string name = demangled(stopped_names()[number]);
  Failure failure = {};
  failure.what = "a kernel calls a function of the host";
  std::snprintf(
      failure.detail, sizeof failure.detail,
      name.compare(0, 6, "simt::") == 0
          ? "%.200s is not for the kernels of a lab: they have no textures, no surfaces, and of curand no jumps "
            "to another subsequence."
          : "%.200s is the host's. A kernel can call __device__ functions, CUDA's own and those of "
            "mathematics; nvcc refuses this.",
      name.c_str());
  if (const Block* const block = current_block; block && block->running()) {
    failure.in_kernel = true;
    const uint3 index = block->index(), thread = block->running()->index;
    std::memcpy(failure.block, &index, sizeof failure.block);
    std::memcpy(failure.thread, &thread, sizeof failure.thread);
  }
  failure.pc = caller - 1;
  report_failure(failure);
}

// A function of its own for each name, since what calls it cannot say which was meant.
template <size_t number>
[[noreturn]] void stop() {
  stopped(number, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
}
template <size_t... numbers>
constexpr std::array<void (*)(), sizeof...(numbers)> make_stops(std::index_sequence<numbers...>) {
  return {stop<numbers>...};
}
constexpr auto stops = make_stops(std::make_index_sequence<max_stopped>());

// Is it code, not data such as stdout?
bool is_code(uintptr_t address) {
  const LoadedModule module = loaded_module(address);
  for (unsigned i = 0; i < module.header_count; i++) {
    const ElfW(Phdr)& segment = module.headers[i];
    if (segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
        address - (module.base + segment.p_vaddr) < segment.p_memsz)
      return true;
  }
  return false;
}

class Slots {
 public:
  explicit Slots(const link_map* module) : base_(module->l_addr) {
    for (const ElfW(Dyn)* entry = module->l_ld; entry->d_tag != DT_NULL; entry++) {
      const uintptr_t value = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB: symbols_ = reinterpret_cast<const ElfW(Sym)*>(value); break;
        case DT_STRTAB: names_ = reinterpret_cast<const char*>(value); break;
        case DT_RELA: tables_[0].first = reinterpret_cast<const ElfW(Rela)*>(value); break;
        case DT_RELASZ: tables_[0].second = value / sizeof(ElfW(Rela)); break;
        case DT_JMPREL: tables_[1].first = reinterpret_cast<const ElfW(Rela)*>(value); break;
        case DT_PLTRELSZ: tables_[1].second = value / sizeof(ElfW(Rela)); break;
        default: break;
      }
    }
  }

  // Calls visit(slot, name) for every place that holds the address of what another module defines.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [entries, count] : tables_) {
      for (size_t i = 0; i < count; i++) {
        const ElfW(Sym)& symbol = symbols_[ELF64_R_SYM(entries[i].r_info)];
        if (!is_address(static_cast<unsigned>(ELF64_R_TYPE(entries[i].r_info))) || symbol.st_shndx != SHN_UNDEF)
          continue;
        visit(reinterpret_cast<uintptr_t*>(base_ + entries[i].r_offset), names_ + symbol.st_name);
      }
    }
  }

 private:
  uintptr_t base_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  std::pair<const ElfW(Rela)*, size_t> tables_[2] = {};
};

}  // namespace

void stop_host_calls(const link_map* module) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto protect = [&](uintptr_t address, int protection) {
    mprotect(reinterpret_cast<void*>(address / page * page), page, protection);
  };
  // What the loader has closed is opened, and closed again.
  uintptr_t closed = 0, closed_end = 0;
  const LoadedModule loaded = loaded_module(reinterpret_cast<uintptr_t>(module->l_ld));
  for (unsigned i = 0; i < loaded.header_count; i++) {
    if (loaded.headers[i].p_type != PT_GNU_RELRO) continue;
    closed = loaded.base + loaded.headers[i].p_vaddr;
    closed_end = closed + loaded.headers[i].p_memsz;
  }
  std::map<std::string, size_t> numbers;
  std::set<uintptr_t> opened;
  Slots(module).for_each([&](uintptr_t* slot, const char* name) {
    if (!*slot || is_device_function(name) || !is_code(*slot)) return;
    const auto address = reinterpret_cast<uintptr_t>(slot);
    if (address >= closed && address < closed_end && opened.insert(address / page).second)
      protect(address, PROT_READ | PROT_WRITE);
    if (const void* const own = device_version(name)) {
      *slot = reinterpret_cast<uintptr_t>(own);
      return;
    }
    const size_t number = numbers.try_emplace(name, numbers.size()).first->second;
    const size_t stop = number < max_stopped ? number : max_stopped - 1;
    stopped_names()[stop] = name;
    *slot = reinterpret_cast<uintptr_t>(stops[stop]);
  });
  for (const uintptr_t number : opened) protect(number * page, PROT_READ);
}

}  // namespace simt::apart
