// The device of this process: its memory, and what is done with it.
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>

#include "checks/checks.h"
#include "checks/memory_events.h"
#include "counters/counters.h"
#include "device.h"
#include "device_queues.h"
#include "device_service.h"
#include "devices.h"
#include "failure.h"
#include "launch.h"
#include "memory.h"
#include "simt.h"

namespace simt {

namespace {

std::mutex mutex;

struct Entry {
  size_t bytes, mapped;  // mapped is 0 for memory of the host's own
  Sharing sharing;
  int owner;
};

// Every allocation that has not been freed, by address.
std::map<uintptr_t, Entry>& allocations() {
  static auto* map = new std::map<uintptr_t, Entry>;
  return *map;
}

bool guarding = false;
int open_depth = 0;  // how many kernels and copies are under way

// Device memory has addresses of its own, far from all that a process has else, and far from each other: who misses an
// allocation by less than a gap touches nothing.
constexpr uintptr_t first_address = uintptr_t{1} << 44;
constexpr size_t gap = size_t{8} << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void* map_pages(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  static uintptr_t next = first_address;
  void* const memory = mmap(reinterpret_cast<void*>(next), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  next = round_up(next + bytes, gap) + gap;
  return memory;
}

bool is_closable(const Entry& entry) { return entry.mapped && entry.sharing == Sharing::device_only; }

void protect_all(int protection) {
  for (const auto& [begin, entry] : allocations()) {
    if (is_closable(entry)) mprotect(reinterpret_cast<void*>(begin), entry.mapped, protection);
  }
}

using Found = std::map<uintptr_t, Entry>::const_iterator;

// With the lock, or in a signal handler.
Found find_allocation(uintptr_t address) {
  const auto after = allocations().upper_bound(address);
  if (after == allocations().begin()) return allocations().end();
  const auto found = std::prev(after);
  return address - found->first < found->second.bytes ? Found(found) : allocations().end();
}

// Whether bytes that begin in an allocation end outside of it, which CUDA refuses.
bool runs_past_its_end(const void* pointer, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const Found found = find_allocation(address);
  return found != allocations().end() && bytes > found->second.bytes - (address - found->first);
}

bool holds(const std::vector<Allocation>& parts, uintptr_t address, size_t bytes) {
  for (const Allocation& part : parts) {
    if (address >= part.begin && address - part.begin <= part.bytes && bytes <= part.bytes - (address - part.begin))
      return true;
  }
  return false;
}

// Adds the allocation; `mapped` is 0 for memory of the host's own. False if there is one at this address.
bool add(void* memory, size_t bytes, size_t mapped, Sharing sharing) {
  const int owner = sharing == Sharing::device_only ? current_device() : no_device;
  const Turn turn;
  std::lock_guard<std::mutex> lock(mutex);
  if (!allocations().emplace(reinterpret_cast<uintptr_t>(memory), Entry{bytes, mapped, sharing, owner}).second)
    return false;
  checks::allocated(memory, bytes);
  // The host writes it as it likes, which nobody sees: initcheck takes all of it for written.
  if (sharing == Sharing::with_host) checks::host_wrote(memory, bytes);
  return true;
}

bool is_of_device_alone(const void* pointer) {
  std::lock_guard<std::mutex> lock(mutex);
  const Found found = find_allocation(reinterpret_cast<uintptr_t>(pointer));
  return found != allocations().end() && found->second.sharing == Sharing::device_only;
}

class LocalDevice : public DeviceService {
 public:
  cudaError_t allocate(void** pointer, size_t bytes, Sharing sharing) override {
    if (bytes >= size_t{1} << 40) return cudaErrorMemoryAllocation;
    const size_t mapped = round_up(bytes, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
    *pointer = map_pages(mapped);
    if (!*pointer) return cudaErrorMemoryAllocation;
    if (!runs_only_ends_of_grids()) std::memset(*pointer, 0xFF, bytes);  // NaN: what a program forgot to write shows
    add(*pointer, bytes, mapped, sharing);
    std::lock_guard<std::mutex> lock(mutex);
    if (guarding && open_depth == 0 && sharing == Sharing::device_only) mprotect(*pointer, mapped, PROT_NONE);
    return cudaSuccess;
  }

  cudaError_t free(void* pointer) override {
    const Turn turn;
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = allocations().find(reinterpret_cast<uintptr_t>(pointer));
    if (found == allocations().end()) return cudaErrorInvalidValue;
    checks::freed(pointer, found->second.bytes);
    if (found->second.mapped) munmap(pointer, found->second.mapped);
    allocations().erase(found);
    return cudaSuccess;
  }

  cudaError_t register_host(void* pointer, size_t bytes) override {
    return add(pointer, bytes, 0, Sharing::with_host) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  }
  cudaError_t unregister_host(void* pointer) override {
    return free(pointer) == cudaSuccess ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  }

  bool find(const void* pointer, Allocation* allocation, Sharing* sharing) override {
    std::lock_guard<std::mutex> lock(mutex);
    const Found found = find_allocation(reinterpret_cast<uintptr_t>(pointer));
    if (found == allocations().end()) return false;
    *allocation = {found->first, found->second.bytes};
    *sharing = found->second.sharing;
    return true;
  }
  size_t allocated_bytes() override {
    std::lock_guard<std::mutex> lock(mutex);
    size_t sum = 0;
    for (const auto& [begin, entry] : allocations()) sum += entry.bytes;
    return sum;
  }

  bool keeps_from_host(uintptr_t address) override {
    const Found found = find_allocation(address);
    return guarding && found != allocations().end() && is_closable(found->second);
  }

  cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) override {
    if (checks::running()) {
      const bool to_host = kind == cudaMemcpyDeviceToHost, to_device = kind == cudaMemcpyHostToDevice;
      if ((to_host && is_of_device_alone(to)) || (to_device && is_of_device_alone(from)))
        fail_in_host("memcheck: a copy in the wrong direction",
                     to_host ? "It is asked for as a copy to the host, but goes to memory of cudaMalloc.\nDestination "
                               "first, then source: to fill the device's memory it is cudaMemcpyHostToDevice."
                             : "It is asked for as a copy to the device, but comes from memory of "
                               "cudaMalloc.\nDestination first, then source: to fetch a result it is "
                               "cudaMemcpyDeviceToHost.");
    }
    if (runs_past_its_end(to, bytes) || runs_past_its_end(from, bytes)) return cudaErrorInvalidValue;
    const Turn turn;
    const DeviceMemoryOpen open;
    if (has_several_devices())
      count_link_bytes(owner_of(reinterpret_cast<uintptr_t>(from)), owner_of(reinterpret_cast<uintptr_t>(to)), bytes);
    if (kind == cudaMemcpyDeviceToDevice) {
      count_constants_at(to);
      counters::note_copy(from, bytes);
    }
    std::memmove(to, from, bytes);
    checks::host_wrote(to, bytes);
    return cudaSuccess;
  }
  cudaError_t set(void* pointer, int value, size_t bytes) override {
    if (runs_past_its_end(pointer, bytes)) return cudaErrorInvalidValue;
    const Turn turn;
    const DeviceMemoryOpen open;
    counters::note_copy(nullptr, bytes);
    std::memset(pointer, value, bytes);
    checks::host_wrote(pointer, bytes);
    return cudaSuccess;
  }

  void* symbol(void* variable) override { return variable; }

  cudaError_t launch(const LaunchConfig& config, const BoundKernel& kernel, bool cooperative) override {
    const Turn turn;
    const DeviceMemoryOpen open;
    return run_launch(config, kernel, cooperative);
  }

  cudaError_t multiply(const MatrixProduct& product) override {
    if (checks::running() && !is_on_device(product))
      fail_in_host("memcheck: memory that is not the device's",
                   std::string(product.name) +
                       " is given a matrix that does not lie in device memory from its first element to its last.\nAre "
                       "the pointers cudaMalloc's, and do the sizes and leading dimensions fit?");
    const Turn turn;
    const DeviceMemoryOpen open;
    count_constants_at(product.c);
    compute(product);
    return cudaSuccess;
  }
};

DeviceService* service = nullptr;
bool (*host_memory_test)(uintptr_t) = nullptr;

}  // namespace

DeviceService& local_device() {
  static auto* const local = new LocalDevice;
  return *local;
}
DeviceService& device() { return service ? *service : local_device(); }
void set_device(DeviceService* other) { service = other; }

std::vector<Allocation> live_allocations() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Allocation> list;
  for (const auto& [begin, entry] : allocations()) list.push_back({begin, entry.bytes});
  return list;
}

int owner_of(uintptr_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  const Found found = find_allocation(address);
  return found == allocations().end() ? no_device : found->second.owner;
}
size_t allocated_bytes_of(int device) {
  std::lock_guard<std::mutex> lock(mutex);
  size_t sum = 0;
  for (const auto& [begin, entry] : allocations()) sum += entry.owner == device ? entry.bytes : 0;
  return sum;
}

bool is_device_memory(const void* begin, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  {
    std::lock_guard<std::mutex> lock(mutex);
    const Found found = find_allocation(address);
    if (found != allocations().end()) return bytes <= found->second.bytes - (address - found->first);
  }
  return holds(device_variables(), address, bytes) || holds(constant_variables(), address, bytes);
}

void test_for_host_memory(bool (*test)(uintptr_t)) { host_memory_test = test; }

// In this process it is all that is mapped and not the device's.
bool is_host_memory(uintptr_t address) {
  if (host_memory_test) return host_memory_test(address);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(address / page * page), page, MS_ASYNC) == 0;
}

void guard_device_memory(bool on) {
  std::lock_guard<std::mutex> lock(mutex);
  guarding = on;
  if (open_depth == 0) protect_all(on ? PROT_NONE : PROT_READ | PROT_WRITE);
}

DeviceMemoryOpen::DeviceMemoryOpen() {
  if (!guarding) return;
  std::lock_guard<std::mutex> lock(mutex);
  if (open_depth++ == 0) protect_all(PROT_READ | PROT_WRITE);
}
DeviceMemoryOpen::~DeviceMemoryOpen() {
  if (!guarding) return;
  std::lock_guard<std::mutex> lock(mutex);
  if (--open_depth == 0) protect_all(PROT_NONE);
}

}  // namespace simt
