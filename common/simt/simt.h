// The executor's interface for programs that host it: how many cores, and what to do when a kernel cannot go on.
// Kernels and their host code do not include this; they include cuda_runtime.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

// Why a kernel cannot go on, and where. Filled by the executor, possibly inside a signal handler.
struct Failure {
  const char* what;   // "deadlock", "segmentation fault", "stack overflow", "timeout", ...
  char detail[1024];  // one or more lines of plain English
  unsigned block[3], thread[3];
  bool in_kernel;    // false: in host code of the rung; block and thread then mean nothing
  const char* file;  // the source line, where the executor knows it, else nullptr
  int line;
  uintptr_t pc;  // otherwise the program counter, for addr2line: 0 if file is set
  // In a kernel: the program counters of the user's code on the thread's stack, the outermost first. That may be the
  // launch, and code of several functions where they are inlined. Of an access that a check has found: pc alone, since
  // it may be another thread's than the one that runs. 0 behind the last one.
  static constexpr int most_frames = 6;
  uintptr_t frames[most_frames];
};

// Called once when a kernel cannot go on; must not return (_exit). May run in a signal handler: only async-signal-safe
// calls. The default prints the failure to stderr, resolving pc with addr2line, and ends the process with status 134.
void on_failure(void (*handler)(const Failure&));

// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT and SIGUSR1 that turn a crash into a Failure.
// SIGUSR1 means "say where you are, then end": the Failure is that of a running kernel thread, with what = "timeout".
void install_signal_handlers();

// Cores that blocks are spread over. Default: those the process may run on, or SIMT_CORES from the environment.
int cores();
void set_cores(int count);

// How many of a launch's blocks one that is run stands for, where a time is predicted (SIMT_GPU_TIMES). Throws
// std::runtime_error where that is no whole number from 1 to 1000000.
unsigned gpu_times();

// From now on only blocks at the ends of a grid run: the first 4 and the last 8 along its longest side, with all along
// the others (a cooperative launch still runs altogether), and new device memory takes none of the machine's before it
// is written. For data that is too large for this machine (rung/far_rows.h).
void run_ends_of_grids();
bool runs_only_ends_of_grids();

// From now on, or no longer, blocks take turns, as on a GPU, where they run at one time: a thread that comes to an
// atomic of global memory, or yields, waits until all threads of the resident blocks have come to one, or can do
// nothing else. So each of them draws as often from a queue as any other. Of clusters only the blocks of one take
// turns.
void run_blocks_in_turns(bool they_do);

// Source position of an address of code: fills file ("" if unknown) and returns the line (0 if unknown). Runs
// addr2line.
int source_line(uintptr_t pc, char* file, size_t file_size);

// The same for an address in another process: the module's path and the address's offset from where it was loaded.
int source_line(const char* module, uintptr_t offset, char* file, size_t file_size);

// The calls by which a kernel came to this place, as a sentence; "" if the place is the kernel's own. offsets: as in
// Failure::frames, of code in the module.
void describe_calls(const char* module, const uintptr_t* offsets, int count, const char* file, int line, char* text,
                    size_t size);

}  // namespace simt
