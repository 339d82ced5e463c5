#include "device_queues.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "block.h"
#include "checks/checks.h"
#include "counters/counters.h"
#include "device.h"
#include "devices.h"
#include "failure.h"
#include "other_threads.h"
#include "streams.h"

namespace simt {

double patience() {
  static const double seconds = [] {
    const char* const text = std::getenv("SIMT_STALL_SECONDS");
    return text && std::atof(text) > 0 ? std::atof(text) : 10.0;
  }();
  return seconds;
}

namespace {

using Time = std::chrono::steady_clock;

struct Work {
  std::function<cudaError_t()> run;
  std::string text;
  checks::DeviceClock known;  // what the host knew when it asked for this
};

struct Queue {
  std::deque<Work> works;
  uint64_t asked = 0, done = 0;
  std::string text, waits_for;  // of the work that runs
  cudaError_t error = cudaSuccess;
  checks::DeviceClock finished = {};
  bool has_thread = false;
  std::atomic<uintptr_t> polls_at{0};  // where a kernel polls memory, since the last store of any
  std::atomic<uint64_t> polls{0};      // how many times since then
};

// One lock for all queues: there are few devices, and what is done under it is short. Never destroyed.
struct Queues {
  std::mutex mutex;
  std::condition_variable changed;
  Queue of[max_devices];
  checks::DeviceClock host = {};  // what the host knows: one clock for all of its threads
  int host_threads = 0, waiting_hosts = 0;
  Time::time_point last_change = Time::now();
  // Who waits, and how many of them have found that what they wait for is not there since the last change.
  uint64_t changes = 0;
  int waiting = 0, in_vain = 0;

  void change() {
    last_change = Time::now();
    changes++;
    in_vain = 0;
    changed.notify_all();
  }
  std::string (*explain)() = nullptr;
};
Queues& queues() {
  static auto* const all = new Queues;
  return *all;
}

thread_local bool is_device_thread = false;

// Host threads that have used the runtime and live.
struct HostThread {
  HostThread() { queues().host_threads++; }
  ~HostThread() {
    std::lock_guard<std::mutex> lock(queues().mutex);
    queues().host_threads--;
  }
};

// With the lock.
void note_host_thread() {
  if (is_device_thread) return;
  static thread_local const HostThread thread;
  static_cast<void>(thread);
}

double seconds_without_change() { return std::chrono::duration<double>(Time::now() - queues().last_change).count(); }

// Seconds without any change that make a standstill of threads that all wait: one of them may have what it waits for
// and not have woken up.
constexpr double long_time = 2;

bool hosts_stand_still() {
  const double seconds = seconds_without_change();
  return (queues().waiting_hosts == queues().host_threads && seconds > long_time) || seconds > patience();
}

std::string describe_devices() {
  std::string text;
  for (int d = 0; d < device_count(); d++) {
    const Queue& queue = queues().of[d];
    text += "Device " + std::to_string(d) + ": ";
    if (queue.done == queue.asked) {
      text += "has done all that it was given.\n";
      continue;
    }
    text += queue.text;
    if (!queue.waits_for.empty()) text += " waits for " + queue.waits_for;
    if (const uintptr_t pc = queue.polls_at) {
      char file[256];
      const int line = source_line(pc - 1, file, sizeof file);
      text += " polls memory";
      if (line) text += std::string(" at ") + file + ":" + std::to_string(line);
    }
    text += ".\n";
  }
  return text;
}

// With the lock. Every device that has work waits for another one, and no host thread will bring more.
void look_for_standstill() {
  bool any = false, kernels_poll = false;
  for (const Queue& queue : queues().of) {
    if (queue.done == queue.asked) continue;
    any = true;
    if (queue.waits_for.empty() && queue.polls_at)
      kernels_poll = true;
    else if (queue.waits_for.empty())
      return;
  }
  if (!any || kernels_poll || queues().in_vain < queues().waiting || !hosts_stand_still()) return;
  if (seconds_without_change() <= patience() && another_thread_runs()) return;
  const std::string why = queues().explain ? queues().explain() : "";
  fail_in_host("deadlock of several devices", why + describe_devices());
}

void tell_that_it_takes_long(int device) {
  static bool told = false;
  if (told || seconds_without_change() < 2 * patience() || checks::running()) return;
  told = true;
  std::fprintf(stderr,
               "simt: device %d has worked on %s for %.0f s. If it waits for another device, a program built with "
               "simtcc --check says where.\n",
               device, queues().of[device].text.c_str(), seconds_without_change());
}

void serve(int device) {
  set_current_device(device);
  is_device_thread = true;
  use_signal_stack();
  Queue& queue = queues().of[device];
  for (;;) {
    Work work;
    {
      std::unique_lock<std::mutex> lock(queues().mutex);
      queues().changed.wait(lock, [&] { return !queue.works.empty(); });
      work = std::move(queue.works.front());
      queue.works.pop_front();
      queue.text = work.text;
    }
    if (checks::running()) {
      const Turn turn;
      checks::device_begins(device, work.known);
    }
    const cudaError_t error = work.run();
    checks::DeviceClock clock = {};
    if (checks::running()) {
      const Turn turn;
      clock = checks::device_ends(device);
    }
    work.run = nullptr;  // what it holds is let go before somebody learns that it is done
    std::lock_guard<std::mutex> lock(queues().mutex);
    queue.done++;
    queue.finished = clock;
    queue.polls_at = 0;
    if (error != cudaSuccess) queue.error = error;
    made_progress();
    queues().change();
  }
}

// Until the condition holds. With the lock.
template <typename IsOver>
void wait(std::unique_lock<std::mutex>* lock, int device, IsOver is_over) {
  if (is_over()) return;
  queues().waiting++;
  uint64_t looked = ~uint64_t{0};
  while (!is_over()) {
    queues().in_vain += looked != queues().changes;
    looked = queues().changes;
    look_for_standstill();
    queues().changed.wait_for(*lock, std::chrono::milliseconds(500));
    if (!is_device_thread && !is_over()) tell_that_it_takes_long(device);
  }
  queues().waiting--;
  if (looked == queues().changes) queues().in_vain--;
}

}  // namespace

bool does_device_work() { return is_device_thread; }
bool runs_later() { return has_several_devices() && !is_device_thread; }

int device_of(cudaStream_t stream) { return is_named(stream) ? stream->device : current_device(); }

Position enqueue(cudaStream_t stream, std::function<cudaError_t()> work, const std::string& text) {
  const int device = device_of(stream);
  std::lock_guard<std::mutex> lock(queues().mutex);
  note_host_thread();
  Queue& queue = queues().of[device];
  queue.works.push_back({std::move(work), text, queues().host});
  const Position position = {device, ++queue.asked};
  if (is_named(stream)) stream->last = position.number;
  if (!queue.has_thread) std::thread(serve, device).detach();
  queue.has_thread = true;
  queues().change();
  return position;
}

cudaError_t enqueue(cudaStream_t stream, CapturedWork* work) {
  const std::shared_ptr<CapturedWork> owned(work);
  enqueue(
      stream, [owned] { return owned->run(); }, "a copy or another call of the runtime");
  return cudaSuccess;
}

bool is_done(Position position) {
  std::lock_guard<std::mutex> lock(queues().mutex);
  note_host_thread();
  return queues().of[position.device].done >= position.number;
}

cudaError_t wait_for(Position position) {
  if (!has_several_devices() || (is_device_thread && position.device == current_device())) return cudaSuccess;
  std::unique_lock<std::mutex> lock(queues().mutex);
  Queue& queue = queues().of[position.device];
  const auto is_over = [&] { return queue.done >= position.number; };
  if (is_device_thread) {
    Queue& own = queues().of[current_device()];
    own.waits_for = "what was given to device " + std::to_string(position.device);
    wait(&lock, position.device, is_over);
    own.waits_for.clear();
    return cudaSuccess;
  }
  note_host_thread();
  queues().waiting_hosts++;
  wait(&lock, position.device, is_over);
  queues().waiting_hosts--;
  checks::join(&queues().host, queue.finished);
  const cudaError_t error = queue.error;
  queue.error = cudaSuccess;
  return error;
}

Position last_of(cudaStream_t stream) {
  const int device = device_of(stream);
  std::lock_guard<std::mutex> lock(queues().mutex);
  return {device, is_named(stream) ? stream->last : queues().of[device].asked};
}
cudaError_t wait_for_device(int device) {
  uint64_t asked;
  {
    std::lock_guard<std::mutex> lock(queues().mutex);
    asked = queues().of[device].asked;
  }
  return wait_for({device, asked});
}
cudaError_t wait_for_stream(cudaStream_t stream) { return wait_for(last_of(stream)); }
void wait_for_all_devices() {
  for (int d = 0; d < device_count(); d++) wait_for_device(d);
}

void wait_for_ranks(const std::function<bool()>& is_over, const std::string& text) {
  std::unique_lock<std::mutex> lock(queues().mutex);
  Queue& own = queues().of[current_device()];
  own.waits_for = text;
  wait(&lock, current_device(), is_over);
  own.waits_for.clear();
}
void with_ranks(const std::function<void()>& change) {
  std::lock_guard<std::mutex> lock(queues().mutex);
  change();
  queues().change();
}
void on_standstill(std::string (*explain)()) { queues().explain = explain; }

namespace {

// Taken in the order in which it is asked for.
struct Turns {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t asked = 0, called = 0;
};
Turns& turns() {
  static auto* const all = new Turns;
  return *all;
}
thread_local int turns_held = 0;

void take_turn() {
  std::unique_lock<std::mutex> lock(turns().mutex);
  const uint64_t mine = turns().asked++;
  turns().changed.wait(lock, [&] { return turns().called == mine; });
}
void give_turn() {
  std::lock_guard<std::mutex> lock(turns().mutex);
  turns().called++;
  turns().changed.notify_all();
}

// A kernel may find what it polls, thousands of words, and work on them for long before it stores something. So many
// polls of each device without a store of any make a deadlock.
constexpr uint64_t many_polls = 20000;

void look_for_deadlock(uintptr_t pc) {
  std::unique_lock<std::mutex> lock(queues().mutex, std::try_to_lock);
  if (!lock || seconds_without_change() < long_time || !hosts_stand_still()) return;
  for (const Queue& queue : queues().of) {
    if (queue.done < queue.asked && queue.waits_for.empty() && queue.polls < many_polls) return;
  }
  const std::string text =
      "The kernel polls memory that nobody writes any more, and no other device can continue:\n" + describe_devices() +
      "Is a flag written to the right device's memory, with the value that is waited for? Here the blocks of a kernel "
      "begin in ascending order, each when the one before is done: none may wait for a later one, here or there.";
  Failure failure = {};
  failure.what = "deadlock of several devices";
  std::snprintf(failure.detail, sizeof failure.detail, "%s", text.c_str());
  failure.in_kernel = true;
  const uint3 block = blockIdx, thread = threadIdx;
  std::memcpy(failure.block, &block, sizeof failure.block);
  std::memcpy(failure.thread, &thread, sizeof failure.thread);
  failure.pc = pc - 1;
  report_failure(failure);
}

// One device does its work in the host threads that ask for it. What a kernel asks for belongs to its launch.
bool takes_turns() { return !current_block && (!has_several_devices() || checks::running() || counters::running()); }

}  // namespace

Turn::Turn() : mine_(turns_held == 0 && takes_turns()) {
  if (mine_) take_turn();
  if (mine_) turns_held++;
}
Turn::~Turn() {
  if (!mine_) return;
  turns_held--;
  give_turn();
}

void poll(uintptr_t pc) {
  if (!has_several_devices()) return;
  if (turns_held) {
    give_turn();
    take_turn();
  } else if (static thread_local unsigned times = 0; ++times % 64 == 0) {
    // All threads of a block may poll, and each yield of this kind may cost a time slice where others use the machine.
    std::this_thread::yield();
  }
  if (!checks::running() || !is_device_thread) return;
  Queue& queue = queues().of[current_device()];
  queue.polls_at = pc;
  if (++queue.polls % many_polls == 0) look_for_deadlock(pc);
}

void made_progress() {
  for (Queue& queue : queues().of) queue.polls_at = 0, queue.polls = 0;
}

}  // namespace simt
