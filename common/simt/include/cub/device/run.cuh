// How CUB's device-wide algorithms run here: as Thrust's, in a kernel of one thread (thrust/detail/run.h).
#pragma once

#include "../../cuda/functional"
#include "../../thrust/detail/iterators.h"
#include "../radix_key.cuh"
#include "../warp/shuffles.cuh"

namespace cub {
namespace detail {

// The first call only returns how many bytes of temporary memory the algorithm needs; the second runs `work` with it.
template <typename Work>
cudaError_t in_two_phases(void* storage, size_t& storage_bytes, size_t wanted, cudaStream_t stream, const char* name,
                          const Work& work) {
  if (wanted == 0) wanted = 1;
  if (!storage) return storage_bytes = wanted, cudaSuccess;
  if (storage_bytes < wanted) return cudaErrorInvalidValue;
  const auto aligned = (reinterpret_cast<uintptr_t>(storage) + 15) / 16 * 16;
  return thrust::detail::launch(stream, name, [=] { work(reinterpret_cast<unsigned char*>(aligned)); });
}
using thrust::detail::bare;
using thrust::detail::Bare;
template <typename Iterator>
using ValueOf = typename std::iterator_traits<Iterator>::value_type;

// Whether an algorithm selects item i of its input.
template <typename Predicate>
auto by_predicate(Predicate predicate) {
  return [predicate](const auto& items, auto i) {
    Predicate own = predicate;
    return static_cast<bool>(own(items[i]));
  };
}
template <typename Flags>
auto by_flags(Flags flags) {
  return [flags = bare(flags)](const auto&, auto i) { return static_cast<bool>(flags[i]); };
}

}  // namespace detail
}  // namespace cub
