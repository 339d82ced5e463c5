// Bits and bytes in another order: one instruction each on a GPU. The statements that compute it here count as none.
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

// Each of the selector's four lowest nibbles picks one of the eight bytes of b:a.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
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
