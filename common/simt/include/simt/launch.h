// Kernel launches. rewrite.sed turns `kernel<T><<<grid, block, shared, stream>>>(a, b)` into
// `SIMT_LAUNCH((kernel<T>), (grid, block, shared, stream))(a, b)`.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../vector_types.h"
#include "runtime_api.h"

namespace simt {

struct LaunchConfig {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
  LaunchConfig(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr)
      : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream) {}
};

// A kernel with its arguments bound: run(arguments) is what one thread does.
struct BoundKernel {
  const char* name;      // as the launch spells it
  const void* function;  // key of cudaFuncSetAttribute; nullptr if the launch deduces the kernel's template arguments
  void (*run)(const void* arguments);
  const void* arguments;
};

// A cooperative launch: all blocks are resident at once, and grid.sync() may be called.
cudaError_t launch_cooperative(const LaunchConfig& config, const BoundKernel& kernel);

// Runs the whole grid before it returns. The error is that of CUDA, and also what cudaGetLastError returns next.
cudaError_t launch(const LaunchConfig& config, const BoundKernel& kernel);

// Asks a kernel's name for its address, which works unless the name is a template whose arguments are to be deduced.
struct AddressOf {
  template <typename... Parameters>
  const void* operator()(void (*kernel)(Parameters...)) const {
    return reinterpret_cast<const void*>(kernel);
  }
};

// An integer argument that may have been written as NULL or 0 and meant as a pointer, which nvcc takes.
template <typename T>
struct MaybeNull {
  T value;
  operator T() const { return value; }
  template <typename Pointed>
  operator Pointed*() const {
    return reinterpret_cast<Pointed*>(static_cast<uintptr_t>(value));
  }
};

template <typename T>
auto maybe_null(const T& argument) {
  if constexpr (std::is_integral<T>::value)
    return MaybeNull<T>{argument};
  else
    return argument;
}

template <typename Work>
CapturedWork* new_captured(const Work& work) {
  return new CapturedCall<Work>(work);
}

template <typename Call, typename CanCall, typename Address>
struct Launcher {
  const char* name;
  LaunchConfig config;
  Call call;
  CanCall can_call;  // never called: says which arguments `call` takes
  Address address;

  template <typename... Arguments>
  cudaError_t operator()(Arguments... arguments) const {
    if (is_capturing(config.stream)) {
      // The copy of the launcher refers to no variable of the function that captures, if the kernel is named directly.
      return add_captured(config.stream, new_captured([launcher = *this, arguments...] {
                            Launcher now = launcher;
                            now.config.stream = replay_stream();
                            return now(arguments...);
                          }));
    }
    const void* function = nullptr;
    if constexpr (std::is_invocable<Address, AddressOf>::value) function = address(AddressOf{});
    // Parameters are copied when `call` calls the kernel: every thread has its own.
    const auto thread = [&] {
      if constexpr (!std::is_invocable<CanCall, const Arguments&...>::value &&
                    std::is_invocable<CanCall, decltype(maybe_null(arguments))...>::value)
        call(maybe_null(arguments)...);
      else
        call(arguments...);
    };
    const auto run = [](const void* bound) { (*static_cast<decltype(&thread)>(bound))(); };
    return launch(config, {name, function, run, &thread});
  }
};

template <typename Call, typename CanCall, typename Address>
Launcher<Call, CanCall, Address> make_launcher(const char* name, LaunchConfig config, Call call, CanCall can_call,
                                               Address address) {
  return {name, config, call, can_call, address};
}

}  // namespace simt

#define SIMT_LAUNCH(kernel, config)                                                                            \
  ::simt::make_launcher(                                                                                       \
      #kernel, ::simt::LaunchConfig config, [&](const auto&... simt_arguments) { kernel(simt_arguments...); }, \
      [&](const auto&... simt_arguments) -> decltype(kernel(simt_arguments...)) {},                            \
      [&](auto simt_address) -> decltype(simt_address(kernel)) { return simt_address(kernel); })
