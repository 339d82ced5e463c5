// Parts of networks as they are written since there are large language models: decoding, routing, quantised blocks,
// recurrences, boxes and points.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

__device__ float all_sum(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffffu, v, mask);
  return v;
}

__device__ float all_max(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, mask));
  return v;
}

// Mean and variance of a row of 128 * each numbers, which stay in registers between the two passes; 128 threads.
template <int each>
__global__ void row_moments(const float4* __restrict__ in, float2* __restrict__ moments) {
  __shared__ float partial[4];
  const float4* row = in + static_cast<size_t>(blockIdx.x) * 32 * each;
  float4 own[each / 4];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < each / 4; k++) {
    own[k] = row[threadIdx.x + k * 128];
    sum += own[k].x + own[k].y + own[k].z + own[k].w;
  }
  sum = all_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  const float mean = (partial[0] + partial[1] + partial[2] + partial[3]) / (128.0f * each);
  __syncthreads();
  float squares = 0;
#pragma unroll
  for (int k = 0; k < each / 4; k++) {
    const float x = own[k].x - mean, y = own[k].y - mean, z = own[k].z - mean, w = own[k].w - mean;
    squares += x * x + y * y + z * z + w * w;
  }
  squares = all_sum(squares);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = squares;
  __syncthreads();
  if (threadIdx.x == 0)
    moments[blockIdx.x] = {mean, (partial[0] + partial[1] + partial[2] + partial[3]) / (128.0f * each)};
}

// silu(gate) * up, two bf16 per word, the halves of a row beside each other.
__global__ void silu_and_mul(__nv_bfloat162* out, const __nv_bfloat162* in, int half_row) {
  const __nv_bfloat162* gate = in + static_cast<size_t>(blockIdx.x) * 2 * half_row;
  const __nv_bfloat162* up = gate + half_row;
  for (int i = threadIdx.x; i < half_row; i += blockDim.x) {
    const float2 g = __bfloat1622float2(gate[i]), u = __bfloat1622float2(up[i]);
    out[static_cast<size_t>(blockIdx.x) * half_row + i] =
        __floats2bfloat162_rn(g.x / (1.0f + __expf(-g.x)) * u.x, g.y / (1.0f + __expf(-g.y)) * u.y);
  }
}

// Blocks of 32 numbers as one scale in half precision and 32 signed bytes; a warp per block of numbers.
struct Quantised {
  half scale;
  signed char q[32];
};
__global__ void quantise_blocks(const float* in, Quantised* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i] - 0.5f, largest = all_max(fabsf(x)), d = largest / 127.0f;
  out[i / 32].q[i % 32] = static_cast<signed char>(largest == 0.0f ? 0 : roundf(x / d));
  if (i % 32 == 0) out[i / 32].scale = __float2half(d);
}

// One new token: a block per head, scores over the cache, softmax in shared memory, then the weighted sum of values.
__global__ void decode_attention(float* out, const float* q, const float* keys, const float* values, int length) {
  constexpr int size = 64;
  extern __shared__ float score[];
  __shared__ float partial[8];
  const int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float* k = keys + static_cast<size_t>(head) * length * size;
  const float* v = values + static_cast<size_t>(head) * length * size;
  const float2 own = reinterpret_cast<const float2*>(q + head * size)[lane];
  float largest = -1e30f;
  for (int t = warp; t < length; t += 8) {
    const float2 other = reinterpret_cast<const float2*>(k + t * size)[lane];
    const float s = all_sum(own.x * other.x + own.y * other.y) * 0.125f;
    if (lane == 0) score[t] = s;
    largest = fmaxf(largest, s);
  }
  if (lane == 0) partial[warp] = largest;
  __syncthreads();
  for (int w = 0; w < 8; w++) largest = fmaxf(largest, partial[w]);
  __syncthreads();
  float sum = 0;
  for (int t = threadIdx.x; t < length; t += blockDim.x) sum += score[t] = __expf(score[t] - largest);
  sum = all_sum(sum);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < 8; w++) sum += partial[w];
  if (threadIdx.x < size) {
    float total = 0;
    for (int t = 0; t < length; t++) total += score[t] * v[t * size + threadIdx.x];
    out[head * size + threadIdx.x] = total / sum;
  }
}

// The two best of eight experts and their weights, a token per thread, all in registers.
__global__ void route_top2(const float4* logits, int2* chosen, float2* weight, int tokens) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tokens) return;
  const float4 a = logits[2 * t], b = logits[2 * t + 1];
  const float x[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  int first = 0, second = 0;
  float best = -1e30f, next = -1e30f;
#pragma unroll
  for (int e = 0; e < 8; e++) {
    if (x[e] > best) {
      next = best;
      second = first;
      best = x[e];
      first = e;
    } else if (x[e] > next) {
      next = x[e];
      second = e;
    }
  }
  const float share = 1.0f / (1.0f + __expf(next - best));
  chosen[t] = {first, second};
  weight[t] = {share, 1.0f - share};
}

// Rows of tokens to where their expert wants them, 16 bytes at a time; a block per row.
__global__ void permute_tokens(float4* out, const float4* in, const int* from, int width) {
  const float4* row = in + static_cast<size_t>(from[blockIdx.x]) * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) out[static_cast<size_t>(blockIdx.x) * width + i] = row[i];
}

// Causal convolution of four taps along time with SiLU; channels beside each other.
__global__ void causal_conv4(const float* x, const float4* taps, float* y, int channels, int steps) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
  if (c >= channels) return;
  const float4 w = taps[c];
  float sum = w.w * x[t * channels + c];
  if (t >= 1) sum += w.z * x[(t - 1) * channels + c];
  if (t >= 2) sum += w.y * x[(t - 2) * channels + c];
  if (t >= 3) sum += w.x * x[(t - 3) * channels + c];
  y[t * channels + c] = sum / (1.0f + __expf(-sum));
}

// RWKV's recurrence: one thread per channel, all of time one after the other.
__global__ void wkv_forward(const float* decay, const float* bonus, const float* k, const float* v, float* y,
                            int channels, int steps) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const float w = -decay[c], u = bonus[c];
  float p = 0, q = 0, o = -1e38f;
  for (int t = 0; t < steps; t++) {
    const float kk = k[t * channels + c], vv = v[t * channels + c];
    float no = fmaxf(o, u + kk), A = __expf(o - no), B = __expf(u + kk - no);
    y[t * channels + c] = (A * p + B * vv) / (A * q + B);
    no = fmaxf(w + o, kk);
    A = __expf(w + o - no);
    B = __expf(kk - no);
    p = A * p + B * vv;
    q = A * q + B;
    o = no;
  }
}

// Which boxes overlap which others, 64 bits per word: non-maximum suppression.
__device__ bool overlaps(float4 a, float4 b, float threshold) {
  const float left = fmaxf(a.x, b.x), right = fminf(a.z, b.z), top = fmaxf(a.y, b.y), bottom = fminf(a.w, b.w);
  const float inter = fmaxf(right - left, 0.0f) * fmaxf(bottom - top, 0.0f);
  return inter / ((a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y) - inter) > threshold;
}

__global__ void nms_mask(const float4* boxes, int n, float threshold, unsigned long long* mask) {
  const int row = blockIdx.y, col = blockIdx.x;
  __shared__ float4 block_boxes[64];
  block_boxes[threadIdx.x] = boxes[64 * col + threadIdx.x];
  __syncthreads();
  const float4 own = boxes[64 * row + threadIdx.x];
  unsigned long long bits = 0;
  for (int i = row == col ? threadIdx.x + 1 : 0; i < 64; i++)
    if (overlaps(own, block_boxes[i], threshold)) bits |= 1ULL << i;
  mask[static_cast<size_t>(64 * row + threadIdx.x) * (n / 64) + col] = bits;
}

// Points that are far from all chosen so far, one block per cloud, one after the other.
__global__ void farthest_points(const float* cloud, float* distance, int* chosen, int n, int m) {
  __shared__ float best_distance[512];
  __shared__ int best_index[512];
  cloud += blockIdx.x * n * 3;
  distance += blockIdx.x * n;
  chosen += blockIdx.x * m;
  int last = 0;
  for (int k = threadIdx.x; k < n; k += 512) distance[k] = 1e10f;
  if (threadIdx.x == 0) chosen[0] = 0;
  for (int j = 1; j < m; j++) {
    const float x = cloud[last * 3], y = cloud[last * 3 + 1], z = cloud[last * 3 + 2];
    float best = -1;
    int at = 0;
    for (int k = threadIdx.x; k < n; k += 512) {
      const float dx = cloud[k * 3] - x, dy = cloud[k * 3 + 1] - y, dz = cloud[k * 3 + 2] - z;
      const float d = fminf(dx * dx + dy * dy + dz * dz, distance[k]);
      distance[k] = d;
      if (d > best) {
        best = d;
        at = k;
      }
    }
    best_distance[threadIdx.x] = best;
    best_index[threadIdx.x] = at;
    __syncthreads();
    for (int half = 256; half > 0; half >>= 1) {
      if (threadIdx.x < half && best_distance[threadIdx.x + half] > best_distance[threadIdx.x]) {
        best_distance[threadIdx.x] = best_distance[threadIdx.x + half];
        best_index[threadIdx.x] = best_index[threadIdx.x + half];
      }
      __syncthreads();
    }
    last = best_index[0];
    if (threadIdx.x == 0) chosen[j] = last;
  }
}

// The nearest of the other cloud's points, tiles of them in shared memory.
__global__ void chamfer(const float* a, const float* b, float* nearest, int n) {
  __shared__ float tile[256 * 3];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float x = a[i * 3], y = a[i * 3 + 1], z = a[i * 3 + 2];
  float best = 1e30f;
  for (int start = 0; start < n; start += 256) {
    for (int k = threadIdx.x; k < 768; k += 256) tile[k] = b[start * 3 + k];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 256; k++) {
      const float dx = tile[k * 3] - x, dy = tile[k * 3 + 1] - y, dz = tile[k * 3 + 2] - z;
      best = fminf(best, dx * dx + dy * dy + dz * dz);
    }
    __syncthreads();
  }
  nearest[i] = best;
}

// The loss of each row and its running largest and sum, merged over the block; rows long, blocks few.
__global__ void row_loss(const float* logits, const int* target, float* loss, int cols) {
  __shared__ float2 partial[32];
  const float* row = logits + static_cast<size_t>(blockIdx.x) * cols;
  float largest = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float x = row[i];
    if (x > largest) {
      sum = sum * __expf(largest - x) + 1.0f;
      largest = x;
    } else
      sum += __expf(x - largest);
  }
  const float warp_largest = all_max(largest);
  sum = all_sum(sum * __expf(largest - warp_largest));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = {warp_largest, sum};
  __syncthreads();
  if (threadIdx.x < 32) {
    const float2 own = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : float2{-1e30f, 0.0f};
    const float all = all_max(own.x);
    const float total = all_sum(own.y * __expf(own.x - all));
    if (threadIdx.x == 0) loss[blockIdx.x] = all + __logf(total) - row[target[blockIdx.x] & 1023];
  }
}

}  // namespace

std::vector<Case> fourth_models() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto twos = [](float* p) { return reinterpret_cast<float2*>(p); };
  const auto fours = [](float* p) { return reinterpret_cast<float4*>(p); };
  add("row_moments 2048x1024", "moments", size_t{4} << 21,
      [=](const Buffers& b, cudaStream_t s) { row_moments<8><<<2048, 128, 0, s>>>(fours(b.in), twos(b.out)); });
  add("row_moments 512x8192", "moments", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) { row_moments<64><<<512, 128, 0, s>>>(fours(b.in), twos(b.out)); });
  for (const int threads : {128, 1024})
    add("silu_and_mul " + std::to_string(threads), "gated", size_t{6} << 21, [=](const Buffers& b, cudaStream_t s) {
      silu_and_mul<<<1024, threads, 0, s>>>(reinterpret_cast<__nv_bfloat162*>(b.out),
                                            reinterpret_cast<__nv_bfloat162*>(b.in), 1024);
    });
  add("quantise_blocks", "quantised", size_t{41} << 17, [=](const Buffers& b, cudaStream_t s) {
    quantise_blocks<<<4096, 256, 0, s>>>(b.in, reinterpret_cast<Quantised*>(b.out), 1 << 20);
  });
  add("decode_attention 32x512", "decoding", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    decode_attention<<<32, 256, 512 * 4, s>>>(b.out, b.in, b.in, b.in2, 512);
  });
  add("decode_attention 256x128", "decoding", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    decode_attention<<<256, 256, 128 * 4, s>>>(b.out, b.in, b.in, b.in2, 128);
  });
  add("route_top2", "routing", size_t{48} << 17, [=](const Buffers& b, cudaStream_t s) {
    route_top2<<<512, 256, 0, s>>>(fours(b.in), reinterpret_cast<int2*>(b.out), twos(b.out + (1 << 20)), 1 << 17);
  });
  add(
      "permute_tokens", "routing", size_t{8} << 21,
      [=](const Buffers& b, cudaStream_t s) {
        permute_tokens<<<2048, 128, 0, s>>>(fours(b.out), fours(b.in), ints(b.in2), 256);
      },
      [](const Buffers& b) {
        std::vector<int> from(2048);
        for (int i = 0; i < 2048; i++) from[i] = i * 1237 % 2048;
        cudaMemcpy(b.in2, from.data(), from.size() * 4, cudaMemcpyHostToDevice);
      });
  add("causal_conv4", "recurrences", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    causal_conv4<<<dim3(8, 512), 256, 0, s>>>(b.in, fours(b.in2), b.out, 2048, 512);
  });
  add("wkv_forward 4096x128", "recurrences", size_t{12} << 19, [=](const Buffers& b, cudaStream_t s) {
    wkv_forward<<<64, 64, 0, s>>>(b.in2, b.in2 + 8192, b.in, b.in + (1 << 20), b.out, 4096, 128);
  });
  add("nms_mask", "boxes", size_t{1} << 19, [=](const Buffers& b, cudaStream_t s) {
    nms_mask<<<dim3(32, 32), 64, 0, s>>>(fours(b.in), 2048, 0.5f, reinterpret_cast<unsigned long long*>(b.out));
  });
  add("farthest_points 8 clouds", "points", size_t{16} << 14, [=](const Buffers& b, cudaStream_t s) {
    farthest_points<<<8, 512, 0, s>>>(b.in, b.out, ints(b.out + (1 << 14)), 2048, 32);
  });
  add("chamfer 4096", "points", size_t{28} << 12,
      [=](const Buffers& b, cudaStream_t s) { chamfer<<<16, 256, 0, s>>>(b.in, b.in2, b.out, 4096); });
  add("row_loss 32x32768", "losses", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { row_loss<<<32, 1024, 0, s>>>(b.in, b.counters, b.out, 32768); });
  add("row_loss 1024x2048", "losses", size_t{4} << 21,
      [=](const Buffers& b, cudaStream_t s) { row_loss<<<1024, 256, 0, s>>>(b.in, b.counters, b.out, 2048); });
  return list;
}

}  // namespace calibration
