// thrust::optional is libcu++'s.
#pragma once
#include "../cuda/std/optional"

namespace thrust {
using ::cuda::std::make_optional;
using ::cuda::std::nullopt;
using ::cuda::std::nullopt_t;
using ::cuda::std::optional;
}  // namespace thrust
