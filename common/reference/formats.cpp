#include "formats.h"

#include <Eigen/Core>
#include <cmath>
#include <cstring>

namespace reference {
namespace {

// Calls visit with a value of the C++ type that has the format of `dtype`.
template <typename Visit>
void with_type(rung::Dtype dtype, Visit visit) {
  switch (dtype) {
    case rung::Dtype::f32: return visit(float());
    case rung::Dtype::f16: return visit(Eigen::half());
    case rung::Dtype::bf16: return visit(Eigen::bfloat16());
  }
}

}  // namespace

std::vector<double> decode(const void* data, size_t count, rung::Dtype dtype) {
  std::vector<double> values(count);
  with_type(dtype, [&](auto type) {
    using T = decltype(type);
    for (size_t i = 0; i < count; i++) {
      T element;
      memcpy(static_cast<void*>(&element), static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
      values[i] = static_cast<double>(static_cast<float>(element));
    }
  });
  return values;
}

std::vector<unsigned char> encode(const std::vector<float>& values, rung::Dtype dtype) {
  std::vector<unsigned char> bytes(values.size() * static_cast<size_t>(rung::bytes_of(dtype)));
  with_type(dtype, [&](auto type) {
    using T = decltype(type);
    for (size_t i = 0; i < values.size(); i++) {
      const T element(values[i]);
      memcpy(bytes.data() + i * sizeof(T), static_cast<const void*>(&element), sizeof(T));
    }
  });
  return bytes;
}

double half_ulp(double x, rung::Dtype dtype) {
  // digits: bits of the significand with the leading one; least: exponent of the smallest normal number.
  const int digits = dtype == rung::Dtype::f32 ? 24 : dtype == rung::Dtype::f16 ? 11 : 8;
  const int least = dtype == rung::Dtype::f16 ? -14 : -126;
  const int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  return std::ldexp(0.5, exponent - (digits - 1));
}

}  // namespace reference
