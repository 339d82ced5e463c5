// Quantised networks: blocks of 4 and 8 bits with a scale, codes from tables, products of bytes, states of optimizers.
#include <cuda_fp16.h>

#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

struct Block8 {
  half scale;
  int8_t q[32];
};
struct Block4 {
  half scale;
  uint8_t q[16];
};
struct BlockSum8 {
  half2 scale_and_sum;
  int8_t q[32];
};

// A warp per block of 32 values.
__global__ void quantise_q8(const float* x, BlockSum8* y, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= k) return;
  const float v = x[i];
  float largest = fabsf(v), sum = v;
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, mask, 32));
    sum += __shfl_xor_sync(0xffffffff, sum, mask, 32);
  }
  const float d = largest / 127;
  y[i / 32].q[i % 32] = largest == 0.0f ? 0 : static_cast<int8_t>(roundf(v / d));
  if (i % 32 == 0) y[i / 32].scale_and_sum = __floats2half2_rn(d, sum);
}

// A thread per block of 32 values.
__global__ void quantise_q8_serial(const float* x, Block8* y, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  const float* xi = x + i * 32;
  float largest = 0.0f;
  for (int j = 0; j < 32; j++) largest = fmaxf(largest, fabsf(xi[j]));
  const float d = largest / 127.0f, id = d ? 1.0f / d : 0.0f;
  y[i].scale = __float2half(d);
  for (int j = 0; j < 32; j++) y[i].q[j] = static_cast<int8_t>(roundf(xi[j] * id));
}

// Two values per thread, the low and the high four bits of a byte.
template <class T>
__global__ void dequantise_q4(const Block4* x, T* y, int k) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= k) return;
  const int block = i / 32, byte = i % 32 / 2;
  const float d = __half2float(x[block].scale);
  const int v = x[block].q[byte];
  y[block * 32 + byte] = static_cast<T>(((v & 15) - 8) * d);
  y[block * 32 + byte + 16] = static_cast<T>(((v >> 4) - 8) * d);
}

__device__ int four_bytes(const int8_t* q, int i) {
  const uint16_t* half_words = reinterpret_cast<const uint16_t*>(q);
  return half_words[2 * i] | half_words[2 * i + 1] << 16;
}

// A row of blocks of 8 bits by a vector of such blocks. A row per block of `warps` warps.
template <int warps>
__global__ void matvec_q8(const Block8* a, const BlockSum8* x, float* y, int blocks_per_row) {
  const int thread = threadIdx.y * 32 + threadIdx.x;
  const Block8* row = a + blockIdx.x * blocks_per_row;
  float sum = 0.0f;
  for (int b = thread / 4; b < blocks_per_row; b += warps * 8) {
    const int part = thread % 4 * 2;
    int dot = 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
      dot = __dp4a(four_bytes(row[b].q, part + i), reinterpret_cast<const int*>(x[b].q)[part + i], dot);
    sum += __half2float(row[b].scale) * __low2float(x[b].scale_and_sum) * dot;
  }
  __shared__ float others[warps > 1 ? warps - 1 : 1][32];
  if (threadIdx.y > 0) others[threadIdx.y - 1][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return;
#pragma unroll
  for (int w = 0; w < warps - 1; w++) sum += others[w][threadIdx.x];
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask, 32);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

__device__ float normal_float(unsigned v) {
  if (v & 8)
    if (v & 4)
      if (v & 2)
        return v & 1 ? 1.0f : 0.7229568f;
      else
        return v & 1 ? 0.5626170f : 0.4407098f;
    else if (v & 2)
      return v & 1 ? 0.3379152f : 0.2461123f;
    else
      return v & 1 ? 0.1609302f : 0.0795803f;
  if (v & 4)
    if (v & 2)
      return v & 1 ? 0.0f : -0.0910500f;
    else
      return v & 1 ? -0.1847734f : -0.2844413f;
  if (v & 2) return v & 1 ? -0.3949175f : -0.5250730f;
  return v & 1 ? -0.6961928f : -1.0f;
}

// Codes of four bits and a scale per 64 values, by tests and by a table.
__global__ void dequantise_nf4_tests(const uint8_t* codes, const float* scales, half* out, int bytes) {
  const int base = blockIdx.x * 1024, local = threadIdx.x * 4;
  if (base + local >= bytes) return;
  const float scale = scales[(base + local) / 32];
  half values[8];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const unsigned byte = codes[base + local + j];
    values[2 * j] = __float2half(normal_float(byte >> 4) * scale);
    values[2 * j + 1] = __float2half(normal_float(byte & 15) * scale);
  }
#pragma unroll
  for (int j = 0; j < 8; j++) out[(base + local) * 2 + j] = values[j];
}
__global__ void dequantise_nf4_table(const uchar4* codes, const float* scales, const float* table, half2* out,
                                     int words) {
  __shared__ float code[16];
  if (threadIdx.x < 16) code[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    const uchar4 c = codes[i];
    const float scale = scales[i / 8];
    half2* o = out + i * 4;
    o[0] = __floats2half2_rn(code[c.x >> 4] * scale, code[c.x & 15] * scale);
    o[1] = __floats2half2_rn(code[c.y >> 4] * scale, code[c.y & 15] * scale);
    o[2] = __floats2half2_rn(code[c.z >> 4] * scale, code[c.z & 15] * scale);
    o[3] = __floats2half2_rn(code[c.w >> 4] * scale, code[c.w & 15] * scale);
  }
}

// The nearest of 256 codes by bisection, after the block's largest value is known.
__global__ void quantise_by_code(const float* code, const float* in, float* absmax, unsigned char* out) {
  __shared__ float table[256], parts[8];
  table[threadIdx.x] = code[threadIdx.x] + threadIdx.x;
  const float4 v = reinterpret_cast<const float4*>(in)[blockIdx.x * 256 + threadIdx.x];
  float largest = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = largest;
  __syncthreads();
  largest = parts[0];
  for (int w = 1; w < 8; w++) largest = fmaxf(largest, parts[w]);
  if (threadIdx.x == 0) absmax[blockIdx.x] = largest;
  const float scale = 256.0f / largest;
  const float values[4] = {v.x * scale, v.y * scale, v.z * scale, v.w * scale};
  unsigned char q[4];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    int pivot = 127, step = 64;
    for (; step > 0; step >>= 1) pivot += values[j] > table[pivot] ? step : -step;
    q[j] = static_cast<unsigned char>(min(max(pivot, 0), 255));
  }
  reinterpret_cast<uchar4*>(out)[blockIdx.x * 256 + threadIdx.x] = make_uchar4(q[0], q[1], q[2], q[3]);
}

// Momentum kept in 8 bits, a scale per 256 values.
__global__ void momentum_8bit(float* p, const float* g, signed char* state, float* absmax, float beta, float lr) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  __shared__ float parts[8];
  const float old = absmax[blockIdx.x], grad = g[i];
  const float m = state[i] * (old / 127.0f) * beta + grad;
  float largest = fabsf(m);
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_down_sync(~0u, largest, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; w++) largest = fmaxf(largest, parts[w]);
    absmax[blockIdx.x] = parts[0] = largest;
  }
  __syncthreads();
  p[i] -= lr * m;
  state[i] = static_cast<signed char>(__float2int_rn(m / parts[0] * 127.0f));
}

// int32 sums of a product of bytes to halves: a scale per row, one per column, a bias.
__global__ void dequantise_sums(const int* a, const float* rows, const float* columns, const half* bias, half* out,
                                int n, int total) {
  const int first = (blockIdx.x * 512 + threadIdx.x) * 4;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const int i = first + j;
    if (i < total) {
      const float v = a[i] * rows[i / n] * columns[i % n] * (1.0f / (127.0f * 127.0f));
      out[i] = __float2half(v + __half2float(bias[i % n]));
    }
  }
}

// The largest of each row by a block, of each column by a thread in steps of rows and an atomic.
__global__ void absmax_rows(const half* a, float* largest, int columns) {
  __shared__ float parts[32];
  float m = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    m = fmaxf(m, fabsf(__half2float(a[blockIdx.x * columns + c])));
  for (int offset = 16; offset > 0; offset /= 2) m = fmaxf(m, __shfl_down_sync(~0u, m, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x < 32) {
    m = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) m = fmaxf(m, __shfl_down_sync(~0u, m, offset));
    if (threadIdx.x == 0) largest[blockIdx.x] = m;
  }
}
__global__ void absmax_columns(const half* a, int* largest, int rows, int columns, int rows_per_block) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, end = min(rows, (blockIdx.y + 1) * rows_per_block);
  float m = 0.0f;
  for (int r = blockIdx.y * rows_per_block; r < end; r++) m = fmaxf(m, fabsf(__half2float(a[r * columns + c])));
  atomicMax(&largest[c], __float_as_int(m));
}

// A product of bytes, 16 x 16 threads, a word of four bytes at a time.
__global__ void igemm_dp4a(const int* a, const int* b, int* c, int n, int words) {
  __shared__ int as[16][17], bs[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  int sum = 0;
  for (int k = 0; k < words; k += 16) {
    as[ty][tx] = a[row * words + k + tx];
    bs[ty][tx] = b[(blockIdx.x * 16 + ty) * words + k + tx];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) sum = __dp4a(as[ty][i], bs[tx][i], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Two bits per weight, five values of three per byte: 0, 1 and 2 stand for -1, 0 and 1.
__global__ void unpack_ternary(const unsigned char* packed, half* out, float scale, int bytes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bytes) return;
  unsigned v = packed[i];
  for (int j = 0; j < 5; j++) {
    out[i * 5 + j] = __float2half((static_cast<int>(v % 3) - 1) * scale);
    v /= 3;
  }
}

auto proper_halves(int count) {
  return [=](const Buffers& b) {
    std::vector<half> values(count);
    for (int i = 0; i < count; i++) values[i] = __float2half((i * 37 % 1013 - 500) / 256.0f);
    cudaMemcpy(b.in, values.data(), values.size() * 2, cudaMemcpyHostToDevice);
  };
}

}  // namespace

std::vector<Case> ninth_quantised() {
  std::vector<Case> list;
  const Add add = {list};
  const auto halves = [](float* p) { return reinterpret_cast<half*>(p); };
  const auto blocks8 = [](float* p) { return reinterpret_cast<Block8*>(p); };
  const auto sums8 = [](float* p) { return reinterpret_cast<BlockSum8*>(p); };
  add("quantise_q8", "quantise blocks of 32", size_t{5} << 22,
      [=](const Buffers& b, cudaStream_t s) { quantise_q8<<<16384, 256, 0, s>>>(b.in, sums8(b.out), 1 << 22); });
  add("quantise_q8_serial", "quantise blocks of 32", size_t{5} << 22, [=](const Buffers& b, cudaStream_t s) {
    quantise_q8_serial<<<1024, 128, 0, s>>>(b.in, blocks8(b.out), 1 << 17);
  });
  add("dequantise_q4 f32", "dequantise blocks of 32", size_t{19} << 20, [=](const Buffers& b, cudaStream_t s) {
    dequantise_q4<float><<<8192, 256, 0, s>>>(reinterpret_cast<Block4*>(b.in), b.out, 1 << 22);
  });
  add("dequantise_q4 f16", "dequantise blocks of 32", size_t{11} << 20, [=](const Buffers& b, cudaStream_t s) {
    dequantise_q4<half><<<8192, 256, 0, s>>>(reinterpret_cast<Block4*>(b.in), halves(b.out), 1 << 22);
  });
  add("matvec_q8 1", "matvec_q8", size_t{17} << 20, [=](const Buffers& b, cudaStream_t s) {
    matvec_q8<1><<<4096, dim3(32, 1), 0, s>>>(blocks8(b.in), sums8(b.in2), b.out, 128);
  });
  add("matvec_q8 4", "matvec_q8", size_t{17} << 20, [=](const Buffers& b, cudaStream_t s) {
    matvec_q8<4><<<4096, dim3(32, 4), 0, s>>>(blocks8(b.in), sums8(b.in2), b.out, 128);
  });
  add("matvec_q8 few rows", "matvec_q8", size_t{5} << 20, [=](const Buffers& b, cudaStream_t s) {
    matvec_q8<4><<<256, dim3(32, 4), 0, s>>>(blocks8(b.in), sums8(b.in2), b.out, 448);
  });
  add("dequantise_nf4_tests", "codes of four bits", size_t{10} << 20, [=](const Buffers& b, cudaStream_t s) {
    dequantise_nf4_tests<<<2048, 256, 0, s>>>(reinterpret_cast<uint8_t*>(b.in), b.in2, halves(b.out), 1 << 21);
  });
  add("dequantise_nf4_table", "codes of four bits", size_t{10} << 20, [=](const Buffers& b, cudaStream_t s) {
    dequantise_nf4_table<<<528, 256, 0, s>>>(reinterpret_cast<uchar4*>(b.in), b.in2, b.in2 + (1 << 20),
                                             reinterpret_cast<half2*>(b.out), 1 << 19);
  });
  add("quantise_by_code", "codes of eight bits", size_t{5} << 22, [=](const Buffers& b, cudaStream_t s) {
    quantise_by_code<<<4096, 256, 0, s>>>(b.in2, b.in, b.in2 + 1024, reinterpret_cast<unsigned char*>(b.out));
  });
  add("momentum_8bit", "codes of eight bits", size_t{14} << 21, [=](const Buffers& b, cudaStream_t s) {
    momentum_8bit<<<8192, 256, 0, s>>>(b.in, b.in2, reinterpret_cast<signed char*>(b.out), b.out + (1 << 20), 0.9f,
                                       0.01f);
  });
  add("dequantise_sums", "scales of rows and columns", size_t{6} << 21, [=](const Buffers& b, cudaStream_t s) {
    dequantise_sums<<<1024, 512, 0, s>>>(reinterpret_cast<int*>(b.in), b.in2, b.in2 + 4096, halves(b.in2 + 8192),
                                         halves(b.out), 2048, 1 << 21);
  });
  add(
      "absmax_rows", "scales of rows and columns", size_t{2} << 22,
      [=](const Buffers& b, cudaStream_t s) { absmax_rows<<<2048, 256, 0, s>>>(halves(b.in), b.out, 2048); },
      proper_halves(1 << 22));
  add(
      "absmax_columns", "scales of rows and columns", size_t{2} << 22,
      [=](const Buffers& b, cudaStream_t s) {
        absmax_columns<<<dim3(8, 32), 256, 0, s>>>(halves(b.in), reinterpret_cast<int*>(b.out), 2048, 2048, 64);
      },
      proper_halves(1 << 22));
  for (const int n : {256, 512})
    add("igemm_dp4a " + std::to_string(n), "igemm_dp4a", size_t{6} * n * n, [=](const Buffers& b, cudaStream_t s) {
      igemm_dp4a<<<dim3(n / 16, n / 16), dim3(16, 16), 0, s>>>(
          reinterpret_cast<int*>(b.in), reinterpret_cast<int*>(b.in2), reinterpret_cast<int*>(b.out), n, 256);
    });
  add("unpack_ternary", "codes of two bits", size_t{11} << 20, [=](const Buffers& b, cudaStream_t s) {
    unpack_ternary<<<4096, 256, 0, s>>>(reinterpret_cast<unsigned char*>(b.in), halves(b.out), 0.5f, 1 << 20);
  });
  return list;
}

}  // namespace calibration
