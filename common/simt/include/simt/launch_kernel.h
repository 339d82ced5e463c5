// cudaLaunchKernel and cudaLaunchCooperativeKernel, which take a kernel's arguments as an array of pointers to them.
// The kernel's type says what they point to; simtcc removes the cast to void* that CUDA's own declarations require.
#pragma once

#include <utility>

#include "launch.h"

namespace simt {

template <typename... Parameters, size_t... i>
auto bound_kernel(void (*kernel)(Parameters...), void** arguments, std::index_sequence<i...>) {
  return bound_call(on_device(kernel), kernel, *static_cast<std::remove_reference_t<Parameters>*>(arguments[i])...);
}

template <typename... Parameters>
auto bound_kernel(void (*kernel)(Parameters...), void** arguments) {
  return bound_kernel(kernel, arguments, std::index_sequence_for<Parameters...>());
}

constexpr const char* by_address = "a kernel launched by address";

// Launches a kernel of which only the address is known (kernel_addresses.cpp).
using LaunchAddress = cudaError_t (*)(const LaunchConfig&, const void* kernel, void** arguments, bool cooperative);
void know_kernel(const void* kernel, LaunchAddress launch);
cudaError_t launch_known(const LaunchConfig& config, const void* kernel, void** arguments, bool cooperative);

template <typename... Parameters>
cudaError_t launch_address(const LaunchConfig& config, const void* address, void** arguments, bool cooperative) {
  const auto kernel = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(address));
  const auto call = bound_kernel(kernel, arguments);
  if (cooperative) return launch_cooperative(config, call.bind(by_address, address));
  return launch_or_capture(config, call, by_address, address);
}

// What simtcc puts in the place of a cast of a kernel to void*: `address_of_kernel ->* kernel<float>`.
struct TakesAddress {};
constexpr TakesAddress address_of_kernel;
template <typename... Parameters>
void* operator->*(TakesAddress, void (*kernel)(Parameters...)) {
  void* const address = reinterpret_cast<void*>(kernel);
  know_kernel(address, launch_address<Parameters...>);
  return address;
}
// A variable by a kernel's name.
template <typename T>
void* operator->*(TakesAddress, T* variable) {
  return const_cast<std::remove_cv_t<T>*>(variable);
}

}  // namespace simt

template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::launch_or_capture({grid, block, shared_bytes, stream, file, line}, simt::bound_kernel(kernel, arguments),
                                 simt::by_address, reinterpret_cast<const void*>(kernel));
}
template <typename... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                        const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::launch_cooperative(
      {grid, block, shared_bytes, stream, file, line},
      simt::bound_kernel(kernel, arguments).bind(simt::by_address, reinterpret_cast<const void*>(kernel)));
}

// A void* does not say what the kernel's parameters are: that is known of the kernels whose addresses the program took.
inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::launch_known({grid, block, shared_bytes, stream, file, line}, kernel, arguments, false);
}
inline cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::launch_known({grid, block, shared_bytes, stream, file, line}, kernel, arguments, true);
}
