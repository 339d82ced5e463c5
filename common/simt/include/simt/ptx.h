// simtcc translates inline PTX (ptx.py) into calls of these: registers as bits, addresses, and the instructions for
// which CUDA C++ has no function. Approximate functions (ex2, rcp, ...) are as exact as the accurate ones, except that
// .ftz flushes.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "async_copy.h"
#include "meeting.h"
#include "mma.h"
#include "ptx_integers.h"
#include "transfers.h"

namespace simt::ptx {

// What nvcc accepts as an operand: a scalar of the register's size, floating-point if the register is.
template <typename T, typename Register>
constexpr void check_operand() {
  static_assert(std::is_scalar<T>::value, "an asm operand must have scalar type");
  static_assert(sizeof(T) == sizeof(Register), "the operand does not have the size of its constraint's register");
  static_assert(std::is_floating_point<T>::value == std::is_floating_point<Register>::value,
                "asm operand type does not match the type implied by its constraint: \"f\" is for float, \"d\" for "
                "double, and \"r\", \"l\" and \"h\" for integers");
}

// A value of the program as the register of an operand, and back.
template <typename Register, typename T>
Register in(const T& value) {
  if constexpr (std::is_array<T>::value) {
    return static_cast<Register>(reinterpret_cast<uintptr_t>(&value[0]));
  } else {
    check_operand<T, Register>();
    Register bits;
    std::memcpy(&bits, static_cast<const void*>(&value), sizeof bits);
    return bits;
  }
}
template <typename T, typename Register>
void out(T& to, Register bits) {
  check_operand<T, Register>();
  std::memcpy(static_cast<void*>(&to), &bits, sizeof bits);
}

// A register as an instruction's type sees it: its bits; a narrower type takes the low ones.
template <typename T, typename Register>
T as(Register bits) {
  if constexpr (sizeof(T) == sizeof(Register)) {
    T value;
    std::memcpy(static_cast<void*>(&value), static_cast<const void*>(&bits), sizeof value);
    return value;
  } else {
    static_assert(std::is_integral<T>::value && std::is_integral<Register>::value, "registers of different sizes");
    return static_cast<T>(bits);
  }
}
template <typename Register, typename T>
void put(Register& to, T value) {
  to = as<Register>(value);
}

template <typename T, typename... Parts>
T pack(Parts... parts) {
  static_assert((sizeof(Parts) + ...) == sizeof(T), "the parts do not fill the register");
  T all;
  size_t at = 0;
  ((std::memcpy(reinterpret_cast<char*>(&all) + at, static_cast<const void*>(&parts), sizeof parts),
    at += sizeof parts),
   ...);
  return all;
}
template <typename T, typename... Parts>
void unpack(T all, Parts&... parts) {
  static_assert((sizeof(Parts) + ...) == sizeof(T), "the parts do not fill the register");
  size_t at = 0;
  ((std::memcpy(static_cast<void*>(&parts), reinterpret_cast<const char*>(&all) + at, sizeof parts),
    at += sizeof parts),
   ...);
}
template <typename Result, typename... Parts>
void spread(const Result& result, Parts&... parts) {
  unsigned at = 0;
  (put(parts, result.registers[at++]), ...);
}

// --- arithmetic
// ---------------------------------------------------------------------------------------------------------

inline float flush(float x) { return std::fabs(x) < FLT_MIN ? std::copysign(0.f, x) : x; }

template <typename T>
T saturate_to_one(T x) {
  return x > 0 ? (x < 1 ? x : T{1}) : T{0};
}
inline float relu(float x) { return x != x || x > 0 ? x : 0; }
template <typename T>
bool is_subnormal(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL;
}

// If one operand is NaN, the result is the other one; -0 is less than 0.
template <typename T>
T least(T x, T y) {
  return x != x ? y : y != y ? x : x < y || (x == y && std::signbit(x)) ? x : y;
}
template <typename T>
T most(T x, T y) {
  return x != x ? y : y != y ? x : x > y || (x == y && !std::signbit(x)) ? x : y;
}

// Saturates: the nearest integer that the other type can hold.
template <typename T, typename From>
T clamped(From x) {
  using Limits = std::numeric_limits<T>;
  if (x < 0 && (!std::is_signed<T>::value || static_cast<int64_t>(x) < static_cast<int64_t>(Limits::min())))
    return Limits::min();
  if (x > 0 && static_cast<uint64_t>(x) > static_cast<uint64_t>(Limits::max())) return Limits::max();
  return static_cast<T>(x);
}

// A function of float, of one 16-bit number or of both in a word.
template <typename T, typename Function>
T through_float(T x, Function function) {
  if constexpr (sizeof(T) == 2)
    return T(function(static_cast<float>(x)));
  else
    return T(through_float(x.x, function), through_float(x.y, function));
}

// Rounds to nearest, ties away from zero.
inline uint32_t to_tf32(float x) {
  const uint32_t bits = as<uint32_t>(x);
  return x != x || std::isinf(x) ? bits : (bits + 0x1000u) & 0xffffe000u;
}

inline uint32_t to_tf32_even(float x) {
  const uint32_t bits = as<uint32_t>(x);
  return x != x || std::isinf(x) ? bits : (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u;
}

inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 8; i++) {
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  }
  return result;
}

// --- memory
// -------------------------------------------------------------------------------------------------------------

inline unsigned char* generic(uint64_t address) { return reinterpret_cast<unsigned char*>(address); }
inline uint32_t to_shared(uint64_t address) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(generic(address)));
}
inline unsigned char* shared(uint32_t address) {
  return static_cast<unsigned char*>(__cvta_shared_to_generic(address));
}

template <size_t bytes>
struct Word;
template <>
struct Word<1> {
  using type = uint8_t;
};
template <>
struct Word<2> {
  using type = uint16_t;
};
template <>
struct Word<4> {
  using type = uint32_t;
};
template <>
struct Word<8> {
  using type = uint64_t;
};
template <>
struct Word<16> {
  using type = uint4;
};

// A volatile access is of a type that the compiler can load at once.
template <typename Wide>
using VolatileWord = std::conditional_t<sizeof(Wide) == 16, unsigned __int128, Wide>;

// A vector is one access, as wide as it is. An ordered load is how threads wait for others.
template <typename T, bool ordered, typename... Registers>
void load(const unsigned char* from, Registers&... to) {
  using Wide = typename Word<sizeof(T) * sizeof...(to)>::type;
  Wide word;
  if constexpr (ordered) {
    yield();
    const VolatileWord<Wide> bits = *reinterpret_cast<const volatile VolatileWord<Wide>*>(from);
    std::memcpy(static_cast<void*>(&word), &bits, sizeof word);
  } else {
    word = *reinterpret_cast<const Wide*>(from);
  }
  T parts[sizeof...(to)];
  std::memcpy(parts, static_cast<const void*>(&word), sizeof parts);
  unsigned at = 0;
  (put(to, parts[at++]), ...);
}
template <typename T, bool ordered, typename... Values>
void store(unsigned char* to, Values... values) {
  using Wide = typename Word<sizeof(T) * sizeof...(values)>::type;
  const T parts[] = {values...};
  Wide word;
  std::memcpy(static_cast<void*>(&word), parts, sizeof parts);
  if constexpr (ordered) {
    VolatileWord<Wide> bits;
    std::memcpy(&bits, static_cast<const void*>(&word), sizeof bits);
    *reinterpret_cast<volatile VolatileWord<Wide>*>(to) = bits;
  } else {
    *reinterpret_cast<Wide*>(to) = word;
  }
}

// cp.async of 4, 8 or 16 bytes; those beyond `real` are zeros.
inline void copy_async(unsigned char* to, const unsigned char* from, uint32_t bytes, uint32_t real) {
  if (real >= bytes) return copy_by_one(to, from, bytes);
  unsigned char piece[16] = {};
  for (uint32_t i = 0; i < real; i++) piece[i] = from[i];
  copy_by_one(to, piece, bytes);
}

// --- threads
// ------------------------------------------------------------------------------------------------------------

inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

inline void bar_sync(uint32_t number, SIMT_PLACE(named_barrier)) {
  if (number == 0)
    block_barrier(0, {place.file, place.line, Call::syncthreads});
  else
    meet(meeting_key(named_meeting, number, block_threads()), block_threads(), place);
}
// The same number used with different numbers of threads is two different barriers here.
inline void bar_sync(uint32_t number, uint32_t threads, SIMT_PLACE(named_barrier)) {
  if (threads == block_threads()) return bar_sync(number, place);
  meet(meeting_key(named_meeting, number, threads), threads, place);
}

// barrier.cluster.wait. The arrival before it is a part of it here, as cluster_group has it.
inline void cluster_wait(SIMT_PLACE(cluster_sync)) { cluster_barrier(place); }
inline uint32_t cluster_blocks() {
  const dim3 size = cluster_size();
  return size.x * size.y * size.z;
}

inline void bar_arrive(uint32_t number, uint32_t threads, SIMT_PLACE(named_barrier)) {
  const uint64_t key = meeting_key(named_meeting, number, threads);
  meeting_expect(key, threads);
  meeting_arrive(key, 1, place);
}

// The segment of a shuffle: its width is in the third operand, as 32 - width in bits 8 to 12.
inline int width_of(uint32_t c) { return 32 - static_cast<int>(c >> 8 & 31); }
inline uint32_t shfl_xor(uint32_t mask, uint32_t value, uint32_t by, uint32_t c, SIMT_PLACE(shfl_xor)) {
  return __shfl_xor_sync(mask, value, static_cast<int>(by), width_of(c), place);
}
inline uint32_t shfl_up(uint32_t mask, uint32_t value, uint32_t by, uint32_t c, SIMT_PLACE(shfl_up)) {
  return __shfl_up_sync(mask, value, by, width_of(c), place);
}
inline uint32_t shfl_down(uint32_t mask, uint32_t value, uint32_t by, uint32_t c, SIMT_PLACE(shfl_down)) {
  return __shfl_down_sync(mask, value, by, width_of(c), place);
}
inline uint32_t shfl_idx(uint32_t mask, uint32_t value, uint32_t from, uint32_t c, SIMT_PLACE(shfl)) {
  return __shfl_sync(mask, value, static_cast<int>(from), width_of(c), place);
}

// has_...: whether the lane that a shuffle reads from is in the caller's segment; last_of_segment: where that ends, or,
// for shfl.up, begins.
inline unsigned last_of_segment(uint32_t c) {
  const unsigned segment = c >> 8 & 31;
  return (lane() & segment) | (c & 31 & ~segment);
}
inline bool has_xor(uint32_t by, uint32_t c) { return (lane() ^ (by & 31)) <= last_of_segment(c); }
inline bool has_up(uint32_t by, uint32_t c) {
  return static_cast<int>(lane()) - static_cast<int>(by & 31) >= static_cast<int>(last_of_segment(c));
}
inline bool has_down(uint32_t by, uint32_t c) { return lane() + (by & 31) <= last_of_segment(c); }
inline bool has_idx(uint32_t from, uint32_t c) {
  const unsigned segment = c >> 8 & 31;
  return ((lane() & segment) | (from & 31 & ~segment)) <= last_of_segment(c);
}

// --- matrices
// -----------------------------------------------------------------------------------------------------------

// Lanes 8 i to 8 i + 7 give the addresses of the rows of matrix i: eight elements of 16 bits. Each lane gets two
// neighbours of a row, or of a column. Here each lane reads a whole row, as the hardware does, and passes it on.
template <bool transposed, typename... Registers>
void ldmatrix_at(const unsigned char* row, Place place, Registers&... to) {
  constexpr unsigned matrices = sizeof...(to);
  const unsigned own = lane();
  uint64_t halves[2] = {};
  if (own < 8 * matrices) {
    const uint4 all = *reinterpret_cast<const uint4*>(row);
    halves[0] = all.x | uint64_t{all.y} << 32;
    halves[1] = all.z | uint64_t{all.w} << 32;
  }
  uint32_t result[matrices] = {};
  for (unsigned half = 0; half < 2; half++) {
    const mma::AllLanes rows(halves[half], place);
    for (unsigned i = 0; i < matrices; i++) {
      if (transposed) {
        const unsigned column = own / 4;
        if (column / 4 != half) continue;
        for (unsigned e = 0; e < 2; e++)
          result[i] |= static_cast<uint32_t>(rows[8 * i + 2 * (own % 4) + e] >> column % 4 * 16 & 0xffff) << 16 * e;
      } else if (own % 4 / 2 == half) {
        result[i] = static_cast<uint32_t>(rows[8 * i + own / 4] >> own % 2 * 32);
      }
    }
  }
  unsigned at = 0;
  (put(to, result[at++]), ...);
}
template <bool transposed, typename A>
void ldmatrix(const unsigned char* row, A& a, SIMT_PLACE(matrix_load)) {
  ldmatrix_at<transposed>(row, place, a);
}
template <bool transposed, typename A>
void ldmatrix(const unsigned char* row, A& a, A& b, SIMT_PLACE(matrix_load)) {
  ldmatrix_at<transposed>(row, place, a, b);
}
template <bool transposed, typename A>
void ldmatrix(const unsigned char* row, A& a, A& b, A& c, A& d, SIMT_PLACE(matrix_load)) {
  ldmatrix_at<transposed>(row, place, a, b, c, d);
}

// A matrix of 8 x 8 elements of 16 bits, two neighbours of row l / 4 in lane l, is transposed.
template <typename To>
void movmatrix(To& to, uint32_t value, SIMT_PLACE(matrix_load)) {
  const mma::AllLanes all(value, place);
  const unsigned row = lane() / 4, first = 8 * (lane() % 4) + row / 2, shift = row % 2 * 16;
  put(to, static_cast<uint32_t>(all[first] >> shift & 0xffff) | static_cast<uint32_t>(all[first + 4] >> shift & 0xffff)
                                                                    << 16);
}

// The other way round: lane 8 i + r writes row r of matrix i.
template <bool transposed, unsigned matrices>
void stmatrix_at(unsigned char* row, const uint32_t (&values)[matrices], Place place) {
  const unsigned own = lane(), r = own % 8;
  unsigned short elements[8] = {};
  for (unsigned i = 0; i < matrices; i++) {
    const mma::AllLanes of(values[i], place);
    if (own / 8 != i) continue;
    for (unsigned column = 0; column < 8; column++) {
      const unsigned from = transposed ? 4 * column + r / 2 : 4 * r + column / 2;
      elements[column] = static_cast<unsigned short>(of[from] >> (transposed ? r : column) % 2 * 16);
    }
  }
  if (own >= 8 * matrices) return;
  uint4 all;
  std::memcpy(static_cast<void*>(&all), elements, sizeof all);
  *reinterpret_cast<uint4*>(row) = all;
}
template <bool transposed>
void stmatrix(unsigned char* row, uint32_t a, SIMT_PLACE(matrix_load)) {
  stmatrix_at<transposed, 1>(row, {a}, place);
}
template <bool transposed>
void stmatrix(unsigned char* row, uint32_t a, uint32_t b, SIMT_PLACE(matrix_load)) {
  stmatrix_at<transposed, 2>(row, {a, b}, place);
}
template <bool transposed>
void stmatrix(unsigned char* row, uint32_t a, uint32_t b, uint32_t c, uint32_t d, SIMT_PLACE(matrix_load)) {
  stmatrix_at<transposed, 4>(row, {a, b, c, d}, place);
}

}  // namespace simt::ptx
