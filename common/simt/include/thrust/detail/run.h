// How an algorithm runs: on the host, or as a kernel of one thread, which computes what a GPU's algorithm does and is
// checked as any kernel, but not counted (counters/session.cpp).
#pragma once

#include <iostream>  // as Thrust's own
#include <iterator>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>

#include "../../cuda_runtime.h"
#include "../../simt/library_headers.h"

namespace thrust {

using std::error_category;
using std::error_code;
// CUDA's errors, as thrust::system_error(error, thrust::cuda_category(), what) names them.
inline const error_category& cuda_category() {
  struct Category final : error_category {
    const char* name() const noexcept override { return "cuda"; }
    std::string message(int error) const override { return cudaGetErrorString(static_cast<cudaError_t>(error)); }
  };
  static const Category category;
  return category;
}
struct system_error : std::system_error {
  using std::system_error::system_error;
};
namespace system {
using thrust::cuda_category;
using thrust::error_category;
using thrust::error_code;
using thrust::system_error;
}  // namespace system

namespace detail {

struct Policy {};
struct Host : Policy {
  static constexpr bool on_device = false;
  // With an allocator for temporary memory, which is not used.
  template <typename Allocator>
  Host operator()(const Allocator&) const {
    return {};
  }
};
struct Device : Policy {
  static constexpr bool on_device = true;
  cudaStream_t stream = nullptr;
  Device on(cudaStream_t on_stream) const {
    Device policy;
    policy.stream = on_stream;
    return policy;
  }
  template <typename Allocator>
  Device operator()(const Allocator&) const {
    return *this;
  }
};
static const Device par, par_nosync;

template <typename T>
constexpr bool is_policy = std::is_base_of<Policy, std::decay_t<T>>::value;

}  // namespace detail

// Where an algorithm runs is what its policy says, or its iterators.
namespace cuda {
using detail::par;
using detail::par_nosync;
}  // namespace cuda
static const detail::Host host, seq;
static const detail::Device device;

namespace detail {

// What iterators of the device have as `System`, those of either side as Either. Other iterators are the host's.
struct Either {};
template <typename T, typename = void>
struct SystemOf {
  using type = Either;
};
template <typename T>
struct SystemOf<T, std::void_t<typename std::iterator_traits<T>::iterator_category>> {
  template <typename U>
  static typename U::System of(U*);
  template <typename U>
  static Host of(...);
  using type = decltype(of<T>(static_cast<T*>(nullptr)));
};
template <typename... Types>
constexpr bool any_on_device = (std::is_same<typename SystemOf<Types>::type, Device>::value || ...);
template <typename... Types>
constexpr bool any_on_host = (std::is_same<typename SystemOf<Types>::type, Host>::value || ...);
template <typename... Types>
using Chosen = std::conditional_t<any_on_device<Types...> || !any_on_host<Types...>, Device, Host>;

inline void expect(cudaError_t error, const char* name) {
  if (error != cudaSuccess) throw system_error(error, cuda_category(), name);
}

// An array of the device's; of an algorithm that a kernel calls, which runs in the calling thread, one of its own.
template <typename T>
class Scratch {
 public:
  explicit Scratch(size_t count) {
    if (!count) return;
    if (simt::in_kernel()) {
      items_ = static_cast<T*>(::operator new(count * sizeof(T)));
      return;
    }
    expect(cudaMalloc(&items_, count * sizeof(T)), "thrust: temporary memory");
    // Items are copied whole: what lies between their members counts as written.
    expect(cudaMemset(static_cast<void*>(items_), 0, count * sizeof(T)), "thrust: temporary memory");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (simt::in_kernel())
      ::operator delete(items_);
    else
      cudaFree(items_);
  }
  T* get() const { return items_; }

 private:
  T* items_ = nullptr;
};

// For temporary arrays of an algorithm, where it runs.
template <typename T>
struct HostScratch {
  explicit HostScratch(size_t count) : items(static_cast<T*>(::operator new(count * sizeof(T)))) {}
  HostScratch(const HostScratch&) = delete;
  HostScratch& operator=(const HostScratch&) = delete;
  ~HostScratch() { ::operator delete(items); }
  T* get() const { return items; }
  T* items;
};
template <typename Where, typename T>
using ScratchOf = std::conditional_t<Where::on_device, Scratch<T>, HostScratch<T>>;

template <typename Work>
cudaError_t launch(cudaStream_t stream, const char* name, const Work& work) {
  return simt::launch({1, 1, 0, stream}, simt::BoundCall<Work>{work, {}}.bind(name, nullptr));
}

template <typename Work>
void run(const Host&, const char*, const Work& work) {
  work();
}
template <typename Work>
void run(const Device& where, const char* name, const Work& work) {
  if (simt::in_kernel()) return work();
  expect(launch(where.stream, name, work), name);
  expect(cudaStreamSynchronize(where.stream), name);
}

template <typename Result, typename Work>
Result compute(const Host&, const char*, const Work& work) {
  return work();
}
template <typename Result, typename Work>
Result compute(const Device& where, const char* name, const Work& work) {
  if (simt::in_kernel()) return work();
  Scratch<Result> result(1);
  Result* const to = result.get();
  run(where, name, [=] { new (to) Result(work()); });
  alignas(Result) unsigned char bytes[sizeof(Result)];
  expect(cudaMemcpy(bytes, to, sizeof(Result), cudaMemcpyDeviceToHost), name);
  return *reinterpret_cast<Result*>(bytes);
}

// As a kernel takes it: without the host's view of the device's memory.
template <typename T>
const T& bare(const T& iterator) {
  return iterator;
}
template <typename Iterator>
using Bare = std::decay_t<decltype(bare(std::declval<Iterator>()))>;
template <typename Iterator>
using ValueOf = typename std::iterator_traits<Iterator>::value_type;

}  // namespace detail
}  // namespace thrust

// name(first, ...) and name(policy, first, ...), both of detail::name_(policy, first, ...).
#define SIMT_THRUST(name)                                                       \
  template <typename First, typename... Rest>                                   \
  auto name(First first, Rest... rest) {                                        \
    if constexpr (detail::is_policy<First>)                                     \
      return detail::name##_(first, rest...);                                   \
    else                                                                        \
      return detail::name##_(detail::Chosen<First, Rest...>(), first, rest...); \
  }
