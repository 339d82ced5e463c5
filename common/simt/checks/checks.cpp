// The checks together: one observer that hands every event to those it concerns.
#include "checks.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "../block.h"
#include "../cluster.h"
#include "../counters/rules.h"
#include "../device_heap.h"
#include "../device_queues.h"
#include "../devices.h"
#include "../instrument/recorder.h"
#include "../memory.h"
#include "../module_symbols.h"
#include "../simt.h"
#include "buffers.h"
#include "device_order.h"
#include "initcheck.h"
#include "memcheck.h"
#include "memory_events.h"
#include "racecheck.h"
#include "report.h"
#include "shadow.h"
#include "synccheck.h"

namespace simt::checks {

namespace {

// What is remembered of the launch and the block that a device runs.
struct OfDevice {
  OfDevice(Shadow& written, Shadow& accessed, const Buffers& buffers)
      : accessed(accessed), memcheck(buffers), racecheck(accessed), initcheck(written) {}

  // The page of racecheck's stamps; `written` is that of initcheck's bits.
  Page& page_of(uintptr_t address, Page& written) { return current_device() == 0 ? written : accessed.page(address); }

  Shadow& accessed;
  Memcheck memcheck;
  Racecheck racecheck;
  Initcheck initcheck;
  Synccheck synccheck;
  BlockInfo block = {};
  // By block that waits for the grid: which bytes of its shared memory have been written.
  std::map<uint64_t, std::pair<Shadow::Written, Shadow::Written>> shared_written;
};

class AllChecks : public Observer {
 public:
  AllChecks() {
    // racecheck goes by the order of one device's blocks: with several devices each has stamps of its own, and the
    // order between devices is looked at besides (device_order.h).
    for (int device = 0; device < device_count(); device++) {
      if (device > 0) other_shadows.push_back(std::make_unique<Shadow>());
      devices.push_back(std::make_unique<OfDevice>(shadow, device > 0 ? *other_shadows.back() : shadow, buffers));
    }
  }
  OfDevice& now() { return *devices[static_cast<size_t>(current_device())]; }

  void launch_begin(const LaunchInfo& launch) override {
    now().memcheck.launch_begin(launch);
    now().shared_written.clear();
    now().racecheck.launch_begin(launch.in_turns);
  }
  void launch_end(uint64_t) override {}
  void blocks_take_turns() override { now().racecheck.launch_begin(true); }

  void block_begin(const BlockInfo& info) override {
    now().block = info;
    now().racecheck.block_begin(info);
    now().synccheck.block_begin();
    shadow.set_written(info.dynamic_shared, info.dynamic_shared_bytes, false);
    shadow.set_written(info.static_shared, info.static_shared_bytes, false);
  }
  void block_end(const BlockInfo&) override {
    report_race(true);
    now().initcheck.block_end();
  }

  void block_suspend(const BlockInfo& info) override {
    now().synccheck.barrier_complete(info);
    block_end(info);
    now().shared_written[info.number] = {shadow.written(info.dynamic_shared, info.dynamic_shared_bytes),
                                         shadow.written(info.static_shared, info.static_shared_bytes)};
  }
  void grid_complete() override { now().racecheck.grid_complete(); }
  void cluster_begin(const std::vector<Allocation>& memory) override {
    for (const Allocation& part : memory) {
      shadow.forget(part.begin, part.bytes);
      shadow.set_written(part.begin, part.bytes, false);
    }
    now().racecheck.cluster_begin();
  }
  void cluster_complete() override { now().racecheck.cluster_complete(); }
  void block_resume(const BlockInfo& info) override {
    now().block = info;
    now().racecheck.block_begin(info);
    const auto& [dynamic_written, static_written] = now().shared_written[info.number];
    shadow.restore_written(info.dynamic_shared, info.dynamic_shared_bytes, dynamic_written);
    shadow.restore_written(info.static_shared, info.static_shared_bytes, static_written);
  }

  Allocation before_access(const ThreadId& thread, const Access& access) override {
    Allocation right = {};
    Memcheck::Finding finding = now().memcheck.look_at(now().block, access, &right);
    if (!finding.what) return right;
    // A race that came before may well be why the address is wrong.
    recording.recorder->show_all();
    report_race();
    if (finding.beyond_dynamic) finding.detail += cure_beyond_dynamic(access);
    report(finding.what, thread, access.pc, finding.detail);
  }

  // An index that is too large, or memory that is too small: what the line did before tells them apart.
  std::string cure_beyond_dynamic(const Access& access) {
    const char* const more = "more dynamic shared memory (the third argument of <<< >>>)";
    if (now().block.dynamic_shared_bytes == 0)
      return std::string("The launch has given it none: mended by ") + more + ".";
    if (access.bytes <= 4 && now().block.dynamic_shared_bytes % access.bytes != 0)
      return "Elements of " + std::to_string(access.bytes) +
             " bytes cannot fill that: the third argument of <<< >>> is " +
             "a number of bytes. Is it a number of elements here?";
    if (now().racecheck.touched_before(access.address, access.bytes, access.pc))
      return std::string(
                 "The same line has touched the element before it, which is inside: usually fixed by an index "
                 "that ends one earlier (i < count in place of i <= count); if the kernel keeps more there than "
                 "the launch gives, by ") +
             more + ".";
    return std::string("Usually fixed by giving the launch ") + more + ", or by an index that stays inside.";
  }

  void accesses(const LanesAccess& access) override;

  void barrier_arrive(const ThreadId& thread, Place place) override { now().synccheck.barrier_arrive(thread, place); }
  void barrier_complete(const BlockInfo& info) override {
    now().synccheck.barrier_complete(info);
    now().racecheck.barrier_complete();
  }
  void warp_caller_outside(const ThreadId& thread, unsigned mask, Place place) override {
    now().synccheck.caller_outside(thread, mask, place);
  }
  void warp_complete(const BlockInfo& info, unsigned warp, unsigned, unsigned arrived) override {
    now().synccheck.warp_complete(info, current_block->lanes_of(warp), arrived);
    now().racecheck.warp_complete(warp, arrived);
  }
  void meeting_arrive(const ThreadId& thread, uint64_t key, unsigned phase) override {
    now().racecheck.meeting_arrive(thread.number / 32, key, phase);
  }
  void meeting_left(const ThreadId& thread, uint64_t key, unsigned phase) override {
    now().racecheck.meeting_left(thread.number / 32, key, phase);
  }
  void fence() override { now().racecheck.fence(); }

  Shadow shadow;
  Buffers buffers;
  std::vector<std::unique_ptr<Shadow>> other_shadows;
  std::vector<std::unique_ptr<OfDevice>> devices;

 private:
  void report_race(bool block_is_complete = false) {
    if (const Race* race = now().racecheck.found(block_is_complete))
      report(race->what, race->thread, race->pc, race->detail);
  }
  void look_between_devices(const LanesAccess& access, uintptr_t address, size_t bytes, unsigned thread, bool loads,
                            bool stores);
  void look_at(const LanesAccess& access, AddressSpace space, uintptr_t address, unsigned thread, unsigned threads);
};

// Neighbouring threads at neighbouring addresses are looked at together.
void AllChecks::accesses(const LanesAccess& access) {
  const uint64_t* const addresses = access.addresses;
  const BlockInfo& block = now().block;
  const bool one_run = access.lanes == ~uint32_t{0} && counters::is_contiguous(addresses, access.bytes);
  for (uint32_t left = access.lanes; left;) {
    const auto first = static_cast<unsigned>(__builtin_ctz(left));
    unsigned end = one_run ? 32 : first + 1;
    while (end < 32 && left >> end & 1 && addresses[end] == addresses[end - 1] + access.bytes) end++;
    uintptr_t address = addresses[first];
    left &= end < 32 ? ~uint32_t{0} << end : 0;
    // Who owns a piece of the heap, and since when, is not followed.
    if (device_heap::contains(address)) continue;
    AddressSpace space = address - block.dynamic_shared < max_shared_bytes           ? AddressSpace::shared_dynamic
                         : address - block.static_shared < block.static_shared_bytes ? AddressSpace::shared_static
                                                                                     : AddressSpace::global;
    if (current_cluster) {
      const uintptr_t lasting = space == AddressSpace::global ? 0 : current_cluster->lasting(address);
      if (lasting) address = lasting;
      if (lasting || current_cluster->remote(address)) space = AddressSpace::cluster;
    }
    look_at(access, space, address, access.warp * 32 + first, end - first);
  }
}

void AllChecks::look_between_devices(const LanesAccess& access, uintptr_t address, size_t bytes, unsigned thread,
                                     bool loads, bool stores) {
  const bool orders = access.kind != AccessKind::load && access.kind != AccessKind::store;
  if (stores) made_progress();  // an atomic may be how a kernel polls
  const auto race = device_accesses({current_device(), address, bytes, !stores, !loads, orders, access.pc});
  if (!race) return;
  const auto number =
      static_cast<unsigned>(thread + (race->address > address ? (race->address - address) / access.bytes : 0));
  report(
      "racecheck: race of two devices", {now().block.index, thread_index(number), number}, access.pc,
      std::string("On device ") + std::to_string(current_device()) + " it " + (loads ? "reads " : "writes ") +
          describe(now().block, AddressSpace::global, race->address, access.bytes) + " at " + line_of(access.pc) +
          ";\ndevice " + std::to_string(race->device) + (race->wrote ? " wrote" : " read") + " the same bytes at " +
          line_of(race->pc) +
          ", and nothing orders the two.\nBetween kernels: does the host synchronise, or a stream wait for an event? "
          "Within kernels: does the other device, after its access and a barrier of its threads, call "
          "__threadfence_system() (or release at thread_scope_system) before it writes the flag, and does this one "
          "wait "
          "for that flag, for this use of the memory too?");
}

void AllChecks::look_at(const LanesAccess& access, AddressSpace space, uintptr_t address, unsigned thread,
                        unsigned threads) {
  OfDevice& device = now();
  const BlockInfo& block = device.block;
  while (threads) {
    // As many as lie in this page. An access that is not aligned may reach into the next: then byte by byte.
    const size_t room = Page::bytes - address % Page::bytes;
    const auto here = static_cast<unsigned>(std::min<size_t>(threads, room / access.bytes));
    if (!here) {
      LanesAccess byte = access;
      byte.bytes = 1;
      byte.stored = nullptr;
      for (unsigned i = 0; i < access.bytes; i++) look_at(byte, space, address++, thread, 1);
      thread++;
      threads--;
      continue;
    }
    Page& page = shadow.page(address);
    device.racecheck.access(device.page_of(address, page), block, access, space, address, thread, here);
    const bool loads = only_loads(access.kind);
    const bool stores = only_stores(access.kind);
    if (has_several_devices() && space == AddressSpace::global)
      look_between_devices(access, address, here * size_t{access.bytes}, thread, loads, stores);
    const bool is_variable = address - block.variables.begin < block.variables.bytes;  // they have initial values
    if (!stores && !is_variable) device.initcheck.read(page, block, access, space, address, thread, here);
    if (!loads) device.initcheck.written(page, address, here * size_t{access.bytes});
    address += here * size_t{access.bytes};
    thread += here;
    threads -= here;
  }
}

AllChecks* checks = nullptr;
int cores_before = 0;

}  // namespace

void start() {
  if (checks) return;
  checks = new AllChecks;
  for (const Allocation& allocation : live_allocations()) {
    checks->buffers.allocated(allocation.begin, allocation.bytes);
    checks->shadow.set_written(allocation.begin, allocation.bytes, true);
  }
  cores_before = cores();
  set_cores(1);
  set_observer(checks);
  guard_device_memory(true);
}

void stop() {
  if (!checks) return;
  guard_device_memory(false);
  set_observer(nullptr);
  set_cores(cores_before);
  delete checks;
  checks = nullptr;
}

bool running() { return checks != nullptr; }

bool race_found(Failure* failure) {
  const Race* const race = checks ? checks->now().racecheck.found() : nullptr;
  if (race) describe_failure(failure, race->what, race->thread, race->pc - 1, race->detail);
  return race;
}

void shuffle_source(unsigned mask, unsigned came, unsigned source, Place place) {
  if (!checks) return;
  const ThreadId thread = {current_block->index(), current_block->running()->index, thread_rank()};
  checks->now().synccheck.shuffle_source(thread, current_block->launch().threads_per_block(), mask, came, source,
                                         place);
}

std::string take_remark() { return checks ? std::exchange(checks->now().synccheck.remark, {}) : ""; }

void name_buffer(const void* data, const char* name, size_t rows, size_t cols, size_t element_bytes) {
  if (checks) checks->buffers.name({reinterpret_cast<uintptr_t>(data), name, rows, cols, element_bytes});
}
void forget_buffers() {
  if (checks) checks->buffers.forget_names();
}
void set_uninitialised(const void* data, size_t bytes) {
  if (checks) checks->shadow.set_written(reinterpret_cast<uintptr_t>(data), bytes, false);
}

void allocated(const void* begin, size_t bytes) {
  if (!checks) return;
  checks->buffers.allocated(reinterpret_cast<uintptr_t>(begin), bytes);
  checks->shadow.set_written(reinterpret_cast<uintptr_t>(begin), bytes, false);
}
void freed(const void* begin, size_t bytes) {
  if (!checks) return;
  const auto address = reinterpret_cast<uintptr_t>(begin);
  checks->buffers.freed(address, bytes);
  checks->shadow.forget(address, bytes);
}
void host_wrote(const void* begin, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  if (checks && checks->buffers.is_live(address)) checks->shadow.set_written(address, bytes, true);
}

AddressSpace space_of(const BlockInfo& block, uintptr_t address) {
  if (address - block.dynamic_shared < max_shared_bytes) return AddressSpace::shared_dynamic;
  if (address - block.static_shared < block.static_shared_bytes) return AddressSpace::shared_static;
  const bool is_global = address - block.variables.begin < block.variables.bytes || checks->buffers.is_live(address);
  return is_global ? AddressSpace::global : AddressSpace::other;
}

std::string just_past_row(const BlockInfo& block, AddressSpace space, uintptr_t address, size_t width) {
  if (space == AddressSpace::global) return checks->buffers.row_before(address);
  if (space == AddressSpace::cluster) return "";
  size_t offset = address - block.dynamic_shared;
  if (space == AddressSpace::shared_static) {
    offset = address - block.static_shared;
    size_t begin = 0;
    for (const SharedVariable& variable : shared_variables(block)) {
      if (variable.offset <= offset) begin = variable.offset;
    }
    offset -= begin;
  }
  if (offset % width || !checks->buffers.is_row_length(offset / width)) return "";
  return "a row of " + std::to_string(offset / width) + " columns";
}

// Of a cluster's block, as that block would describe it.
std::string describe_in_cluster(BlockInfo block, uintptr_t address, size_t width) {
  const auto found = current_cluster->remote(address);
  if (!found) return "shared memory of the cluster";
  const std::string text = describe(block, space_of(block, found->shared), found->shared, width);
  return text + " in the shared memory of block " + text_of(found->block);
}

std::string describe(const BlockInfo& block, AddressSpace space, uintptr_t address, size_t width) {
  if (space == AddressSpace::cluster) return describe_in_cluster(block, address, width);
  if (space == AddressSpace::shared_dynamic) {
    return "byte " + std::to_string(address - block.dynamic_shared) + " of the block's dynamic shared memory (" +
           std::to_string(block.dynamic_shared_bytes) + " bytes)";
  }
  if (space == AddressSpace::shared_static) return describe_static(block, address, width);
  if (checks->now().memcheck.is_variable(address)) {
    const std::string name = variable_name(address);
    return name.empty() ? "a variable of the program" : "the variable " + name;
  }
  return checks->buffers.describe(address);
}

}  // namespace simt::checks
