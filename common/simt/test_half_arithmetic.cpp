// half and bfloat16 on the CPU: arithmetic, comparisons, functions and pairs, against exact results.
#include "test_half.h"

#include <random>

using namespace half_test;

TEMPLATE_TEST_CASE("sums, differences, products and quotients are rounded once", "[half]", Half, Bfloat) {
  using F = TestType;
  Mismatches wrong;
  std::mt19937 random(3);
  const auto check = [&](uint16_t i, uint16_t j) {
    const auto a = F::make(i), b = F::make(j);
    const double x = double_of<F>(i), y = double_of<F>(j);
    const auto sum = [&](double m) { return Exact().add(x).add(y).add(-m).sign(); };
    const auto difference = [&](double m) { return Exact().add(x).add(-y).add(-m).sign(); };
    const auto product = [&](double m) { return sign(x * y - m); };                      // both exact in double
    const auto quotient = [&](double m) { return sign(x - m * y) * (y < 0 ? -1 : 1); };  // m * y, too
    check_result<F>(wrong, "a + b", F::bits(a + b), x + y, sum, x, y);
    check_result<F>(wrong, "a - b", F::bits(a - b), x - y, difference, x, y);
    check_result<F>(wrong, "a * b", F::bits(a * b), x * y, product, x, y);
    check_result<F>(wrong, "a / b", F::bits(a / b), x / y, quotient, x, y);
  };
  const uint16_t ulp = 1, largest = F::infinity - 1, smallest_normal = 1 << F::significand_bits;
  const auto third = F::bits(F::rn(1 / 3.0f));
  for (uint16_t row : {uint16_t{0}, ulp, smallest_normal, third, largest, F::infinity, canonical_nan})
    for (uint32_t i = 0; i < 65536; i++) check(static_cast<uint16_t>(i), i % 2 ? row : row | sign_bit);
  for (int i = 0; i < 100000; i++) {
    const uint32_t both = static_cast<uint32_t>(random());
    const auto a = static_cast<uint16_t>(both), b = static_cast<uint16_t>(both >> 16);
    check(a, b);
    // Exponents that are close, so that sums cancel.
    check(a, static_cast<uint16_t>(a ^ (b & (sign_bit | (smallest_normal * 4 - 1)))));
    // Quotients that are subnormal: the divisor's exponent is higher by nearly the whole range.
    const uint32_t significands = both & (smallest_normal - 1), exponent = (both >> 16) % 12;
    const uint32_t divisor = (both >> 20 & (smallest_normal - 1)) | (F::bias + 7u) << F::significand_bits;
    check(static_cast<uint16_t>(significands | exponent << F::significand_bits), static_cast<uint16_t>(divisor));
  }
  CHECK_NONE(wrong);
}

TEMPLATE_TEST_CASE("a fused multiply-add is rounded once", "[half]", Half, Bfloat) {
  using F = TestType;
  Mismatches wrong;
  const auto check = [&](uint16_t i, uint16_t j, uint16_t k) {
    const double x = double_of<F>(i), y = double_of<F>(j), z = double_of<F>(k);
    const auto compare = [&](double m) { return Exact().add(x * y).add(z).add(-m).sign(); };
    const uint16_t result = F::bits(__hfma(F::make(i), F::make(j), F::make(k)));
    check_result<F>(wrong, "fma", result, x * y + z, compare, x, y, z);
  };
  std::mt19937_64 random(4);
  for (int i = 0; i < 300000; i++) {
    const uint64_t all = random();
    const auto a = static_cast<uint16_t>(all), b = static_cast<uint16_t>(all >> 16),
               c = static_cast<uint16_t>(all >> 32);
    check(a, b, c);
    // The sum of a product and a number of about its size.
    const double product = double_of<F>(a) * double_of<F>(b);
    check(a, b, F::bits(F::from_double(i % 2 ? -product : product * 256)) ^ (c & 3));
  }
  // (1 + e) * (1 - e) * 2^n just misses half a unit in the last place of c: in float it would be a tie.
  const int p = F::significand_bits;
  const auto above_one = F::bits(F::rn(1 + std::ldexp(1.0f, -p)));
  for (int exponent = -8; exponent < 8; exponent++)
    for (int significand = 0; significand < 1 << p; significand++) {
      const auto c = F::bits(F::rn(std::ldexp(1 + std::ldexp(static_cast<float>(significand), -p), exponent)));
      const auto b = F::bits(F::rn(std::ldexp(1 - std::ldexp(1.0f, -p), exponent - p - 1)));
      for (uint16_t flip : {uint16_t{0}, sign_bit}) check(above_one, b ^ flip, c), check(above_one, b, c ^ flip);
    }
  // A product that is a midpoint, and a c so small that even double loses it: its sign decides.
  for (uint16_t a = 0; a < 1 << p; a++) {
    const auto b = F::bits(F::rn(3));
    const auto one = F::bits(F::rn(1));
    for (uint16_t tiny : {uint16_t{1}, uint16_t{sign_bit | 1}})
      check(one + a, b, tiny), check((one + a) | sign_bit, b, tiny);
  }
  CHECK_NONE(wrong);
}

TEMPLATE_TEST_CASE("comparisons, max and min know about NaN and signed zero", "[half]", Half, Bfloat) {
  using F = TestType;
  Mismatches wrong;
  const auto expect = [&](bool good, const char* what, uint16_t got, double x, double y) {
    if (!good) wrong.add(what, got, x, y);
  };
  const uint16_t one = F::bits(F::rn(1)), inf = F::infinity;
  for (uint16_t row : {uint16_t{0}, sign_bit, uint16_t{1}, one, inf, uint16_t(inf | sign_bit), uint16_t(inf + 1)})
    for (uint32_t i = 0; i < 65536; i++) {
      const auto a = F::make(static_cast<uint16_t>(i)), b = F::make(row);
      // volatile: g++ 14 -O2 takes x > y for granted once x < y and x <= y were seen to be false, also when x is NaN.
      const volatile double x = double_of<F>(i), y = double_of<F>(row);
      const bool nan = std::isnan(x) || std::isnan(y);
      expect(__heq(a, b) == (x == y) && (a == b) == (x == y) && __hequ(a, b) == (nan || x == y), "==", 0, x, y);
      expect(__hne(a, b) == (!nan && x != y) && (a != b) == (x != y) && __hneu(a, b) == (x != y), "!=", 0, x, y);
      expect(__hlt(a, b) == (x < y) && (a < b) == (x < y) && __hltu(a, b) == (nan || x < y), "<", 0, x, y);
      expect(__hle(a, b) == (x <= y) && (a <= b) == (x <= y) && __hleu(a, b) == (nan || x <= y), "<=", 0, x, y);
      expect(__hgt(a, b) == (x > y) && (a > b) == (x > y) && __hgtu(a, b) == (nan || x > y), ">", 0, x, y);
      expect(__hge(a, b) == (x >= y) && (a >= b) == (x >= y) && __hgeu(a, b) == (nan || x >= y), ">=", 0, x, y);
      expect(__hisnan(a) == std::isnan(x) && __hisinf(a) == (std::isinf(x) ? sign(x) : 0), "isnan", 0, x, y);

      // The number wins over NaN; +0 is above -0.
      const bool first_is_max = std::isnan(y) || x > y || (x == y && !std::signbit(x));
      const bool first_is_min = std::isnan(y) || x < y || (x == y && std::signbit(x));
      const auto bits = [](bool first, uint32_t p, uint16_t q) { return static_cast<uint16_t>(first ? p : q); };
      const bool both = std::isnan(x) && std::isnan(y);
      const uint16_t max = both ? canonical_nan : bits(first_is_max, i, row);
      const uint16_t min = both ? canonical_nan : bits(first_is_min, i, row);
      expect(F::bits(__hmax(a, b)) == max, "max", F::bits(__hmax(a, b)), x, y);
      expect(F::bits(__hmin(a, b)) == min, "min", F::bits(__hmin(a, b)), x, y);
      expect(F::bits(__hmax_nan(a, b)) == (nan ? canonical_nan : max), "max_nan", F::bits(__hmax_nan(a, b)), x, y);
      expect(F::bits(__hmin_nan(a, b)) == (nan ? canonical_nan : min), "min_nan", F::bits(__hmin_nan(a, b)), x, y);
    }
  CHECK_NONE(wrong);
}

TEMPLATE_TEST_CASE("functions of one argument are correctly rounded for every value", "[half]", Half, Bfloat) {
  using F = TestType;
  using T = typename F::T;
  Mismatches wrong;
  // long double has more bits than the double in which the headers compute.
  const auto each = [&](const char* what, auto function, auto reference) {
    for (uint32_t i = 0; i < 65536; i++) {
      const long double exact = reference(double_of<F>(i));
      const auto compare = [exact](double m) { return (exact > m) - (exact < m); };
      const uint16_t result = F::bits(function(F::make(static_cast<uint16_t>(i))));
      check_result<F>(wrong, what, result, static_cast<double>(exact), compare, double_of<F>(i));
    }
  };
#define EACH(name, exact) \
  each(                   \
      #name, [](T a) { return name(a); }, [](long double x) -> long double { return exact; })
  EACH(__hneg, -x);
  EACH(__habs, std::fabs(x));
  EACH(htrunc, std::trunc(x));
  EACH(hceil, std::ceil(x));
  EACH(hfloor, std::floor(x));
  EACH(hrint, std::nearbyint(x));
  EACH(hsqrt, std::sqrt(x));
  EACH(hrsqrt, 1 / std::sqrt(x));
  EACH(hrcp, 1 / x);
  EACH(hexp, std::exp(x));
  EACH(hexp2, std::exp2(x));
  EACH(hexp10, std::pow(10.0L, x));
  EACH(hlog, std::log(x));
  EACH(hlog2, std::log2(x));
  EACH(hlog10, std::log10(x));
  EACH(hsin, std::sin(x));
  EACH(hcos, std::cos(x));
  EACH(htanh, std::tanh(x));
#undef EACH
  CHECK_NONE(wrong);
}

TEMPLATE_TEST_CASE("saturated and rectified forms clamp the rounded result", "[half]", Half, Bfloat) {
  using F = TestType;
  Mismatches wrong;
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; i++) {
    const uint64_t all = random();
    const auto a = F::make(static_cast<uint16_t>(all)), b = F::make(static_cast<uint16_t>(all >> 16));
    const auto c = F::make(static_cast<uint16_t>(all >> 32));
    const auto check = [&](const char* what, typename F::T got, typename F::T full) {
      const double x = double_of<F>(F::bits(full));
      const double expected = std::isnan(x) || x <= 0 ? 0 : x >= 1 ? 1 : x;  // NaN becomes 0, and never -0
      if (double_of<F>(F::bits(got)) != expected || (F::bits(got) & sign_bit)) wrong.add(what, F::bits(got), x);
    };
    check("add_sat", __hadd_sat(a, b), a + b);
    check("sub_sat", __hsub_sat(a, b), a - b);
    check("mul_sat", __hmul_sat(a, b), a * b);
    check("fma_sat", __hfma_sat(a, b, c), __hfma(a, b, c));
    const uint16_t fma = F::bits(__hfma(a, b, c)), rectified = F::bits(__hfma_relu(a, b, c));
    if (rectified != (is_nan<F>(fma) ? canonical_nan : fma & sign_bit ? 0 : fma)) wrong.add("relu", rectified, fma);
  }
  CHECK_NONE(wrong);
}

TEMPLATE_TEST_CASE("a pair computes in each half what the single type does", "[half]", Half, Bfloat) {
  using F = TestType;
  using T = typename F::T;
  using T2 = typename F::T2;
  Mismatches wrong;
  std::mt19937_64 random(6);
  for (int i = 0; i < 20000; i++) {
    const uint64_t all = random();
    const auto part = [all](int k) { return F::make(static_cast<uint16_t>(all >> 16 * k)); };
    const T2 a = F::pair(part(0), part(1)), b = F::pair(part(2), i % 4 ? part(3) : part(1)),
             c = F::pair(part(3), part(0));
    const auto check = [&](const char* what, T2 got, T x, T y) {
      if (F::bits(got.x) != F::bits(x)) wrong.add(what, F::bits(got.x), F::bits(a.x), F::bits(b.x));
      if (F::bits(got.y) != F::bits(y)) wrong.add(what, F::bits(got.y), F::bits(a.y), F::bits(b.y));
    };
    check("a + b", a + b, a.x + b.x, a.y + b.y);
    check("a - b", a - b, a.x - b.x, a.y - b.y);
    check("a * b", a * b, a.x * b.x, a.y * b.y);
    check("a / b", a / b, a.x / b.x, a.y / b.y);
    check("-a", -a, -a.x, -a.y);
    check("habs2", __habs2(a), __habs(a.x), __habs(a.y));
    check("hfma2", __hfma2(a, b, c), __hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
    check("hmax2", __hmax2(a, b), __hmax(a.x, b.x), __hmax(a.y, b.y));
    check("hmin2", __hmin2(a, b), __hmin(a.x, b.x), __hmin(a.y, b.y));
    check("hmax2_nan", __hmax2_nan(a, b), __hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y));
    check("hadd2_sat", __hadd2_sat(a, b), __hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));
    check("h2exp", h2exp(a), hexp(a.x), hexp(a.y));
    check("h2rcp", h2rcp(a), hrcp(a.x), hrcp(a.y));
    check("heq2", __heq2(a, b), T(__heq(a.x, b.x) ? 1 : 0), T(__heq(a.y, b.y) ? 1 : 0));
    check("hltu2", __hltu2(a, b), T(__hltu(a.x, b.x) ? 1 : 0), T(__hltu(a.y, b.y) ? 1 : 0));
    check("hisnan2", __hisnan2(a), T(__hisnan(a.x) ? 1 : 0), T(__hisnan(a.y) ? 1 : 0));
    check("swap", __lowhigh2highlow(a), a.y, a.x);
    const bool low = __hgt(a.x, b.x), high = __hgt(a.y, b.y);
    if (__hgt2_mask(a, b) != ((low ? 0xFFFFu : 0) | (high ? 0xFFFF0000u : 0))) wrong.add("hgt2_mask", 0, 0);
    if (__hbgt2(a, b) != (low && high) || (a > b) != (low && high)) wrong.add("hbgt2", 0, 0);
    if ((a == b) != (a.x == b.x && a.y == b.y)) wrong.add("a == b", 0, 0);
  }
  CHECK_NONE(wrong);
  const T2 a = F::pair(T(1.0f), T(2.0f));
  CHECK(__low2float(a) == 1.0f);
  CHECK(__high2float(a) == 2.0f);
  const T2 product = __hcmadd(a, F::pair(T(3.0f), T(5.0f)), F::pair(T(100.0f), T(200.0f)));  // (1+2i)(3+5i) + 100+200i
  CHECK(float(product.x) == 93.0f);
  CHECK(float(product.y) == 211.0f);
}

TEST_CASE("the names that contain the type put halves where CUDA puts them", "[half]") {
  const half2 h = __floats2half2_rn(1.0f, 2.0f), g = __float22half2_rn(make_float2(3.0f, 4.0f));
  const auto is = [](half2 a, float x, float y) { return __half22float2(a).x == x && __half22float2(a).y == y; };
  CHECK((is(h, 1, 2) && is(g, 3, 4) && is(__float2half2_rn(5.0f), 5, 5) && is(__half2half2(g.x), 3, 3)));
  CHECK((is(__lows2half2(h, g), 1, 3) && is(__highs2half2(h, g), 2, 4) && is(__low2half2(h), 1, 1)));
  CHECK((is(__high2half2(h), 2, 2) && __low2half(h) == half(1) && __high2half(h) == half(2)));
  CHECK(is(make_half2(h.y, g.x), 2, 3));

  const nv_bfloat162 b = __floats2bfloat162_rn(1.0f, 2.0f), c = __float22bfloat162_rn(make_float2(3.0f, 4.0f));
  const auto is_b = [](nv_bfloat162 a, float x, float y) {
    return __bfloat1622float2(a).x == x && __bfloat1622float2(a).y == y;
  };
  CHECK((is_b(b, 1, 2) && is_b(c, 3, 4) && is_b(__float2bfloat162_rn(5.0f), 5, 5) &&
         is_b(__bfloat162bfloat162(c.x), 3, 3)));
  CHECK((is_b(__lows2bfloat162(b, c), 1, 3) && is_b(__highs2bfloat162(b, c), 2, 4) && is_b(__low2bfloat162(b), 1, 1)));
  CHECK(
      (is_b(__high2bfloat162(b), 2, 2) && __low2bfloat16(b) == nv_bfloat16(1) && __high2bfloat16(b) == nv_bfloat16(2)));

  half x = 1.5f;
  CHECK((float(x++) == 1.5f && float(++x) == 3.5f && float(x--) == 3.5f && float(--x) == 1.5f));
  x += half(1);
  x *= half(4);
  x -= half(2);
  x /= half(16);
  CHECK(float(x) == 0.5f);
  CHECK(float(half(nv_bfloat16(0.25f))) == 0.25f);
  CHECK(float(nv_bfloat16(CUDART_MAX_NORMAL_FP16)) == 65536.0f);
  CHECK((float(CUDART_INF_FP16) == INFINITY && float(CUDART_INF_BF16) == INFINITY && __hisnan(CUDART_NAN_FP16)));
  CHECK((float(CUDART_MIN_DENORM_FP16) == 0x1p-24f && float(CUDART_MIN_DENORM_BF16) == 0x1p-133f));
  CHECK((float(CUDART_ONE_FP16) == 1 && float(CUDART_ONE_BF16) == 1 && __hisnan(CUDART_NAN_BF16)));
}
