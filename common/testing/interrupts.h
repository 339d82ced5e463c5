// An interrupted run is no wrong kernel: a signal that ends the test program ends it at once, before Catch2 can report
// a failure or a record can be written.
#pragma once

namespace testing_ {

// To be called first, while the process has one thread. From then on SIGINT, SIGTERM and SIGHUP end the process as if
// it had no handler, whatever Catch2 installs. With Request::ends_with_parent the process also ends with the
// command that started it.
void end_at_interrupts();

}  // namespace testing_
