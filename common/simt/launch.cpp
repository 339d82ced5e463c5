#include "launch.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "block.h"
#include "cluster.h"
#include "cooperative.h"
#include "device.h"
#include "device_limits.h"
#include "device_queues.h"
#include "device_service.h"
#include "devices.h"
#include "checks/checks.h"
#include "counters/counters.h"
#include "counters/session.h"
#include "failure.h"
#include "launch_bounds.h"
#include "instrument/recorder.h"
#include "memory.h"
#include "module_tls.h"
#include "resident.h"
#include "spinning.h"
#include "streams.h"
#include "simt.h"

namespace simt {

namespace {

constexpr uint64_t idle = ~0ull;
constexpr int max_cores = 256;

int usable_cores() {
  if (const char* text = std::getenv("SIMT_CORES")) {
    const int count = std::atoi(text);
    if (count > 0) return count < max_cores ? count : max_cores;
    std::fprintf(stderr, "simt: SIMT_CORES=%s is not a number of cores; using all\n", text);
  }
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count < max_cores ? count : max_cores;
}

// An OS thread that runs blocks. The one that launches is worker 0.
struct Worker {
  Block block;
  std::atomic<uint64_t> number{idle};  // of the block that it runs, or a lower bound while it takes one
  std::atomic<pthread_t> handle{};
  std::thread thread;
};

class Pool {
 public:
  // The current device's.
  static Pool& get() { return of(current_device()); }
  static Pool& of(int device) {
    static Pool* const pools = new Pool[max_devices];  // never destroyed: kernels may run until the process ends
    return pools[device];
  }

  void run(LaunchState* launch) {
    out_of_turn_ = false;
    watch_for_spinning();
    use_signal_stack();  // a thread of the host's that has launched nothing yet has none
    if (launch->resident_blocks() > 1 || launch->cooperative || launch->in_turns) {
      own_ = &workers_[0];
      workers_[0].handle = pthread_self();
      workers_[0].number = 0;
      static_shared_ = module_tls(reinterpret_cast<const void*>(launch->kernel.run));
      had_turn_ = true;
      const auto run_together = launch->cooperative            ? run_cooperative
                                : launch->cluster_blocks() > 1 ? run_clusters
                                                               : run_in_turns;
      run_together(launch, static_shared_, poison_shared_memory);
      workers_[0].number = idle;
      return;
    }
    const uint64_t blocks = launch->blocks_to_run();
    const int most = most_threads();
    const int helpers = static_cast<int>(blocks < static_cast<uint64_t>(most) ? blocks : most) - 1;
    while (started_ < helpers) start_worker();
    if (helpers > 0) {
      std::lock_guard<std::mutex> lock(mutex_);
      launch_ = launch;
      wanted_ = running_ = helpers;
      generation_++;
      start_.notify_all();
    }
    workers_[0].handle = pthread_self();
    run_blocks(0, launch);
    if (helpers > 0) {
      std::unique_lock<std::mutex> lock(mutex_);
      done_.wait(lock, [&] { return running_ == 0; });
    }
  }

  // Waits until all blocks before the calling one are done. Blocks are taken in rising order, so that is when every
  // other OS thread is beyond it.
  void wait_for_turn() {
    if (had_turn_) return;
    const uint64_t own = own_->number.load();
    const auto begin = std::chrono::steady_clock::now();
    const auto has_turn = [&] { return out_of_turn_ || current_block->launch().in_turns; };
    for (int i = 0; i <= started_ && !has_turn(); i++) {
      while (&workers_[i] != own_ && workers_[i].number.load() < own && !has_turn()) {
        sched_yield();
        // One before may wait for another device, which waits for this block.
        if (has_several_devices() && std::chrono::steady_clock::now() - begin > longest_wait) out_of_turn_ = true;
      }
    }
    had_turn_ = true;
    waited_ += std::chrono::steady_clock::now() - begin;
  }

  void signal_all(int signal) {
    for (Worker& worker : workers_) {
      if (worker.number.load() != idle) pthread_kill(worker.handle, signal);
    }
  }

  static bool is_shared(const void* address) {
    const auto offset = static_cast<size_t>(static_cast<const unsigned char*>(address) - simt_dynamic_shared);
    return offset < max_shared_bytes || static_shared_.contains(address);
  }

  bool pass_signal(int signal) {
    for (Worker& worker : workers_) {
      if (worker.number.load() == idle || pthread_equal(worker.handle, pthread_self())) continue;
      return pthread_kill(worker.handle, signal) == 0;
    }
    return false;
  }

  // A program may set it before the variables of this file have their values.
  static int& cores() {
    static int count = usable_cores();
    return count;
  }

 private:
  // Blocks of several devices may wait for each other in any order, which needs more threads than cores, unless they
  // take turns.
  static int most_threads() {
    const bool in_turns = checks::running() || counters::running();
    return has_several_devices() && !in_turns ? std::max(cores(), resident_blocks) : cores();
  }

  void start_worker() {
    const int index = ++started_;
    const int device = current_device();
    workers_[index].thread = std::thread([this, index, device] {
      set_current_device(device);
      serve(index);
    });
    workers_[index].thread.detach();
  }

  void serve(int index) {
    use_signal_stack();
    workers_[index].handle = pthread_self();
    uint64_t seen = 0;
    for (;;) {
      LaunchState* launch;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        start_.wait(lock, [&] { return generation_ != seen && index <= wanted_; });
        seen = generation_;
        launch = launch_;
      }
      run_blocks(index, launch);
      std::lock_guard<std::mutex> lock(mutex_);
      if (--running_ == 0) done_.notify_one();
    }
  }

  void run_blocks(int index, LaunchState* launch) {
    Worker& worker = workers_[index];
    own_ = &worker;
    static_shared_ = module_tls(reinterpret_cast<const void*>(launch->kernel.run));
    const uint64_t blocks = launch->blocks_to_run();
    worker.block.begin_launch(*launch, launch->record, launch->counters);
    waited_ = {};
    const auto begin = std::chrono::steady_clock::now();
    // A thread that waits more than it works delays the launch, and more so where other processes want the cores, too.
    while (index == 0 || waited_ < enough_to_judge || waited_ < std::chrono::steady_clock::now() - begin - waited_) {
      worker.number = launch->next_block.load();
      const uint64_t number = launch->next_block.fetch_add(1);
      if (number >= blocks) break;
      worker.number = number;
      had_turn_ = false;
      poison_shared_memory(launch->config.shared_bytes);
      if (!worker.block.run(*launch, launch->block_to_run(number))) run_in_turns_from(&worker, launch);
    }
    worker.block.end_launch();
    worker.number = idle;
  }

  // The worker's block waits for others, which may be any of those that have not begun.
  static void run_in_turns_from(Worker* worker, LaunchState* launch) {
    if (Observer* const observer = launch->record ? current_observer() : nullptr) observer->blocks_take_turns();
    Residents residents(launch, static_shared_, poison_shared_memory);
    residents.adopt(&worker->block);
    // As many as a GPU has at one time.
    const uint64_t most = uint64_t{multiprocessors} * (threads_per_multiprocessor / launch->threads_per_block());
    for (;;) {
      const uint64_t number = launch->next_block.fetch_add(1);
      if (number >= launch->blocks_to_run()) break;
      residents.add(launch->block_to_run(number));
      while (residents.waiting() >= most) residents.go_on([] {});
    }
    while (residents.go_on([] {})) continue;
    residents.end();
    forget_resident_blocks();
  }

  // Shared memory starts with bytes 0xFF, which are NaN: what a kernel forgot to write shows.
  static void poison_shared_memory(size_t dynamic_bytes) {
    std::memset(simt_dynamic_shared, 0xFF, dynamic_bytes);
    const ModuleTls& tls = static_shared_;
    if (!tls.main_program) std::memset(tls.begin + tls.initialised_bytes, 0xFF, tls.bytes - tls.initialised_bytes);
  }

  static constexpr std::chrono::milliseconds enough_to_judge{4}, longest_wait{300};
  static constexpr int resident_blocks = 16;

  std::atomic<bool> out_of_turn_{false};  // in this launch
  Worker workers_[max_cores];
  std::mutex mutex_;
  std::condition_variable start_, done_;
  LaunchState* launch_ = nullptr;
  uint64_t generation_ = 0;
  int started_ = 0, wanted_ = 0, running_ = 0;

  static thread_local Worker* own_;
  static thread_local ModuleTls static_shared_;
  static thread_local bool had_turn_;                               // this block has waited for those before it
  static thread_local std::chrono::steady_clock::duration waited_;  // in this launch
};

thread_local Worker* Pool::own_ = nullptr;
thread_local ModuleTls Pool::static_shared_;
thread_local bool Pool::had_turn_ = false;
thread_local std::chrono::steady_clock::duration Pool::waited_;

}  // namespace

int cores() { return Pool::cores(); }
void set_cores(int count) { Pool::cores() = count < 1 ? 1 : count > max_cores ? max_cores : count; }
bool pass_to_busy_thread(int signal) {
  for (int device = 0; device < device_count(); device++) {
    if (Pool::of(device).pass_signal(signal)) return true;
  }
  return false;
}

void signal_busy_threads(int signal) {
  for (int device = 0; device < device_count(); device++) Pool::of(device).signal_all(signal);
}

namespace {
std::atomic<bool> any_atomic{false};
}
bool used_atomics() { return any_atomic.exchange(false); }

namespace {
void before(const void* address, unsigned bytes, AccessKind kind, uintptr_t pc) {
  any_atomic.store(true, std::memory_order_relaxed);
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (recording.lane) recording.recorder->announce({at, bytes, kind == AccessKind::atomic_store}, kind, pc);
  if (!current_block || Pool::is_shared(address)) return;
  if (current_block->launch().in_turns)
    current_block->wait_for_turn();
  else
    Pool::get().wait_for_turn();
}
}  // namespace

void before_atomic(const void* address, unsigned bytes) noexcept {
  before(address, bytes, AccessKind::atomic, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
}
void before_atomic_store(const void* address, unsigned bytes) noexcept {
  before(address, bytes, AccessKind::atomic_store, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
}

namespace {

bool only_ends = false, in_turns = false;

std::vector<uint64_t> ends_of(dim3 grid) {
  constexpr unsigned first = 4, last = 8;
  const unsigned sides[] = {grid.x, grid.y, grid.z};
  const auto longest = static_cast<unsigned>(std::max_element(sides, sides + 3) - sides);
  const auto runs = [&](unsigned side, unsigned i) { return side != longest || i < first || i + last >= sides[side]; };
  std::vector<uint64_t> numbers;
  for (unsigned z = 0; z < grid.z; z++) {
    for (unsigned y = 0; y < grid.y; y++) {
      for (unsigned x = 0; x < grid.x; x++) {
        if (runs(0, x) && runs(1, y) && runs(2, z)) numbers.push_back((uint64_t{z} * grid.y + y) * grid.x + x);
      }
    }
  }
  return numbers;
}

}  // namespace

void run_ends_of_grids() { only_ends = true; }
bool runs_only_ends_of_grids() { return only_ends; }
void run_blocks_in_turns(bool they_do) { in_turns = they_do; }

cudaError_t run_launch(const LaunchConfig& config, const BoundKernel& kernel, bool cooperative) {
  static std::atomic<uint64_t> launches{0};
  LaunchState state(++launches, config, kernel);
  const std::unique_ptr<counters::LaunchCounters> counters = counters::begin_launch(state);
  Observer* const observer = current_observer();
  state.cooperative = cooperative;
  state.in_turns = in_turns;
  if (only_ends && state.resident_blocks() == 1) state.some = ends_of(config.grid);
  state.counters = counters.get();
  state.record = counters || observer;
  if (observer) {
    const Allocation arguments = {reinterpret_cast<uintptr_t>(kernel.arguments), kernel.argument_bytes};
    observer->launch_begin(
        {state.id, kernel.name, reinterpret_cast<const void*>(kernel.run), arguments, state.in_turns});
  }
  Pool::get().run(&state);
  if (state.in_turns) no_spinning_now();
  if (observer) observer->launch_end(state.id);
  if (counters) counters::end_launch(state, *counters);
  for (const ChildLaunch& child : state.children.take()) run_launch(child.config, child.kernel, false);
  return cudaSuccess;
}

namespace {

cudaError_t launch(LaunchConfig config, const BoundKernel& kernel, bool cooperative) {
  const dim3 given = config.cluster;
  if (!given.x && !given.y && !given.z) config.cluster = cluster_asked(kernel.function);
  Excess excess = beyond_device(config);
  if (!excess.error) excess = beyond_cluster(config, kernel.function);
  if (!excess.error) excess = beyond_kernel(config, kernel.function);
  if (!excess.error && cooperative) excess = beyond_residence(config, kernel.function);
  // Of a stream that a kernel's threads name the work waits for that kernel's end anyhow.
  if (current_block) {
    if (cooperative) excess = {cudaErrorNotSupported, "a kernel cannot launch cooperatively", "is in a kernel."};
    if (!excess.error) {
      current_block->add_child(config, kernel);
      return cudaSuccess;
    }
  }
  if (!excess.error && is_named(config.stream) && config.stream != replay_stream() &&
      config.stream->device != current_device())
    excess = {cudaErrorInvalidResourceHandle, "the stream is of another device than the current one",
              "is on a stream of device " + std::to_string(config.stream->device) + ", and the current device is " +
                  std::to_string(current_device()) + ": call cudaSetDevice first."};
  // Those that can be captured have been (Launcher).
  if (is_capturing(config.stream))
    excess = {cudaErrorStreamCaptureUnsupported, "this kind of launch cannot be captured", "is on a captured stream."};
  if (!excess.error && check_null_stream(config.stream) != cudaSuccess)
    excess = {cudaErrorStreamCaptureImplicit, "the null stream waits for a stream that is being captured",
              "is on the null stream: give it the stream that is captured."};
  if (excess.error) {
    set_last_error(excess.error);
    refuse_launch(config, kernel.name, excess);
    return excess.error;
  }
  if (!runs_later()) return set_last_error(device().launch(config, kernel, cooperative), "the launch");
  BoundKernel later = kernel;
  const std::shared_ptr<std::byte[]> arguments = copy_of_arguments(kernel);
  later.arguments = arguments.get();
  enqueue(
      config.stream, [config, later, arguments, cooperative] { return device().launch(config, later, cooperative); },
      launch_text(config, kernel.name));
  return cudaSuccess;
}

}  // namespace

cudaError_t launch(const LaunchConfig& config, const BoundKernel& kernel) { return launch(config, kernel, false); }
cudaError_t launch_cooperative(const LaunchConfig& config, const BoundKernel& kernel) {
  return launch(config, kernel, true);
}

}  // namespace simt
