// Inline PTX in the forms that public kernels use for arithmetic, bits, comparisons and conversions. Each result is an
// integer or the bits of a number, worked out here in plain C++.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr int most = 82, threads = 32;

__global__ void k(uint64_t* out, uint32_t* cells) {
  const int i = threadIdx.x;
  int at = 0;
  const auto put = [&](uint64_t value) { out[i * most + at++] = value; };
  const uint32_t a = i * 0x9e3779b9u + 0x12345678u, b = i * 0x85ebca6bu + 77u;
  const int s = int(a) >> (i % 7);
  const float x = (i - 10.5f) * 0.37f, y = i % 5 == 0 ? NAN : (i - 16) * 0.5f;
  uint32_t r;
  uint64_t wide;
  float f;
  // products and sums
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  put(r);
  asm("mul.hi.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  put(r);
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(5));
  put(r);
  asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(a));
  put(r);
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(a), "r"(b));
  put(wide);
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(a), "r"(b), "l"(uint64_t{1} << 63));
  put(wide);
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(wide) : "l"(uint64_t{a} << 32 | b), "l"(uint64_t{b} << 32 | a));
  put(wide);
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  put(r);
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(3));
  put(r);
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s));
  put(r);
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(9));
  put(r);
  asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s));
  put(r);
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(100));
  put(r);
  asm("vabsdiff.s32.s32.s32 %0, %1, %2, 0;" : "=r"(r) : "r"(a), "r"(b));
  put(r);
  asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
  put(r);
  asm("vavrg2.s32.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
  put(r);
  asm("vmad.s32.u32.s32.shr7 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(s), "r"(s));
  put(r);
  asm("rem.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"((b | 1)));
  put(r);
  asm("div.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"((i + 3)));
  put(r);
  asm("abs.s32 %0, %1;" : "=r"(r) : "r"(s));
  put(r);
  // bits
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(i % 30), "r"(5));
  put(r);
  asm("bfe.u64 %0, %1, %2, 17;" : "=l"(wide) : "l"(uint64_t{a} << 32 | b), "r"(i));
  put(wide);
  asm("bfi.b32 %0, %1, %2, %3, 7;" : "=r"(r) : "r"(a), "r"(b), "r"(i));
  put(r);
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a >> i));
  put(r);
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(r) : "r"(s));
  put(r);
  asm("{ .reg .u32 t<2>; not.b32 t0, %1; xor.b32 t1, t0, %2; and.b32 %0, t1, 0xffff; }" : "=r"(r) : "r"(a), "r"(b));
  put(r);
  // comparisons and choices; with a NaN all are false but those that end in u
  asm("{ .reg .pred p, q; setp.lt.and.s32 p|q, %1, %2, 1; @p mov.u32 %0, 5; @q mov.u32 %0, 6; }"
      : "=r"(r)
      : "r"(s), "r"(b));
  put(r);
  asm("{ .reg .pred p, q, n; setp.gt.u32 p, %1, %2; setp.ne.or.u32 q, %1, 7, !p; and.pred q, p, q; not.pred n, q; "
      "selp.u32 %0, 1, 2, n; }"
      : "=r"(r)
      : "r"(a), "r"(b));
  put(r);
  asm("{ .reg .pred p; setp.ne.f32 p, %1, %2; selp.b32 %0, 1, 0, p; }" : "=r"(r) : "f"(x), "f"(y));
  put(r);
  asm("{ .reg .pred p; setp.geu.f32 p, %1, %2; selp.b32 %0, 1, 0, p; }" : "=r"(r) : "f"(x), "f"(y));
  put(r);
  asm("{ .reg .pred p; testp.notanumber.f32 p, %1; selp.b32 %0, 1, 0, p; }" : "=r"(r) : "f"(y));
  put(r);
  asm("set.gt.u32.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(y));
  put(r);
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(1), "r"(2), "r"(s));
  put(r);
  // floating point
  asm("max.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
  put(__float_as_uint(f));
  asm("min.f32 %0, %1, %2;" : "=f"(f) : "f"(0.f), "f"(-0.f));
  put(__float_as_uint(f));
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
  put(std::isnan(f));
  asm("fma.rn.sat.f32 %0, %1, %2, %1;" : "=f"(f) : "f"(x), "f"(0.25f));
  put(__float_as_uint(f));
  asm("add.rz.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(1e-9f));
  put(__float_as_uint(f));
  asm("mul.ftz.f32 %0, %1, %2;" : "=f"(f) : "f"(1e-39f), "f"(1e10f));
  put(__float_as_uint(f));
  asm("copysign.f32 %0, %1, %2;" : "=f"(f) : "f"(-0.f), "f"(2.f));
  put(__float_as_uint(f));
  asm("abs.f32 %0, %1;" : "=f"(f) : "f"(-0.f));
  put(__float_as_uint(f));
  double d;
  asm("fma.rn.f64 %0, %1, %2, 0d3FF0000000000000;" : "=d"(d) : "d"(double(x)), "d"(3.0));
  put(__double_as_longlong(d));
  // conversions
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r) : "f"(x * 1e9f));
  put(r);
  asm("cvt.rni.f32.f32 %0, %1;" : "=f"(f) : "f"(x));
  put(__float_as_uint(f));
  asm("cvt.sat.f32.f32 %0, %1;" : "=f"(f) : "f"(x));
  put(__float_as_uint(f));
  asm("cvt.rz.f32.s32 %0, %1;" : "=f"(f) : "r"(a));
  put(__float_as_uint(f));
  asm("cvt.sat.u8.s32 %0, %1;" : "=r"(r) : "r"(s >> 20));
  put(r);
  asm("cvt.s32.s8 %0, %1;" : "=r"(r) : "r"(a));
  put(r);
  asm("cvt.rn.f32.f64 %0, %1;" : "=f"(f) : "d"(d / 3));
  put(__float_as_uint(f));
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  put(h);
  asm("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"(i * 3001));
  put(h);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(x * 3));
  put(r);
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(-x));
  put(r);
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(x), "f"(1000.f));
  put(h);
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(h));
  put(r);
  asm("max.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(0x3f80bf80u), "r"(0x40003f00u));
  put(r);
  asm("add.f16 %0, %1, %2;" : "=h"(h) : "h"((unsigned short)0x3c00), "h"((unsigned short)0x4000));
  put(h);
  // pairs, shuffles with a predicate, matches
  asm("{ .reg .b32 t; mov.b64 {_, t}, %1; mov.b32 %0, t; }" : "=r"(r) : "l"(uint64_t{a} << 32 | b));
  put(r);
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %1, 3, 0x1f, -1; @!p mov.u32 %0, 1000; }" : "=r"(r) : "r"(i));
  put(r);
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, 4, 0x1000, -1; @!p mov.u32 %0, 1000; }" : "=r"(r) : "r"(i));
  put(r);
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(i % 3));
  put(r);
  asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(i - 40));
  put(r);
  // memory: a policy, vectors for others to see, atomics without a result
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(cells + 4 * i), "r"(a) : "memory");
  asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(r) : "l"(cells + 4 * i + 3), "l"(policy));
  put(r);
  uint32_t v[4];
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "l"(__cvta_generic_to_global(cells + 4 * i)));
  put(v[0] ^ v[1] ^ v[2]);
  uint32_t* const sums = cells + 4 * threads;
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(sums), "r"(i) : "memory");
  asm volatile("atom.global.inc.u32 _, [%0], 1000;" ::"l"(sums + 1) : "memory");
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(sums + 2), "r"(0x3c003c00u) : "memory");
}

int main() {
  uint64_t* out;
  uint32_t* cells;
  cudaMallocManaged(&out, threads * most * sizeof(uint64_t));
  cudaMallocManaged(&cells, (4 * threads + 3) * sizeof(uint32_t));
  cudaMemset(cells, 0, (4 * threads + 3) * sizeof(uint32_t));
  k<<<1, threads>>>(out, cells);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < threads; i++) {
    const uint32_t a = i * 0x9e3779b9u + 0x12345678u, b = i * 0x85ebca6bu + 77u;
    const int s = int(a) >> (i % 7);
    const float x = (i - 10.5f) * 0.37f, y = i % 5 == 0 ? NAN : (i - 16) * 0.5f;
    const bool nan = i % 5 == 0;
    const uint64_t p = uint64_t{a} << 32 | b, q = uint64_t{b} << 32 | a;
    const auto bits = [](float f) -> uint64_t {
      uint32_t word;
      memcpy(&word, &f, 4);
      return word;
    };
    const auto half = [](float f) -> uint64_t { return __half_as_ushort(__float2half(f)); };
    const auto bf = [](float f) -> uint64_t { return __bfloat16_as_ushort(__float2bfloat16(f)); };
    const auto sext = [](int value) -> uint64_t { return uint32_t(value); };
    int dot_s = s, dot2 = s;
    uint32_t dot_u = 9, far = 100, added = 0;
    for (int byte = 0; byte < 4; byte++) {
      const uint8_t ua = uint8_t(a >> 8 * byte), ub = uint8_t(b >> 8 * byte);
      dot_s = int(uint32_t(dot_s) + uint32_t(int8_t(ua) * int8_t(ub)));
      dot_u += ua * ub;
      far += ua > ub ? ua - ub : ub - ua;
      added |= uint32_t(uint8_t(ua + ub)) << 8 * byte;
    }
    uint32_t averages = 0;
    for (int part = 0; part < 2; part++) {
      const int sum = int16_t(a >> 16 * part) + int16_t(b >> 16 * part);
      averages |= uint32_t(uint16_t(sum < 0 ? sum >> 1 : (sum + 1) >> 1)) << 16 * part;
    }
    for (int part = 0; part < 2; part++)
      dot2 = int(uint32_t(dot2) + uint32_t(int16_t(a >> 16 * part) * int8_t(b >> 8 * part)));
    const double d = std::fma(double(x), 3.0, 1.0);
    uint64_t d_bits;
    memcpy(&d_bits, &d, 8);
    const int64_t low24 = (int64_t(int32_t(a << 8)) >> 8) * (int64_t(int32_t(b << 8)) >> 8);
    const int from = i % 30, kept = from + 5 > 32 ? 32 - from : 5;
    const int field = int(a << (32 - from - kept)) >> (32 - kept);
    const uint32_t mask = uint32_t(uint64_t{127} << i);
    const auto top = [](uint32_t word) { return word ? 31u - unsigned(__builtin_clz(word)) : ~0u; };
    const float truncated = x + 1e-9f, sum = float(double(x) + 1e-9);
    float toward_zero = sum;
    if (std::fabs(double(sum)) > std::fabs(double(x) + double(1e-9f))) toward_zero = std::nextafter(sum, 0.f);
    static_cast<void>(truncated);
    float int_to_zero = float(int(a));
    if (std::fabs(double(int_to_zero)) > std::fabs(double(int(a)))) int_to_zero = std::nextafter(int_to_zero, 0.f);
    const double big = double(x * 1e9f);
    const int byte = s >> 20;
    const uint64_t e4 = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3), top8 = 0x7e;
    const __half2_raw back = __nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(top8 | e4 << 8), __NV_E4M3);
    const float fused = std::fma(x, 0.25f, x);
    const uint64_t expected[] = {
        uint64_t{a} * b >> 32,
        sext(int(int64_t(int(a)) * int(b) >> 32)),
        uint32_t(a * b + 5),
        uint32_t((uint64_t{a} * b >> 32) + a),
        uint64_t(int64_t(int(a)) * int(b)),
        uint64_t{a} * b + (uint64_t{1} << 63),
        uint64_t((unsigned __int128)p * q >> 64),
        uint32_t(low24),
        uint32_t((a > b ? a - b : b - a) + 3),
        sext(dot_s),
        dot_u,
        sext(dot2),
        far,
        uint32_t(int(a) > int(b) ? a - b : b - a),
        added,
        averages,
        uint32_t((int64_t(a) * s + s) >> 7),
        a % (b | 1),
        sext(int(a) / (i + 3)),
        sext(s < 0 ? -s : s),
        sext(field),
        p >> i & 0x1ffff,
        (b & ~mask) | (a << i & mask),
        top(a >> i),
        sext(s) == 0 || s == -1 ? ~0u : 31 - top(s < 0 ? ~s : s),
        (~a ^ b) & 0xffff,
        s < int(b) ? 5u : 6u,
        a > b && (a != 7 || !(a > b)) ? 2u : 1u,
        !nan && x != y,
        nan || x >= y,
        nan,
        !nan && x > y ? ~0u : 0u,
        s >= 0 ? 1u : 2u,
        bits(nan ? x : std::fmax(x, y)),
        0x80000000u,
        nan,
        bits(fused < 0   ? 0.f
             : fused > 1 ? 1.f
                         : fused),
        bits(toward_zero),
        0,
        0xc0000000u,
        0,
        d_bits,
        sext(big >= 2147483647.0    ? 2147483647
             : big <= -2147483648.0 ? int(0x80000000u)
                                    : int(big)),
        bits(std::nearbyint(x)),
        bits(x < 0   ? 0.f
             : x > 1 ? 1.f
                     : x),
        bits(int_to_zero),
        uint64_t(byte < 0     ? 0
                 : byte > 255 ? 255
                              : byte),
        sext(int8_t(a)),
        bits(float(d / 3)),
        half(x),
        half(float(i * 3001)),
        bf(x) << 16 | bf(x * 3),
        half(x < 0 ? 0 : x) << 16 | half(-x < 0 ? 0 : -x),
        top8 | e4 << 8,
        uint64_t{back.x} | uint64_t{back.y} << 16,
        0x40003f00u,
        half(3),
        a,
        i + 3 < 32 ? i + 3u : 1000u,
        i % 16 >= 4 ? i - 4u : 1000u,
        i % 3 == 0   ? 0x49249249u
        : i % 3 == 1 ? 0x92492492u
                     : 0x24924924u,
        sext(-9),
        a,
        a,
    };
    int at = 0;
    for (const uint64_t one : expected) {
      if (out[i * most + at] != one) {
        std::printf("thread %d, result %d: %llx instead of %llx\n", i, at, (unsigned long long)out[i * most + at],
                    (unsigned long long)one);
        wrong++;
      }
      at++;
    }
  }
  const uint32_t* const sums = cells + 4 * threads;
  wrong += sums[0] != 31 * 32 / 2 || sums[1] != 32 || sums[2] != 0x50005000u;
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
