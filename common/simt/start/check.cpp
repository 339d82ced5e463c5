// Linked into a program that simtcc --check builds: everything it launches is checked.
#include "checks/checks.h"
#include "simt.h"

namespace {
struct StartChecks {
  StartChecks() {
    simt::install_signal_handlers();
    simt::checks::start();
  }
} start_checks;
}  // namespace
