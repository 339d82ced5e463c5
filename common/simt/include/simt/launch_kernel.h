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

// A void* does not say what the kernel's parameters are.
#define SIMT_NEEDS_KERNEL __attribute__((error("the CPU executor needs the kernel itself here, not a void* variable")))
SIMT_NEEDS_KERNEL cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t = 0, cudaStream_t = nullptr);
SIMT_NEEDS_KERNEL cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t = 0,
                                                          cudaStream_t = nullptr);
#undef SIMT_NEEDS_KERNEL
