#include "image.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "../loaded_module.h"
#include "../memory.h"
#include "host_calls.h"

namespace simt {
// As an instrumented module does itself where its constructors run (include/simt/device_variables.h).
void device_variables_loaded(const void* code, const void* constants, const void* constants_end);
}  // namespace simt

namespace simt::apart {

namespace {

#if defined(__x86_64__)
constexpr unsigned machine = EM_X86_64, chosen_at_load = R_X86_64_IRELATIVE;
#elif defined(__aarch64__)
constexpr unsigned machine = EM_AARCH64, chosen_at_load = R_AARCH64_IRELATIVE;
#endif

// Objects in a file that may be anything: nullptr where it is too short.
template <typename T>
T* at(std::vector<unsigned char>& file, uint64_t offset, uint64_t count = 1) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return nullptr;
  return reinterpret_cast<T*>(file.data() + offset);
}

std::string name_at(std::vector<unsigned char>& file, const ElfW(Shdr) & names, uint64_t offset) {
  const char* const text = offset < names.sh_size ? at<char>(file, names.sh_offset, names.sh_size) : nullptr;
  return text ? std::string(text + offset, strnlen(text + offset, names.sh_size - offset)) : "";
}

}  // namespace

bool Image::fail(const std::string& problem) {
  problem_ = problem;
  return false;
}

bool Image::read(const std::string& path) {
  char absolute[PATH_MAX];
  path_ = realpath(path.c_str(), absolute) ? absolute : path;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(path + ": cannot open shared object file: " + std::strerror(errno));
  unsigned char part[1 << 16];
  for (ssize_t got; (got = ::read(descriptor, part, sizeof part)) > 0;) file_.insert(file_.end(), part, part + got);
  close(descriptor);
  if (!look_through()) return false;
  descriptor_ = memfd_create("rung", MFD_CLOEXEC);
  for (size_t done = 0; descriptor_ >= 0 && done < file_.size();) {
    const ssize_t written = write(descriptor_, file_.data() + done, file_.size() - done);
    if (written <= 0) return fail("no memory for a copy of " + path);
    done += static_cast<size_t>(written);
  }
  file_ = {};
  return descriptor_ >= 0 || fail("no memory for a copy of " + path);
}

// Takes away what the loader would run, and notes what there is.
bool Image::look_through() {
  const auto* const header = at<ElfW(Ehdr)>(file_, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return fail(path_ + ": invalid ELF header");
  if (header->e_machine != machine || header->e_type != ET_DYN) return fail(path_ + ": no shared object for this CPU");
  const auto* const segments = at<ElfW(Phdr)>(file_, header->e_phoff, header->e_phnum);
  const auto* const sections = at<ElfW(Shdr)>(file_, header->e_shoff, header->e_shnum);
  if (!segments || !sections || header->e_shstrndx >= header->e_shnum) return fail(path_ + ": a broken ELF file");
  for (unsigned i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type == PT_LOAD) bytes_ = std::max<uint64_t>(bytes_, segments[i].p_vaddr + segments[i].p_memsz);
    if (segments[i].p_type != PT_DYNAMIC) continue;
    const uint64_t count = segments[i].p_filesz / sizeof(ElfW(Dyn));
    auto* const entries = at<ElfW(Dyn)>(file_, segments[i].p_offset, count);
    if (!entries) return fail(path_ + ": a broken ELF file");
    for (uint64_t e = 0; e < count; e++) {
      const auto tag = entries[e].d_tag;
      const bool calls = tag == DT_INIT || tag == DT_FINI;
      const bool lists = tag == DT_INIT_ARRAYSZ || tag == DT_FINI_ARRAYSZ || tag == DT_PREINIT_ARRAYSZ;
      if (calls) entries[e].d_tag = DT_DEBUG;  // which means nothing in a shared object
      if (calls || lists) entries[e].d_un.d_val = 0;
    }
  }
  for (unsigned i = 0; i < header->e_shnum; i++) {
    const ElfW(Shdr)& section = sections[i];
    const bool has_symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (name_at(file_, sections[header->e_shstrndx], section.sh_name) == "simt_constant") {
      constants_ = section.sh_addr;
      constants_end_ = section.sh_addr + section.sh_size;
    }
    if (section.sh_type == SHT_RELA) {
      const uint64_t count = section.sh_size / sizeof(ElfW(Rela));
      const auto* const entries = at<ElfW(Rela)>(file_, section.sh_offset, count);
      for (uint64_t e = 0; entries && e < count; e++) {
        if (ELF64_R_TYPE(entries[e].r_info) == chosen_at_load)
          return fail(path_ + ": chooses functions while it is loaded (ifunc), which no kernel needs");
      }
    }
    if (!has_symbols || section.sh_link >= header->e_shnum) continue;
    const uint64_t count = section.sh_size / sizeof(ElfW(Sym));
    const auto* const symbols = at<ElfW(Sym)>(file_, section.sh_offset, count);
    for (uint64_t s = 0; symbols && s < count; s++) {
      const unsigned type = ELF64_ST_TYPE(symbols[s].st_info);
      if (type == STT_GNU_IFUNC)
        return fail(path_ + ": chooses functions while it is loaded (ifunc), which no kernel needs");
      const bool defined = symbols[s].st_shndx != SHN_UNDEF;
      if (defined && type == STT_FUNC) functions_.insert(symbols[s].st_value);
      if (!defined && section.sh_type == SHT_DYNSYM)
        instrumented_ |= name_at(file_, sections[section.sh_link], symbols[s].st_name) == "__sanitizer_cov_trace_pc";
    }
  }
  return true;
}

bool Image::load() {
  const std::string file = "/proc/self/fd/" + std::to_string(descriptor_);
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::string said = dlerror();
    const size_t where = said.find(file);
    if (where != std::string::npos) said.replace(where, file.size(), path_);
    return fail(said);
  }
  close(descriptor_);
  base_ = static_cast<const link_map*>(handle)->l_addr;
  name_module(base_, path_);
  stop_host_calls(static_cast<const link_map*>(handle));
  const auto* const begin = reinterpret_cast<const char*>(base_);
  device_variables_loaded(begin + *functions_.begin(), begin + constants_, begin + constants_end_);
  return true;
}

}  // namespace simt::apart
