// Inline PTX of every kind that public kernels use besides matrices: special registers, bits, approximations, loads
// with cache hints, vectors, predicates, barriers, shuffles, votes, atomics, conversions, pairs of halves.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

constexpr int results = 40;

__device__ float rsqrt_of(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ float4 load_streaming(const float4* from) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from));
  return v;
}
// Guarded by a predicate of its own.
__device__ unsigned load_if(const unsigned* from, bool guard) {
  unsigned value;
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  setp.ne.b32 p, %2, 0;\n"
      "  mov.b32 %0, 77;  // what it is otherwise\n"
      "  @p ld.global.ca.u32 %0, [%1+4];\n"
      "}\n"
      : "=r"(value)
      : "l"(from), "r"((int)guard));
  return value;
}

__global__ void k(const float4* in, unsigned* sum, double* out) {
  __shared__ float tile[64];
  __shared__ unsigned meeting;
  const int i = threadIdx.x;
  double* const mine = out + i * results;
  int at = 0;
  unsigned lane, warp, below, a;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm("mov.u32 %0, %%tid.x;" : "=r"(a));
  mine[at++] = lane, mine[at++] = a + (warp & 0), mine[at++] = __popc(below);
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(a) : "r"(0x11223344 + i), "r"(0xaabbccdd));
  mine[at++] = a;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(a) : "r"(i * 0x01010101), "r"(0x0f0f0f0f), "r"(0x12340000));
  mine[at++] = a;
  asm("{ .reg .u32 t, u; and.b32 t, %1, 255; shl.b32 u, t, 4; or.b32 %0, u, 1; }" : "=r"(a) : "r"(i + 1000));
  mine[at++] = a;
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(a) : "r"(i * 12345));
  mine[at++] = a;
  asm("shf.r.wrap.b32 %0, %1, %2, 8;" : "=r"(a) : "r"(i + 0x12345600), "r"(0x89abcdef));
  mine[at++] = a;
  float x;
  asm("ex2.approx.f32 %0, %1;" : "=f"(x) : "f"(i / 8.f));
  mine[at++] = x;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(i + 1.f));
  mine[at++] = x;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(i + 1.f));
  mine[at++] = x;
  asm("tanh.approx.f32 %0, %1;" : "=f"(x) : "f"(i / 16.f));
  mine[at++] = x;
  mine[at++] = rsqrt_of(i + 1.f);
  asm("fma.rn.f32 %0, %1, %2, 0f3F800000;" : "=f"(x) : "f"(float(i)), "f"(3.f));
  mine[at++] = x;
  const float4 v = load_streaming(in + i);
  mine[at++] = v.x + 2 * v.y + 3 * v.z + 4 * v.w;
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(tile + i))), "f"(v.x));
  asm volatile("bar.sync 0;" ::: "memory");
  asm volatile("{ .reg .u64 s; .reg .u32 t; cvta.to.shared.u64 s, %1; cvt.u32.u64 t, s; ld.shared.f32 %0, [t]; }"
               : "=f"(x)
               : "l"(tile + 63 - i));
  mine[at++] = x;
  asm volatile("bar.sync %0, %1;" ::"r"(1 + i / 32), "r"(32));
  asm volatile("shfl.sync.down.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(a) : "r"(i * 10));
  mine[at++] = a;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x181f, -1;" : "=r"(a) : "r"(i * 10), "r"(3));
  mine[at++] = a;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 5; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(a)
               : "r"(i % 32));
  mine[at++] = a;
  asm volatile("membar.gl;");
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(sum), "r"(1) : "memory");
  mine[at++] = load_if(reinterpret_cast<const unsigned*>(in + i), i % 2);
  uint64_t both;
  unsigned low, high;
  asm("mov.b64 %0, {%1, %2};" : "=l"(both) : "r"(i), "r"(i + 7));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(both + 1));
  mine[at++] = low + 1000 * high;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(both) : "r"(0xf0000000u + i), "r"(16));
  mine[at++] = double(both);
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(i + 0.5f), "f"(2.f));
  asm("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(pair) : "r"(0x3c004000u));  // by 2 and 1, and added
  mine[at++] = __half2float(__ushort_as_half(static_cast<unsigned short>(pair)));
  mine[at++] = __half2float(__ushort_as_half(static_cast<unsigned short>(pair >> 16)));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a) : "f"(1.f + i * 0.0003f));
  mine[at++] = __uint_as_float(a);
  asm("{ .reg .pred p; setp.lt.f32 p, %1, %2; selp.b32 %0, %3, 9, p; }" : "=r"(a) : "f"(float(i)), "f"(20.f), "r"(4));
  mine[at++] = a;
  if (i == 0) meeting = 5;
  __syncthreads();
  asm volatile("atom.shared.add.u32 %0, [%1], 1;"
               : "=r"(a)
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&meeting))));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
  __syncthreads();
  mine[at++] = meeting;
}

int main() {
  const int n = 64;
  float4* in;
  unsigned* sum;
  double* out;
  cudaMallocManaged(&in, (n + 1) * sizeof(float4));
  cudaMallocManaged(&sum, sizeof(unsigned));
  cudaMallocManaged(&out, n * results * sizeof(double));
  for (int i = 0; i <= n; i++) in[i] = make_float4(i, i + 0.25f, i + 0.5f, i + 1);
  *sum = 0;
  k<<<1, n>>>(in, sum, out);
  cudaDeviceSynchronize();
  int wrong = *sum != n;
  for (int i = 0; i < n; i++) {
    const float neighbour = i + 0.25f;
    unsigned bits;
    memcpy(&bits, &neighbour, 4);
    const unsigned u = i;
    const float tf = 1.f + i * 0.0003f;
    unsigned tf_bits;
    memcpy(&tf_bits, &tf, 4);
    tf_bits = (tf_bits + 0x1000) & 0xffffe000;
    float tf_rounded;
    memcpy(&tf_rounded, &tf_bits, 4);
    const double expected[] = {
        double(i % 32),
        double(i),
        double(i % 32),
        double(((0x11223344 + u) & 0xffff) | 0xccdd0000u),
        double((u * 0x01010101 & 0x0f0f0f0f) | 0x12340000u),
        double(((u + 1000) & 255) << 4 | 1),
        double(u * 12345 >> 4 & 255),
        double((u + 0x12345600) >> 8 | 0xefu << 24),
        std::exp2(i / 8.0),
        std::log2(i + 1.0),
        1 / (i + 1.0),
        std::tanh(i / 16.0),
        1 / std::sqrt(i + 1.0),
        i * 3.0 + 1,
        i + 2 * (i + 0.25) + 3 * (i + 0.5) + 4 * (i + 1.0),
        63.0 - i,
        i % 32 == 31 ? i * 10.0 : i * 10.0 + 10,
        (i / 8 * 8 + 3) * 10.0,
        double(0xffffffc0u),
        i % 2 ? double(bits) : 77.0,
        i + 1 + 1000.0 * (i + 7),
        16.0 * (0xf0000000u + u),
        6.0,
        i + 0.5 + 1,
        double(tf_rounded),
        i < 20 ? 4.0 : 9.0,
        69.0,
    };
    int at = 0;
    for (const double one : expected) {
      const double found = out[i * results + at];
      const bool exact = at < 8 || at > 12;
      if (!(exact ? found == one : std::fabs(found - one) <= 1e-3 * (std::fabs(one) + 1e-2))) {
        std::printf("thread %d, result %d: %.9g instead of %.9g\n", i, at, found, one);
        wrong++;
      }
      at++;
    }
  }
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
