// What serves a language model: attention over pages, quantised weights, sampling, experts, state spaces.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

__inline__ __device__ float warp_sum(float v) {
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask);
  return v;
}

// The sum over the block, for all of its threads.
__inline__ __device__ float block_sum(float v) {
  static __shared__ float shared[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_sum(v);
  __syncthreads();
  if (lane == 0) shared[warp] = v;
  __syncthreads();
  v = lane < (blockDim.x >> 5) ? shared[lane] : 0.0f;
  return warp_sum(v);
}

// residual += x; x = residual / its root mean square, times weights.
__global__ void add_rms_norm(half2* x, half2* residual, const half2* weight, float epsilon, int width) {
  const int width2 = width / 2;
  half2* row = x + blockIdx.x * width2;
  half2* other = residual + blockIdx.x * width2;
  float variance = 0.0f;
  for (int i = threadIdx.x; i < width2; i += blockDim.x) {
    const half2 z = __hadd2(row[i], other[i]);
    const float2 f = __half22float2(z);
    variance += f.x * f.x + f.y * f.y;
    other[i] = z;
  }
  const float scale = rsqrtf(block_sum(variance) / width + epsilon);
  for (int i = threadIdx.x; i < width2; i += blockDim.x) {
    const float2 f = __half22float2(other[i]);
    row[i] = __hmul2(__floats2half2_rn(f.x * scale, f.y * scale), weight[i]);
  }
}

// One new token for each sequence: a block per head and sequence, a page of 16 tokens for each warp at a time, the
// softmax online, the warps' parts merged in the end. Heads of 64.
template <int warps>
__global__ void paged_attention(const half* __restrict__ q, const half* __restrict__ k_cache,
                                const half* __restrict__ v_cache, const int* __restrict__ pages, half* out,
                                int pages_each, int page_mask) {
  __shared__ float merged_max[warps], merged_sum[warps], merged[warps][64];
  const int head = blockIdx.x, sequence = blockIdx.y, heads = gridDim.x;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float2 own =
      __half22float2(reinterpret_cast<const half2*>(q)[(static_cast<size_t>(sequence) * heads + head) * 32 + lane]);
  float largest = -INFINITY, sum = 0.0f;
  float2 total = {0.0f, 0.0f};
  for (int p = warp; p < pages_each; p += warps) {
    const int page = pages[sequence * pages_each + p] & page_mask;
    const half2* k = reinterpret_cast<const half2*>(k_cache) + (static_cast<size_t>(page) * heads + head) * 16 * 32;
    const half2* v = reinterpret_cast<const half2*>(v_cache) + (static_cast<size_t>(page) * heads + head) * 16 * 32;
    for (int t = 0; t < 16; t++) {
      const float2 kk = __half22float2(k[t * 32 + lane]);
      const float score = warp_sum(own.x * kk.x + own.y * kk.y) * 0.125f;
      const float higher = fmaxf(largest, score);
      const float shrink = __expf(largest - higher), weight = __expf(score - higher);
      const float2 vv = __half22float2(v[t * 32 + lane]);
      total.x = total.x * shrink + weight * vv.x;
      total.y = total.y * shrink + weight * vv.y;
      sum = sum * shrink + weight;
      largest = higher;
    }
  }
  if (lane == 0) merged_max[warp] = largest, merged_sum[warp] = sum;
  merged[warp][2 * lane] = total.x;
  merged[warp][2 * lane + 1] = total.y;
  __syncthreads();
  if (threadIdx.x < 64) {
    float highest = -INFINITY;
    for (int w = 0; w < warps; w++) highest = fmaxf(highest, merged_max[w]);
    float all = 0.0f, value = 0.0f;
    for (int w = 0; w < warps; w++) {
      const float factor = __expf(merged_max[w] - highest);
      all += merged_sum[w] * factor;
      value += merged[w][threadIdx.x] * factor;
    }
    out[(static_cast<size_t>(sequence) * heads + head) * 64 + threadIdx.x] = __float2half(value / all);
  }
}

// Attention in tiles of 32 x 32 as a first version of it is written: a thread per row of the tile. Heads of 32.
__global__ void flash_tiles(const float* Q, const float* K, const float* V, int N, float scale, float* l, float* m,
                            float* O) {
  constexpr int d = 32;
  const int tx = threadIdx.x, tiles = N / 32;
  const int at = (blockIdx.x * gridDim.y + blockIdx.y) * N * d, lm = (blockIdx.x * gridDim.y + blockIdx.y) * N;
  __shared__ float Qi[32 * d], Kj[32 * d], Vj[32 * d], S[32 * 32];
  for (int j = 0; j < tiles; j++) {
    for (int x = 0; x < d; x++) {
      Kj[tx * d + x] = K[at + 32 * d * j + tx * d + x];
      Vj[tx * d + x] = V[at + 32 * d * j + tx * d + x];
    }
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
      for (int x = 0; x < d; x++) Qi[tx * d + x] = Q[at + 32 * d * i + tx * d + x];
      const float before_m = j == 0 ? -INFINITY : m[lm + 32 * i + tx], before_l = j == 0 ? 0 : l[lm + 32 * i + tx];
      float row_m = -INFINITY;
      for (int y = 0; y < 32; y++) {
        float sum = 0;
        for (int x = 0; x < d; x++) sum += Qi[tx * d + x] * Kj[y * d + x];
        sum *= scale;
        S[32 * tx + y] = sum;
        if (sum > row_m) row_m = sum;
      }
      float row_l = 0;
      for (int y = 0; y < 32; y++) {
        S[32 * tx + y] = __expf(S[32 * tx + y] - row_m);
        row_l += S[32 * tx + y];
      }
      const float new_m = max(before_m, row_m);
      const float new_l = __expf(before_m - new_m) * before_l + __expf(row_m - new_m) * row_l;
      for (int x = 0; x < d; x++) {
        float pv = 0;
        for (int y = 0; y < 32; y++) pv += S[32 * tx + y] * Vj[y * d + x];
        float* o = &O[at + 32 * d * i + tx * d + x];
        const float old = j == 0 ? 0 : *o;
        *o = (1 / new_l) * (before_l * __expf(before_m - new_m) * old + __expf(row_m - new_m) * pv);
      }
      m[lm + 32 * i + tx] = new_m;
      l[lm + 32 * i + tx] = new_l;
    }
    __syncthreads();
  }
}

// A state space of 16 numbers per channel, all of time one after the other; a thread per channel.
__global__ void selective_scan(const float* __restrict__ u, const float* __restrict__ delta,
                               const float* __restrict__ A, const float* __restrict__ B, const float* __restrict__ C,
                               float* __restrict__ y, int channels, int steps) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, batch = blockIdx.y;
  float state[16], a[16];
#pragma unroll
  for (int n = 0; n < 16; n++) {
    state[n] = 0.0f;
    a[n] = -A[c * 16 + n];
  }
  for (int t = 0; t < steps; t++) {
    const size_t row = static_cast<size_t>(batch) * steps + t;
    const float x = u[row * channels + c], dt = delta[row * channels + c];
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < 16; n++) {
      state[n] = __expf(dt * a[n]) * state[n] + dt * B[row * 16 + n] * x;
      sum += state[n] * C[row * 16 + n];
    }
    y[row * channels + c] = sum;
  }
}

// Eight weights of four bits per word, a scale and a zero for each 128 of them; a thread per column.
__global__ void gemv_int4(const float* x, const unsigned* weights, const float* scales, const unsigned* zeros, float* y,
                          int columns) {
  __shared__ float part[256];
  const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 256;
  for (int i = threadIdx.x; i < 256; i += blockDim.x) part[i] = x[first + i];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < 256; k += 8) {
    const int group = (first + k) / 128;
    const float scale = scales[group * columns + c];
    const int zero = ((zeros[group * (columns / 8) + c / 8] >> (4 * (c % 8))) & 0xf) + 1;
    const unsigned packed = weights[(first + k) / 8 * columns + c];
    float inner = 0.0f;
#pragma unroll
    for (int n = 0; n < 8; n++) inner += part[k + n] * (static_cast<int>((packed >> (4 * n)) & 0xf) - zero);
    sum += scale * inner;
  }
  atomicAdd(&y[c], sum);
}

// Rows to eight bits of floating point with a scale each.
__global__ void quantise_fp8(const float* in, __nv_fp8_e4m3* out, float* scales, int width) {
  __shared__ float largest;
  const float* row = in + static_cast<size_t>(blockIdx.x) * width;
  float own = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) own = fmaxf(own, fabsf(row[i]));
  if (threadIdx.x == 0) largest = 0.0f;
  __syncthreads();
  atomicMax(reinterpret_cast<int*>(&largest), __float_as_int(own));
  __syncthreads();
  const float scale = fmaxf(largest, 1e-6f) / 448.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * width + i] = __nv_fp8_e4m3(row[i] / scale);
}

// The probability below which tokens are left out so that the rest sum to p, by bisection; then they are left out.
__global__ void top_p_filter(const float* probabilities, float* out, float p, int width) {
  const float* row = probabilities + static_cast<size_t>(blockIdx.x) * width;
  float own = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) own += row[i];
  const float wanted = p * block_sum(own);
  float low = 0.0f, high = 1.0f;
  for (int round = 0; round < 16; round++) {
    const float pivot = 0.5f * (low + high);
    float above = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) above += row[i] >= pivot ? row[i] : 0.0f;
    if (block_sum(above) >= wanted)
      low = pivot;
    else
      high = pivot;
  }
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * width + i] = row[i] >= low ? row[i] : 0.0f;
}

// Tokens in the order of their experts, each expert's rounded up to blocks of 16; one block of 256 threads.
__global__ void align_experts(const int* chosen, int* sorted, int* padded, int tokens) {
  constexpr int experts = 32;
  __shared__ int count[257][experts], start[experts + 1];
  const int each = (tokens + blockDim.x - 1) / blockDim.x, first = threadIdx.x * each;
  for (int e = 0; e < experts; e++) count[threadIdx.x + 1][e] = 0;
  for (int i = first; i < tokens && i < first + each; i++) count[threadIdx.x + 1][chosen[i] % experts]++;
  __syncthreads();
  if (threadIdx.x < experts) {
    count[0][threadIdx.x] = 0;
    for (int t = 1; t <= blockDim.x; t++) count[t][threadIdx.x] += count[t - 1][threadIdx.x];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    start[0] = 0;
    for (int e = 1; e <= experts; e++) start[e] = start[e - 1] + (count[blockDim.x][e - 1] + 15) / 16 * 16;
    *padded = start[experts];
  }
  __syncthreads();
  for (int i = first; i < tokens && i < first + each; i++) {
    const int e = chosen[i] % experts;
    sorted[count[threadIdx.x][e] + start[e]] = i;
    count[threadIdx.x][e]++;
  }
}

}  // namespace

std::vector<Case> fifth_networks() {
  std::vector<Case> list;
  const Add add{list};
  const auto halves = [](float* p) { return reinterpret_cast<half*>(p); };
  const auto twos = [](float* p) { return reinterpret_cast<half2*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  // `count` halves in [-1, 1) in both inputs
  const auto in_halves = [](int count) {
    return [=](const Buffers& b) {
      std::vector<half> values(count);
      unsigned state = 3;
      for (half& v : values)
        v = __float2half(static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f);
      cudaMemcpy(b.in, values.data(), values.size() * 2, cudaMemcpyHostToDevice);
      cudaMemcpy(b.in2, values.data(), values.size() * 2, cudaMemcpyHostToDevice);
    };
  };
  add(
      "add_rms_norm", "norms", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        add_rms_norm<<<1024, 512, 0, s>>>(twos(b.in), twos(b.in2), twos(b.in), 1e-6f, 2048);
      },
      in_halves(1 << 21));
  add(
      "paged_attention 32x256", "attention", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) {
        paged_attention<4>
            <<<dim3(8, 32), 128, 0, s>>>(halves(b.in), halves(b.in), halves(b.in2), b.counters, halves(b.out), 16, 511);
      },
      in_halves(1 << 22));
  add(
      "paged_attention 4x1024", "attention", size_t{4} << 21,
      [=](const Buffers& b, cudaStream_t s) {
        paged_attention<8>
            <<<dim3(8, 4), 256, 0, s>>>(halves(b.in), halves(b.in), halves(b.in2), b.counters, halves(b.out), 64, 255);
      },
      in_halves(1 << 21));
  add("flash_tiles", "attention", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
    flash_tiles<<<dim3(4, 16), 32, 0, s>>>(b.in, b.in2, b.in2, 128, 0.18f, b.out, b.out + (1 << 14), b.out + (1 << 15));
  });
  add("selective_scan", "recurrences", size_t{12} << 18, [=](const Buffers& b, cudaStream_t s) {
    selective_scan<<<dim3(8, 4), 128, 0, s>>>(b.in, b.in + (1 << 18), b.in2, b.in2 + (1 << 15), b.in2 + (1 << 16),
                                              b.out, 1024, 64);
  });
  add("gemv_int4", "quantised", size_t{5} << 20, [=](const Buffers& b, cudaStream_t s) {
    gemv_int4<<<dim3(32, 8), 128, 0, s>>>(b.in2, words(b.in), b.in2 + 4096, words(b.in2 + (1 << 17)), b.out, 4096);
  });
  add("quantise_fp8", "quantised", size_t{10} << 20, [=](const Buffers& b, cudaStream_t s) {
    quantise_fp8<<<2048, 256, 0, s>>>(b.in, reinterpret_cast<__nv_fp8_e4m3*>(b.out), b.out + (1 << 20), 1024);
  });
  add("top_p_filter", "sampling", size_t{8} << 19,
      [=](const Buffers& b, cudaStream_t s) { top_p_filter<<<64, 1024, 0, s>>>(b.in, b.out, 0.9f, 8192); });
  add("align_experts", "routing", size_t{1} << 16, [=](const Buffers& b, cudaStream_t s) {
    align_experts<<<1, 256, 0, s>>>(b.counters, reinterpret_cast<int*>(b.out), reinterpret_cast<int*>(b.out + 12288),
                                    8192);
  });
  return list;
}

}  // namespace calibration
