// The worker: a process that loads one rung and runs its variants on request, so that whatever a rung does to its own
// process is over when the process is. Usage: worker RUNG.so, started by client.cpp with the descriptors of protocol.h.
//
// Written against the CUDA runtime API only. The same source is built against the CPU executor and against the CUDA
// toolkit.
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "protocol.h"
#include "rung.h"
#ifdef __SIMT__
#include "simt.h"
#endif

namespace {

using namespace rung;

uint64_t current_job = 0;

void copy_text(char* to, size_t size, const char* from) {
  size_t length = strnlen(from, size - 1);
  memcpy(to, from, length);
  to[length] = 0;
}

void send_or_exit(const void* message, size_t size) {
  if (send(control_descriptor, message, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) _exit(1);
}

// Static: also sent from a signal handler, which may run on a thread with a small stack.
Reply reply;

void begin_reply(Reply::Kind kind) {
  memset(&reply, 0, sizeof reply);
  reply.magic = reply_magic;
  reply.kind = kind;
  reply.job = current_job;
}

[[noreturn]] void fail(const char* message) {
  begin_reply(Reply::failed);
  copy_text(reply.message, sizeof reply.message, message);
  send_or_exit(&reply, sizeof reply);
  _exit(1);
}

[[noreturn]] void fail(cudaError_t error, const char* doing) {
  begin_reply(Reply::failed);
  reply.error = error;
  copy_text(reply.error_name, sizeof reply.error_name, cudaGetErrorName(error));
  snprintf(reply.message, sizeof reply.message, "%s: %s (%s)", doing, cudaGetErrorName(error),
           cudaGetErrorString(error));
  send_or_exit(&reply, sizeof reply);
  _exit(1);
}

void check(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) fail(error, doing);
}

#ifdef __SIMT__
void append(char* text, size_t size, const char* more) {
  size_t length = strlen(text);
  copy_text(text + length, size - length, more);
}

void append(char* text, size_t size, unsigned number) {
  char digits[11];
  char* p = digits + sizeof digits - 1;
  *p = 0;
  do *--p = static_cast<char>('0' + number % 10);
  while (number /= 10);
  append(text, size, p);
}

void append(char* text, size_t size, const unsigned (&index)[3]) {
  append(text, size, "(");
  for (int i = 0; i < 3; i++) {
    if (i) append(text, size, ",");
    append(text, size, index[i]);
  }
  append(text, size, ")");
}

// Called by the executor when a kernel cannot go on, possibly in a signal handler: no stdio, no allocation.
void report_failure(const simt::Failure& failure) {
  static std::atomic_flag reported = ATOMIC_FLAG_INIT;
  while (reported.test_and_set()) pause();  // another thread is reporting already and ends the process
  begin_reply(Reply::failed);
  char* text = reply.message;
  const size_t size = sizeof reply.message;
  append(text, size, failure.what ? failure.what : "failure");
  if (failure.in_kernel) {
    append(text, size, "\nin block ");
    append(text, size, failure.block);
    append(text, size, ", thread ");
    append(text, size, failure.thread);
  } else {
    append(text, size, "\nin host code");
  }
  if (failure.detail[0]) {
    append(text, size, ": ");
    append(text, size, failure.detail);
  }
  if (failure.file) {
    copy_text(reply.file, sizeof reply.file, failure.file);
    reply.line = failure.line;
  } else if (failure.pc) {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(failure.pc), &info) && info.dli_fname) {
      copy_text(reply.module, sizeof reply.module, info.dli_fname);
      reply.offset = failure.pc - reinterpret_cast<uintptr_t>(info.dli_fbase);
    }
  }
  send_or_exit(&reply, sizeof reply);
  _exit(1);
}
#endif

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

// A buffer on the device: guard | data | guard. Allocated anew when its size changes, so that the back guard begins at
// the first byte past the data.
struct Buffer {
  unsigned char* allocation = nullptr;
  size_t data_bytes = 0;

  unsigned char* data() const { return allocation + guard_bytes; }

  void resize(size_t bytes) {
    if (allocation && bytes == data_bytes) return;
    if (allocation) check(cudaFree(allocation), "cudaFree of the worker's own buffer");
    void* p = nullptr;
    check(cudaMalloc(&p, guard_bytes + bytes + guard_bytes), "cudaMalloc of the worker's own buffer");
    allocation = static_cast<unsigned char*>(p);
    data_bytes = bytes;
  }

  void fill_guards() const {
    check(cudaMemset(allocation, guard_byte, guard_bytes), "cudaMemset");
    check(cudaMemset(data() + data_bytes, guard_byte, guard_bytes), "cudaMemset");
  }
};

cudaError_t call(const Variant& variant, void* const (&argument)[buffer_count], const Request& r, cudaStream_t stream) {
  const void* x = argument[0];
  if (variant.op == Op::softmax) {
    // The element type differs, the calling convention does not: every pointer to an object is passed alike.
    auto function = reinterpret_cast<cudaError_t (*)(const void*, void*, int, int, cudaStream_t)>(variant.launch);
    return function(x, argument[1], r.rows, r.cols, stream);
  }
  auto function =
      reinterpret_cast<cudaError_t (*)(const void*, int*, float*, int, int, int, cudaStream_t)>(variant.launch);
  return function(x, static_cast<int*>(argument[1]), static_cast<float*>(argument[2]), r.rows, r.cols, r.k, stream);
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// One launch, synchronised. Returns the first error of the call, the synchronisation and the launch, in that order: a
// rung that forgets to return cudaGetLastError() must not pass for a success.
cudaError_t timed_call(const Variant& variant, void* const (&argument)[buffer_count], const Request& request,
                       cudaStream_t stream, double* seconds) {
#ifndef __SIMT__
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (!begin) {
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
  }
  check(cudaEventRecord(begin, stream), "cudaEventRecord");
#endif
  double start = now();
  cudaError_t returned = call(variant, argument, request, stream);
#ifndef __SIMT__
  cudaEventRecord(end, stream);
#endif
  cudaError_t synchronised = cudaDeviceSynchronize();
  *seconds = now() - start;
#ifndef __SIMT__
  float milliseconds = 0;
  if (synchronised == cudaSuccess && cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess) {
    *seconds = 1e-3 * milliseconds;
  }
#endif
  cudaError_t launched = cudaGetLastError();
  if (returned != cudaSuccess) return returned;
  if (synchronised != cudaSuccess) return synchronised;
  return launched;
}

void run(const Variant& variant, const Request& request, SharedMemory& memory, cudaStream_t stream) {
  static Buffer buffers[buffer_count];
  const Layout layout = layout_of(request);
  memory.map(layout.total);
  const int used = variant.op == Op::softmax ? 2 : 3;
  void* argument[buffer_count] = {};
  for (int i = 0; i < buffer_count; i++) {
    buffers[i].resize(request.data_bytes[i]);
    buffers[i].fill_guards();
    if (i < used && !(request.null_arguments >> i & 1)) argument[i] = buffers[i].data();
  }

  cudaError_t error = cudaSuccess;
  std::vector<double> seconds(static_cast<size_t>(request.launches), 0.0);
  for (int launch = 0; launch < request.launches && error == cudaSuccess; launch++) {
    if (request.data_bytes[0]) {
      check(cudaMemcpy(buffers[0].data(), memory.base + layout.input, request.data_bytes[0], cudaMemcpyHostToDevice),
            "cudaMemcpy of the input");
    }
    for (int i = 1; i < buffer_count; i++) {
      if (request.data_bytes[i]) check(cudaMemset(buffers[i].data(), 0xFF, request.data_bytes[i]), "cudaMemset");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    error = timed_call(variant, argument, request, stream, &seconds[static_cast<size_t>(launch)]);
  }

  // An error that stays after it has been read has cost the process its CUDA context: the next job needs a new one.
  if (error != cudaSuccess && cudaDeviceSynchronize() != cudaSuccess) fail(error, "the kernel failed");

  for (int i = 0; i < buffer_count; i++) {
    check(cudaMemcpy(memory.base + layout.raw[i], buffers[i].allocation, layout.raw_bytes[i], cudaMemcpyDeviceToHost),
          "cudaMemcpy of the results");
  }
  memcpy(memory.base + layout.seconds, seconds.data(), seconds.size() * sizeof(double));
  begin_reply(Reply::returned);
  reply.error = error;
  copy_text(reply.error_name, sizeof reply.error_name, cudaGetErrorName(error));
  send_or_exit(&reply, sizeof reply);
}

const Variant* load(const char* path, int* count) {
  void* rung = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!rung) fail(dlerror());
  auto variants = reinterpret_cast<const Variant* (*)(int*)>(dlsym(rung, "rung_variants"));
  if (!variants) fail("it exports no variants: does the file end with RUNG_EXPORT(...)?");
  const Variant* table = variants(count);
  if (!table || *count < 1 || *count > max_variants) fail("the table of its variants is empty or absurdly long");
  return table;
}

void send_table(const Variant* table, int count) {
  begin_reply(Reply::table);
  reply.count = count;
  send_or_exit(&reply, sizeof reply);
  for (int i = 0; i < count; i++) {
    TableEntry entry{};
    entry.magic = reply_magic;
    entry.op = static_cast<int32_t>(table[i].op);
    entry.dtype = static_cast<int32_t>(table[i].dtype);
    copy_text(entry.name, sizeof entry.name, table[i].name);
    send_or_exit(&entry, sizeof entry);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  int type = 0;
  socklen_t size = sizeof type;
  if (argc != 2 || getsockopt(control_descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    fprintf(stderr,
            "worker: this program is started by the tests and the benchmark (common/rung/client.h), not by hand\n");
    return 2;
  }
  // What a rung prints is for a human: it goes where errors go, line by line, also when the process ends by _exit.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  setvbuf(stdout, nullptr, _IOLBF, 0);
#ifdef __SIMT__
  simt::on_failure(report_failure);
  simt::install_signal_handlers();
#endif
  check(cudaFree(nullptr), "no CUDA device can be used");

  int count = 0;
  const Variant* table = load(argv[1], &count);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  send_table(table, count);

  SharedMemory memory;
  for (;;) {
    ssize_t got = recv(control_descriptor, &request, sizeof request, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) _exit(0);  // the client has gone
    if (got != static_cast<ssize_t>(sizeof request) || request.magic != request_magic || request.variant < 0 ||
        request.variant >= count || request.launches < 1 || request.launches > max_launches) {
      fail("the worker was sent a message that it does not understand");
    }
    current_job = request.job;
    run(table[request.variant], request, memory, stream);
    current_job = 0;
  }
}
