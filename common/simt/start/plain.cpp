// Linked into a program that simtcc builds without --check or --profile: a crash in a kernel says what and where, as
// far as can be seen without checks.
#include <cstdlib>

#include "device_queues.h"
#include "devices.h"
#include "refusal.h"
#include "simt.h"

namespace {
struct StartPlain {
  StartPlain() {
    simt::install_signal_handlers();
    simt::tell_refused_launches();
    simt::use_devices_of_environment();
    std::atexit(simt::wait_for_all_devices);
  }
};
// Before all constructors of the program's own, which may call the runtime and launch kernels: simtcc links this first.
__attribute__((init_priority(101))) StartPlain start_plain;
}  // namespace
