// The checks together: one observer that hands every event to those it concerns.
#include "checks.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "../block.h"
#include "../failure.h"
#include "../memory.h"
#include "buffers.h"
#include "initcheck.h"
#include "memcheck.h"
#include "memory_events.h"
#include "racecheck.h"
#include "report.h"
#include "synccheck.h"

namespace simt::checks {

namespace {

class AllChecks : public Observer {
 public:
  void launch_begin(uint64_t, const char*) override {
    memcheck.launch_begin();
    racecheck.launch_begin();
  }
  void launch_end(uint64_t) override {}

  void block_begin(const BlockInfo& info) override {
    block = info;
    racecheck.block_begin(info);
    initcheck.block_begin();
    synccheck.block_begin();
  }
  void block_end(const BlockInfo&) override { initcheck.block_end(); }

  void access(const ThreadId& thread, const Access& access) override {
    memcheck.access(block, thread, access);
    if (access.space == AddressSpace::other && memcheck.is_variable(access.address)) {
      Access of_variable = access;
      of_variable.space = AddressSpace::global;
      racecheck.access(block, thread, of_variable);
      return;
    }
    racecheck.access(block, thread, access);
    initcheck.access(block, thread, access);
  }

  void barrier_arrive(const ThreadId& thread, Place place) override { synccheck.barrier_arrive(thread, place); }
  void barrier_complete(const BlockInfo& info) override {
    synccheck.barrier_complete(info);
    racecheck.barrier_complete();
  }
  void warp_arrive(const ThreadId& thread, unsigned mask, Place place) override {
    synccheck.warp_arrive(thread, mask, place);
  }
  void warp_complete(const BlockInfo&, unsigned warp, unsigned, unsigned arrived) override {
    racecheck.warp_complete(warp, arrived);
  }
  void thread_exit(const ThreadId&) override {}

  Buffers buffers;
  Memcheck memcheck{buffers};
  Racecheck racecheck;
  Initcheck initcheck;
  Synccheck synccheck;
  BlockInfo block = {};
};

AllChecks* checks = nullptr;
int cores_before = 0;

std::string text_of(const uint3& v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

[[noreturn]] void fail(const char* what, const ThreadId& thread, const std::string& detail, uintptr_t pc, Place place) {
  Failure failure = {};
  failure.what = what;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", detail.c_str());
  failure.in_kernel = true;
  const unsigned block[3] = {thread.block.x, thread.block.y, thread.block.z};
  const unsigned index[3] = {thread.thread.x, thread.thread.y, thread.thread.z};
  std::memcpy(failure.block, block, sizeof block);
  std::memcpy(failure.thread, index, sizeof index);
  failure.pc = pc;
  failure.file = place.file;
  failure.line = place.line;
  report_failure(failure);
}

}  // namespace

void start() {
  if (checks) return;
  checks = new AllChecks;
  for (const Allocation& allocation : live_allocations()) {
    checks->buffers.allocated(allocation.begin, allocation.bytes);
    checks->initcheck.host_wrote(allocation.begin, allocation.bytes);
  }
  cores_before = cores();
  set_cores(1);
  set_observer(checks);
}

void stop() {
  if (!checks) return;
  set_observer(nullptr);
  set_cores(cores_before);
  delete checks;
  checks = nullptr;
}

bool running() { return checks != nullptr; }

void name_buffer(const void* data, const char* name, size_t rows, size_t cols, size_t element_bytes) {
  if (checks) checks->buffers.name({reinterpret_cast<uintptr_t>(data), name, rows, cols, element_bytes});
}
void forget_buffers() {
  if (checks) checks->buffers.forget_names();
}
void set_uninitialised(const void* data, size_t bytes) {
  if (checks) checks->initcheck.set_uninitialised(reinterpret_cast<uintptr_t>(data), bytes);
}

void allocated(const void* begin, size_t bytes) {
  if (!checks) return;
  checks->buffers.allocated(reinterpret_cast<uintptr_t>(begin), bytes);
  checks->initcheck.set_uninitialised(reinterpret_cast<uintptr_t>(begin), bytes);
}
void freed(const void* begin, size_t bytes) {
  if (!checks) return;
  const auto address = reinterpret_cast<uintptr_t>(begin);
  checks->buffers.freed(address, bytes);
  checks->racecheck.freed(address, bytes);
  checks->initcheck.freed(address, bytes);
}
void host_wrote(const void* begin, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  if (checks && checks->buffers.is_live(address)) checks->initcheck.host_wrote(address, bytes);
}

std::string describe(const BlockInfo& block, AddressSpace space, uintptr_t address) {
  if (space == AddressSpace::shared_dynamic) {
    return "byte " + std::to_string(address - block.dynamic_shared) + " of the block's dynamic shared memory (" +
           std::to_string(block.dynamic_shared_bytes) + " bytes)";
  }
  if (space == AddressSpace::shared_static) {
    return "static shared memory (byte " + std::to_string(address - block.static_shared) + ")";
  }
  Dl_info symbol;
  if (checks->memcheck.is_variable(address)) {
    const bool named = dladdr(reinterpret_cast<void*>(address), &symbol) && symbol.dli_sname;
    return named ? std::string("the variable ") + symbol.dli_sname : "a __device__ variable";
  }
  return checks->buffers.describe(address);
}

std::string line_of(uintptr_t pc) {
  char file[512];
  const int line = source_line(pc - 1, file, sizeof file);
  if (!line) return "an unknown line";
  std::string path = file;
  char folder[4096];
  if (getcwd(folder, sizeof folder) && path.rfind(std::string(folder) + "/", 0) == 0)
    path.erase(0, std::strlen(folder) + 1);
  return path + ":" + std::to_string(line);
}

std::string name_of(const uint3& thread) { return "thread " + text_of(thread); }

void report(const char* what, const ThreadId& thread, uintptr_t pc, const std::string& detail) {
  fail(what, thread, detail, pc - 1, {});
}
void report(const char* what, const ThreadId& thread, Place place, const std::string& detail) {
  fail(what, thread, detail, 0, place);
}

}  // namespace simt::checks

namespace simt {

uint64_t checked_value(const Exchanged& exchanged, unsigned mask, unsigned source, Place place) {
  if (checks::checks) {
    const Thread& thread = *current_block->running();
    checks::checks->synccheck.shuffle_source({current_block->index(), thread.index, thread_rank()}, mask, source,
                                             place);
  }
  return exchanged.values[source];
}

}  // namespace simt
