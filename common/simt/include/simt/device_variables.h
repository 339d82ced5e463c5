// Tells the executor, when an instrumented module is loaded, where its __device__ variables are: they are global
// memory.
#pragma once

#ifdef __SANITIZE_THREAD__

// Bounds of the section of __constant__ variables, by the linker; null if the module has none.
extern "C" {
extern __attribute__((weak, visibility("hidden"))) const char __start_simt_constant[], __stop_simt_constant[];
}

namespace simt {

// Of the module that `code` is in, all writable data except what is from `constants` to `constants_end`.
void device_variables_loaded(const void* code, const void* constants, const void* constants_end);
void device_variables_unloaded(const void* code);

namespace {
struct DeviceVariables {
  DeviceVariables() { device_variables_loaded(this, __start_simt_constant, __stop_simt_constant); }
  ~DeviceVariables() { device_variables_unloaded(this); }
} const device_variables;
}  // namespace

}  // namespace simt

#endif
