// XORWOW's jumps (include/curand_kernel.h): its shift register is linear over the field of two elements, so that any
// number of steps is a matrix of 160 x 160 bits. Those of the powers of two are squares of each other.
#include <array>
#include <cstdint>
#include <memory>

namespace simt {

void skip_xorwow(unsigned* registers, unsigned long long steps, bool subsequences);

namespace {

constexpr int words = 5, bits = words * 32;
constexpr int jumps = 64, subsequence_exponent = 67;

using Registers = std::array<uint32_t, words>;
using Matrix = std::array<Registers, bits>;  // what becomes of a register with this one bit

Registers step(const Registers& v) {
  const uint32_t first = v[0] ^ v[0] >> 2;
  return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ first ^ first << 1};
}

Registers times(const Matrix& matrix, const Registers& v) {
  Registers product = {};
  for (int bit = 0; bit < bits; bit++) {
    if (!(v[bit / 32] >> bit % 32 & 1)) continue;
    for (int word = 0; word < words; word++) product[word] ^= matrix[bit][word];
  }
  return product;
}

// Of 1, 2, 4... steps, up to the largest that a subsequence's number asks for.
struct Powers {
  std::array<Matrix, jumps + subsequence_exponent> of;
  Powers() {
    for (int bit = 0; bit < bits; bit++) {
      Registers one = {};
      one[bit / 32] = 1u << bit % 32;
      of[0][bit] = step(one);
    }
    for (size_t power = 1; power < of.size(); power++) {
      for (int bit = 0; bit < bits; bit++) of[power][bit] = times(of[power - 1], of[power - 1][bit]);
    }
  }
};

}  // namespace

void skip_xorwow(unsigned* registers, unsigned long long steps, bool subsequences) {
  static const auto* const powers = new Powers;
  Registers v;
  for (int word = 0; word < words; word++) v[word] = registers[word];
  for (int power = subsequences ? subsequence_exponent : 0; steps; power++, steps >>= 1) {
    if (steps & 1) v = times(powers->of[power], v);
  }
  for (int word = 0; word < words; word++) registers[word] = v[word];
}

}  // namespace simt
