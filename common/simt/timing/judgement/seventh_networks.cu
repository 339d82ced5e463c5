// Steps of training and serving networks.
#include <cuda_fp16.h>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

__device__ float block_sum(float v) {
  __shared__ float part[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_sum(v);
  __syncthreads();
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? part[lane] : 0.0f;
  if (warp == 0) v = warp_sum(v);
  if (threadIdx.x == 0) part[0] = v;
  __syncthreads();
  return part[0];
}

// RMSNorm's gradient by its input, a block per row.
__global__ void rms_norm_backward(const float* dy, const float* x, const float* weight, float* dx, int n) {
  const size_t base = static_cast<size_t>(blockIdx.x) * n;
  float squares = 0.0f, dot = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float v = x[base + i];
    squares += v * v;
    dot += dy[base + i] * weight[i] * v;
  }
  squares = block_sum(squares);
  dot = block_sum(dot);
  const float r = rsqrtf(squares / n + 1e-6f), c = dot * r * r * r / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) dx[base + i] = dy[base + i] * weight[i] * r - x[base + i] * c;
}

// The two sums of batch norm's gradient, a block per channel of NCHW.
__global__ void batch_norm_backward(const float* dy, const float* x, const float* mean, float* sums, int N, int C,
                                    int plane) {
  const int c = blockIdx.x;
  const float m = mean[c];
  float sum = 0.0f, dot = 0.0f;
  for (int n = threadIdx.y; n < N; n += blockDim.y) {
    for (int i = threadIdx.x; i < plane; i += blockDim.x) {
      const float g = dy[(n * C + c) * plane + i];
      sum += g;
      dot += g * (x[(n * C + c) * plane + i] - m);
    }
  }
  __shared__ float a[512], b[512];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  a[t] = sum;
  b[t] = dot;
  __syncthreads();
  for (int s = blockDim.x * blockDim.y / 2; s > 0; s >>= 1) {
    if (t < s) {
      a[t] += a[t + s];
      b[t] += b[t + s];
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[c] = a[0];
    sums[C + c] = b[0];
  }
}

__device__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// A step of an LSTM after the product: four gates, the cell and the output.
__global__ void lstm_cell(const float* gates, const float* bias, const float* cell, float* next, float* hidden, int H,
                          int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int row = i / H, h = i % H;
  const float* g = gates + row * 4 * H;
  const float in = sigmoid(g[h] + bias[h]), forget = sigmoid(g[H + h] + bias[H + h]);
  const float fresh = tanhf(g[2 * H + h] + bias[2 * H + h]), out = sigmoid(g[3 * H + h] + bias[3 * H + h]);
  const float c = forget * cell[i] + in * fresh;
  next[i] = c;
  hidden[i] = out * tanhf(c);
}

// Winograd's F(2 x 2, 3 x 3): the transform of tiles of 4 x 4 of the input.
__global__ void winograd_input(const float* x, float* v, int C, int H, int W, int tiles) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
  if (t >= tiles * tiles) return;
  const int y0 = t / tiles * 2 - 1, x0 = t % tiles * 2 - 1;
  float d[4][4], u[4][4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int yy = y0 + i, xx = x0 + j;
      d[i][j] = yy >= 0 && yy < H && xx >= 0 && xx < W ? x[(c * H + yy) * W + xx] : 0.0f;
    }
  }
#pragma unroll
  for (int j = 0; j < 4; j++) {
    u[0][j] = d[0][j] - d[2][j];
    u[1][j] = d[1][j] + d[2][j];
    u[2][j] = d[2][j] - d[1][j];
    u[3][j] = d[1][j] - d[3][j];
  }
  const int plane = C * tiles * tiles, at = c * tiles * tiles + t;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    v[(i * 4 + 0) * plane + at] = u[i][0] - u[i][2];
    v[(i * 4 + 1) * plane + at] = u[i][1] + u[i][2];
    v[(i * 4 + 2) * plane + at] = u[i][2] - u[i][1];
    v[(i * 4 + 3) * plane + at] = u[i][1] - u[i][3];
  }
}

// Caffe's col2im: each pixel gathers the columns that it is in.
__global__ void col2im(int n, const float* col, int height, int width, int ksize, int pad, int stride, int height_col,
                       int width_col, float* image) {
  for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < n; index += blockDim.x * gridDim.x) {
    float val = 0;
    const int w = index % width + pad, h = (index / width) % height + pad, c = index / (width * height);
    const int w_start = w < ksize ? 0 : (w - ksize) / stride + 1, w_end = min(w / stride + 1, width_col);
    const int h_start = h < ksize ? 0 : (h - ksize) / stride + 1, h_end = min(h / stride + 1, height_col);
    for (int h_col = h_start; h_col < h_end; h_col++) {
      for (int w_col = w_start; w_col < w_end; w_col++) {
        const int c_col = c * ksize * ksize + (h - h_col * stride) * ksize + (w - w_col * stride);
        val += col[(c_col * height_col + h_col) * width_col + w_col];
      }
    }
    image[index] = val;
  }
}

// A filter of 3 x 3 for each channel of NHWC, four channels a thread.
__global__ void depthwise_nhwc(const float4* x, const float4* w, float4* y, int H, int W, int C4) {
  const int c = threadIdx.x, col = blockIdx.x * blockDim.y + threadIdx.y, row = blockIdx.y;
  if (col >= W) return;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < 3; i++) {
    const int yy = row + i - 1;
    if (yy < 0 || yy >= H) continue;
#pragma unroll
    for (int j = 0; j < 3; j++) {
      const int xx = col + j - 1;
      if (xx < 0 || xx >= W) continue;
      const float4 a = x[(yy * W + xx) * C4 + c], b = w[(i * 3 + j) * C4 + c];
      sum.x += a.x * b.x;
      sum.y += a.y * b.y;
      sum.z += a.z * b.z;
      sum.w += a.w * b.w;
    }
  }
  y[(row * W + col) * C4 + c] = sum;
}

// Softmax of scaled and masked scores as Megatron does it: a warp has a row in its registers.
template <int N>
__global__ void masked_softmax(const half* scores, const unsigned char* mask, half* out, int rows, int heads,
                               float scale) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  constexpr int each = N / 32;
  float value[each];
  const half* x = scores + static_cast<size_t>(row) * N;
  const unsigned char* m = mask + static_cast<size_t>(row / heads) * N;
  float most = -10000.0f;
#pragma unroll
  for (int i = 0; i < each; i++) {
    value[i] = m[lane + 32 * i] & 1 ? -10000.0f : __half2float(x[lane + 32 * i]) * scale;
    most = fmaxf(most, value[i]);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, offset));
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < each; i++) {
    value[i] = __expf(value[i] - most);
    sum += value[i];
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
#pragma unroll
  for (int i = 0; i < each; i++) out[static_cast<size_t>(row) * N + lane + 32 * i] = __float2half(value[i] / sum);
}

// New keys and values into the pages of a cache (vLLM): a block per token.
__global__ void reshape_and_cache(const half* key, const half* value, half* key_cache, half* value_cache,
                                  const int* slots, int heads, int size, int page, int x) {
  const int token = blockIdx.x, slot = slots[token], block = slot / page, offset = slot % page;
  for (int i = threadIdx.x; i < heads * size; i += blockDim.x) {
    const int head = i / size, at = i % size;
    key_cache[((block * heads + head) * (size / x) + at / x) * page * x + offset * x + at % x] =
        key[token * heads * size + i];
    value_cache[((block * heads + head) * size + at) * page + offset] = value[token * heads * size + i];
  }
}

// Weights of eight bits with a scale per row and 128 columns, to halves.
__global__ void dequantise_blocks(const char4* q, const float* scales, half2* out, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (4 * c >= cols) return;
  const char4 v = q[row * (cols / 4) + c];
  const float s = scales[row * (cols / 128) + c / 32];
  half2* o = out + static_cast<size_t>(row) * (cols / 2) + 2 * c;
  o[0] = __floats2half2_rn(v.x * s, v.y * s);
  o[1] = __floats2half2_rn(v.z * s, v.w * s);
}

__global__ void lion(float* p, const float* g, float* m, size_t n, float rate, float beta1, float beta2, float decay) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float grad = g[i], momentum = m[i], c = beta1 * momentum + (1.0f - beta1) * grad;
  const float sign = c > 0.0f ? 1.0f : (c < 0.0f ? -1.0f : 0.0f);
  p[i] = p[i] * (1.0f - rate * decay) - rate * sign;
  m[i] = beta2 * momentum + (1.0f - beta2) * grad;
}

// A token of each row by the maximum of logits and noise.
__global__ void gumbel_sample(const float* logits, int* token, int V, unsigned seed) {
  __shared__ float best[256];
  __shared__ int at[256];
  const float* row = logits + static_cast<size_t>(blockIdx.x) * V;
  float most = -INFINITY;
  int where = 0;
  for (int i = threadIdx.x; i < V; i += blockDim.x) {
    unsigned s = seed + blockIdx.x * 7919u + i;
    s = (s ^ 61) ^ (s >> 16);
    s *= 9;
    s ^= s >> 4;
    s *= 0x27d4eb2d;
    s ^= s >> 15;
    const float u = (s + 0.5f) * 2.3283064e-10f, value = row[i] - logf(-logf(u));
    if (value > most) {
      most = value;
      where = i;
    }
  }
  best[threadIdx.x] = most;
  at[threadIdx.x] = where;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s && best[threadIdx.x + s] > best[threadIdx.x]) {
      best[threadIdx.x] = best[threadIdx.x + s];
      at[threadIdx.x] = at[threadIdx.x + s];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) token[blockIdx.x] = at[0];
}

// Swin: a picture of tokens, rolled, and parted into windows.
__global__ void window_partition(const float* x, float* out, int H, int W, int C, int window, int shift, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int c = i % C, in_window = i / C % (window * window), number = i / C / (window * window);
  const int across = W / window, per_image = across * (H / window);
  const int n = number / per_image, wy = number % per_image / across, wx = number % across;
  const int y = (wy * window + in_window / window + shift) % H, xx = (wx * window + in_window % window + shift) % W;
  out[i] = x[((n * H + y) * W + xx) * C + c];
}

}  // namespace

std::vector<Case> seventh_networks() {
  std::vector<Case> list;
  const Add add{list};
  const auto halves = [](float* p) { return reinterpret_cast<half*>(p); };
  for (const int n : {768, 4096}) {
    add("rms_norm_backward " + std::to_string(n), "backward", size_t{12} * 1024 * n,
        [=](const Buffers& b, cudaStream_t s) {
          rms_norm_backward<<<1024, 256, 0, s>>>(b.in, b.in2, b.in2 + 1024 * n, b.out, n);
        });
  }
  add("batch_norm_backward", "backward", size_t{8} * 32 * 128 * 196, [=](const Buffers& b, cudaStream_t s) {
    batch_norm_backward<<<128, dim3(32, 16), 0, s>>>(b.in, b.in2, b.in2, b.out, 32, 128, 196);
  });
  add("lstm_cell", "cells", size_t{28} << 18, [=](const Buffers& b, cudaStream_t s) {
    lstm_cell<<<1024, 256, 0, s>>>(b.in, b.in2, b.in2 + 4096, b.out, b.out + (1 << 18), 1024, 1 << 18);
  });
  add("winograd_input", "convolutions", size_t{20} * 256 * 56 * 56, [=](const Buffers& b, cudaStream_t s) {
    winograd_input<<<dim3(7, 256), 128, 0, s>>>(b.in, b.out, 256, 56, 56, 28);
  });
  add("col2im", "convolutions", size_t{40} * 64 * 56 * 56, [=](const Buffers& b, cudaStream_t s) {
    col2im<<<392, 512, 0, s>>>(64 * 56 * 56, b.in, 56, 56, 3, 1, 1, 56, 56, b.out);
  });
  add("depthwise_nhwc", "convolutions", size_t{8} * 112 * 112 * 128, [=](const Buffers& b, cudaStream_t s) {
    depthwise_nhwc<<<dim3(14, 112), dim3(32, 8), 0, s>>>(reinterpret_cast<float4*>(b.in),
                                                         reinterpret_cast<float4*>(b.in2),
                                                         reinterpret_cast<float4*>(b.out), 112, 112, 32);
  });
  add("masked_softmax 256", "masked softmax", size_t{4} * 16384 * 256, [=](const Buffers& b, cudaStream_t s) {
    masked_softmax<256><<<4096, dim3(32, 4), 0, s>>>(halves(b.in), reinterpret_cast<unsigned char*>(b.in2),
                                                     halves(b.out), 16384, 8, 0.125f);
  });
  add("masked_softmax 1024", "masked softmax", size_t{4} * 8192 * 1024, [=](const Buffers& b, cudaStream_t s) {
    masked_softmax<1024><<<2048, dim3(32, 4), 0, s>>>(halves(b.in), reinterpret_cast<unsigned char*>(b.in2),
                                                      halves(b.out), 8192, 8, 0.125f);
  });
  add(
      "reshape_and_cache", "serving", size_t{8} * 4096 * 1024,
      [=](const Buffers& b, cudaStream_t s) {
        reshape_and_cache<<<1024, 512, 0, s>>>(halves(b.in), halves(b.in) + (1 << 20), halves(b.out),
                                               halves(b.out) + (1 << 22), reinterpret_cast<int*>(b.in2), 8, 128, 16, 8);
      },
      indices(1024, 4096));
  add("dequantise_blocks", "serving", size_t{3} << 23, [=](const Buffers& b, cudaStream_t s) {
    dequantise_blocks<<<dim3(4, 2048), 256, 0, s>>>(reinterpret_cast<char4*>(b.in), b.in2,
                                                    reinterpret_cast<half2*>(b.out), 4096);
  });
  add("lion", "optimisers", size_t{16} << 22, [=](const Buffers& b, cudaStream_t s) {
    lion<<<16384, 256, 0, s>>>(b.out, b.in, b.in2, size_t{1} << 22, 1e-3f, 0.9f, 0.99f, 0.1f);
  });
  add("gumbel_sample", "serving", size_t{4} * 128 * 32000, [=](const Buffers& b, cudaStream_t s) {
    gumbel_sample<<<128, 256, 0, s>>>(b.in, reinterpret_cast<int*>(b.out), 32000, 99u);
  });
  add("window_partition", "index arithmetic", size_t{8} * 8 * 56 * 56 * 96, [=](const Buffers& b, cudaStream_t s) {
    window_partition<<<9408, 256, 0, s>>>(b.in, b.out, 56, 56, 96, 7, 3, 8 * 56 * 56 * 96);
  });
  return list;
}

}  // namespace calibration
