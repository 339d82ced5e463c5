// Where control goes in a kernel. Completed instrumentation (announce/) sees every access as long as functions begin at
// their first instruction and return to where they were called, and the stack pointer stays in the thread's own stack.
// Elsewhere code could be entered behind the announcement of its next access. So functions say when they begin, end
// and call through a pointer.
#include <dlfcn.h>

#include <cstring>

#include "../checks/report.h"
#include "../launch_state.h"
#include "../loaded_module.h"
#include "recorder.h"

namespace simt {

namespace {

constexpr const char* invalid = "memcheck: invalid address";

uint64_t word_at(uintptr_t address) { return *reinterpret_cast<const uint64_t*>(address); }

bool is_code(const LoadedModule& module, uintptr_t begin, size_t bytes) {
  for (unsigned i = 0; i < module.header_count; i++) {
    const auto& segment = module.headers[i];
    const uintptr_t offset = begin - module.base - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && offset < segment.p_memsz)
      return bytes <= segment.p_memsz - offset;
  }
  return false;
}

// A kernel may take the address of sinf and its like. They are those of the mathematical library's functions that the
// module itself names; the loader chooses among several of one name, so that only it knows the address.
bool is_named_function_of_libm(const LoadedModule& module, uintptr_t target) {
  const LoadedModule library = loaded_module(target);
  if (!library || !std::strstr(library.name, "/libm.so")) return false;
  const ElfW(Dyn)* entry = nullptr;
  for (unsigned i = 0; i < module.header_count; i++) {
    if (module.headers[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(module.base + module.headers[i].p_vaddr);
  }
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * tables[2] = {};
  size_t bytes[2] = {};
  for (; entry && entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr); break;
      case DT_STRTAB: names = reinterpret_cast<const char*>(entry->d_un.d_ptr); break;
      case DT_RELA: tables[0] = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr); break;
      case DT_RELASZ: bytes[0] = entry->d_un.d_val; break;
      case DT_JMPREL: tables[1] = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: bytes[1] = entry->d_un.d_val; break;
      default: break;
    }
  }
  for (int table = 0; table < 2 && symbols && names; table++) {
    for (size_t i = 0; tables[table] && i < bytes[table] / sizeof(ElfW(Rela)); i++) {
      const size_t number = ELF64_R_SYM(tables[table][i].r_info);
      if (number && reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, names + symbols[number].st_name)) == target)
        return true;
    }
  }
  return false;
}

}  // namespace

void Recorder::move_stack(uintptr_t to, uintptr_t pc) {
  // The address that a kernel's first function returns to lies just above.
  if (to - simt_local.begin <= simt_local.bytes) return note_depth(to);
  static_assert(Stacks::local_bytes == 64 << 10, "as the message says");
  checks::report(invalid, running_thread(), pc,
                 "its stack is not in its own local memory any more: its local variables take more than 64 KiB, it "
                 "recurses without an end, or alloca was given a size below 0.");
}

void Recorder::enter_function(uintptr_t slot, uintptr_t pc) {
  move_stack(slot, pc);
  std::vector<Frame>& calls = frames();
  while (!calls.empty() && calls.back().slot <= slot) calls.pop_back();
  calls.push_back({slot, word_at(slot)});
}

void Recorder::leave_function(uintptr_t slot, uintptr_t pc) {
  move_stack(slot, pc);
  std::vector<Frame>& calls = frames();
  while (!calls.empty() && calls.back().slot < slot) calls.pop_back();
  if (calls.empty() || calls.back().slot != slot || calls.back().returns_to != word_at(slot)) {
    checks::report(
        invalid, running_thread(), pc,
        "it returns to another address than it was called from: something has been written past the end of a "
        "local array, or to an address below one.");
  }
  calls.pop_back();
}

void Recorder::call_by_pointer(uintptr_t target, uint64_t mark, uintptr_t pc) {
  // A program may consist of several objects, each with a mark of its own.
  if (target == last_target_ || recording.main_program) return;
  const LoadedModule module = loaded_module(reinterpret_cast<const void*>(launch_->kernel.run));
  constexpr size_t mark_bytes = sizeof mark;
  const bool is_function = is_code(module, target - mark_bytes, mark_bytes + 1)
                               ? target % mark_bytes == 0 && word_at(target - mark_bytes) == mark
                               : is_named_function_of_libm(module, target);
  if (!is_function) {
    checks::report(
        invalid, running_thread(), pc,
        "it calls through a pointer to what is no function of the device: is the pointer set, and by the device?");
  }
  last_target_ = target;
}

}  // namespace simt

using simt::recording;

// Called by seen.S.
extern "C" {
void simt_flow_enter(uintptr_t slot, uintptr_t pc) { recording.recorder->enter_function(slot, pc); }
void simt_flow_leave(uintptr_t slot, uintptr_t pc) { recording.recorder->leave_function(slot, pc); }
void simt_flow_stack(uintptr_t slot, uintptr_t pc) { recording.recorder->move_stack(slot, pc); }
void simt_flow_target(uintptr_t, uintptr_t pc, uintptr_t target, uint64_t mark) {
  recording.recorder->call_by_pointer(target, mark, pc);
}
}
