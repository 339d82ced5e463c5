#include "spinning.h"

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "block.h"
#include "launch.h"
#include "recording.h"

namespace simt {

namespace {

// A launch whose threads take longer each and do not spin pays little for the turns, but adds floats in another order.
constexpr std::chrono::milliseconds between_looks{100};
constexpr int looks_until_it_spins = 10;
// Then every thread that polls is interrupted, one after the other.
constexpr std::chrono::microseconds between_turns{200};

uintptr_t code_begin = 0, code_bytes = 0;
bool asked = false;
std::atomic<bool> in_turns{false};  // some launch's blocks are

// Ignored where nobody asks for it, and sent once at a time.
constexpr int tick_signal = SIGURG;

uintptr_t interrupted_at(void* context) {
  const auto* user = static_cast<const ucontext_t*>(context);
#ifdef __x86_64__
  return static_cast<uintptr_t>(user->uc_mcontext.gregs[REG_RIP]);
#else
  return static_cast<uintptr_t>(user->uc_mcontext.pc);
#endif
}

// Whether the thread that runs is the one of many looks before.
bool has_run_for_long() {
  static thread_local const Thread* thread = nullptr;
  static thread_local uint64_t launch = 0;
  static thread_local uint3 index = {};
  static thread_local int looks = 0;
  const uint3 now = current_block->index();
  if (thread == current_block->running() && launch == current_block->launch().id && index.x == now.x &&
      index.y == now.y && index.z == now.z)
    return ++looks >= looks_until_it_spins;
  thread = current_block->running();
  launch = current_block->launch().id;
  index = now;
  looks = 0;
  return false;
}

// It may come while the executor works for a thread; only within the program's own code is a switch safe.
void tick(int, siginfo_t*, void* context) {
  if (!current_block) return;
  const int error = errno;
  const LaunchState& launch = current_block->launch();
  if (launch.in_turns || has_run_for_long()) {
    launch.in_turns = true;
    in_turns = true;
    recording.gives_way = true;
    if (interrupted_at(context) - code_begin < code_bytes) {
      sigset_t own;
      sigemptyset(&own);
      sigaddset(&own, tick_signal);
      pthread_sigmask(SIG_UNBLOCK, &own, nullptr);  // for the threads that go on now
      current_block->yield();
    }
  }
  errno = error;
}

void look() {
  for (;;) {
    if (in_turns)
      std::this_thread::sleep_for(between_turns);
    else
      std::this_thread::sleep_for(between_looks);
    signal_busy_threads(tick_signal);
  }
}

}  // namespace

void let_spinning_blocks_give_way(const void* begin, const void* end) {
  code_begin = reinterpret_cast<uintptr_t>(begin);
  code_bytes = reinterpret_cast<uintptr_t>(end) - code_begin;
  asked = true;
}

void watch_for_spinning() {
  if (!asked) return;
  static const bool started = [] {
    struct sigaction action = {};
    action.sa_sigaction = tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART;  // on the kernel thread's own stack, which a switch leaves as it is
    sigaction(tick_signal, &action, nullptr);
    std::thread(look).detach();
    return true;
  }();
  static_cast<void>(started);
}

void no_spinning_now() { in_turns = false; }

}  // namespace simt
