// Linked into a program that simtcc --check builds: everything it launches is checked.
#include <cstdint>
#include <cstdlib>
#include <new>

#include "block.h"
#include "checks/checks.h"
#include "device_heap.h"
#include "device_queues.h"
#include "devices.h"
#include "refusal.h"
#include "simt.h"
#include "spinning.h"

namespace {
struct StartChecks {
  StartChecks() {
    simt::install_signal_handlers();
    simt::use_devices_of_environment();
    std::atexit(simt::wait_for_all_devices);
    simt::checks::start();
    simt::tell_refused_launches();
    simt::let_spinning_blocks_give_way(nullptr, nullptr);
  }
};
// Before all constructors of the program's own, which may call the runtime and launch kernels: simtcc links this first.
__attribute__((init_priority(101))) StartChecks start_checks;
}  // namespace

// All calls of malloc, free, new and delete come here (--wrap of the linker). What is allocated while a block runs lies
// in the device's heap: it is a kernel's, or the executor's own.
#define SIMT_WRAP_ALLOCATE(name)                                                              \
  void* __real_##name(size_t bytes);                                                          \
  void* __wrap_##name(size_t bytes) {                                                         \
    void* const pointer = simt::current_block ? simt::device_heap::allocate(bytes) : nullptr; \
    return pointer ? pointer : __real_##name(bytes);                                          \
  }
#define SIMT_WRAP_RELEASE(name, PARAMETER, ARGUMENT)                       \
  void __real_##name(void* pointer PARAMETER);                             \
  void __wrap_##name(void* pointer PARAMETER) {                            \
    if (simt::device_heap::contains(reinterpret_cast<uintptr_t>(pointer))) \
      simt::device_heap::release(pointer);                                 \
    else                                                                   \
      __real_##name(pointer ARGUMENT);                                     \
  }
#define SIMT_COMMA_SIZE , size_t bytes
#define SIMT_COMMA_BYTES , bytes

extern "C" {
SIMT_WRAP_ALLOCATE(malloc)
SIMT_WRAP_ALLOCATE(_Znwm)
SIMT_WRAP_ALLOCATE(_Znam)
SIMT_WRAP_RELEASE(free, , )
SIMT_WRAP_RELEASE(_ZdlPv, , )
SIMT_WRAP_RELEASE(_ZdaPv, , )
SIMT_WRAP_RELEASE(_ZdlPvm, SIMT_COMMA_SIZE, SIMT_COMMA_BYTES)
SIMT_WRAP_RELEASE(_ZdaPvm, SIMT_COMMA_SIZE, SIMT_COMMA_BYTES)
}
