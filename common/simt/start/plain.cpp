// Linked into a program that simtcc builds without --check or --profile: a crash in a kernel says what and where, as
// far as can be seen without checks.
#include "refusal.h"
#include "simt.h"

namespace {
struct StartPlain {
  StartPlain() {
    simt::install_signal_handlers();
    simt::tell_refused_launches();
  }
} start_plain;
}  // namespace
