#include "host_side.h"

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "../device_service.h"
#include "../failure.h"
#include "../loaded_module.h"
#include "channel.h"
#include "held_pages.h"

namespace simt::apart {

namespace {

Channel channel;
std::recursive_mutex mutex;  // a fault on managed memory asks the device, too

// Asks and waits. The answer's data, if any, goes to `result`. cudaErrorUnknown if it is not as it should be.
cudaError_t ask(const Header& header, const void* data, size_t data_bytes, Header* answer = nullptr,
                void* result = nullptr, size_t result_bytes = 0) {
  static Message received;
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (!channel.send(header, data, data_bytes)) _exit(1);
  size_t got = 0;
  Channel::Received kind;
  do kind = channel.receive(&received, &got);
  while (kind == Channel::Received::interrupted);
  if (kind == Channel::Received::ended) _exit(1);
  if (received.header.op != Op::answer) return cudaErrorUnknown;
  if (answer) *answer = received.header;
  const auto error = static_cast<cudaError_t>(received.header.value);
  if (error == cudaSuccess && got != result_bytes) return cudaErrorUnknown;
  if (error == cudaSuccess && result_bytes) std::memcpy(result, received.data, result_bytes);
  return error;
}

bool fetch_page(uintptr_t page, size_t bytes, void* to) {
  return ask({Op::page_out, 0, 0, page, bytes}, nullptr, 0, nullptr, to, bytes) == cudaSuccess;
}
bool return_page(uintptr_t page, size_t bytes, const void* from) {
  return ask({Op::copy_in, 0, page, 0, bytes}, from, bytes) == cudaSuccess;
}

// In the module that holds it.
uint64_t offset_of(const void* pointer) {
  const auto at = reinterpret_cast<uintptr_t>(pointer);
  return at - loaded_module(at).base;
}
uint64_t address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

class FarDevice : public DeviceService {
 public:
  cudaError_t allocate(void** pointer, size_t bytes, Sharing sharing) override {
    Header answer;
    const cudaError_t error = ask({Op::allocate, static_cast<int32_t>(sharing), 0, 0, bytes}, nullptr, 0, &answer);
    if (error != cudaSuccess) return error;
    const uintptr_t begin = answer.to;
    if (sharing == Sharing::with_host && !pages_.add(begin, bytes)) {
      ask({Op::free, 0, begin, 0, 0}, nullptr, 0);
      return cudaErrorMemoryAllocation;
    }
    std::lock_guard<std::recursive_mutex> lock(mutex);
    allocations_[begin] = {bytes, sharing};
    *pointer = reinterpret_cast<void*>(begin);
    return cudaSuccess;
  }

  cudaError_t free(void* pointer) override {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    const auto found = allocations_.find(address(pointer));
    if (found == allocations_.end()) return cudaErrorInvalidValue;
    if (found->second.sharing == Sharing::with_host) pages_.remove(found->first, found->second.bytes);
    allocations_.erase(found);
    return ask({Op::free, 0, address(pointer), 0, 0}, nullptr, 0);
  }

  // The device has other memory than the host.
  cudaError_t register_host(void*, size_t) override { return cudaErrorNotSupported; }
  cudaError_t unregister_host(void*) override { return cudaErrorHostMemoryNotRegistered; }

  bool find(const void* pointer, Allocation* allocation, Sharing* sharing) override {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    return find_in_tables(address(pointer), allocation, sharing);
  }
  bool find_in_tables(uintptr_t at, Allocation* allocation, Sharing* sharing) const {
    const auto after = allocations_.upper_bound(at);
    if (after != allocations_.begin()) {
      const auto& [begin, entry] = *std::prev(after);
      *allocation = {begin, entry.bytes};
      *sharing = entry.sharing;
      if (at - begin < entry.bytes) return true;
    }
    for (uint32_t i = 0; i < buffers.count; i++) {
      *allocation = buffers.ranges[i];
      *sharing = Sharing::device_only;
      if (at - allocation->begin < allocation->bytes) return true;
    }
    return false;
  }
  bool keeps_from_host(uintptr_t address) override {
    Allocation allocation;
    Sharing sharing;
    return find_in_tables(address, &allocation, &sharing) && sharing == Sharing::device_only;
  }
  size_t allocated_bytes() override {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    size_t sum = 0;
    for (const auto& [begin, entry] : allocations_) sum += entry.bytes;
    return sum;
  }

  cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) override {
    const bool unknown = kind == cudaMemcpyDefault;
    const bool to_device = unknown ? is_device(to) : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device =
        unknown ? is_device(from) : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!to_device && !from_device) {
      std::memmove(to, from, bytes);
      return cudaSuccess;
    }
    if ((to_device && !fits(to, bytes)) || (from_device && !fits(from, bytes))) return cudaErrorInvalidValue;
    if (!pages_.give_back()) return cudaErrorUnknown;
    if (to_device && from_device) return ask({Op::copy_within, 0, address(to), address(from), bytes}, nullptr, 0);
    // By way of a buffer: where the host's end is managed memory, a system call would not get its pages here.
    unsigned char buffer[1 << 14];
    cudaError_t error = cudaSuccess;
    for (size_t at = 0; at < bytes && error == cudaSuccess; at += sizeof buffer) {
      const size_t part = std::min(sizeof buffer, bytes - at);
      if (to_device) {
        std::memcpy(buffer, static_cast<const char*>(from) + at, part);
        error = ask({Op::copy_in, 0, address(to) + at, 0, part}, buffer, part);
      } else {
        error = ask({Op::copy_out, 0, 0, address(from) + at, part}, nullptr, 0, nullptr, buffer, part);
        if (error == cudaSuccess) std::memcpy(static_cast<char*>(to) + at, buffer, part);
      }
    }
    return error;
  }

  cudaError_t set(void* pointer, int value, size_t bytes) override {
    if (!pages_.give_back()) return cudaErrorUnknown;
    return ask({Op::set, value, address(pointer), 0, bytes}, nullptr, 0);
  }

  void* symbol(void* variable) override {
    const uint64_t offset = offset_of(variable);
    return offset < module.bytes ? reinterpret_cast<void*>(module.base + offset) : variable;
  }

  cudaError_t launch(const LaunchConfig& config, const BoundKernel& kernel, bool cooperative) override {
    if (!pages_.give_back()) return cudaErrorUnknown;
    struct {
      LaunchMessage launch;
      unsigned char arguments[max_argument_bytes];
    } message;
    static_assert(sizeof message <= max_piece, "a launch fits in one message");
    message.launch = {{config.grid.x, config.grid.y, config.grid.z},
                      {config.block.x, config.block.y, config.block.z},
                      {config.cluster.x, config.cluster.y, config.cluster.z},
                      config.shared_bytes,
                      offset_of(reinterpret_cast<const void*>(kernel.run)),
                      kernel.function ? offset_of(kernel.function) : 0,
                      cooperative,
                      is_replaying(),
                      {}};
    std::snprintf(message.launch.name, sizeof message.launch.name, "%s", kernel.name);
    std::memcpy(message.arguments, kernel.arguments, kernel.argument_bytes);
    return ask({Op::launch, 0, 0, 0, kernel.argument_bytes}, &message, sizeof message.launch + kernel.argument_bytes);
  }

  cudaError_t multiply(const MatrixProduct& product) override {
    if (!pages_.give_back()) return cudaErrorUnknown;
    ProductMessage message{product, is_replaying(), {}};
    message.product.name = nullptr;
    std::snprintf(message.name, sizeof message.name, "%s", product.name);
    return ask({Op::multiply, 0, 0, 0, sizeof message}, &message, sizeof message);
  }

  TaskBuffers buffers = {};
  DeviceModule module = {};

 private:
  struct Entry {
    size_t bytes;
    Sharing sharing;
  };

  // Whether all of it lies in one allocation, as far as this process knows: before the first piece is copied.
  bool fits(const void* pointer, size_t bytes) {
    Allocation allocation;
    Sharing sharing;
    if (find(pointer, &allocation, &sharing)) return bytes <= allocation.bytes - (address(pointer) - allocation.begin);
    const uint64_t offset = address(pointer) - module.base;
    return offset < module.bytes && bytes <= module.bytes - offset;
  }

  bool is_device(const void* pointer) {
    Allocation allocation;
    Sharing sharing;
    return find(pointer, &allocation, &sharing) || address(pointer) - module.base < module.bytes;
  }

  std::map<uintptr_t, Entry> allocations_;
  HeldPages pages_{fetch_page, return_page};
};

FarDevice& far_device() {
  static auto* const device = new FarDevice;
  return *device;
}

}  // namespace

void use_far_device(int descriptor) {
  channel = Channel(descriptor);
  set_device(&far_device());
}

void set_device_module(const DeviceModule& module) { far_device().module = module; }

void set_task_buffers(const TaskBuffers& buffers) { far_device().buffers = buffers; }

size_t receive_task(void* data) {
  static Message message;
  for (;;) {
    size_t bytes = 0;
    const Channel::Received kind = channel.receive(&message, &bytes);
    if (kind == Channel::Received::interrupted) continue;
    if (kind == Channel::Received::ended || message.header.op != Op::task) _exit(0);
    std::memcpy(data, message.data, bytes);
    return bytes;
  }
}

void send_done(int value, const void* result, size_t bytes) {
  if (!channel.send({Op::done, value, 0, 0, bytes}, result, bytes)) _exit(1);
}

}  // namespace simt::apart
