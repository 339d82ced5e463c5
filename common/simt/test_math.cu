// Device math against slow, plain definitions: directed rounding, SIMD within a word, special functions.
#include <cuda_runtime.h>

#include <cstring>
#include <random>

#include "testing.h"

namespace {

std::mt19937 random_bits(1);

// Any finite float, all exponents alike.
float any_float() {
  for (;;) {
    const uint32_t bits = random_bits();
    float x;
    std::memcpy(&x, &bits, sizeof x);
    if (std::isfinite(x)) return x;
  }
}

// Is `result` the exact value rounded this way? The exact value is given as a double or long double that is near enough
// to decide.
bool is_rounded(float down, float up, float to_zero, long double exact) {
  if (down > exact || up < exact) return false;
  if (down != exact && std::nextafter(down, INFINITY) <= exact) return false;
  if (up != exact && std::nextafter(up, -INFINITY) >= exact) return false;
  return to_zero == (exact > 0 ? down : up);
}

unsigned parts(unsigned a, unsigned b, int bits, bool is_signed, long long (*function)(long long, long long)) {
  unsigned result = 0;
  for (int at = 0; at < 32; at += bits) {
    const long long mask = (1ll << bits) - 1;
    long long x = a >> at & mask, y = b >> at & mask;
    if (is_signed && x >> (bits - 1)) x -= mask + 1;
    if (is_signed && y >> (bits - 1)) y -= mask + 1;
    result |= static_cast<unsigned>(function(x, y) & mask) << at;
  }
  return result;
}

}  // namespace

TEST_CASE("directed rounding encloses the exact value in neighbouring floats", "[math]") {
  int wrong = 0;
  for (int i = 0; i < 300000; i++) {
    // Exponents near each other, so that sums need rounding; 80-bit arithmetic then holds them exactly.
    const float a = any_float();
    const float b = std::ldexp(a, static_cast<int>(random_bits() % 30) - 15) * (random_bits() % 2 ? 1.0000001f : -0.7f);
    if (std::fabs(a) < 1e-15f || std::fabs(a) > 1e15f || b == 0) continue;
    const long double x = a, y = b;
    wrong += !is_rounded(__fadd_rd(a, b), __fadd_ru(a, b), __fadd_rz(a, b), x + y);
    wrong += !is_rounded(__fsub_rd(a, b), __fsub_ru(a, b), __fsub_rz(a, b), x - y);
    wrong += !is_rounded(__fmul_rd(a, b), __fmul_ru(a, b), __fmul_rz(a, b), x * y);
    wrong += !is_rounded(__fdiv_rd(a, b), __fdiv_ru(a, b), __fdiv_rz(a, b), x / y);
    wrong += !is_rounded(__frcp_rd(a), __frcp_ru(a), __frcp_rz(a), 1 / x);
    const float positive = std::fabs(a);
    wrong += !is_rounded(__fsqrt_rd(positive), __fsqrt_ru(positive), __fsqrt_rz(positive),
                         std::sqrt(static_cast<long double>(positive)));
    const double d = a + 1e-9 * b;
    wrong += !is_rounded(__double2float_rd(d), __double2float_ru(d), __double2float_rz(d), d);
    const auto n = static_cast<long long>(random_bits()) << 31 ^ random_bits();
    wrong += !is_rounded(__ll2float_rd(n), __ll2float_ru(n), __ll2float_rz(n), n);
    const int m = static_cast<int>(random_bits());
    wrong += !is_rounded(__int2float_rd(m), __int2float_ru(m), __int2float_rz(m), m);
    // a * b + c, with a c that is far smaller than the last place of the product.
    const float c = a * b * 1e-9f;
    const double product = static_cast<double>(a) * b, low = product + std::min(c, 0.0f),
                 high = product + std::max(c, 0.0f);
    const float down = __fmaf_rd(a, b, c), up = __fmaf_ru(a, b, c);
    wrong += down > high || up < low || up != std::nextafter(down, INFINITY);
  }
  CHECK(wrong == 0);
  CHECK(__fmaf_ru(1.0f, 1.0f, 1e-20f) == std::nextafter(1.0f, 2.0f));
  CHECK(__fmaf_rz(1.0f, 1.0f, -1e-20f) == std::nextafter(1.0f, 0.0f));
  CHECK(__fmaf_rd(1.0f, 1.0f, 1e-20f) == 1.0f);
}

TEST_CASE("directed rounding of doubles moves by one place, towards the exact value", "[math]") {
  const double third = __ddiv_rd(1.0, 3.0);
  CHECK(std::nextafter(third, 1.0) == __ddiv_ru(1.0, 3.0));
  CHECK(__ddiv_rz(-1.0, 3.0) == -third);
  CHECK(__dadd_ru(1.0, 1e-30) == std::nextafter(1.0, 2.0));
  CHECK(__dadd_rd(1.0, 1e-30) == 1.0);
  CHECK(__dadd_rd(1.0, -1e-30) == std::nextafter(1.0, 0.0));
  CHECK(__dmul_rz(1.0 + 0x1p-52, 1.0 + 0x1p-52) == 1.0 + 0x1p-51);
  CHECK(__dmul_ru(1.0 + 0x1p-52, 1.0 + 0x1p-52) == 1.0 + 0x1p-51 + 0x1p-52);
  CHECK(__dsqrt_ru(2.0) == std::nextafter(__dsqrt_rd(2.0), 2.0));
}

TEST_CASE("directed rounding at the ends of the range", "[math]") {
  const float largest = std::numeric_limits<float>::max(), infinity = INFINITY;
  CHECK(__fadd_rz(largest, largest) == largest);
  CHECK(__fadd_rd(largest, largest) == largest);
  CHECK(__fadd_ru(largest, largest) == infinity);
  CHECK(__fmul_ru(-largest, 2.0f) == -largest);
  CHECK(__fmul_rd(-largest, 2.0f) == -infinity);
  CHECK(__fadd_rz(infinity, 1.0f) == infinity);
  const float smallest = std::numeric_limits<float>::denorm_min();
  CHECK(__fmul_ru(smallest, smallest) == smallest);
  CHECK(__fmul_rd(smallest, -smallest) == -smallest);
  CHECK(__fmul_rz(smallest, smallest) == 0.0f);
  CHECK(__fdiv_ru(smallest, 4.0f) == smallest);
  CHECK(std::signbit(__fadd_rd(0.0f, -0.0f)));
  CHECK(std::isnan(__fadd_rd(infinity, -infinity)));
  CHECK(std::signbit(__dsub_rd(3.0, 3.0)));
  CHECK(!std::signbit(__fadd_ru(3.0f, -3.0f)));
  CHECK(!std::signbit(__fadd_rd(0.0f, 0.0f)));
  CHECK(std::signbit(__fmaf_rd(2.0f, 3.0f, -6.0f)));
  CHECK(std::signbit(__fma_rd(2.0, 3.0, -6.0)));
  CHECK(__fdiv_rz(1.0f, 0.0f) == infinity);
  CHECK(std::isnan(__fdiv_rz(0.0f, 0.0f)));
  CHECK(std::isnan(__fsqrt_ru(-1.0f)));
}

TEST_CASE("two and four numbers in a word", "[math]") {
  int wrong = 0;
  const auto check = [&](unsigned got, unsigned expected) { wrong += got != expected; };
  for (int i = 0; i < 20000; i++) {
    const unsigned a = random_bits(), b = i % 8 ? random_bits() : a;
    using N = long long;
    check(__vadd4(a, b), parts(a, b, 8, false, [](N x, N y) { return x + y; }));
    check(__vadd2(a, b), parts(a, b, 16, false, [](N x, N y) { return x + y; }));
    check(__vsub4(a, b), parts(a, b, 8, false, [](N x, N y) { return x - y; }));
    check(__vaddss4(a, b), parts(a, b, 8, true, [](N x, N y) {
            return x + y < -128 ? -128 : x + y > 127 ? 127 : x + y;
          }));
    check(__vsubus2(a, b), parts(a, b, 16, false, [](N x, N y) { return x > y ? x - y : 0; }));
    check(__vabsdiffu4(a, b), parts(a, b, 8, false, [](N x, N y) { return x > y ? x - y : y - x; }));
    check(__vmaxs2(a, b), parts(a, b, 16, true, [](N x, N y) { return x > y ? x : y; }));
    check(__vminu4(a, b), parts(a, b, 8, false, [](N x, N y) { return x < y ? x : y; }));
    check(__vavgu4(a, b), parts(a, b, 8, false, [](N x, N y) { return (x + y + 1) / 2; }));
    check(__vcmpeq4(a, b), parts(a, b, 8, false, [](N x, N y) { return x == y ? 255 : N{0}; }));
    check(__vcmpgts2(a, b), parts(a, b, 16, true, [](N x, N y) { return x > y ? 65535 : N{0}; }));
    check(__vsetltu4(a, b), parts(a, b, 8, false, [](N x, N y) { return N{x < y}; }));
    check(__vneg2(a), parts(a, 0, 16, true, [](N x, N) { return -x; }));
    unsigned sum = 0;
    for (int at = 0; at < 32; at += 8)
      sum += std::abs(static_cast<int>(a >> at & 255) - static_cast<int>(b >> at & 255));
    check(__vsadu4(a, b), sum);
  }
  CHECK(wrong == 0);
  CHECK(__viaddmax_s32(5, -8, -2) == -2);
  CHECK(__viaddmax_s32_relu(5, -8, -2) == 0);
  CHECK(__vimax3_s32(3, 9, -4) == 9);
  CHECK(__vimin3_u32(3, 9, 4) == 3);
}

TEST_CASE("dynamic programming on words and their halves", "[math]") {
  int wrong = 0;
  for (int i = 0; i < 20000; i++) {
    const unsigned a = random_bits(), b = i % 3 ? random_bits() : a ^ 0x8000, c = random_bits();
    const auto check = [&](unsigned got, bool is_signed, auto function) {
      for (unsigned at = 0; at < 32; at += 16) {
        const auto half = [=](unsigned word) -> int {
          return is_signed ? static_cast<int16_t>(word >> at) : static_cast<int>(word >> at & 0xffff);
        };
        wrong += (got >> at & 0xffff) != (static_cast<unsigned>(function(half(a), half(b), half(c))) & 0xffff);
      }
    };
    check(__viaddmax_s16x2(a, b, c), true,
          [](int x, int y, int z) { return std::max<int>(static_cast<int16_t>(x + y), z); });
    check(__viaddmin_u16x2(a, b, c), false, [](int x, int y, int z) { return std::min((x + y) & 0xffff, z); });
    check(__viaddmin_s16x2_relu(a, b, c), true,
          [](int x, int y, int z) { return std::max(0, std::min<int>(static_cast<int16_t>(x + y), z)); });
    check(__vimax3_u16x2(a, b, c), false, [](int x, int y, int z) { return std::max({x, y, z}); });
    check(__vimin3_s16x2(a, b, c), true, [](int x, int y, int z) { return std::min({x, y, z}); });
    check(__vimin3_s16x2_relu(a, b, c), true, [](int x, int y, int z) { return std::max(0, std::min({x, y, z})); });
    check(__vimax_s16x2_relu(a, b), true, [](int x, int y, int) { return std::max({x, y, 0}); });
    bool high, low;
    check(__vibmax_s16x2(a, b, &high, &low), true, [](int x, int y, int) { return std::max(x, y); });
    wrong += high != (static_cast<int>(a) >> 16 >= static_cast<int>(b) >> 16) ||
             low != (static_cast<int16_t>(a) >= static_cast<int16_t>(b));
    const int x = static_cast<int>(a), y = static_cast<int>(b);
    wrong += __vibmin_s32(x, y, &low) != std::min(x, y) || low != (x <= y);
    wrong += __vibmax_u32(a, b, &low) != std::max(a, b) || low != (a >= b);
    wrong += __vimin_s32_relu(x, y) != std::max(0, std::min(x, y));
  }
  CHECK(wrong == 0);
}

TEST_CASE("a product and a sum of doubles, rounded once in a direction", "[math]") {
  int wrong = 0;
  const auto whole = [](int bits) {
    const auto n = static_cast<long long>(random_bits()) << 32 | random_bits();
    return (random_bits() % 2 ? 1 : -1) * (n & ((1ll << bits) - 1));
  };
  for (int i = 0; i < 100000; i++) {
    // Whole numbers, so that 128 bits hold the exact value.
    const long long a = whole(50), b = whole(50);
    const int up = static_cast<int>(random_bits() % 60);
    const __int128 product = static_cast<__int128>(a) * b;
    // Every fourth time c takes nearly all of the product away.
    const double c = i % 4 ? std::ldexp(static_cast<double>(whole(50)), up) : -static_cast<double>(product) + whole(9);
    const __int128 exact = product + static_cast<__int128>(c);
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    const double down = __fma_rd(x, y, c), above = __fma_ru(x, y, c), zero = __fma_rz(x, y, c);
    const bool is_exact = static_cast<__int128>(down) == exact;
    wrong += static_cast<__int128>(down) > exact || static_cast<__int128>(above) < exact;
    wrong += above != (is_exact ? down : std::nextafter(down, INFINITY)) || zero != (exact < 0 ? above : down);
  }
  CHECK(wrong == 0);
  CHECK(__fma_ru(1.0, 1.0, 1e-40) == std::nextafter(1.0, 2.0));
  CHECK(__fma_rz(-1.0, 1.0, 1e-40) == std::nextafter(-1.0, 0.0));
  CHECK(__fma_rd(1e300, 1e300, 0.0) == std::numeric_limits<double>::max());
}

TEST_CASE("bit functions", "[math]") {
  CHECK(__funnelshift_lc(0x80000000u, 1u, 1) == 3u);
  CHECK(__funnelshift_lc(7u, 1u, 40) == 7u);
  CHECK(__funnelshift_rc(1u, 7u, 32) == 7u);
  CHECK(__brev(0x123456f1u) == 0x8f6a2c48u);
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u);
  CHECK(__byte_perm(0x80221100u, 0x77665544u, 0x8bf0) == 0x00807700u);  // nvcc clears the selectors' highest bits
  CHECK(simt::permute(0x80221100u, 0x77665544u, 0x8bf0) == 0x00ff0000u);
  CHECK(__vavgs2(0xffff0000u, 0x00007fffu) == 0xffff4000u);  // a negative sum is rounded down
  CHECK(__vavgs4(0xfe80ff01u, 0xff7ffe02u) == 0xfefffe02u);
  CHECK(__fns(0b101100, 0, 1) == 2u);
  CHECK(__fns(0b101100, 0, 3) == 5u);
  CHECK(__fns(0b101100, 5, -2) == 3u);
  CHECK(__fns(0b101100, 0, 4) == 0xffffffffu);
  CHECK(__fns(0b101100, 3, 0) == 3u);
  CHECK(__hadd(-3, 2) == -1);
  CHECK(__rhadd(-3, 2) == 0);
  CHECK(__uhadd(0xffffffffu, 0xfffffffdu) == 0xfffffffeu);
  CHECK(__dp4a(0x01020304u, 0xff000001u, 10u) == 10u + 255 + 4);
  CHECK(__dp2a_hi(0x00020003, 0x01ff0000, 0) == 2 * 1 + 3 * -1);
}

TEST_CASE("inverse functions undo what they invert, and norms are norms", "[math]") {
  for (double y = -0.999; y < 1; y += 0.037) CHECK(std::erf(erfinv(y)) == Approx(y).epsilon(1e-14).margin(1e-15));
  for (double y : {1e-300, 1e-20, 1e-5, 0.3, 1.0, 1.7, 1.99999})
    CHECK(std::erfc(erfcinv(y)) == Approx(y).epsilon(1e-12));
  CHECK(std::isinf(erfinvf(1.0f)));
  CHECK(std::isnan(erfinvf(1.5f)));
  CHECK(normcdf(normcdfinv(0.025)) == Approx(0.025).epsilon(1e-13));
  CHECK(normcdfinv(0.975) == Approx(1.959963984540054).epsilon(1e-12));
  CHECK(erfcx(2.0) == Approx(0.2553956763105057).epsilon(1e-12));
  // 1 / (x sqrt(pi)) (1 - 1/(2 x^2) + 3/(4 x^4) - 15/(8 x^6)): the next term is below 1e-12.
  const double x2 = 40.0 * 40.0, series = 1 - 0.5 / x2 + 0.75 / (x2 * x2) - 1.875 / (x2 * x2 * x2);
  CHECK(erfcx(40.0) == Approx(0.56418958354775628695 / 40 * series).epsilon(1e-11));
  CHECK(erfcx(24.999) == Approx(erfcx(25.001)).epsilon(1e-4));
  CHECK(norm4d(1, 2, 4, 10) == 11);
  CHECK(rnorm3df(2, 3, 6) == Approx(1.0 / 7));
  const float vector[] = {2, 3, 6};
  CHECK(normf(3, vector) == 7);
  CHECK(cyl_bessel_i1f(-1.0f) == Approx(-0.5651591f));
}
