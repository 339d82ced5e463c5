// Operators of networks.
#include <cuda_fp16.h>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// GELU's tanh form times a gate, both in one row, four floats per thread.
__global__ void geglu(const float4* in, float4* out, int n4, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int row = i / n4, column = i % n4;
  const float4 x = in[row * 2 * n4 + column], gate = in[row * 2 * n4 + n4 + column];
  const auto one = [](float v, float g) {
    const float inner = 0.79788456f * (v + 0.044715f * v * v * v);
    return 0.5f * v * (1.0f + tanhf(inner)) * g;
  };
  out[i] = make_float4(one(x.x, gate.x), one(x.y, gate.y), one(x.z, gate.z), one(x.w, gate.w));
}

__global__ void mish(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float v = x[i];
    y[i] = v * tanhf(log1pf(expf(v)));
  }
}

// A distance-dependent penalty is added to each head's scores; the slope halves from head to head.
__global__ void alibi_bias(__half* scores, int heads, int n) {
  const int q = blockIdx.x, h = blockIdx.y;
  const float slope = exp2f(-8.0f * (h + 1) / heads);
  __half* row = scores + (static_cast<size_t>(h) * n + q) * n;
  for (int k = threadIdx.x; k < n; k += blockDim.x)
    row[k] = k <= q ? __float2half(__half2float(row[k]) + slope * (k - q)) : __float2half(-65504.0f);
}

// Four-bit weights in groups of 128 with scale and zero point, eight of a word per thread, to halves.
__global__ void dequantise_int4(const unsigned* packed, const __half* scales, const __half* zeros, __half* out,
                                int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  const unsigned w = packed[i];
  const float scale = __half2float(scales[i / 16]), zero = __half2float(zeros[i / 16]);
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    const float a = (static_cast<float>(w >> (4 * j) & 15) - zero) * scale;
    const float b = (static_cast<float>(w >> (4 * j + 4) & 15) - zero) * scale;
    reinterpret_cast<__half2*>(out)[i * 4 + j / 2] = __floats2half2_rn(a, b);
  }
}

// sum p (log p - log q) of each row, a block per row.
__global__ void kl_divergence(const float* log_q, const float* p, float* out, int n) {
  __shared__ float part[256];
  const float* a = p + static_cast<size_t>(blockIdx.x) * n;
  const float* b = log_q + static_cast<size_t>(blockIdx.x) * n;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float v = a[i];
    if (v > 0.0f) sum += v * (logf(v) - b[i]);
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// max(0, |a - p| - |a - n| + margin), a warp per row.
__global__ void triplet_margin(const float* anchor, const float* positive, const float* negative, float* loss, int d,
                               int rows, float margin) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float near = 0.0f, far = 0.0f;
  for (int i = lane; i < d; i += 32) {
    const float a = anchor[row * d + i], u = a - positive[row * d + i], v = a - negative[row * d + i];
    near += u * u;
    far += v * v;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    near += __shfl_xor_sync(0xffffffff, near, offset);
    far += __shfl_xor_sync(0xffffffff, far, offset);
  }
  if (lane == 0) loss[row] = fmaxf(0.0f, sqrtf(near) - sqrtf(far) + margin);
}

// Each channel divided by a power of the squares of five neighbouring channels.
__global__ void response_norm(const float* in, float* out, int channels, int plane, float alpha, float beta, float k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.y;
  if (i >= plane) return;
  const float* x = in + static_cast<size_t>(n) * channels * plane + i;
  float* y = out + static_cast<size_t>(n) * channels * plane + i;
  for (int c = 0; c < channels; c++) {
    float sum = 0.0f;
    for (int j = max(c - 2, 0); j <= min(c + 2, channels - 1); j++) sum += x[j * plane] * x[j * plane];
    y[c * plane] = x[c * plane] * __powf(k + alpha * sum, -beta);
  }
}

// Each output pixel is the mean of the part of the picture that it stands for.
__global__ void adaptive_average_pool(const float* in, float* out, int h, int w, int oh, int ow, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int ox = i % ow, oy = i / ow % oh, c = i / (ow * oh);
  const int y0 = oy * h / oh, y1 = ((oy + 1) * h + oh - 1) / oh, x0 = ox * w / ow, x1 = ((ox + 1) * w + ow - 1) / ow;
  float sum = 0.0f;
  for (int y = y0; y < y1; y++) {
    for (int x = x0; x < x1; x++) sum += in[(c * h + y) * w + x];
  }
  out[i] = sum / ((y1 - y0) * (x1 - x0));
}

__global__ void channel_shuffle(const float4* in, float4* out, int groups, int per_group, int plane4, int total) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
    const int at = i % plane4, c = i / plane4 % (groups * per_group), n = i / plane4 / (groups * per_group);
    const int from = c % groups * per_group + c / groups;
    out[i] = in[(n * groups * per_group + from) * plane4 + at];
  }
}

// Logits of tokens that were produced before are divided (or multiplied, if negative) by a penalty.
__global__ void repetition_penalty(float* logits, const int* tokens, int vocabulary, int length, float penalty) {
  const int sequence = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  const int token = tokens[sequence * length + i];
  const float v = logits[static_cast<size_t>(sequence) * vocabulary + token];
  logits[static_cast<size_t>(sequence) * vocabulary + token] = v > 0.0f ? v / penalty : v * penalty;
}

// The gates of a GRU from two products that were made before.
__global__ void gru_cell(const float* gx, const float* gh, const float* h, float* out, int hidden) {
  const int b = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= hidden) return;
  const float* x = gx + b * 3 * hidden;
  const float* y = gh + b * 3 * hidden;
  const float r = 1.0f / (1.0f + expf(-(x[j] + y[j])));
  const float z = 1.0f / (1.0f + expf(-(x[hidden + j] + y[hidden + j])));
  const float n = tanhf(x[2 * hidden + j] + r * y[2 * hidden + j]);
  out[b * hidden + j] = (1.0f - z) * n + z * h[b * hidden + j];
}

// The outputs of a token's two experts, weighted and added.
__global__ void combine_experts(const float4* rows, const int* place, const float* weight, float4* out, int d4) {
  const int token = blockIdx.x;
  const int a = place[2 * token], b = place[2 * token + 1];
  const float wa = weight[2 * token], wb = weight[2 * token + 1];
  for (int i = threadIdx.x; i < d4; i += blockDim.x) {
    const float4 u = rows[a * d4 + i], v = rows[b * d4 + i];
    out[token * d4 + i] =
        make_float4(wa * u.x + wb * v.x, wa * u.y + wb * v.y, wa * u.z + wb * v.z, wa * u.w + wb * v.w);
  }
}

// A row of weights of direction v and length g.
__global__ void weight_norm(const float* __restrict__ v, const float* __restrict__ g, float* __restrict__ w, int n) {
  __shared__ float total;
  __shared__ float part[8];
  const float* row = v + static_cast<size_t>(blockIdx.x) * n;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum = fmaf(row[i], row[i], sum);
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int i = 0; i < 8; i++) all += part[i];
    total = g[blockIdx.x] * rsqrtf(all);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) w[static_cast<size_t>(blockIdx.x) * n + i] = row[i] * total;
}

// A tall matrix of 64 columns times one of 64 x 8, which the block keeps in shared memory. A thread per row.
__global__ void tall_and_skinny(const float* a, const float* b, float* c, int rows) {
  __shared__ float s[64][8];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) s[i / 8][i % 8] = b[i];
  __syncthreads();
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum[8] = {};
  for (int k = 0; k < 64; k += 4) {
    const float4 v = *reinterpret_cast<const float4*>(&a[row * 64 + k]);
#pragma unroll
    for (int j = 0; j < 8; j++) sum[j] += v.x * s[k][j] + v.y * s[k + 1][j] + v.z * s[k + 2][j] + v.w * s[k + 3][j];
  }
#pragma unroll
  for (int j = 0; j < 8; j++) c[row * 8 + j] = sum[j];
}

}  // namespace

std::vector<Case> eighth_operators() {
  std::vector<Case> list;
  const Add add = {list};
  const auto halves = [](float* p) { return reinterpret_cast<__half*>(p); };
  const auto fours = [](float* p) { return reinterpret_cast<float4*>(p); };
  add("geglu", "gated activations", size_t{12} * 1024 * 4096, [=](const Buffers& b, cudaStream_t s) {
    geglu<<<4096, 256, 0, s>>>(fours(b.in), fours(b.out), 1024, 1024 * 1024);
  });
  add("mish", "gated activations", size_t{8} << 22,
      [=](const Buffers& b, cudaStream_t s) { mish<<<1056, 256, 0, s>>>(b.in, b.out, 1 << 22); });
  add("alibi_bias 1024", "biases of scores", size_t{4} * 16 * 1024 * 1024,
      [=](const Buffers& b, cudaStream_t s) { alibi_bias<<<dim3(1024, 16), 256, 0, s>>>(halves(b.in), 16, 1024); });
  add("dequantise_int4", "four bits", size_t{20} << 20, [=](const Buffers& b, cudaStream_t s) {
    dequantise_int4<<<4096, 256, 0, s>>>(reinterpret_cast<unsigned*>(b.in), halves(b.in2), halves(b.in2) + (1 << 17),
                                         halves(b.out), 1 << 20);
  });
  add("kl_divergence 1000", "losses of rows", size_t{8} * 4096 * 1000,
      [=](const Buffers& b, cudaStream_t s) { kl_divergence<<<4096, 256, 0, s>>>(b.in, b.in2, b.out, 1000); });
  add("triplet_margin 256", "losses of rows", size_t{12} * 8192 * 256, [=](const Buffers& b, cudaStream_t s) {
    triplet_margin<<<1024, 256, 0, s>>>(b.in, b.in2, b.in2 + (1 << 21), b.out, 256, 8192, 0.3f);
  });
  add("response_norm", "norms over channels", size_t{8} * 16 * 64 * 27 * 27, [=](const Buffers& b, cudaStream_t s) {
    response_norm<<<dim3(6, 16), 128, 0, s>>>(b.in, b.out, 64, 729, 1e-4f, 0.75f, 2.0f);
  });
  add("adaptive_average_pool", "pools", size_t{4} * 1024 * 32 * 32, [=](const Buffers& b, cudaStream_t s) {
    adaptive_average_pool<<<196, 256, 0, s>>>(b.in, b.out, 32, 32, 7, 7, 1024 * 49);
  });
  add("channel_shuffle", "moves of channels", size_t{8} * 32 * 240 * 784, [=](const Buffers& b, cudaStream_t s) {
    channel_shuffle<<<2048, 256, 0, s>>>(fours(b.in), fours(b.out), 3, 80, 196, 32 * 240 * 196);
  });
  add(
      "repetition_penalty", "serving, more", size_t{4} * 64 * 32000,
      [=](const Buffers& b, cudaStream_t s) {
        repetition_penalty<<<dim3(8, 64), 256, 0, s>>>(b.in, reinterpret_cast<int*>(b.in2), 32000, 2048, 1.2f);
      },
      indices(64 * 2048, 32000));
  add("gru_cell", "cells", size_t{32} * 512 * 1024, [=](const Buffers& b, cudaStream_t s) {
    gru_cell<<<dim3(8, 512), 128, 0, s>>>(b.in, b.in2, b.in + (1 << 21), b.out, 1024);
  });
  add(
      "combine_experts", "serving, more", size_t{12} * 4096 * 1024,
      [=](const Buffers& b, cudaStream_t s) {
        combine_experts<<<4096, 256, 0, s>>>(fours(b.in), reinterpret_cast<int*>(b.in2), b.in2 + 8192, fours(b.out),
                                             256);
      },
      indices(8192, 8192));
  add("weight_norm 1536", "norms of weights", size_t{8} * 4096 * 1536,
      [=](const Buffers& b, cudaStream_t s) { weight_norm<<<4096, 256, 0, s>>>(b.in, b.in2, b.out, 1536); });
  add("tall_and_skinny", "products", size_t{288} << 16,
      [=](const Buffers& b, cudaStream_t s) { tall_and_skinny<<<512, 128, 0, s>>>(b.in, b.in2, b.out, 1 << 16); });
  return list;
}

}  // namespace calibration
