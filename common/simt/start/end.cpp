// Linked last into every program that simtcc builds: when main has ended, the devices finish what they were given
// before the program's own global objects, which that work may use, are destroyed. What their destructors ask for is
// waited for by the file that is linked first.
#include <cstdlib>

#include "device_queues.h"

// Where the program's own code ends (spinning.h).
extern "C" void simt_program_ends() {}

namespace {
struct EndOfMain {
  EndOfMain() { std::atexit(simt::wait_for_all_devices); }
} end_of_main;
}  // namespace
