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

// Is a parameter of this type an object of the caller's, of which the function gets the address? The C++ ABI says so
// for types whose copies or destructors do something.
template <typename T>
constexpr bool is_in_memory =
    !std::is_trivially_copyable<T>::value &&
    !(std::is_trivially_copy_constructible<T>::value && std::is_trivially_destructible<T>::value);

// As on a GPU, a launch copies the bytes of such an argument, and so does every thread: neither calls a constructor nor
// a destructor. The host destroys its own object when the launch has returned.
template <typename T>
struct Bytes {
  alignas(T) std::byte bytes[sizeof(T)];
  explicit Bytes(const T& object) { __builtin_memcpy(bytes, &object, sizeof(T)); }
};
template <typename T>
using Kept = std::conditional_t<is_in_memory<T>, Bytes<T>, T>;

template <typename T>
const T& passed(const T& value) {
  return value;
}
template <typename T>
void* passed(Bytes<T>& object) {
  return object.bytes;
}
template <typename T>
using Passed = std::conditional_t<is_in_memory<T>, void*, T>;

// The call of a kernel whose parameters are known: the callee is a lambda without captures where the launch names it
// directly; the kernel's address where a parameter is in memory.
template <typename Callee, typename... Parameters>
struct BoundCall {
  Callee callee;
  std::tuple<Kept<Parameters>...> arguments;

  static void run(const void* bound) {
    const BoundCall& call = *static_cast<const BoundCall*>(bound);
    if constexpr ((is_in_memory<Parameters> || ...)) {
      auto own = call.arguments;
      const auto kernel = reinterpret_cast<void (*)(Passed<Parameters>...)>(reinterpret_cast<uintptr_t>(call.callee));
      std::apply([&](auto&... each) { kernel(passed(each)...); }, own);
    } else {
      std::apply([&](const Parameters&... each) { call.callee(each...); }, call.arguments);
    }
  }

  BoundKernel bind(const char* name, const void* function) const {
    static_assert(sizeof(BoundCall) <= max_argument_bytes, "a kernel's arguments may have 32,764 bytes at the most");
    return {name, function, run, this, sizeof *this};
  }
};

// The same where only the arguments are known, which the call converts: to parameters that are not deduced, or beside
// default arguments. Copies are the language's.
template <typename Callee, typename... Arguments>
struct ConvertingCall {
  Callee callee;
  std::tuple<Arguments...> arguments;

  static void run(const void* bound) {
    const ConvertingCall& call = *static_cast<const ConvertingCall*>(bound);
    std::apply([&](const Arguments&... each) { call.callee(each...); }, call.arguments);
  }

  BoundKernel bind(const char* name, const void* function) const {
    static_assert(sizeof(ConvertingCall) <= max_argument_bytes,
                  "a kernel's arguments may have 32,764 bytes at the most");
    return {name, function, run, this, sizeof *this};
  }
};

// The address of a function of the program on the device.
template <typename Function>
Function* on_device(Function* function) {
  return reinterpret_cast<Function*>(symbol_address(reinterpret_cast<const void*>(function)));
}

// Conversions happen on the host, before the copy, as in CUDA. What they make lives as long as the launch's expression.
template <typename Parameter, typename Argument>
decltype(auto) as_parameter(const Argument& argument) {
  if constexpr (std::is_same<Argument, std::decay_t<Parameter>>::value)
    return argument;
  else if constexpr (std::is_convertible<const Argument&, std::decay_t<Parameter>>::value)
    return static_cast<std::decay_t<Parameter>>(argument);
  else
    return static_cast<std::decay_t<Parameter>>(maybe_null(argument));
}

// `callee` is what calls the kernel, if that can be chosen.
template <typename Callee, typename... Parameters>
auto bound_call(const Callee& callee, void (*kernel)(Parameters...), const std::decay_t<Parameters>&... arguments) {
  if constexpr ((is_in_memory<std::decay_t<Parameters>> || ...)) {
    using Call = BoundCall<void (*)(Parameters...), std::decay_t<Parameters>...>;
    return Call{on_device(kernel), {Kept<std::decay_t<Parameters>>(arguments)...}};
  } else {
    return BoundCall<Callee, std::decay_t<Parameters>...>{callee, {arguments...}};
  }
}

template <typename... Parameters>
constexpr size_t parameter_count(void (*)(Parameters...)) {
  return sizeof...(Parameters);
}

}  // namespace simt
