// Threads that wait in a loop for what another thread or block will write: barriers of the grid that a program makes
// itself, flags between blocks. On a GPU all resident blocks run at one time; here a block that waits so would never
// end, for the others have not begun. When a thread has run for long without a pause, the blocks of its launch begin to
// take turns (LaunchState::in_turns).
#pragma once

namespace simt {

// From now on such threads are looked for. The program's own code lies between these two places: there a thread may be
// made to give way anywhere. The places are nullptr where the code is instrumented: it gives way at the end of a loop.
void let_spinning_blocks_give_way(const void* code_begin, const void* code_end);

// A launch begins; it has ended. Nothing, if nobody asked for the above.
void watch_for_spinning();
void no_spinning_now();

}  // namespace simt
