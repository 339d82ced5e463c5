// The worker: a process that loads one rung and runs its variants on request, so that whatever a rung does to its own
// process is over when the process is. Usage: worker RUNG.so [sealed], started by client.cpp with the descriptors of
// protocol.h.
//
// Written against the CUDA runtime API only. The same source is built against the CPU executor and against the CUDA
// toolkit.
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "device_buffers.h"
#include "printed.h"
#include "protocol.h"
#include "rung.h"
#include "timed_sets.h"
#include "worker_reply.h"
#ifdef __SIMT__
#include "checks/checks.h"
#include "counters/counters.h"
#include "far_rows.h"
#include "rung_apart.h"
#include "simt.h"
#include "timing/predictor.h"
#else
#include "gpu_timing.h"
#include "rung_here.h"
#endif

void rung::check(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) fail(error, doing);
}

namespace {

using namespace rung;

Op op_of(const TableEntry& entry) { return static_cast<Op>(entry.op); }
Dtype dtype_of(const TableEntry& entry) { return static_cast<Dtype>(entry.dtype); }

// Busy for longer than this, the process ends, and the executor tells where its threads were (SIGUSR1, simt.h): a
// moment after the client's own limit, so that the client knows it for what it is. 0: no limit.
void limit_time(double seconds) {
#ifdef __SIMT__
  constexpr double a_moment = .05;
  if (seconds > 0) seconds += a_moment;
  static timer_t timer;
  static const bool made = [] {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  }();
  if (!made) return;
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(seconds);
  when.it_value.tv_nsec = static_cast<long>((seconds - static_cast<double>(when.it_value.tv_sec)) * 1e9);
  timer_settime(timer, 0, &when, nullptr);
#else
  (void)seconds;
#endif
}

// The memfd, mapped. The client only ever grows it.
struct SharedMemory {
  unsigned char* base = nullptr;
  size_t size = 0;

  void map(size_t wanted) {
    if (wanted <= size) return;
    if (base) munmap(base, size);
    void* p = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, memory_descriptor, 0);
    if (p == MAP_FAILED) fail("the worker could not map the shared memory");
    base = static_cast<unsigned char*>(p);
    size = wanted;
  }
};

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// One launch, synchronised. Returns the first error of the call, the synchronisation and the launch, in that order: a
// rung that forgets to return cudaGetLastError() must not pass for a success.
cudaError_t timed_call(LoadedRung& rung, const BufferSet& set, const Request& request, cudaStream_t stream,
                       double* seconds) {
#ifndef __SIMT__
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (!begin) {
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
  }
  check(cudaEventRecord(begin, stream), "cudaEventRecord");
#endif
  double start = now();
  cudaError_t returned = rung.call(request.variant, set, request, stream);
  cudaError_t synchronised = cudaDeviceSynchronize();
  *seconds = now() - start;
#ifndef __SIMT__
  // Stopped after the whole device is idle: work that the rung put on a stream of its own counts too.
  float milliseconds = 0;
  if (synchronised == cudaSuccess && cudaEventRecord(end, stream) == cudaSuccess &&
      cudaEventSynchronize(end) == cudaSuccess && cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess) {
    *seconds = 1e-3 * milliseconds;
  }
#endif
  cudaError_t launched = cudaGetLastError();
  if (returned != cudaSuccess) return returned;
  if (synchronised != cudaSuccess) return synchronised;
  return launched;
}

void copy_input(const Request& request, const Layout& layout, const SharedMemory& memory, const BufferSet& set) {
  if (request.data_bytes[0] == 0) return;
  check(cudaMemcpy(set.buffers[0].data(), memory.base + layout.input, request.data_bytes[0], cudaMemcpyHostToDevice),
        "cudaMemcpy of the input");
}

// As Job::Rotation asks: on a GPU only.
cudaError_t rotate(LoadedRung& rung, const TableEntry& variant, const std::vector<BufferSet>& sets,
                   const Request& request, cudaStream_t stream, std::vector<double>& seconds) {
#ifdef __SIMT__
  (void)rung, (void)variant, (void)sets, (void)request, (void)stream, (void)seconds;
  fail("the worker of the CPU does not rotate over sets of buffers; that is for measuring on a GPU");
#else
  const auto launch = [&](int i) {
    return rung.call(request.variant, sets[static_cast<size_t>(i) % sets.size()], request, stream);
  };
  return time_launches(launch, request.calls, stream, seconds, !arguments_of(op_of(variant)).many_launches);
#endif
}

#ifdef __SIMT__
// What the operator says is counted by itself.
void watch(const TableEntry& variant, const Request& request, const BufferSet& set) {
  simt::counters::watch(nullptr, 0);
  Plan plan;
  if (!arguments_of(op_of(variant)).plan(request.sizes, dtype_of(variant), &plan) || !plan.watched_bytes) return;
  simt::counters::watch(set.buffers[0].data() + plan.watched_offset, plan.watched_bytes);
}
void start_counting(const Request& request) {
  // For whoever asks for predictions of everything that is counted (common/bench/predict.py), or of this job alone.
  static bool predicting = false;
  const char* const gpu = std::getenv("SIMT_GPU");
  if (gpu || predicting || request.stands_for > 0) {
    predicting = request.stands_for > 0;
    try {
      simt::timing::predict_for(gpu          ? gpu
                                : predicting ? "h200"
                                             : "",
                                predicting ? static_cast<unsigned>(request.stands_for) : simt::gpu_times());
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }
  simt::run_blocks_in_turns(request.in_turns);
  simt::counters::start();
}
std::string counted() {
  simt::run_blocks_in_turns(false);
  return simt::counters::to_json(simt::counters::finish());
}
#else
void watch(const TableEntry&, const Request&, const BufferSet&) {}
void start_counting(const Request&) { fail("the worker of a GPU does not count; that is Nsight Compute's work"); }
std::string counted() { return ""; }
#endif

// An error that stays after it has been read has cost the process its CUDA context: the next job needs a new one.
void end_if_lost(cudaError_t error) {
  if (error != cudaSuccess && cudaDeviceSynchronize() != cudaSuccess) fail(error, "the kernel failed");
}

void send_returned(cudaError_t error) {
  reply.error = error;
  copy_text(reply.error_name, sizeof reply.error_name, cudaGetErrorName(error));
  send_or_exit(&reply, sizeof reply);
}

void run(LoadedRung& rung, const TableEntry& variant, const Request& request, SharedMemory& memory,
         cudaStream_t stream) {
  static std::vector<BufferSet> sets(1);
  const Layout layout = layout_of(request);
  memory.map(layout.total);
  sets.resize(static_cast<size_t>(request.sets));
#ifdef __SIMT__
  simt::checks::forget_buffers();
#endif
  for (BufferSet& set : sets) set.prepare(op_of(variant), dtype_of(variant), request);

  cudaError_t error = cudaSuccess;
  std::vector<double> seconds(static_cast<size_t>(request.launches), 0.0);
  if (request.calls > 0) {
    for (const BufferSet& set : sets) {
      copy_input(request, layout, memory, set);
      set.poison_outputs();
    }
    error = rotate(rung, variant, sets, request, stream, seconds);
  }
  for (int launch = 0; request.calls == 0 && launch < request.launches && error == cudaSuccess; launch++) {
    copy_input(request, layout, memory, sets[0]);
    sets[0].poison_outputs();
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (request.count && launch == request.launches - 1) {
      watch(variant, request, sets[0]);
      start_counting(request);
    }
    error = timed_call(rung, sets[0], request, stream, &seconds[static_cast<size_t>(launch)]);
  }
  const std::string counters = request.count ? counted() : "";

  end_if_lost(error);

  const BufferSet& last = sets[request.calls > 0 ? static_cast<size_t>(request.calls - 1) % sets.size() : 0];
  for (int i = 0; i < buffer_count; i++) last.buffers[i].copy_to(memory.base + layout.raw[i]);
  while (sets.size() > 1) {  // only the first is of use to the next job
    for (Buffer& buffer : sets.back().buffers) buffer.release();
    sets.pop_back();
  }
  memcpy(memory.base + layout.seconds, seconds.data(), seconds.size() * sizeof(double));
  if (counters.size() > layout.counters_bytes) fail("the counters of this launch are too long to send");
  memcpy(memory.base + layout.counters, counters.data(), counters.size());
  begin_reply(Reply::returned);
  rung.describe_work(&reply);
  reply.count = static_cast<int32_t>(counters.size());
  send_returned(error);
}

// The other kinds of requests: nothing but what the client times lies between receiving one and its answer.
void run_timed(LoadedRung& rung, const TableEntry& variant, const Request& request, SharedMemory& memory,
               cudaStream_t stream) {
  static DeviceSets sets;
  const auto plan_of = [&] {
    Plan plan;
    if (!arguments_of(op_of(variant)).plan(request.sizes, dtype_of(variant), &plan)) fail("sizes that are not valid");
    return plan;
  };
  cudaError_t error = cudaSuccess;
  if (request.kind == Request::prepare) {
    sets.prepare(op_of(variant), dtype_of(variant), plan_of(), request, stream);
  } else if (request.kind == Request::launch) {
    if (sets.count() != static_cast<size_t>(request.sets)) fail("a launch without its prepare");
    for (int set = 0; set < request.sets && error == cudaSuccess; set++)
      error = rung.call(request.variant, sets[set], request, stream);
    // All of the device, whatever streams the rung has used.
    const cudaError_t synchronised = cudaDeviceSynchronize(), launched = cudaGetLastError();
    if (error == cudaSuccess) error = synchronised != cudaSuccess ? synchronised : launched;
    end_if_lost(error);
  } else {
    const Plan plan = plan_of();
    memory.map(fetched_bytes(plan, static_cast<size_t>(request.picks)));
    sets.fetch(plan, request, memory.base);
  }
  begin_reply(Reply::returned);
  send_returned(error);
}

bool makes_sense(const Request& r, size_t variants) {
  const auto within = [](int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; };
  return r.magic == request_magic && within(r.kind, Request::run, Request::fetch) && r.variant >= 0 &&
         static_cast<size_t>(r.variant) < variants && within(r.launches, 1, max_launches) &&
         within(r.calls, 0, max_calls) && within(r.sets, 1, max_sets) && within(r.picks, 0, max_picks) &&
         r.time_limit >= 0 && r.time_limit < 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  int type = 0;
  socklen_t size = sizeof type;
  const bool graded = argc == 3 && strcmp(argv[2], "sealed") == 0;
  limit_what_is_printed();
#ifdef __SIMT__
  if (argc == 3 && strcmp(argv[2], as_host) == 0) serve_worker(argv[1], false);
  if (argc == 3 && strcmp(argv[2], as_graded_host) == 0) serve_worker(argv[1], true);
  if (argc == 5 && strcmp(argv[2], "far") == 0) {
    simt::install_signal_handlers();
    run_far(argv[1], atoi(argv[3]), atoi(argv[4]));
  }
#endif
  if ((argc != 2 && !graded) || getsockopt(control_descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      type != SOCK_SEQPACKET) {
    fprintf(stderr,
            "worker: this program is started by the tests and the benchmark (common/rung/client.h), not by hand\n");
    return 2;
  }
#ifdef __SIMT__
  simt::on_failure(report_failure);
  simt::install_signal_handlers();
#endif
  check(cudaFree(nullptr), "no CUDA device can be used");

  limit_time(load_limit);
  LoadedRung rung(graded);
  rung.load(argv[1]);
  limit_time(0);
  const std::vector<TableEntry> variants = rung.variants();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  send_tables(variants, rung.predictions());

  SharedMemory memory;
  for (;;) {
    ssize_t got = recv(control_descriptor, &request, sizeof request, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) _exit(0);  // the client has gone
    if (got != static_cast<ssize_t>(sizeof request) || !makes_sense(request, variants.size()))
      fail("the worker was sent a message that it does not understand");
    current_job = request.job;
    printed = 0;
    print_left = request.print_left;
    limit_time(request.time_limit);
    const TableEntry& variant = variants[static_cast<size_t>(request.variant)];
    (request.kind == Request::run ? run : run_timed)(rung, variant, request, memory, stream);
    limit_time(0);
    current_job = 0;
  }
}
