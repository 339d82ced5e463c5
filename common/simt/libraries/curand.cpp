// The jumps of XORWOW and of MRG32k3a (include/curand_kernel.h). XORWOW's shift register is linear over the field of
// two elements, so that any number of steps is a matrix of 160 x 160 bits. Those of the powers of two are squares of
// each other.
#include <array>
#include <cstdint>
#include <memory>

namespace simt {

void skip_xorwow(unsigned* registers, unsigned long long steps, bool subsequences);
void skip_mrg(unsigned* s1, unsigned* s2, unsigned long long steps, int exponent);

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

namespace {

// One step of a recurrence of MRG32k3a, as a matrix modulo m.
struct Recurrence {
  uint64_t m;
  std::array<uint64_t, 9> step;

  std::array<uint64_t, 9> squared(const std::array<uint64_t, 9>& a) const {
    std::array<uint64_t, 9> product;
    for (size_t row = 0; row < 3; row++) {
      for (size_t column = 0; column < 3; column++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < 3; k++) sum = (sum + a[row * 3 + k] * a[k * 3 + column] % m) % m;
        product[row * 3 + column] = sum;
      }
    }
    return product;
  }

  void skip(unsigned* state, unsigned long long steps, int exponent) const {
    std::array<uint64_t, 9> power = step;
    for (int i = 0; i < exponent; i++) power = squared(power);
    for (; steps; steps >>= 1, power = squared(power)) {
      if (!(steps & 1)) continue;
      unsigned next[3];
      for (size_t row = 0; row < 3; row++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < 3; k++) sum = (sum + power[row * 3 + k] * state[k] % m) % m;
        next[row] = static_cast<unsigned>(sum);
      }
      for (int i = 0; i < 3; i++) state[i] = next[i];
    }
  }
};

}  // namespace

void skip_mrg(unsigned* s1, unsigned* s2, unsigned long long steps, int exponent) {
  constexpr uint64_t m1 = 4294967087, m2 = 4294944443;
  static const Recurrence first = {m1, {0, 1, 0, 0, 0, 1, m1 - 810728, 1403580, 0}},
                          second = {m2, {0, 1, 0, 0, 0, 1, m2 - 1370589, 0, 527612}};
  first.skip(s1, steps, exponent);
  second.skip(s2, steps, exponent);
}

}  // namespace simt
