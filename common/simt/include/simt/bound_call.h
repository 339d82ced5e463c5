// A kernel's call as a value: the kernel and copies of its arguments, in one object that refers to no host memory.
// On a GPU, too, a launch copies the arguments, and every thread gets copies of these copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime_api.h"

namespace simt {

// A kernel with its arguments bound: run(arguments) is what one thread does.
struct BoundKernel {
  const char* name;      // as the launch spells it
  const void* function;  // key of cudaFuncSetAttribute; nullptr if the launch deduces the kernel's template arguments
  void (*run)(const void* arguments);
  const void* arguments;
  size_t argument_bytes;
};

// CUDA's limit, since 12.1.
constexpr size_t max_argument_bytes = 32764;

// An integer argument that may be a null pointer, written as NULL or 0, which nvcc accepts.
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

// The call of a kernel that the launch names directly: the callee is a lambda without captures.
template <typename Callee, typename... Arguments>
struct BoundCall {
  Callee callee;
  std::tuple<Arguments...> arguments;

  static void run(const void* bound) {
    const BoundCall& call = *static_cast<const BoundCall*>(bound);
    std::apply([&](const Arguments&... each) { call.callee(each...); }, call.arguments);
  }

  BoundKernel bind(const char* name, const void* function) const {
    static_assert(sizeof(BoundCall) <= max_argument_bytes, "a kernel's arguments may have 32,764 bytes at the most");
    return {name, function, run, this, sizeof *this};
  }
};

// The address of a function of the program on the device.
template <typename Function>
Function* on_device(Function* function) {
  return reinterpret_cast<Function*>(symbol_address(reinterpret_cast<const void*>(function)));
}

// Conversions happen on the host, before the copy, as in CUDA.
template <typename Parameter, typename Argument>
std::decay_t<Parameter> as_parameter(const Argument& argument) {
  if constexpr (std::is_convertible<const Argument&, std::decay_t<Parameter>>::value)
    return argument;
  else
    return maybe_null(argument);
}

template <typename Callee, typename... Parameters, typename... Arguments>
BoundCall<Callee, std::decay_t<Parameters>...> bound_call(const Callee& callee, void (*)(Parameters...),
                                                          const Arguments&... arguments) {
  return {callee, std::tuple<std::decay_t<Parameters>...>(as_parameter<Parameters>(arguments)...)};
}

template <typename... Parameters>
constexpr size_t parameter_count(void (*)(Parameters...)) {
  return sizeof...(Parameters);
}

}  // namespace simt
