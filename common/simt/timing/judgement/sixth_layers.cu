// Layers and losses of networks, and their optimisers.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  return v;
}
__device__ float warp_max(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset));
  return v;
}

// y = (x - mean) / sqrt(var + eps) * gamma + beta of each channel of NCHW.
__global__ void batch_norm_apply(const float* x, const float* mean, const float* var, const float* gamma,
                                 const float* beta, float* y, int C, int plane, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int c = i / plane % C;
  y[i] = (x[i] - mean[c]) / sqrtf(var[c] + 1e-5f) * gamma[c] + beta[c];
}

// Softmax over the channels of each pixel of NCHW.
__global__ void softmax_channels(const float* x, float* y, int C, int plane) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= plane) return;
  const size_t base = static_cast<size_t>(blockIdx.y) * C * plane + p;
  float most = -INFINITY;
  for (int c = 0; c < C; c++) most = fmaxf(most, x[base + static_cast<size_t>(c) * plane]);
  float sum = 0.0f;
  for (int c = 0; c < C; c++) sum += expf(x[base + static_cast<size_t>(c) * plane] - most);
  for (int c = 0; c < C; c++)
    y[base + static_cast<size_t>(c) * plane] = expf(x[base + static_cast<size_t>(c) * plane] - most) / sum;
}

__global__ void pixel_shuffle(const float* in, float* out, int C, int H, int W, int r, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int ow = i % (W * r), oh = i / (W * r) % (H * r), c = i / (W * r * H * r) % C, n = i / (W * r * H * r * C);
  const int from = c * r * r + oh % r * r + ow % r;
  out[i] = in[((n * C * r * r + from) * H + oh / r) * W + ow / r];
}

__global__ void upsample_nearest(const float* in, float* out, int H, int W, int scale, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int w = i % (W * scale), h = i / (W * scale) % (H * scale), nc = i / (W * scale * H * scale);
  out[i] = in[(nc * H + h / scale) * W + w / scale];
}

__global__ void instance_norm(const float* x, float* y, int plane) {
  __shared__ float warps[2][8];
  const float* row = x + static_cast<size_t>(blockIdx.x) * plane;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < plane; i += blockDim.x) {
    sum += row[i];
    squares += row[i] * row[i];
  }
  sum = warp_sum(sum);
  squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) {
    warps[0][threadIdx.x / 32] = sum;
    warps[1][threadIdx.x / 32] = squares;
  }
  __syncthreads();
  sum = squares = 0.0f;
  for (int w = 0; w < 8; w++) {
    sum += warps[0][w];
    squares += warps[1][w];
  }
  const float mean = sum / plane, scale = rsqrtf(squares / plane - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < plane; i += blockDim.x)
    y[static_cast<size_t>(blockIdx.x) * plane + i] = (row[i] - mean) * scale;
}

// A warp per row.
__global__ void label_smoothing(const float* logits, const int* target, float* loss, int rows, int C, float eps) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* x = logits + static_cast<size_t>(row) * C;
  float most = -INFINITY, total = 0.0f;
  for (int c = lane; c < C; c += 32) {
    most = fmaxf(most, x[c]);
    total += x[c];
  }
  most = warp_max(most);
  total = warp_sum(total);
  float sum = 0.0f;
  for (int c = lane; c < C; c += 32) sum += __expf(x[c] - most);
  sum = warp_sum(sum);
  if (lane == 0) {
    const float log_sum = most + logf(sum);
    loss[row] = (1.0f - eps) * (log_sum - x[target[row]]) + eps * (log_sum - total / C);
  }
}

__global__ void log_softmax_block(const float* in, float* out, int C) {
  __shared__ float shared[32];
  const float* x = in + static_cast<size_t>(blockIdx.x) * C;
  float* y = out + static_cast<size_t>(blockIdx.x) * C;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float most = -INFINITY;
  for (int c = threadIdx.x; c < C; c += blockDim.x) most = fmaxf(most, x[c]);
  most = warp_max(most);
  if (lane == 0) shared[warp] = most;
  __syncthreads();
  most = warp_max(lane < warps ? shared[lane] : -INFINITY);
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < C; c += blockDim.x) sum += expf(x[c] - most);
  sum = warp_sum(sum);
  if (lane == 0) shared[warp] = sum;
  __syncthreads();
  sum = warp_sum(lane < warps ? shared[lane] : 0.0f);
  const float log_sum = most + logf(sum);
  for (int c = threadIdx.x; c < C; c += blockDim.x) y[c] = x[c] - log_sum;
}

__global__ void sgd_momentum(float4* p, float4* m, const float4* g, int n, float rate, float mu, float decay) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 w = p[i], v = m[i];
  const float4 d = g[i];
  v.x = mu * v.x + d.x + decay * w.x;
  v.y = mu * v.y + d.y + decay * w.y;
  v.z = mu * v.z + d.z + decay * w.z;
  v.w = mu * v.w + d.w + decay * w.w;
  w.x -= rate * v.x;
  w.y -= rate * v.y;
  w.z -= rate * v.z;
  w.w -= rate * v.w;
  m[i] = v;
  p[i] = w;
}

// A transposed convolution, 3 x 3 with stride 2, each output a thread.
__global__ void conv_transpose(const float* x, const float* w, float* y, int Cin, int Cout, int H, int W) {
  const int ow = blockIdx.x * blockDim.x + threadIdx.x, oh = blockIdx.y, co = blockIdx.z;
  const int OW = 2 * W, OH = 2 * H;
  if (ow >= OW) return;
  float sum = 0.0f;
  for (int ci = 0; ci < Cin; ci++) {
    for (int kh = 0; kh < 3; kh++) {
      const int h = oh + 1 - kh;
      if (h < 0 || h % 2 || h / 2 >= H) continue;
      for (int kw = 0; kw < 3; kw++) {
        const int v = ow + 1 - kw;
        if (v < 0 || v % 2 || v / 2 >= W) continue;
        sum += x[(ci * H + h / 2) * W + v / 2] * w[((ci * Cout + co) * 3 + kh) * 3 + kw];
      }
    }
  }
  y[(co * OH + oh) * OW + ow] = sum;
}

// Attention in a window of the sequence: a warp per query, a lane per two numbers of the head.
__global__ void window_attention(const float2* q, const float2* k, const float2* v, float2* out, int N, int window) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float2 mine = q[row * 32 + lane];
  float most = -INFINITY, sum = 0.0f;
  float2 acc = make_float2(0.0f, 0.0f);
  for (int j = max(0, row - window); j <= row; j++) {
    const float2 key = k[j * 32 + lane], value = v[j * 32 + lane];
    const float score = warp_sum(mine.x * key.x + mine.y * key.y) * 0.125f;
    const float next = fmaxf(most, score), old = __expf(most - next), now = __expf(score - next);
    sum = sum * old + now;
    acc.x = acc.x * old + now * value.x;
    acc.y = acc.y * old + now * value.y;
    most = next;
  }
  out[row * 32 + lane] = make_float2(acc.x / sum, acc.y / sum);
}

}  // namespace

std::vector<Case> sixth_layers() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  add("batch_norm_apply", "norms", size_t{8} * 32 * 64 * 784, [=](const Buffers& b, cudaStream_t s) {
    batch_norm_apply<<<6272, 256, 0, s>>>(b.in, b.in2, b.in2 + 64, b.in2 + 128, b.in2 + 192, b.out, 64, 784,
                                          32 * 64 * 784);
  });
  add("instance_norm", "norms", size_t{8} * 1024 * 3136,
      [=](const Buffers& b, cudaStream_t s) { instance_norm<<<1024, 256, 0, s>>>(b.in, b.out, 3136); });
  add("softmax_channels 21", "softmax", size_t{8} * 4 * 21 * 16384,
      [=](const Buffers& b, cudaStream_t s) { softmax_channels<<<dim3(64, 4), 256, 0, s>>>(b.in, b.out, 21, 16384); });
  add("log_softmax_block 1000", "softmax", size_t{8} * 2048 * 1000,
      [=](const Buffers& b, cudaStream_t s) { log_softmax_block<<<2048, 256, 0, s>>>(b.in, b.out, 1000); });
  add(
      "label_smoothing", "losses", size_t{4} * 8192 * 1000,
      [=](const Buffers& b, cudaStream_t s) {
        label_smoothing<<<1024, 256, 0, s>>>(b.in, ints(b.in2), b.out, 8192, 1000, 0.1f);
      },
      indices(8192, 1000));
  add("pixel_shuffle", "index arithmetic", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    pixel_shuffle<<<4096, 256, 0, s>>>(b.in, b.out, 16, 64, 64, 4, 1 << 20);
  });
  add("upsample_nearest", "index arithmetic", size_t{5} << 22, [=](const Buffers& b, cudaStream_t s) {
    upsample_nearest<<<16384, 256, 0, s>>>(b.in, b.out, 64, 64, 2, 1 << 22);
  });
  add("sgd_momentum", "optimisers", size_t{20} << 21, [=](const Buffers& b, cudaStream_t s) {
    sgd_momentum<<<2048, 256, 0, s>>>(reinterpret_cast<float4*>(b.out), reinterpret_cast<float4*>(b.in2),
                                      reinterpret_cast<float4*>(b.in), 1 << 19, 0.1f, 0.9f, 1e-4f);
  });
  add("conv_transpose", "convolutions", size_t{4} * (32 * 1024 + 32 * 16 * 9 + 16 * 4096),
      [=](const Buffers& b, cudaStream_t s) {
        conv_transpose<<<dim3(1, 64, 16), 64, 0, s>>>(b.in, b.in2, b.out, 32, 16, 32, 32);
      });
  add("window_attention 64", "attention", size_t{16} * 8192 * 64, [=](const Buffers& b, cudaStream_t s) {
    window_attention<<<1024, 256, 0, s>>>(reinterpret_cast<float2*>(b.in), reinterpret_cast<float2*>(b.in2),
                                          reinterpret_cast<float2*>(b.in2 + (1 << 19)),
                                          reinterpret_cast<float2*>(b.out), 8192, 64);
  });
  return list;
}

}  // namespace calibration
