// half and bfloat16 on the CPU: conversions of every value, every midpoint, and what lies beside them.
#include "test_half.h"

#include <cstring>
#include <random>
#include <type_traits>

using namespace half_test;

namespace {

template <typename F>
void check_float(Mismatches& wrong, float x) {
  const auto compare = [x](double m) { return sign(static_cast<double>(x) - m); };
  check_result<F>(wrong, "nearest", F::bits(F::rn(x)), x, compare, x);
  if (std::isnan(x)) return;
  if (std::isinf(x) || x == 0) {
    if (F::bits(F::rz(x)) != F::bits(F::rn(x))) wrong.add("to zero", F::bits(F::rz(x)), x);
    if (F::bits(F::ru(x)) != F::bits(F::rn(x))) wrong.add("up", F::bits(F::ru(x)), x);
    if (F::bits(F::rd(x)) != F::bits(F::rn(x))) wrong.add("down", F::bits(F::rd(x)), x);
    return;
  }
  if (!is_directed<F>(F::bits(F::rz(x)), 0, compare)) wrong.add("to zero", F::bits(F::rz(x)), x);
  if (!is_directed<F>(F::bits(F::ru(x)), 1, compare)) wrong.add("up", F::bits(F::ru(x)), x);
  if (!is_directed<F>(F::bits(F::rd(x)), -1, compare)) wrong.add("down", F::bits(F::rd(x)), x);
}

template <typename F>
void check_double(Mismatches& wrong, double x) {
  check_result<F>(
      wrong, "from double", F::bits(F::from_double(x)), x, [x](double m) { return (x > m) - (x < m); }, x);
}

float float_from(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4, "layout");
static_assert(sizeof(__nv_bfloat16) == 2 && sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4, "layout");
static_assert(std::is_trivially_copyable<__half2>::value && std::is_trivially_copyable<__nv_bfloat162>::value,
              "memcpy");
static_assert(std::is_trivially_default_constructible<__half2>::value, "allowed in __shared__");
static_assert(std::is_trivially_default_constructible<__nv_bfloat162>::value, "allowed in __shared__");
static_assert(std::is_convertible<__half, float>::value && std::is_convertible<float, __half>::value, "implicit");
static_assert(!std::is_convertible<__half, __nv_bfloat16>::value, "explicit only, as in CUDA");
static_assert(std::is_constructible<__half, __nv_bfloat16>::value, "explicit");

}  // namespace

TEMPLATE_TEST_CASE("16-bit floats become floats exactly, and come back", "[half]", Half, Bfloat) {
  Mismatches wrong;
  for (uint32_t i = 0; i < 65536; i++) {
    const auto a = TestType::make(static_cast<uint16_t>(i));
    const float x = TestType::to_float(a);
    const double expected = double_of<TestType>(i);
    const bool same = is_nan<TestType>(i) ? x != x : x == expected && std::signbit(x) == std::signbit(expected);
    if (!same) wrong.add("to float", static_cast<uint16_t>(i), expected, x);
    const uint16_t back = TestType::bits(TestType::rn(x));
    if (back != (is_nan<TestType>(i) ? canonical_nan : i)) wrong.add("round trip", back, expected);
    if (static_cast<bool>(a) != (expected != 0)) wrong.add("to bool", static_cast<uint16_t>(i), expected);
  }
  CHECK_NONE(wrong);
}

TEMPLATE_TEST_CASE("floats and doubles round correctly around every value and midpoint", "[half]", Half, Bfloat) {
  Mismatches wrong;
  for (uint32_t i = 0; i < TestType::infinity; i++) {
    const double value = value_of<TestType>(i), middle = (value + value_of<TestType>(i + 1)) / 2;
    for (double centre : {value, middle, -value, -middle}) {
      const float x = static_cast<float>(centre);  // exact: both formats have far fewer bits
      check_float<TestType>(wrong, x);
      check_float<TestType>(wrong, std::nextafterf(x, INFINITY));
      check_float<TestType>(wrong, std::nextafterf(x, -INFINITY));
      check_double<TestType>(wrong, centre);
      check_double<TestType>(wrong, std::nextafter(centre, INFINITY));
      check_double<TestType>(wrong, std::nextafter(centre, -INFINITY));
    }
  }
  for (float x : {INFINITY, -INFINITY, NAN, -NAN, 3.4028235e38f, -3.4028235e38f, 1e-45f, -1e-45f, 65535.0f, 65520.0f})
    check_float<TestType>(wrong, x);
  for (double x : {HUGE_VAL, 1e300, -1e300, 1e-300, -1e-300, 5e-324, std::nan("")}) check_double<TestType>(wrong, x);
  CHECK_NONE(wrong);
}

TEMPLATE_TEST_CASE("pseudo-random floats and doubles round correctly", "[half]", Half, Bfloat) {
  Mismatches wrong;
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; i++) {
    const uint64_t bits = random();
    // Half of them anywhere, half in the range of half.
    const auto any = static_cast<uint32_t>(bits);
    check_float<TestType>(wrong, float_from(i % 2 ? any : (any & 0x83FFFFFF) + ((101 + any % 44) << 23)));
    double x;
    const uint64_t near_one = (bits & 0x83FFFFFFFFFFFFFF) + (uint64_t{980} << 52);
    std::memcpy(&x, i % 2 ? &bits : &near_one, sizeof x);
    check_double<TestType>(wrong, x);
  }
  CHECK_NONE(wrong);
}

TEMPLATE_TEST_CASE("integers round correctly to 16-bit floats", "[half]", Half, Bfloat) {
  using F = TestType;
  Mismatches wrong;
  std::mt19937_64 random(2);
  for (int i = 0; i < 300000; i++) {
    // Nine to twelve bits, a run of zeros and perhaps a last bit: midpoints and their neighbours at every magnitude.
    const uint64_t all = random(), head = (all & 0xFFF) >> (all >> 12) % 4;
    const uint64_t n = (head << (all >> 20) % 56) + (all >> 40) % 3 - 1;
    const auto compare_to = [](long double exact) { return [exact](double m) { return (exact > m) - (exact < m); }; };
    const auto s = static_cast<long long>(all & 1 ? n : 0 - n);
    const auto narrow = static_cast<int>(s);
    if (!is_nearest<F>(F::bits(F::ll_rn(s)), compare_to(s))) wrong.add("ll_rn", F::bits(F::ll_rn(s)), double(s));
    if (!is_directed<F>(F::bits(F::ll_rz(s)), 0, compare_to(s))) wrong.add("ll_rz", F::bits(F::ll_rz(s)), double(s));
    if (!is_nearest<F>(F::bits(F::ull_rn(n)), compare_to(n))) wrong.add("ull_rn", F::bits(F::ull_rn(n)), double(n));
    if (!is_directed<F>(F::bits(F::int_ru(narrow)), 1, compare_to(narrow)))
      wrong.add("int_ru", F::bits(F::int_ru(narrow)), narrow);
  }
  CHECK_NONE(wrong);
  CHECK(F::bits(typename F::T(0)) == 0);
  CHECK(float(typename F::T(-3)) == -3.0f);
  CHECK(float(typename F::T(std::numeric_limits<long long>::min())) == (F::bias == 15 ? -INFINITY : -0x1p63f));
}

TEMPLATE_TEST_CASE("16-bit floats become integers, saturated", "[half]", Half, Bfloat) {
  using F = TestType;
  Mismatches wrong;
  const auto clamp = [](double x, double low, double high) { return x < low ? low : x > high ? high : x; };
  for (uint32_t i = 0; i < 65536; i++) {
    const auto a = F::make(static_cast<uint16_t>(i));
    const double x = double_of<F>(i);
    const bool nan = is_nan<F>(i);
    const auto check = [&](const char* what, double got, double expected) {
      if (got != (nan ? 0 : expected)) wrong.add(what, static_cast<uint16_t>(i), x, got);
    };
    check("int_rn", F::int_rn(a), clamp(std::nearbyint(x), -2147483648.0, 2147483647.0));
    check("int_rz", F::int_rz(a), clamp(std::trunc(x), -2147483648.0, 2147483647.0));
    check("operator int", static_cast<int>(a), clamp(std::trunc(x), -2147483648.0, 2147483647.0));
    check("uint_ru", F::uint_ru(a), clamp(std::ceil(x), 0.0, 4294967295.0));
    check("short_rd", F::short_rd(a), clamp(std::floor(x), -32768.0, 32767.0));
    check("unsigned char", static_cast<unsigned char>(a), clamp(std::trunc(x), 0.0, 255.0));
    const long long wide = F::ll_rz(a);
    const auto expected = nan || x <= -0x1p63 ? std::numeric_limits<long long>::min()
                          : x >= 0x1p63       ? std::numeric_limits<long long>::max()
                                              : static_cast<long long>(x);
    if (wide != expected) wrong.add("ll_rz", static_cast<uint16_t>(i), x, double(wide));
  }
  CHECK_NONE(wrong);
}
