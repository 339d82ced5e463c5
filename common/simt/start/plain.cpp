// Linked into a program that simtcc builds without --check or --profile: a crash in a kernel says what and where, as
// far as can be seen without checks.
#include <cstdlib>

#include "device_queues.h"
#include "devices.h"
#include "refusal.h"
#include "simt.h"
#include "spinning.h"

// Between these lies the program's own code, since this file is linked first and end.cpp last.
extern "C" {
void simt_program_begins() {}
void simt_program_ends();
}

namespace {
struct StartPlain {
  StartPlain() {
    simt::install_signal_handlers();
    simt::tell_refused_launches();
    simt::use_devices_of_environment();
    std::atexit(simt::wait_for_all_devices);
    simt::let_spinning_blocks_give_way(reinterpret_cast<const void*>(simt_program_begins),
                                       reinterpret_cast<const void*>(simt_program_ends));
  }
};
// Before all constructors of the program's own, which may call the runtime and launch kernels: simtcc links this first.
__attribute__((init_priority(101))) StartPlain start_plain;
}  // namespace
