// The pool of OS threads that blocks are spread over.
#pragma once

namespace simt {

// Sends the signal to an OS thread that runs a block. False if there is none. Async-signal-safe.
bool pass_to_busy_thread(int signal);

}  // namespace simt
