// What a module that is loaded while the program runs says of its kernels. simtcc -ptx, -cubin and -fatbin put
// SIMT_MODULE_KERNEL behind each of them (module_kernels.py).
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "launch_kernel.h"

namespace simt {

struct ModuleKernel {
  const char* name;  // as its module spells it
  const void* function;
  size_t call_bytes;
  void (*bind)(const ModuleKernel& kernel, void* call, void** arguments);  // makes the call from pointers to them
  void (*run)(const void* call);
  const size_t *sizes, *alignments;  // of the parameters
  size_t parameters;
};

template <typename... Parameters>
ModuleKernel module_kernel(const char* name, void (*kernel)(Parameters...)) {
  using Call = decltype(bound_kernel(kernel, static_cast<void**>(nullptr)));
  static constexpr size_t sizes[] = {sizeof(std::decay_t<Parameters>)..., 0},
                          alignments[] = {alignof(std::decay_t<Parameters>)..., 0};
  const auto bind = [](const ModuleKernel& self, void* call, void** arguments) {
    const auto function = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(self.function));
    new (call) Call(bound_kernel(function, arguments));
  };
  return {name,         reinterpret_cast<const void*>(kernel),
          sizeof(Call), bind,
          Call::run,    sizes,
          alignments,   sizeof...(Parameters)};
}

// By the module that is being loaded. `asked`: a name expression of nvrtcAddNameExpression, which finds it too.
void export_kernel(const ModuleKernel& kernel, bool asked);
void export_variable(const char* name, const void* variable, size_t bytes);

struct ModuleExport {
  template <typename... Parameters>
  ModuleExport(const char* name, void (*kernel)(Parameters...), bool asked = false) {
    export_kernel(module_kernel(name, kernel), asked);
  }
  template <typename T, typename = std::enable_if_t<std::is_object<T>::value>>
  ModuleExport(const char* name, T* variable, bool) {
    export_variable(name, variable, sizeof(T));
  }
};

}  // namespace simt

#define SIMT_MODULE_KERNEL(name, number) \
  static const ::simt::ModuleExport simt_module_kernel_##number { #name, &name }
#define SIMT_MODULE_NAME(text, number, ...) \
  static const ::simt::ModuleExport simt_module_name_##number { text, __VA_ARGS__, true }
