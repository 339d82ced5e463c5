#include "nccl_arithmetic.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <type_traits>

namespace simt::nccl {

namespace {

// What a T is computed in: floats of 8 and 16 bits in float.
template <typename T>
using Sum = std::conditional_t<(sizeof(T) < sizeof(float) && !std::is_integral<T>::value), float, T>;

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
  for (size_t i = 0; i < count; i++) {
    Sum<T> sum = static_cast<Sum<T>>(static_cast<const T*>(from[0])[i]);
    for (int rank = 1; rank < ranks; rank++)
      sum = combined<Sum<T>>(sum, static_cast<Sum<T>>(static_cast<const T*>(from[rank])[i]), op);
    if (op == ncclAvg) sum = static_cast<Sum<T>>(sum / static_cast<Sum<T>>(ranks));
    static_cast<T*>(to)[i] = static_cast<T>(sum);
  }
}

template <typename T>
void multiply_typed(void* data, size_t count, const void* scalar) {
  const auto factor = static_cast<Sum<T>>(*static_cast<const T*>(scalar));
  for (size_t i = 0; i < count; i++) {
    T& element = static_cast<T*>(data)[i];
    element = static_cast<T>(combined<Sum<T>>(static_cast<Sum<T>>(element), factor, ncclProd));
  }
}

// call(T()) with the type's T.
template <typename Call>
void with_type(ncclDataType_t type, Call call) {
  switch (type) {
    case ncclInt8: return call(int8_t());
    case ncclUint8: return call(uint8_t());
    case ncclInt32: return call(int32_t());
    case ncclUint32: return call(uint32_t());
    case ncclInt64: return call(int64_t());
    case ncclUint64: return call(uint64_t());
    case ncclFloat16: return call(__half());
    case ncclFloat32: return call(float());
    case ncclFloat64: return call(double());
    case ncclBfloat16: return call(__nv_bfloat16());
    case ncclFloat8e4m3: return call(__nv_fp8_e4m3());
    default: return call(__nv_fp8_e5m2());
  }
}

}  // namespace

size_t bytes_of(ncclDataType_t type) {
  size_t bytes = 0;
  with_type(type, [&](auto zero) { bytes = sizeof zero; });
  return bytes;
}

void reduce(void* to, const void* const* from, int ranks, size_t count, ncclDataType_t type, ncclRedOp_t op) {
  with_type(type, [&](auto zero) { reduce_typed<decltype(zero)>(to, from, ranks, count, op); });
}

void multiply(void* data, size_t count, ncclDataType_t type, const void* scalar) {
  with_type(type, [&](auto zero) { multiply_typed<decltype(zero)>(data, count, scalar); });
}

}  // namespace simt::nccl
