#include "failure.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>

#include "block.h"
#include "checks/checks.h"
#include "device_service.h"
#include "fault.h"
#include "launch.h"
#include "loaded_module.h"
#include "memory.h"
#include "switch.h"

namespace simt {

namespace {

void print_calls(const Failure& failure, const char* file, int line) {
  if (failure.frames[0] == 0) return;
  const LoadedModule module = loaded_module(failure.frames[0]);
  char path[512], calls[1024];
  module.path(path, sizeof path);
  uintptr_t offsets[Failure::most_frames];
  int count = 0;
  while (count < Failure::most_frames && failure.frames[count]) {
    offsets[count] = failure.frames[count] - module.base;
    count++;
  }
  describe_calls(path, offsets, count, file, line, calls, sizeof calls);
  if (calls[0]) std::fprintf(stderr, "%s\n", calls);
}

void print_and_exit(const Failure& failure) {
  // What kernels have printed; unless it is printing that failed.
  if (ftrylockfile(stdout) == 0) {
    std::fflush(stdout);
    funlockfile(stdout);
  }
  char file[512] = "";
  int line = failure.line;
  if (failure.file) {
    std::snprintf(file, sizeof file, "%s", failure.file);
  } else {
    line = source_line(failure.pc, file, sizeof file);
  }
  std::fprintf(stderr, "%s", failure.what);
  if (failure.in_kernel) {
    std::fprintf(stderr, " in block (%u,%u,%u), thread (%u,%u,%u)", failure.block[0], failure.block[1],
                 failure.block[2], failure.thread[0], failure.thread[1], failure.thread[2]);
  }
  if (line) std::fprintf(stderr, " at %s:%d", file, line);
  std::fprintf(stderr, "\n%s\n", failure.detail);
  print_calls(failure, file, line);
  _exit(134);
}

void (*handler)(const Failure&) = print_and_exit;
bool (*repair_fault)(uintptr_t) = nullptr;
bool (*idle_timeout)() = nullptr;
std::atomic<bool> failed{false};

void set_thread(Failure* failure) {
  const Block* block = current_block;
  failure->in_kernel = block && block->running();
  if (!failure->in_kernel) return;
  const uint3 b = block->index(), t = block->running()->index;
  std::memcpy(failure->block, &b, sizeof failure->block);
  std::memcpy(failure->thread, &t, sizeof failure->thread);
}

// A library that kernels call: libc, libm, ...
bool is_system(const LoadedModule& module) {
  if (!module) return false;
  return std::strstr(module.name, "/lib/") || std::strstr(module.name, "/lib64/") ||
         std::strstr(module.name, "linux-vdso");
}

// Of a program of one module, which holds the executor, too: is this the executor's code?
bool is_executors_own(uintptr_t pc) {
  if (loaded_module(pc).base != loaded_module(reinterpret_cast<uintptr_t>(&is_executors_own)).base) return false;
  char file[512];
  if (!source_line(pc, file, sizeof file)) return false;
  const size_t length = std::strlen(file);
  return std::strstr(file, "common/simt/") && length > 4 && std::strcmp(file + length - 4, ".cpp") == 0;
}

// In a kernel, the module that the kernel is in is the user's code; elsewhere, whatever is no system library.
bool is_users(uintptr_t address) {
  const void* kernel = current_block ? current_block->kernel_code() : nullptr;
  const LoadedModule module = loaded_module(address);
  return (kernel ? module && module.base == loaded_module(kernel).base : !is_system(module)) &&
         !is_executors_own(address);
}

// A program of one module has the executor's code in it, perhaps without lines: of a kernel's code only what has one is
// the user's.
bool is_kernels(uintptr_t address) {
  static const uintptr_t own = loaded_module(reinterpret_cast<uintptr_t>(&is_users)).base;
  char file[512];
  if (!is_users(address)) return false;
  return loaded_module(current_block->kernel_code()).base != own || source_line(address, file, sizeof file) != 0;
}

// This OS thread's stack, as far as it can be followed. pc: where a signal has interrupted it; 0 if none has.
struct FollowedStack {
  explicit FollowedStack(uintptr_t pc) : count(backtrace(frames, 64)) {
    while (interrupted < count && reinterpret_cast<uintptr_t>(frames[interrupted]) != pc) interrupted++;
    // Below it lies what the signal's handler returns to. Where that lies once more, there was a signal before.
    if (interrupted > 0 && interrupted < count) trampoline = frames[interrupted - 1];
  }
  // A return address is the instruction after the call. What a signal has interrupted is none.
  uintptr_t code(int i) const {
    const auto frame = reinterpret_cast<uintptr_t>(frames[i]);
    return trampoline && i > 0 && frames[i - 1] == trampoline ? frame : frame - 1;
  }

  void* frames[64];
  int count, interrupted = 0;  // count if pc is not among them
  const void* trampoline = nullptr;
};

// The innermost program counter that is in the user's code; 0 if the stack cannot be followed.
uintptr_t users_pc(uintptr_t pc) {
  const bool in_kernel = current_block && current_block->kernel_code();
  const auto is_own = [in_kernel](uintptr_t address) { return in_kernel ? is_kernels(address) : is_users(address); };
  if (pc > 4096 && is_own(pc)) return pc;
  // A stack in the middle of a switch may lead backtrace() astray; the fault that follows comes back here.
  static __thread bool following = false;
  if (following) return 0;
  following = true;
  const FollowedStack stack(pc);
  for (int i = stack.interrupted + 1; i < stack.count; i++) {
    if (is_own(stack.code(i))) return stack.code(i);
  }
  return pc > 4096 && is_users(pc) ? pc : 0;
}

// Fills Failure::frames, as far as the stack can be followed. pc: where the kernel was interrupted; 0 if it called.
void find_frames(uintptr_t pc, uintptr_t (&found)[Failure::most_frames]) {
  const FollowedStack stack(pc);
  const int innermost = stack.interrupted < stack.count ? stack.interrupted : 0;
  int next = 0;
  for (int i = stack.count - 1; i >= innermost && next < Failure::most_frames; i--) {
    if (is_kernels(stack.code(i))) found[next++] = stack.code(i);
  }
}

// What is known of a failure already while its thread's stack is followed.
__thread Failure* followed = nullptr;

void report_with_calls() {
  find_frames(0, followed->frames);
  report_failure(*followed);
}

// Of a thread of the running block, which runs or waits. Returns if its stack cannot be followed.
void report_with_calls_of(const Thread& thread, Failure* failure) {
  if (current_block->owner_of(reinterpret_cast<uintptr_t>(__builtin_frame_address(0))) == &thread) {
    followed = failure;
    report_with_calls();
  }
  void* nowhere;
  void* const fiber = thread.context ? made_to_call(thread.context, report_with_calls) : nullptr;
  if (!fiber) return;
  followed = failure;
  simt_switch(&nowhere, fiber);
}

struct Registers {
  uintptr_t pc, sp;
};

Registers registers_of(void* context) {
  const auto* user = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
  const auto& all = user->uc_mcontext.gregs;
  return {static_cast<uintptr_t>(all[REG_RIP]), static_cast<uintptr_t>(all[REG_RSP])};
#elif defined(__aarch64__)
  return {static_cast<uintptr_t>(user->uc_mcontext.pc), static_cast<uintptr_t>(user->uc_mcontext.sp)};
#else
#error "the executor runs on x86-64 and aarch64"
#endif
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const bool is_fault = signal == SIGSEGV || signal == SIGBUS;
  if (is_fault && repair_fault && repair_fault(reinterpret_cast<uintptr_t>(info->si_addr))) return;
  // The kernel that hangs may be on another OS thread than the one that got the signal, or it is the host in another
  // process.
  if (signal == SIGUSR1 && !(current_block && current_block->running())) {
    if (pass_to_busy_thread(signal)) return;
    if (idle_timeout && idle_timeout()) return;
  }
  if (followed) report_failure(*followed);  // a stack that leads astray
  Failure failure = {};
  if (checks::race_found(&failure)) report_failure(failure);
  set_thread(&failure);
  static __thread int first_signal = 0;
  if (first_signal == 0) first_signal = signal;
  const Registers registers = registers_of(context);
  failure.pc = users_pc(registers.pc);
  if (failure.pc == 0 && failure.in_kernel && current_block->running()->place.file) {
    // Where the thread last waited for others is the nearest that is known.
    failure.file = current_block->running()->place.file;
    failure.line = current_block->running()->place.line;
  }
  switch (first_signal) {
    case SIGUSR1:
      failure.what = "timeout";
      std::snprintf(
          failure.detail, sizeof failure.detail,
          "Still running when its time was over: does a loop here, or a loop that calls this function, not end?");
      break;
    case SIGFPE:
      failure.what = "integer division by zero";
      std::snprintf(failure.detail, sizeof failure.detail,
                    "The divisor of / or %% is 0. A GPU does not stop here: it continues with a meaningless number.");
      break;
    case SIGABRT:
      failure.what = "abort";
      std::snprintf(failure.detail, sizeof failure.detail, "abort() was called: an assertion failed, perhaps.");
      break;
    case SIGILL:   // x86-64's __trap()
    case SIGTRAP:  // aarch64's
      failure.what = "trap";
      std::snprintf(failure.detail, sizeof failure.detail,
                    "__trap() or undefined behaviour that the compiler could see.");
      break;
    default: describe_fault(*info, registers.sp, &failure);
  }
  // Of a stack that is full, the outermost calls would be of no help.
  if (failure.in_kernel && failure.pc && std::strcmp(failure.what, stack_overflow) != 0) {
    followed = &failure;
    find_frames(registers.pc, failure.frames);
  }
  report_failure(failure);
}

}  // namespace

void report_failure(Failure& failure) {
  // Several OS threads may fail at once; the first one reports. If that fails too, for want of a stack, say, it ends.
  static __thread bool reports = false;
  if (failed.exchange(true)) {
    if (reports) _exit(134);
    for (;;) pause();
  }
  reports = true;
  handler(failure);
  _exit(134);
}

uintptr_t users_caller() {
  void* frames[32];
  const int count = backtrace(frames, 32);
  const uintptr_t own = loaded_module(reinterpret_cast<uintptr_t>(&users_caller)).base;
  for (int i = 0; i < count; i++) {
    const auto frame = reinterpret_cast<uintptr_t>(frames[i]) - 1;
    const LoadedModule module = loaded_module(frame);
    if (module && module.base != own && !is_system(module)) return frame;
  }
  return 0;
}

uintptr_t users_frame() {
  if (const uintptr_t pc = users_caller()) return pc;
  void* frames[32];
  const int count = backtrace(frames, 32);
  const uintptr_t own = loaded_module(reinterpret_cast<uintptr_t>(&users_frame)).base;
  for (int i = 0; i < count; i++) {
    const auto frame = reinterpret_cast<uintptr_t>(frames[i]) - 1;
    char file[512];
    if (loaded_module(frame).base == own && source_line(frame, file, sizeof file) && !is_executors_own(frame))
      return frame;
  }
  return 0;
}

void fail_in_host(const char* what, const std::string& detail) {
  Failure failure = {};
  failure.what = what;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", detail.c_str());
  failure.pc = users_frame();
  report_failure(failure);
}

void fail_in_kernel(const std::string& what, const std::string& detail, Place place, uint3 block, uint3 thread) {
  Failure failure = {};
  failure.what = what.c_str();
  std::snprintf(failure.detail, sizeof failure.detail, "%s", detail.c_str());
  failure.in_kernel = true;
  std::memcpy(failure.block, &block, sizeof failure.block);
  std::memcpy(failure.thread, &thread, sizeof failure.thread);
  failure.file = place.file;
  failure.line = place.line;
  const uint3 running = current_block ? current_block->index() : uint3{};
  if (current_block && std::memcmp(&running, &block, sizeof block) == 0)
    report_with_calls_of(current_block->thread_at(thread), &failure);
  report_failure(failure);
}

void fail_in_kernel(const std::string& what, const std::string& detail, Place place) {
  fail_in_kernel(what, detail, place, current_block->index(), current_block->running()->index);
}

void repair_faults(bool (*repair)(uintptr_t)) { repair_fault = repair; }
void on_idle_timeout(bool (*new_handler)()) { idle_timeout = new_handler; }

void on_failure(void (*new_handler)(const Failure&)) { handler = new_handler; }

void use_signal_stack() {
  static thread_local struct SignalStack {
    stack_t stack = {};
    SignalStack() {
      stack.ss_size = 64 * 1024;
      stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      sigaltstack(&stack, nullptr);
    }
    ~SignalStack() {
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
      munmap(stack.ss_sp, stack.ss_size);
    }
  } signal_stack;
  (void)signal_stack;
}

void install_signal_handlers() {
  void* frame[1];
  backtrace(frame, 1);  // the first call loads a library, which a signal handler must not
  use_signal_stack();
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGUSR1}) sigaction(signal, &action, nullptr);
}

}  // namespace simt
