// Operations on bits and bytes that are one instruction each on a GPU. The statements that compute them here count as
// none.
#pragma once

#include <cstdint>

#include "half_bits.h"

inline unsigned __brev(unsigned x) {
  unsigned bits = __builtin_bswap32(x);
  bits = (bits & 0x0f0f0f0fu) << 4 | (bits >> 4 & 0x0f0f0f0fu);
  bits = (bits & 0x33333333u) << 2 | (bits >> 2 & 0x33333333u);
  bits = (bits & 0x55555555u) << 1 | (bits >> 1 & 0x55555555u);
  SIMT_GPU_OPERATION("reverse", bits);
  return bits;
}

namespace simt {
// Each of the selector's four lowest nibbles picks one of the eight bytes of b:a, or with its highest bit the byte's
// sign: the instruction prmt.
inline unsigned permute(unsigned a, unsigned b, unsigned selector) {
  const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned nibble = selector >> (4 * i) & 15;
    unsigned byte = bytes >> (8 * (nibble & 7)) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  SIMT_GPU_OPERATION("permute", result);
  return result;
}
}  // namespace simt
// The function has no signs: nvcc clears these bits.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  return simt::permute(a, b, selector & 0x7777u);
}

inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  unsigned result = static_cast<unsigned>(((static_cast<uint64_t>(hi) << 32 | lo) << (shift & 31)) >> 32);
  SIMT_GPU_OPERATION("permute", result);
  return result;
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  unsigned result = static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) >> (shift & 31));
  SIMT_GPU_OPERATION("permute", result);
  return result;
}

// Four products of bytes, and two of a 16-bit number and a byte, added to c.
namespace simt {
template <typename Byte, typename T>
T dot4(T a, T b, T c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<Byte>(a >> i) * static_cast<Byte>(b >> i);
  SIMT_GPU_OPERATION("sum_of_products", c);
  return c;
}
template <typename Byte, typename Half, typename T>
T dot2(T a, T b, T c, int first_byte) {
  for (int i = 0; i < 2; i++) c += static_cast<Half>(a >> 16 * i) * static_cast<Byte>(b >> 8 * (first_byte + i));
  SIMT_GPU_OPERATION("sum_of_products", c);
  return c;
}
}  // namespace simt
inline int __dp4a(int a, int b, int c) { return simt::dot4<int8_t>(a, b, c); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return simt::dot4<uint8_t>(a, b, c); }
inline int __dp2a_lo(int a, int b, int c) { return simt::dot2<int8_t, int16_t>(a, b, c, 0); }
inline int __dp2a_hi(int a, int b, int c) { return simt::dot2<int8_t, int16_t>(a, b, c, 2); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return simt::dot2<uint8_t, uint16_t>(a, b, c, 0); }
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return simt::dot2<uint8_t, uint16_t>(a, b, c, 2); }
