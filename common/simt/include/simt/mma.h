// What one warp's tensor-core instruction mma.m16n8kK computes, with the fragments' layout of the PTX ISA: with g =
// lane / 4 and t = lane % 4 a lane's 32-bit register of A holds the elements (row g or g + 8, columns 4 E i + E t to E
// t + E - 1), of B (the same rows, column g), and the accumulator's (row g or g + 8, columns 2 t and 2 t + 1); E
// elements fit in a register.
//
// Rounding. A product of two factors is exact in every format. Known of the hardware, from published measurements: it
// adds the products of 4 to 16 neighbours and the accumulator as numbers aligned to the largest, cut off (not rounded)
// a few bits below a float's last; where the cuts are differs between generations and is not documented. Here all
// products of one instruction and the accumulator are added in double precision and rounded to nearest once. So sums
// that need no more than a float's bits are equal, and others differ in the last places. Integers are exact, wrapped or
// saturated.
#pragma once

#include <cstdint>
#include <cstring>

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "warp.h"

namespace simt::mma {

template <typename T, unsigned count>
struct Accumulator {
  T registers[count];
};
template <unsigned count>
struct Registers {
  uint32_t registers[count];
};

// How a register is divided into factors.
struct F16 {
  static constexpr unsigned elements = 2;
  using Sum = double;
  static double factor(uint32_t bits, unsigned i) {
    return float(__ushort_as_half(static_cast<unsigned short>(bits >> 16 * i)));
  }
};
struct Bf16Factor {
  static constexpr unsigned elements = 2;
  using Sum = double;
  static double factor(uint32_t bits, unsigned i) {
    return float(__ushort_as_bfloat16(static_cast<unsigned short>(bits >> 16 * i)));
  }
};
// The hardware ignores the 13 low bits of a float.
struct Tf32 {
  static constexpr unsigned elements = 1;
  using Sum = double;
  static double factor(uint32_t bits, unsigned) { return from_bits<float>(bits & 0xffffe000u); }
};
struct S8 {
  static constexpr unsigned elements = 4;
  using Sum = int64_t;
  static int64_t factor(uint32_t bits, unsigned i) { return static_cast<int8_t>(bits >> 8 * i); }
};
struct U8 {
  static constexpr unsigned elements = 4;
  using Sum = int64_t;
  static int64_t factor(uint32_t bits, unsigned i) { return static_cast<uint8_t>(bits >> 8 * i); }
};

// 64 bits of every lane, as the other lanes see them.
class AllLanes {
 public:
  AllLanes(uint64_t own, Place place) : exchanged_(warp_exchange(full_mask, own, place)) {}
  uint64_t operator[](unsigned lane) const {
#ifdef __SANITIZE_THREAD__
    return checked_operand(exchanged_.values, lane);
#else
    return exchanged_.values[lane];
#endif
  }

 private:
  Exchanged exchanged_;
};

inline int32_t rounded(int64_t sum, bool saturate) {
  if (saturate && sum > INT32_MAX) return INT32_MAX;
  if (saturate && sum < INT32_MIN) return INT32_MIN;
  return static_cast<int32_t>(sum);
}

// This lane's four elements of the accumulator; in f16, a register holds two of them.
inline float element(const Accumulator<float, 4>& c, unsigned i) { return c.registers[i]; }
inline int32_t element(const Accumulator<int32_t, 4>& c, unsigned i) { return c.registers[i]; }
inline float element(const Accumulator<uint32_t, 2>& c, unsigned i) {
  return static_cast<float>(F16::factor(c.registers[i / 2], i % 2));
}
inline void set_element(Accumulator<float, 4>* d, unsigned i, double sum, bool) {
  d->registers[i] = static_cast<float>(sum);
}
inline void set_element(Accumulator<int32_t, 4>* d, unsigned i, int64_t sum, bool saturate) {
  d->registers[i] = rounded(sum, saturate);
}
inline void set_element(Accumulator<uint32_t, 2>* d, unsigned i, double sum, bool) {
  const uint32_t bits = __half_as_ushort(__double2half(sum));
  d->registers[i / 2] = i % 2 ? (d->registers[i / 2] & 0xffffu) | bits << 16 : bits;
}

template <typename FactorA, typename FactorB, unsigned groups, bool saturate, typename T, unsigned results>
Accumulator<T, results> m16n8(const Registers<2 * groups>& a, const Registers<groups>& b,
                              const Accumulator<T, results>& c, SIMT_PLACE(mma)) {
  constexpr unsigned elements = FactorA::elements;
  const unsigned g = lane() / 4, t = lane() % 4;
  typename FactorA::Sum sums[4];
  for (unsigned i = 0; i < 4; i++) sums[i] = element(c, i);
  for (unsigned group = 0; group < groups; group++) {
    uint64_t rows[4], columns[2][4];  // of this lane's two rows and two columns, from the four lanes that hold them
    {
      const AllLanes of_a(a.registers[2 * group] | uint64_t{a.registers[2 * group + 1]} << 32, place);
      for (unsigned i = 0; i < 4; i++) rows[i] = of_a[4 * g + i];
    }
    {
      const AllLanes of_b(b.registers[group], place);
      for (unsigned i = 0; i < 4; i++) {
        columns[0][i] = of_b[4 * (2 * t) + i];
        columns[1][i] = of_b[4 * (2 * t + 1) + i];
      }
    }
    for (unsigned result = 0; result < 4; result++) {
      for (unsigned i = 0; i < 4; i++) {
        const auto row = static_cast<uint32_t>(rows[i] >> (result / 2 * 32));
        const auto column = static_cast<uint32_t>(columns[result % 2][i]);
        for (unsigned e = 0; e < elements; e++) sums[result] += FactorA::factor(row, e) * FactorB::factor(column, e);
      }
    }
  }
  Accumulator<T, results> d = {};
  for (unsigned i = 0; i < 4; i++) set_element(&d, i, sums[i], saturate);
  return d;
}

// Of doubles: a lane holds A (row g, column t), B (row t, column g), and of the accumulator (row g, columns 2 t and 2 t
// + 1). Each product is added with one rounding, by rising columns of A.
inline Accumulator<double, 2> m8n8k4(double a, double b, double c0, double c1, SIMT_PLACE(mma)) {
  const unsigned g = lane() / 4, t = lane() % 4;
  double row[4], columns[2][4];
  const auto as_double = [](uint64_t bits) { return from_bits<double>(bits); };
  {
    const AllLanes of_a(to_bits(a), place);
    for (unsigned k = 0; k < 4; k++) row[k] = as_double(of_a[4 * g + k]);
  }
  {
    const AllLanes of_b(to_bits(b), place);
    for (unsigned k = 0; k < 4; k++) {
      columns[0][k] = as_double(of_b[4 * (2 * t) + k]);
      columns[1][k] = as_double(of_b[4 * (2 * t + 1) + k]);
    }
  }
  Accumulator<double, 2> d = {{c0, c1}};
  for (unsigned i = 0; i < 2; i++) {
    for (unsigned k = 0; k < 4; k++) d.registers[i] = __builtin_fma(row[k], columns[i][k], d.registers[i]);
  }
  return d;
}

}  // namespace simt::mma
