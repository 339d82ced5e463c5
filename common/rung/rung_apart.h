// A rung on the executor: its host code runs in a process of its own, which has nothing but a socket to the worker. So
// the worker's memory is a device's: the host's code can neither read what kernels compute nor change what counts and
// checks them, in the plain build and in the instrumented one. Included by worker.cpp alone.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "apart/counted_time.h"
#include "apart/device_side.h"
#include "apart/host_side.h"
#include "apart/image.h"
#include "checks/checks.h"
#include "device_buffers.h"
#include "failure.h"
#include "launch.h"
#include "refusal.h"
#include "rung_calls.h"
#include "sealed_code.h"
#include "simt.h"
#include "worker_reply.h"

namespace rung {

namespace {

using simt::apart::Host;

// The last argument of the host's process.
constexpr const char *as_host = "host", *as_graded_host = "sealed host";

// What the worker tells its host to do. `load` comes first and once; its answer is a Tables message.
struct Task {
  enum Kind : int32_t { load, call } kind;
  int32_t variant;
  simt::apart::DeviceModule module;  // load
  simt::apart::TaskBuffers buffers;  // call, like the rest
  void* argument[buffer_count];
  Request request;  // not all of it: what concerns the call
};

// What the host says when a call has returned: why it has an error, if it has, and how much it has printed.
struct CallResult {
  simt::apart::HostFailure why;
  uint64_t printed;  // bytes
};

struct TablesMessage {
  int32_t count, predictions_count;
  char problem[1024];  // "" if there is none
  TableEntry entries[max_variants];
  PredictionEntry predictions[max_predictions];
};
static_assert(sizeof(TablesMessage) <= simt::apart::max_piece && sizeof(Task) <= simt::apart::max_piece);

// ---- The host's process --------------------------------------------------------------------------

// The host's end of the socket: where a rung may expect the worker's.
constexpr int host_descriptor = control_descriptor;

TablesMessage message_of(const Tables& tables, const std::string& problem) {
  TablesMessage message{};
  copy_text(message.problem, sizeof message.problem, problem.c_str());
  if (!problem.empty()) return message;
  message.count = tables.count;
  message.predictions_count = tables.predictions_count;
  for (int i = 0; i < tables.count; i++) message.entries[i] = entry_of(tables.table[i]);
  for (int i = 0; i < tables.predictions_count; i++) message.predictions[i] = entry_of(tables.predictions[i]);
  return message;
}

simt::apart::HostFailure message_of(const simt::Refusal& refusal) {
  simt::apart::HostFailure told{};
  copy_text(told.detail, sizeof told.detail, refusal.text);
  if (refusal.file) copy_text(told.file, sizeof told.file, refusal.file);
  told.line = refusal.line;
  if (!refusal.file) told.offset = place_in_module(refusal.pc, told.module, sizeof told.module);
  return told;
}

void tell_worker(const simt::Failure& failure) {
  static simt::apart::HostFailure told;
  copy_text(told.what, sizeof told.what, failure.what ? failure.what : "failure");
  copy_text(told.detail, sizeof told.detail, failure.detail);
  if (failure.file) copy_text(told.file, sizeof told.file, failure.file);
  told.line = failure.line;
  told.offset = place_in_module(failure.pc, told.module, sizeof told.module);
  simt::apart::Channel(host_descriptor).send({simt::apart::Op::failed, 0, 0, 0, sizeof told}, &told, sizeof told);
  _exit(1);
}

// The host's process, which is this program started anew: so that its memory lies at other addresses than the worker's,
// and a pointer of the one is none of the other.
[[noreturn]] void serve_worker(const char* path, bool graded) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  simt::on_failure(tell_worker);
  simt::install_signal_handlers();
  seal_code();
  if (graded) seal_files();
  if (graded) seal_processes();
  if (graded) simt::apart::count_time();
  simt::apart::use_far_device(host_descriptor);
  static unsigned char data[simt::apart::max_piece];
  static Task task;
  Tables tables;
  cudaStream_t stream = nullptr;
  for (;;) {
    simt::apart::receive_task(data);
    memcpy(&task, data, sizeof task);
    if (task.kind == Task::load) {
      std::string problem;
      simt::apart::set_device_module(task.module);
      tables = load_tables(path, &problem);
      if (problem.empty()) cudaStreamCreate(&stream);
      const TablesMessage message = message_of(tables, problem);
      simt::apart::send_done(0, &message, sizeof message);
      continue;
    }
    simt::apart::set_task_buffers(task.buffers);
    simt::forget_refusal();
    printed = 0;
    print_left = task.request.print_left;
    const cudaError_t returned = call(tables.table[task.variant], task.argument, task.request, stream);
    const cudaError_t launched = cudaGetLastError();
    fflush(stdout);
    const cudaError_t error = returned != cudaSuccess ? returned : launched;
    const simt::Refusal& refusal = simt::last_refusal();
    CallResult result{};
    result.printed = printed;
    if (error != cudaSuccess && refusal.error == cudaSuccess)
      copy_text(result.why.detail, sizeof result.why.detail,
                error == cudaErrorNotSupported
                    ? "no CUDA call returned this error: the file itself did, as where a TODO is not written yet"
                    : "no CUDA call returned this error: the file itself did");
    else if (error != cudaSuccess && refusal.error == error)
      result.why = message_of(refusal);
    simt::apart::send_done(error, &result, error != cudaSuccess || printed ? sizeof result : 0);
  }
}

// ---- The worker's ---------------------------------------------------------------------------------

pid_t host_process = 0;

// What the process with the rung's host code said before it ended.
[[noreturn]] void fail_like_host(const simt::apart::HostFailure& failure) {
  begin_reply(Reply::failed);
  copy_text(reply.message, sizeof reply.message, failure.what);
  append(reply.message, sizeof reply.message, "\nin host code");
  if (failure.detail[0]) append(reply.message, sizeof reply.message, ": ");
  append(reply.message, sizeof reply.message, failure.detail);
  copy_text(reply.file, sizeof reply.file, failure.file);
  copy_text(reply.module, sizeof reply.module, failure.module);
  reply.line = failure.line;
  reply.offset = failure.offset;
  send_or_exit(&reply, sizeof reply);
  _exit(1);
}

// For simt::on_idle_timeout: it is the host's code that does not end. What it says then comes by the socket.
bool ask_host_where_it_is() { return ::kill(host_process, SIGUSR1) == 0; }

// Is it memory of the host's code, at an address of this process that no kernel may touch?
bool is_memory_of_host(uintptr_t address) {
  char byte;
  const iovec here = {&byte, 1}, there = {reinterpret_cast<void*>(address), 1};
  return process_vm_readv(host_process, &here, 1, &there, 1, 0) == 1;
}

class LoadedRung {
 public:
  explicit LoadedRung(bool graded) : graded_(graded) {}

  void load(const char* path) {
    if (!image_.read(path)) fail(image_.problem().c_str());
    start_host(path);
    prctl(PR_SET_DUMPABLE, 0);  // the host has the same user, and must not read this process's memory
    seal_code();
    if (graded_) seal_files();
    if (!image_.load()) fail(image_.problem().c_str());
    if (image_.is_instrumented()) simt::checks::start();
    host_.set_module(image_.base(), image_.functions());
    Task task{};
    task.kind = Task::load;
    task.module = {image_.base(), image_.bytes()};
    const Host::Result result = finished(host_.run(&task, sizeof task));
    if (result.data.size() != sizeof message_) fail_for_garbage();
    memcpy(&message_, result.data.data(), sizeof message_);
    end_text(message_.problem);
    if (message_.problem[0]) fail(message_.problem);
    if (message_.count < 1 || message_.count > max_variants || message_.predictions_count < 0 ||
        message_.predictions_count > max_predictions)
      fail_for_garbage();
    for (TableEntry& entry : message_.entries) {
      end_text(entry.name);
      if (entry.op < 0 || entry.op >= operator_count || entry.dtype < 0 || entry.dtype > static_cast<int>(Dtype::bf16))
        fail_for_garbage();
    }
    for (PredictionEntry& entry : message_.predictions) end_text(entry.name);
  }

  std::vector<TableEntry> variants() const { return {message_.entries, message_.entries + message_.count}; }
  std::vector<PredictionEntry> predictions() const {
    return {message_.predictions, message_.predictions + message_.predictions_count};
  }

  cudaError_t call(int variant, const BufferSet& set, const Request& request, cudaStream_t) {
    simt::used_atomics();
    Task task{};
    task.kind = Task::call;
    task.variant = variant;
    task.request = request;
    task.request.job = 0;
    for (int i = 0; i < buffer_count; i++) {
      task.argument[i] = set.argument[i];
      const auto begin = reinterpret_cast<uintptr_t>(set.buffers[i].allocation);
      if (begin) task.buffers.ranges[task.buffers.count++] = {begin, Buffer::guard() * 2 + set.buffers[i].data_bytes};
    }
    const Host::Result result = finished(host_.run(&task, sizeof task));
    CallResult said{};
    if (result.data.size() == sizeof said) memcpy(&said, result.data.data(), sizeof said);
    refusal_ = said.why;
    printed += said.printed;
    for (char* end : {std::end(refusal_.detail), std::end(refusal_.file), std::end(refusal_.module)}) end[-1] = 0;
    return static_cast<cudaError_t>(result.value);
  }

  void describe_work(Reply* reply) const {
    const simt::apart::TaskRecord& record = host_.record();
    reply->launches = static_cast<int32_t>(record.launches.size());
    reply->launch_hash = 14695981039346656037ull;  // FNV-1a
    const auto add = [&](const void* data, size_t bytes) {
      for (size_t i = 0; i < bytes; i++)
        reply->launch_hash = (reply->launch_hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ull;
    };
    for (const auto& launch : record.launches) {
      reply->by_graphs += launch.by_graph;
      add(launch.grid, sizeof launch.grid);
      add(launch.block, sizeof launch.block);
      add(&launch.shared_bytes, sizeof launch.shared_bytes);
      add(launch.kernel.c_str(), launch.kernel.size() + 1);
      char text[96];
      snprintf(text, sizeof text, "%s%.40s<<<(%u,%u,%u), (%u,%u,%u), %zu>>>", reply->launched[0] ? ", " : "",
               launch.kernel.c_str(), launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
               launch.block[2], static_cast<size_t>(launch.shared_bytes));
      append(reply->launched, sizeof reply->launched, text);
    }
    copy_text(reply->message, sizeof reply->message, refusal_.detail);
    copy_text(reply->file, sizeof reply->file, refusal_.file);
    copy_text(reply->module, sizeof reply->module, refusal_.module);
    reply->line = refusal_.line;
    reply->offset = refusal_.offset;
    reply->bytes_to_host = record.bytes_to_host;
    reply->used_after = record.used_after;
    reply->atomics = simt::used_atomics();
    copy_text(reply->remark, sizeof reply->remark, simt::checks::take_remark().c_str());
  }

 private:
  template <size_t size>
  static void end_text(char (&text)[size]) {
    text[size - 1] = 0;
  }

  void start_host(const char* path) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("no socket for the host's process");
    fflush(nullptr);
    host_process = fork();
    if (host_process < 0) fail("no process for the host's code");
    if (host_process == 0) {
      dup2(ends[1], host_descriptor);
      close(memory_descriptor);
      execl("/proc/self/exe", "worker", path, graded_ ? as_graded_host : as_host, static_cast<char*>(nullptr));
      _exit(127);
    }
    close(ends[1]);
    host_ = Host(ends[0], host_process);
    simt::on_idle_timeout(ask_host_where_it_is);
    simt::test_for_host_memory(is_memory_of_host);
  }

  [[noreturn]] static void fail_for_garbage() { fail("it wrote to the worker's own connection (file descriptor 3)"); }

  // The result of a task that came to its end. All else ends this process, as it has ended the host's.
  Host::Result finished(Host::Result result) {
    switch (result.kind) {
      case Host::Result::Kind::done: return result;
      case Host::Result::Kind::failed: fail_like_host(result.failure);
      case Host::Result::Kind::garbage: fail_for_garbage();
      case Host::Result::Kind::gone: break;
    }
    int status = 0;
    for (int i = 0; i < 100; i++) {
      if (waitpid(host_process, &status, WNOHANG) != 0) end_like(status);
      usleep(1000);
    }
    fail("it closed its connection and was killed");
  }

  [[noreturn]] static void end_like(int status) {
    if (WIFSIGNALED(status)) {
      signal(WTERMSIG(status), SIG_DFL);
      raise(WTERMSIG(status));
      _exit(128 + WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
  }

  simt::apart::HostFailure refusal_ = {};  // why the last call returned an error, if it did
  const bool graded_;
  simt::apart::Image image_;
  Host host_{-1, 0};
  TablesMessage message_{};
};

}  // namespace

}  // namespace rung
