#pragma once

namespace simt {

// Is any other thread of this process at work, or has it yet to be given a processor? A host thread that has not used
// the runtime so far is not known otherwise.
bool another_thread_runs();

}  // namespace simt
