// Kernel launches. cuda_source.py turns `kernel<T><<<grid, block, shared, stream>>>(a, b)` into
// `SIMT_LAUNCH((kernel<T>), (grid, block, shared, stream))(a, b)`.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../vector_types.h"
#include "argument_types.h"
#include "bound_call.h"
#include "runtime_api.h"

namespace simt {

struct LaunchConfig {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
  const char* file;  // where the launch is
  int line;
  dim3 cluster = dim3(0, 0, 0);  // 0: what the kernel asks for
  LaunchConfig(dim3 grid, dim3 block = 1, size_t shared_bytes = 0, cudaStream_t stream = nullptr,
               const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream), file(file), line(line) {}
};

// Does the calling thread belong to a kernel?
bool in_kernel() noexcept;

// A cooperative launch: all blocks are resident at once, and grid.sync() may be called.
cudaError_t launch_cooperative(const LaunchConfig& config, const BoundKernel& kernel);

// Runs the whole grid before it returns. Returns CUDA's error, which cudaGetLastError returns next, too.
cudaError_t launch(const LaunchConfig& config, const BoundKernel& kernel);

// Takes the address of a kernel by its name. Fails to compile if the name is a template whose arguments are deduced.
struct AddressOf {
  template <typename... Parameters>
  auto operator()(void (*kernel)(Parameters...)) const {
    return kernel;
  }
};

// The same for such a template, for a kernel with exactly these parameters.
template <typename... Parameters>
struct AddressFor {
  auto operator()(void (*kernel)(Parameters...)) const { return kernel; }
};

template <typename... Types>
struct List {};

template <typename T>
struct ReadOnly {
  using type = void;
};
template <typename T>
struct ReadOnly<T*> {
  using type = std::conditional_t<std::is_const<T>::value, void, const T*>;
};

// What asks a kernel's name for its address, given the types of the arguments: a parameter has an argument's type, or
// is a pointer that only reads it. void: no such kernel. A parameter to which an argument is converted is not found.
template <typename Address, typename Chosen, typename Left>
struct Deduced;
template <typename Address, typename... Chosen>
struct Deduced<Address, List<Chosen...>, List<>> {
  using type =
      std::conditional_t<std::is_invocable<Address, AddressFor<Chosen...>>::value, AddressFor<Chosen...>, void>;
};
template <typename Address, typename... Chosen, typename First, typename... Left>
struct Deduced<Address, List<Chosen...>, List<First, Left...>> {
  static constexpr bool most = sizeof...(Chosen) >= 6;  // further pointers are taken as they are: each doubles the work
  using as_it_is = typename Deduced<Address, List<Chosen..., First>, List<Left...>>::type;
  using reading = typename ReadOnly<First>::type;
  template <typename Reading>
  static auto otherwise() {
    if constexpr (!std::is_void<as_it_is>::value || std::is_void<Reading>::value || most)
      return static_cast<std::conditional_t<std::is_void<as_it_is>::value, List<>, as_it_is>*>(nullptr);
    else
      return static_cast<typename Deduced<Address, List<Chosen..., Reading>, List<Left...>>::type*>(nullptr);
  }
  using found = std::remove_pointer_t<decltype(otherwise<reading>())>;
  using type = std::conditional_t<std::is_same<found, List<>>::value, void, found>;
};

template <typename Work>
CapturedWork* new_captured(const Work& work) {
  return new CapturedCall<Work>(work);
}

template <typename Work>
bool tell_kernel(const Work&, cudaKernelNodeParams*) {
  return false;
}

// A captured launch. It tells its parameters if those of the kernel are known (graph_nodes.h).
template <typename Bound>
struct CapturedKernel final : CapturedWork {
  LaunchConfig config;
  mutable Bound bound;  // a program may change the arguments that it was told
  const char* name;
  const void* function;
  mutable void** arguments = nullptr;  // what was told
  CapturedKernel(const LaunchConfig& config, const Bound& bound, const char* name, const void* function)
      : config(config), bound(bound), name(name), function(function) {}
  CapturedKernel(const CapturedKernel&) = delete;
  ~CapturedKernel() override { delete[] arguments; }
  cudaError_t run() override { return launch(config, bound.bind(name, function)); }
  bool tell(cudaKernelNodeParams* parameters) const override { return tell_kernel(*this, parameters); }
};

// What is captured holds copies of the arguments, and refers to no variable of the function that captures if the kernel
// is named directly.
template <typename Bound>
cudaError_t launch_or_capture(LaunchConfig config, const Bound& bound, const char* name, const void* function) {
  if (!is_capturing(config.stream)) return launch(config, bound.bind(name, function));
  const cudaStream_t stream = config.stream;
  config.stream = replay_stream();
  return add_captured(stream, new CapturedKernel<Bound>(config, bound, name, function));
}

// Whether can_call can be asked. g++ 13 takes it for not callable where the kernel's template arguments name a
// constexpr variable of a function from within a lambda, whose own name is operator(). There the compiler alone names
// what does not fit.
constexpr bool can_ask([[maybe_unused]] const char* function) {
#if defined(__clang__) || __GNUC__ < 13
  return true;
#else
  const char* lambda = "operator()";
  while (*lambda && *lambda == *function) lambda++, function++;
  return *lambda || *function;
#endif
}

// A list in braces has no type of its own: it becomes what the kernel's parameter is, where the kernel's name says
// that. Arguments that have types take the launcher's templates, but for those that are already the parameters' own.
template <typename Launcher, typename Kernel>
struct TakesBraces {
  struct None {};
  void operator()(None) const;
};
template <typename Launcher, typename First, typename... Others>
struct TakesBraces<Launcher, void (*)(First, Others...)> {
  void operator()(std::remove_cv_t<First> first, std::remove_cv_t<Others>... others) const {
    static_cast<const Launcher*>(this)->run(first, others...);
  }
};
template <typename Address, typename = void>
struct NamedBy {
  using type = void;
};
template <typename Address>
struct NamedBy<Address, std::enable_if_t<std::is_invocable<Address, AddressOf>::value>> {
  using type = std::invoke_result_t<Address, AddressOf>;
};
constexpr size_t not_known = ~size_t{0};
template <typename Kernel>
constexpr size_t parameters_of = not_known;
template <typename... Parameters>
constexpr size_t parameters_of<void (*)(Parameters...)> = sizeof...(Parameters);

// Is one of the arguments an object that becomes something else, as one that owns memory becomes a pointer? Then the
// object itself must convert: its copy might own other memory, or not be possible, or be const.
template <typename Parameters, typename Arguments>
constexpr bool converts_objects = false;
template <typename... Parameters, typename... Arguments>
constexpr bool converts_objects<void (*)(Parameters...), List<Arguments...>> = [] {
  if constexpr (sizeof...(Parameters) == sizeof...(Arguments))
    return ((std::is_class<Arguments>::value && !std::is_same<Arguments, std::decay_t<Parameters>>::value) || ...);
  return false;
}();

template <bool can_ask, typename Call, typename CanCall, typename Address>
struct Launcher : TakesBraces<Launcher<can_ask, Call, CanCall, Address>, typename NamedBy<Address>::type> {
  using Kernel = typename NamedBy<Address>::type;
  using TakesBraces<Launcher, Kernel>::operator();

  Launcher(const char* name, LaunchConfig config, Call call, CanCall can_call, Address address)
      : name(name), config(config), call(call), can_call(can_call), address(address) {}

  const char* name;
  LaunchConfig config;
  Call call;
  CanCall can_call;  // never called: says which arguments `call` takes
  Address address;

  template <typename... Arguments>
  static constexpr bool takes = !can_ask || std::is_invocable<CanCall, const Arguments&...>::value ||
                                std::is_invocable<CanCall, decltype(maybe_null(std::declval<Arguments>()))...>::value;

  enum class Fit { by_parameters, as_given, wrong, too_few, too_many };
  template <typename... Arguments>
  static constexpr Fit fit = [] {
    constexpr size_t given = sizeof...(Arguments), wanted = parameters_of<Kernel>;
    if constexpr (converts_objects<Kernel, List<Arguments...>> &&
                  std::is_invocable<const TakesBraces<Launcher, Kernel>&, Arguments&...>::value)
      return Fit::by_parameters;  // TakesBraces has them
    else if constexpr (takes<Arguments...>)
      return Fit::as_given;
    return wanted == not_known || given == wanted ? Fit::wrong : given < wanted ? Fit::too_few : Fit::too_many;
  }();

  template <typename... Arguments, If<fit<Arguments...> == Fit::as_given> = 0>
  void operator()(Arguments... arguments) const {
    run(arguments...);
  }

  // The compiler reports it at the line of the launch, before its messages about the call.
  template <typename... Arguments, If<fit<Arguments...> == Fit::wrong> = 0>
  SIMT_UNAVAILABLE(
      "the kernel does not take these arguments: their number, a type, or a reference (&); or it is a template and its "
      "own argument is missing: kernel<8><<<...>>>")
  void
  operator()(Arguments... arguments) const {
    call(arguments...);
  }
  template <typename... Arguments, If<fit<Arguments...> == Fit::too_few> = 0>
  SIMT_UNAVAILABLE("the kernel does not take these arguments: they are too few")
  void operator()(Arguments... arguments) const {
    call(arguments...);
  }
  template <typename... Arguments, If<fit<Arguments...> == Fit::too_many> = 0>
  SIMT_UNAVAILABLE("the kernel does not take these arguments: they are too many")
  void operator()(Arguments... arguments) const {
    call(arguments...);
  }

  template <typename... Arguments>
  cudaError_t run(const Arguments&... arguments) const {
    constexpr bool fits = std::is_invocable<CanCall, const Arguments&...>::value;
    constexpr bool fits_with_null = std::is_invocable<CanCall, decltype(maybe_null(arguments))...>::value;
    if constexpr (std::is_invocable<Address, AddressOf>::value) {
      auto* const kernel = address(AddressOf{});
      const void* const function = reinterpret_cast<const void*>(kernel);
      if constexpr (parameter_count(decltype(kernel)()) == sizeof...(Arguments) && (fits || fits_with_null)) {
        // Called by its name it can be inlined. But that may be the name of a variable, which the lambda then holds.
        if constexpr (std::is_empty<Call>::value)
          return run_kernel(call, kernel, arguments...);
        else
          return run_kernel(on_device(kernel), kernel, arguments...);
      } else {
        return start(ConvertingCall<Call, Arguments...>{call, {arguments...}}, function);
      }
    } else if constexpr (!std::is_void<typename Deduced<Address, List<>, List<Arguments...>>::type>::value) {
      return run_kernel(call, address(typename Deduced<Address, List<>, List<Arguments...>>::type{}), arguments...);
    } else if constexpr (!fits && fits_with_null) {
      return start(ConvertingCall<Call, decltype(maybe_null(arguments))...>{call, {maybe_null(arguments)...}}, nullptr);
    } else {
      return start(ConvertingCall<Call, Arguments...>{call, {arguments...}}, nullptr);
    }
  }

  template <typename Callee, typename... Parameters, typename... Arguments>
  cudaError_t run_kernel(const Callee& callee, void (*kernel)(Parameters...), const Arguments&... arguments) const {
    return start(bound_call(callee, kernel, as_parameter<Parameters>(arguments)...),
                 reinterpret_cast<const void*>(kernel));
  }
  template <typename Bound>
  cudaError_t start(const Bound& bound, const void* function) const {
    return launch_or_capture(config, bound, name, function);
  }
};

template <bool can_ask, typename Call, typename CanCall, typename Address>
Launcher<can_ask, Call, CanCall, Address> make_launcher(const char* name, LaunchConfig config, Call call,
                                                        CanCall can_call, Address address) {
  return {name, config, call, can_call, address};
}

// A launch that a macro puts behind a kernel's name: `kernel<T> ->* SIMT_LAUNCH_LATER((grid, block))(a, b)`.
template <typename... Arguments>
struct LaterCall {
  LaunchConfig config;
  std::tuple<Arguments...> arguments;
};
struct LaterLaunch {
  LaunchConfig config;
  template <typename... Arguments, If<!(is_in_memory<Arguments> || ...)> = 0>
  LaterCall<Arguments...> operator()(Arguments... arguments) const {
    return {config, {arguments...}};
  }
  template <typename... Arguments, If<(is_in_memory<Arguments> || ...)> = 0>
  LaterCall<const Arguments&...> operator()(const Arguments&... arguments) const {
    return {config, {arguments...}};
  }
};
template <typename... Parameters, typename... Arguments>
void operator->*(void (*kernel)(Parameters...), const LaterCall<Arguments...>& later) {
  const auto launcher = make_launcher<true>(
      "a kernel", later.config, [=](const auto&... given) { kernel(given...); },
      [=](const auto&... given) -> decltype(kernel(given...)) {},
      [=](auto address) -> decltype(address(kernel)) { return address(kernel); });
  std::apply([&](const auto&... arguments) { launcher(arguments...); }, later.arguments);
}

}  // namespace simt

#define SIMT_LAUNCH_LATER(config) \
  ::simt::LaterLaunch { ::simt::LaunchConfig config }
#define SIMT_LAUNCH(kernel, config)                                                                            \
  ::simt::make_launcher<::simt::can_ask(__func__)>(                                                            \
      #kernel, ::simt::LaunchConfig config, [=](const auto&... simt_arguments) { kernel(simt_arguments...); }, \
      [=](const auto&... simt_arguments) -> decltype(kernel(simt_arguments...)) {},                            \
      [=](auto simt_address) -> decltype(simt_address(kernel)) { return simt_address(kernel); })
