// Linked into a program that simtcc builds without --check or --profile: a crash in a kernel says what and where, as
// far as can be seen without checks.
#include "simt.h"

namespace {
struct StartPlain {
  StartPlain() { simt::install_signal_handlers(); }
} start_plain;
}  // namespace
