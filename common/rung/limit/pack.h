// Lab 06, given: numbers, the pack of 16 bytes that one access moves, and a row as head, packs and tail.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>

// Where a maximum starts: the lowest finite float, so that x - max is -INFINITY and never NaN where all x are
// -INFINITY.
constexpr float lowest = -FLT_MAX;

// 1 / sum; 0 for the sum 0 of a fully masked row; NaN for NaN. A NaN in the row makes the sum NaN. So does +INFINITY,
// because INFINITY - INFINITY is NaN.
__device__ float inverse(float sum) { return sum > 0.0f ? 1.0f / sum : sum; }

// e^x in two instructions. __expf spends four more on results below 1.2e-38; here they are 0.
__device__ float exponential(float x) {
#ifdef __SIMT__
  return __expf(x);
#else
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x * 1.44269504f));
  return result;
#endif
}

// Loads data that is read once, without a place in L1. This alone gains 1 to 2 % on an H200.
__device__ uint4 load_once(const uint4* from) {
#ifdef __SIMT__
  return *from;
#else
  uint4 words;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(from));
  return words;
#endif
}

// If the floats of a pack are needed again, the compiler keeps them, in up to twice the pack's registers. After this
// call it converts the pack again instead.
#ifdef __SIMT__
__device__ void forget_floats(uint4&) {}
#else
__device__ void forget_floats(uint4& pack) {
  asm volatile("" : "+r"(pack.x), "+r"(pack.y), "+r"(pack.z), "+r"(pack.w));
}
#endif

// ---- A pack: the 16 bytes that one access moves -------------------------------------------------

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ void from_float(float value, float* to) { *to = value; }
__device__ void from_float(float value, __half* to) { *to = __float2half_rn(value); }
__device__ void from_float(float value, __nv_bfloat16* to) { *to = __float2bfloat16_rn(value); }

// Two neighbouring elements: to floats, from floats, and the larger at either place, where a NaN gives way to a number.
__device__ float2 widen(float2 two) { return two; }
__device__ float2 widen(__half2 two) { return __half22float2(two); }
__device__ float2 widen(__nv_bfloat162 two) { return __bfloat1622float2(two); }
__device__ float2 narrow(float a, float b, float2) { return make_float2(a, b); }
__device__ __half2 narrow(float a, float b, __half2) { return __floats2half2_rn(a, b); }
__device__ __nv_bfloat162 narrow(float a, float b, __nv_bfloat162) { return __floats2bfloat162_rn(a, b); }
__device__ float2 larger(float2 a, float2 b) { return make_float2(fmaxf(a.x, b.x), fmaxf(a.y, b.y)); }
__device__ __half2 larger(__half2 a, __half2 b) { return __hmax2(a, b); }
__device__ __nv_bfloat162 larger(__nv_bfloat162 a, __nv_bfloat162 b) { return __hmax2(a, b); }

float2 two_of(const float*);
__half2 two_of(const __half*);
__nv_bfloat162 two_of(const __nv_bfloat16*);

template <typename T>
constexpr int width = 16 / sizeof(T);  // elements in a pack

template <typename T>
struct alignas(16) Pack {
  using Two = decltype(two_of(static_cast<const T*>(nullptr)));
  static constexpr int pairs = width<T> / 2;
  Two two[pairs];

  __device__ uint4& words() { return *reinterpret_cast<uint4*>(two); }
};

// 16 of the 32 bytes of two packs, from byte `from` on, which is below 16 and even.
__device__ uint4 shifted(uint4 low, uint4 high, int from) {
  unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = from & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = from & 4 ? words[i + 1] : words[i];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], from % 4 * 8);
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// ---- A row: head, packs, tail -------------------------------------------------------------------

// A row as `head` single elements up to the first multiple of 16 bytes, `packs`, and `tail` single elements.
struct Split {
  int head, packs, tail;
};

// start: the row's first element, counted from the beginning of the matrix, which is a multiple of 256 bytes in memory.
template <typename T>
__device__ Split split_row(size_t start, int cols) {
  const int head = min(cols, static_cast<int>((width<T> - start % width<T>) % width<T>));
  const int packs = (cols - head) / width<T>;
  return {head, packs, cols - head - width<T> * packs};
}

// The column of the single element that thread t looks after, head and tail counted through; -1 if it has none. There
// are at most 7 + 7, so 16 threads suffice.
template <typename T>
__device__ int single_column(Split split, int t) {
  if (t < split.head) return t;
  if (t < split.head + split.tail) return t + width<T> * split.packs;
  return -1;
}

// Of one value per column, those of pack p. Where the row begins anywhere, two packs hold them, unless the second one
// ends beyond the last column.
template <typename T>
__device__ uint4 of_columns(const T* column, Split split, int p) {
  const uint4* at = reinterpret_cast<const uint4*>(column) + p;
  if (split.head == 0) return at[0];
  if (p + 1 < split.packs) return shifted(at[0], at[1], split.head * sizeof(T));
  uint4 pack;
#pragma unroll
  for (int e = 0; e < width<T>; ++e) reinterpret_cast<T*>(&pack)[e] = column[split.head + p * width<T> + e];
  return pack;
}

constexpr int line = 8;  // packs of 128 bytes, in which the memory is moved

// ---- (max, sum) ---------------------------------------------------------------------------------

struct MaxSum {
  float max;
  float sum;  // of exp(x - max)
};

__device__ MaxSum merge(MaxSum a, MaxSum b) {
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * exponential(a.max - max) + b.sum * exponential(b.max - max)};
}
