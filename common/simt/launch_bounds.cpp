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
// Of no-operations (qualifiers.h).
constexpr size_t per_thread = no_operations_per_thread, most = cluster_no_operations + 16 * 1024;

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

// The attribute behind __launch_bounds__ and __cluster_dims__ is the one in which g++ evaluates a template's parameters
// and whose value it leaves beside the function: so many no-operations before its entry, which nobody executes.
size_t no_operations_before(const void* function) {
  const auto entry = reinterpret_cast<uintptr_t>(function);
  if (!entry) return 0;
  size_t room = entry - begin_of_code(entry);
  const auto* at = static_cast<const unsigned char*>(function);
  const size_t skipped = bytes_of_mark(at, room);
  at -= skipped;
  room = (room - skipped) / sizeof no_operation;
  size_t count = 0;
  while (count < std::min(room, most) && std::memcmp(at -= sizeof no_operation, no_operation, sizeof no_operation) == 0)
    count++;
  return count;
}

}  // namespace

int threads_allowed(const void* function) {
  const size_t count = no_operations_before(function);
  const size_t threads = count < cluster_no_operations ? count / per_thread : 0;
  return threads ? static_cast<int>(threads) : threads_per_block;
}

dim3 cluster_asked(const void* function) {
  const auto count = static_cast<int>(no_operations_before(function));
  const int found = count - count % no_operations_per_shape;
  for (unsigned z = 1; count >= cluster_no_operations && z <= most_in_cluster; z++) {
    for (unsigned y = 1; y * z <= most_in_cluster; y++) {
      for (unsigned x = 1; x * y * z <= most_in_cluster; x++) {
        if (no_operations_of_cluster(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)) == found)
          return {x, y, z};
      }
    }
  }
  return {1, 1, 1};
}

}  // namespace simt
