#include "launch_bounds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device_limits.h"
#include "loaded_module.h"

namespace simt {

namespace {

#ifdef __x86_64__
constexpr unsigned char no_operation[] = {0x90};
#else
constexpr unsigned char no_operation[] = {0x1F, 0x20, 0x03, 0xD5};
#endif
// Of no-operations per thread (qualifiers.h). One more may be there to align the function.
constexpr size_t per_thread = 2;

// Bytes between the no-operations and the entry: in an instrumented build (announce/rewriter.cpp) a mark of 8 bytes,
// with what aligns it before it. Such a function begins with a call
// through a table, or with what the linker makes of one.
size_t bytes_of_mark([[maybe_unused]] const unsigned char* entry, [[maybe_unused]] size_t room) {
  size_t bytes = 0;
#ifdef __x86_64__
  constexpr size_t mark = 8, fill = 0xCC;
  const bool calls_by_table = entry[0] == 0xFF && entry[1] == 0x15, calls = entry[0] == 0x67 && entry[1] == 0xE8;
  if ((!calls_by_table && !calls) || room < 2 * mark) return 0;
  for (bytes = mark; bytes < 2 * mark && entry[-static_cast<ptrdiff_t>(bytes) - 1] == fill;) bytes++;
#endif
  return bytes;
}

// Where the loaded part of the module begins that holds this code; the address itself for no module.
uintptr_t begin_of_code(uintptr_t address) {
  const LoadedModule module = loaded_module(address);
  for (unsigned i = 0; i < module.header_count; i++) {
    const uintptr_t begin = module.base + module.headers[i].p_vaddr;
    if (module.headers[i].p_type == PT_LOAD && address - begin < module.headers[i].p_memsz) return begin;
  }
  return address;
}

}  // namespace

// The attribute behind __launch_bounds__ is the one in which g++ evaluates a template's parameters and whose value it
// leaves beside the function: so many no-operations before its entry, which nobody executes.
int threads_allowed(const void* function) {
  const auto entry = reinterpret_cast<uintptr_t>(function);
  if (!entry) return threads_per_block;
  size_t room = entry - begin_of_code(entry);
  const auto* at = static_cast<const unsigned char*>(function);
  const size_t skipped = bytes_of_mark(at, room);
  at -= skipped;
  room = (room - skipped) / sizeof no_operation;
  size_t count = 0;
  while (count < std::min(room, per_thread * threads_per_block) &&
         std::memcmp(at -= sizeof no_operation, no_operation, sizeof no_operation) == 0)
    count++;
  const size_t threads = count / per_thread;
  return threads ? static_cast<int>(threads) : threads_per_block;
}

}  // namespace simt
