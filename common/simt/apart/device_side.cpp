#include "device_side.h"

#include <cuda_runtime.h>

#include <cstring>

#include "../cluster.h"
#include "../device.h"
#include "../device_service.h"
#include "../matrix_product.h"

namespace simt::apart {

namespace {

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

// FNV-1a: to see whether a page has changed.
uint64_t hash(const void* data, size_t bytes) {
  uint64_t sum = 14695981039346656037ull;
  for (size_t i = 0; i < bytes; i++) sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ull;
  return sum;
}

template <size_t size>
std::string text_of(const char (&text)[size]) {
  return std::string(text, strnlen(text, size));
}

template <size_t size>
void end_text(char (&text)[size]) {
  text[size - 1] = 0;
}

}  // namespace

void Host::set_module(uintptr_t base, std::set<uint64_t> functions) {
  base_ = base;
  functions_ = std::move(functions);
}

Host::Result Host::run(const void* task, size_t bytes) {
  record_ = {};
  Result result{Result::Kind::gone, 0, {}, {}};
  if (!channel_.send({Op::task, 0, 0, 0, bytes}, task, bytes)) return result;
  static Message message;
  for (;;) {
    size_t data_bytes = 0;
    const Channel::Received kind = channel_.receive(&message, &data_bytes);
    if (kind == Channel::Received::interrupted) continue;
    if (kind == Channel::Received::ended) return result;
    const Header call = message.header;
    if (call.op == Op::done) {
      result.kind = Result::Kind::done;
      result.value = call.value;
      result.data.assign(message.data, message.data + data_bytes);
      return result;
    }
    if (call.op == Op::failed && data_bytes == sizeof result.failure) {
      result.kind = Result::Kind::failed;
      std::memcpy(&result.failure, message.data, sizeof result.failure);
      end_text(result.failure.what);
      end_text(result.failure.detail);
      end_text(result.failure.file);
      end_text(result.failure.module);
      return result;
    }
    if (call.op < Op::allocate || call.op > Op::multiply) {
      result.kind = Result::Kind::garbage;
      return result;
    }
    Header answer{Op::answer, 0, 0, 0, 0};
    const void* answer_data = nullptr;
    size_t answer_bytes = 0;
    answer.value = serve(message, data_bytes, &answer, &answer_data, &answer_bytes);
    if (!channel_.send(answer, answer_data, answer_bytes)) return result;
  }
}

int32_t Host::serve(const Message& message, size_t data_bytes, Header* answer, const void** answer_data,
                    size_t* answer_bytes) {
  const Header& call = message.header;
  DeviceService& device = local_device();
  switch (call.op) {
    case Op::allocate: {
      const auto sharing = static_cast<Sharing>(call.value);
      if (call.bytes == 0 || (sharing != Sharing::device_only && sharing != Sharing::with_host))
        return cudaErrorInvalidValue;
      void* allocated = nullptr;
      const cudaError_t error = device.allocate(&allocated, call.bytes, sharing);
      if (error != cudaSuccess) return error;
      answer->to = reinterpret_cast<uint64_t>(allocated);
      own_[answer->to] = call.bytes;
      return cudaSuccess;
    }
    case Op::free: {
      const auto found = own_.find(call.to);
      if (found == own_.end()) return cudaErrorInvalidValue;
      known_to_host_.erase(known_to_host_.lower_bound(call.to), known_to_host_.lower_bound(call.to + found->second));
      own_.erase(found);
      return device.free(pointer(call.to));
    }
    case Op::copy_in:
      if (data_bytes != call.bytes || !is_device_memory(pointer(call.to), call.bytes)) return cudaErrorInvalidValue;
      used();
      if (known_to_host_.count(call.to)) known_to_host_[call.to] = hash(message.data, data_bytes);
      return device.copy(pointer(call.to), message.data, call.bytes, cudaMemcpyHostToDevice);
    case Op::copy_out: return give(call, false, answer_data, answer_bytes);
    case Op::page_out: return give(call, true, answer_data, answer_bytes);
    case Op::copy_within:
      if (!is_device_memory(pointer(call.to), call.bytes) || !is_device_memory(pointer(call.from), call.bytes))
        return cudaErrorInvalidValue;
      used();
      return device.copy(pointer(call.to), pointer(call.from), call.bytes, cudaMemcpyDeviceToDevice);
    case Op::set:
      if (!is_device_memory(pointer(call.to), call.bytes)) return cudaErrorInvalidValue;
      used();
      return device.set(pointer(call.to), call.value, call.bytes);
    case Op::launch: return launch(message, data_bytes);
    case Op::multiply: return multiply(message, data_bytes);
    default: return cudaErrorUnknown;
  }
}

int32_t Host::give(const Header& call, bool page, const void** answer_data, size_t* answer_bytes) {
  if (call.bytes > max_piece || !is_device_memory(pointer(call.from), call.bytes)) return cudaErrorInvalidValue;
  static unsigned char copy[max_piece];
  const cudaError_t error = local_device().copy(copy, pointer(call.from), call.bytes, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return error;
  *answer_data = copy;
  *answer_bytes = call.bytes;
  // A page that only the host has written tells it nothing; nor does one that nobody has written.
  uint64_t learnt = call.bytes;
  if (page) {
    const uint64_t now = hash(copy, call.bytes);
    const auto [known, is_new] = known_to_host_.try_emplace(call.from, now);
    bool untouched = is_new;
    for (size_t i = 0; i < call.bytes && untouched; i++) untouched = copy[i] == 0xFF;
    if (untouched || (!is_new && known->second == now)) learnt = 0;
    known->second = now;
  }
  record_.bytes_to_host += learnt;
  return cudaSuccess;
}

int32_t Host::launch(const Message& message, size_t data_bytes) {
  LaunchMessage asked;
  if (data_bytes < sizeof asked) return cudaErrorUnknown;
  std::memcpy(&asked, message.data, sizeof asked);
  const size_t argument_bytes = data_bytes - sizeof asked;
  if (argument_bytes != message.header.bytes || argument_bytes > max_argument_bytes) return cudaErrorInvalidValue;
  if (!functions_.count(asked.run) || (asked.function && !functions_.count(asked.function)))
    return cudaErrorInvalidDeviceFunction;
  used();
  // Aligned as any object; the kernel reads it for as long as it runs.
  static std::vector<max_align_t> arguments;
  arguments.assign(argument_bytes / sizeof(max_align_t) + 1, {});
  std::memcpy(arguments.data(), message.data + sizeof asked, argument_bytes);
  std::string name = text_of(asked.name);
  if (name.size() > 2 && name.front() == '(' && name.back() == ')') name = name.substr(1, name.size() - 2);
  const void* const function = asked.function ? pointer(base_ + asked.function) : nullptr;
  LaunchConfig config({asked.grid[0], asked.grid[1], asked.grid[2]}, {asked.block[0], asked.block[1], asked.block[2]},
                      asked.shared_bytes, nullptr);
  config.cluster = {asked.cluster[0], asked.cluster[1], asked.cluster[2]};
  const BoundKernel kernel = {name.c_str(), function, reinterpret_cast<void (*)(const void*)>(base_ + asked.run),
                              arguments.data(), argument_bytes};
  // What the kernel has asked for, the host's process knows, which has looked at it.
  Excess excess = beyond_device(config);
  if (!excess.error && asked.cooperative) excess = beyond_residence(config, function);
  if (!excess.error) excess = beyond_cluster(config, function);
  if (excess.error) return excess.error;
  record_.launches.push_back({{asked.grid[0], asked.grid[1], asked.grid[2]},
                              {asked.block[0], asked.block[1], asked.block[2]},
                              asked.shared_bytes,
                              name,
                              asked.by_graph != 0});
  return local_device().launch(config, kernel, asked.cooperative != 0);
}

int32_t Host::multiply(const Message& message, size_t data_bytes) {
  ProductMessage asked;
  if (data_bytes != sizeof asked) return cudaErrorUnknown;
  std::memcpy(&asked, message.data, sizeof asked);
  end_text(asked.name);
  asked.product.name = asked.name;
  if (!is_well_formed(asked.product) || !is_on_device(asked.product)) return cudaErrorIllegalAddress;
  used();
  record_.launches.push_back({{}, {}, 0, asked.name, asked.by_graph != 0});
  return local_device().multiply(asked.product);
}

}  // namespace simt::apart
