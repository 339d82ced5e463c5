#include "nccl_arithmetic.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <type_traits>

namespace simt::nccl {

namespace {

template <typename T>
struct Arithmetic {
  using Sum = T;
};
template <>
struct Arithmetic<__half> {
  using Sum = float;
};
template <>
struct Arithmetic<__nv_bfloat16> {
  using Sum = float;
};

// Integers wrap around, as on a GPU.
template <typename T>
T combined(T a, T b, ncclRedOp_t op) {
  if constexpr (std::is_integral<T>::value) {
    using U = std::conditional_t<sizeof(T) < 4, unsigned, std::make_unsigned_t<T>>;
    if (op == ncclSum || op == ncclAvg) return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    if (op == ncclProd) return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  }
  switch (op) {
    case ncclProd: return static_cast<T>(a * b);
    case ncclMax: return a < b ? b : a;
    case ncclMin: return b < a ? b : a;
    default: return static_cast<T>(a + b);
  }
}

template <typename T>
void reduce_typed(void* to, const void* const* from, int ranks, size_t count, ncclRedOp_t op) {
  using Sum = typename Arithmetic<T>::Sum;
  for (size_t i = 0; i < count; i++) {
    Sum sum = static_cast<Sum>(static_cast<const T*>(from[0])[i]);
    for (int rank = 1; rank < ranks; rank++)
      sum = combined<Sum>(sum, static_cast<Sum>(static_cast<const T*>(from[rank])[i]), op);
    if (op == ncclAvg) sum = static_cast<Sum>(sum / static_cast<Sum>(ranks));
    static_cast<T*>(to)[i] = static_cast<T>(sum);
  }
}

}  // namespace

size_t bytes_of(ncclDataType_t type) {
  constexpr size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[type];
}

void reduce(void* to, const void* const* from, int ranks, size_t count, ncclDataType_t type, ncclRedOp_t op) {
  switch (type) {
    case ncclInt8: return reduce_typed<int8_t>(to, from, ranks, count, op);
    case ncclUint8: return reduce_typed<uint8_t>(to, from, ranks, count, op);
    case ncclInt32: return reduce_typed<int32_t>(to, from, ranks, count, op);
    case ncclUint32: return reduce_typed<uint32_t>(to, from, ranks, count, op);
    case ncclInt64: return reduce_typed<int64_t>(to, from, ranks, count, op);
    case ncclUint64: return reduce_typed<uint64_t>(to, from, ranks, count, op);
    case ncclFloat16: return reduce_typed<__half>(to, from, ranks, count, op);
    case ncclFloat32: return reduce_typed<float>(to, from, ranks, count, op);
    case ncclFloat64: return reduce_typed<double>(to, from, ranks, count, op);
    default: return reduce_typed<__nv_bfloat16>(to, from, ranks, count, op);
  }
}

}  // namespace simt::nccl
