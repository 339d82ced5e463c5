// Layers of neural networks as small repositories write them, small matrix products, rows.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__global__ void layernorm_naive(float* out, const float* in, const float* weight, const float* bias, int n, int c) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= n) return;
  const float* x = in + idx * c;
  float mean = 0.0f;
  for (int i = 0; i < c; i++) mean += x[i];
  mean = mean / c;
  float v = 0.0f;
  for (int i = 0; i < c; i++) {
    float shift = x[i] - mean;
    v += shift * shift;
  }
  v = v / c;
  float s = 1.0f / sqrtf(v + 1e-5f);
  for (int i = 0; i < c; i++) out[idx * c + i] = s * (x[i] - mean) * weight[i] + bias[i];
}

__global__ void rmsnorm(float* out, const float* in, const float* weight, int c) {
  __shared__ float partial[32];
  const float* x = in + blockIdx.x * c;
  float sum = 0;
  for (int i = threadIdx.x; i < c; i += blockDim.x) sum += x[i] * x[i];
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0;
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  float scale = rsqrtf(sum / c + 1e-6f);
  for (int i = threadIdx.x; i < c; i += blockDim.x) out[blockIdx.x * c + i] = weight[i] * (scale * x[i]);
}

__global__ void rotary(float* q, int heads, int head_size, int tokens) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tokens * heads * head_size / 2) return;
  int pair = i % (head_size / 2), token = i / (heads * head_size / 2);
  float freq = 1.0f / powf(10000.0f, 2.0f * pair / (float)head_size);
  float value = token * freq, fcr = cosf(value), fci = sinf(value);
  float v0 = q[2 * i], v1 = q[2 * i + 1];
  q[2 * i] = v0 * fcr - v1 * fci;
  q[2 * i + 1] = v0 * fci + v1 * fcr;
}

// Scores of causal attention, one thread for each.
__global__ void attention_scores(float* att, const float* qkv, int T, int C, int NH) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= NH * T * T) return;
  int t2 = idx % T, t = (idx / T) % T, h = idx / (T * T);
  if (t2 > t) {
    att[idx] = -1e30f;
    return;
  }
  int hs = C / NH;
  const float* q = qkv + t * C * 3 + h * hs;
  const float* k = qkv + t2 * C * 3 + h * hs + C;
  float val = 0.0f;
  for (int i = 0; i < hs; i++) val += q[i] * k[i];
  att[idx] = val * (1.0f / sqrtf((float)hs));
}

__global__ void attention_softmax(float* att, int T, int NH) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= T * NH) return;
  int t = idx % T;
  float* row = att + idx * T;
  float maxval = -10000.0f;
  for (int t2 = 0; t2 <= t; t2++)
    if (row[t2] > maxval) maxval = row[t2];
  float sum = 0.0f;
  for (int t2 = 0; t2 <= t; t2++) {
    float e = expf(row[t2] - maxval);
    sum += e;
    row[t2] = e;
  }
  float inv = sum == 0.0f ? 0.0f : 1.0f / sum;
  for (int t2 = 0; t2 < T; t2++) row[t2] = t2 <= t ? row[t2] * inv : 0.0f;
}

__global__ void embed(float* out, const int* ids, const float* wte, const float* wpe, int T, int C, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= n * C) return;
  int bt = idx / C, t = bt % T, c = idx % C;
  out[idx] = wte[ids[bt] * C + c] + wpe[t * C + c];
}

__global__ void bias_gelu(float* x, const float* bias, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i] + bias[i % c];
  x[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

__global__ void argmax_rows(const float* in, int* out, int cols) {
  __shared__ float value[256];
  __shared__ int index[256];
  int t = threadIdx.x;
  float best = -1e30f;
  int at = 0;
  for (int c = t; c < cols; c += blockDim.x) {
    float v = in[blockIdx.x * cols + c];
    if (v > best) {
      best = v;
      at = c;
    }
  }
  value[t] = best;
  index[t] = at;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s && value[t + s] > value[t]) {
      value[t] = value[t + s];
      index[t] = index[t + s];
    }
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = index[0];
}

__global__ void cumulative_max(const float* in, float* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float best = in[r * cols];
  for (int c = 0; c < cols; c++) {
    best = fmaxf(best, in[r * cols + c]);
    out[r * cols + c] = best;
  }
}

// 64 x 64 tiles of the result, 4 x 4 for each of 256 threads.
__global__ void matmul_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][64], bs[16][64];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      as[i % 16][i / 16] = a[(row0 + i / 16) * n + k0 + i % 16];
      bs[i / 64][i % 64] = b[(k0 + i / 64) * n + col0 + i % 64];
    }
    __syncthreads();
    for (int k = 0; k < 16; k++) {
      float x[4], y[4];
      for (int i = 0; i < 4; i++) x[i] = as[k][ty * 4 + i];
      for (int j = 0; j < 4; j++) y[j] = bs[k][tx * 4 + j];
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) c[(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = sum[i][j];
}

// Each block one product of two 16 x 16 matrices.
__global__ void batched_matmul(const float* a, const float* b, float* c) {
  __shared__ float as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * 256;
  as[y][x] = a[base + y * 16 + x];
  bs[y][x] = b[base + y * 16 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += as[y][k] * bs[k][x];
  c[base + y * 16 + x] = sum;
}

// Each thread one product of two 4 x 4 matrices.
__global__ void tiny_matmul(const float* a, const float* b, float* c, int count) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= count) return;
  float x[16], y[16];
  for (int i = 0; i < 16; i++) {
    x[i] = a[m * 16 + i];
    y[i] = b[m * 16 + i];
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      float sum = 0;
      for (int k = 0; k < 4; k++) sum += x[i * 4 + k] * y[k * 4 + j];
      c[m * 16 + i * 4 + j] = sum;
    }
  }
}

__global__ void nearest_center(const float* points, const float* centers, int* nearest, int n, int dim, int k) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  float best = 1e30f;
  int which = 0;
  for (int c = 0; c < k; c++) {
    float d = 0;
    for (int j = 0; j < dim; j++) {
      float diff = points[j * n + p] - centers[c * dim + j];
      d += diff * diff;
    }
    if (d < best) {
      best = d;
      which = c;
    }
  }
  nearest[p] = which;
}

__global__ void max_pool(const float* in, float* out, int w, int h, int planes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, ow = w / 2, oh = h / 2;
  if (i >= planes * ow * oh) return;
  int x = i % ow, y = (i / ow) % oh, p = i / (ow * oh);
  float best = -1e30f;
  for (int dy = 0; dy < 2; dy++)
    for (int dx = 0; dx < 2; dx++) best = fmaxf(best, in[(p * h + y * 2 + dy) * w + x * 2 + dx]);
  out[i] = best;
}

__global__ void conv3x3(const float* in, const float* weight, float* out, int channels, int filters, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, f = blockIdx.z;
  if (x >= w - 2 || y >= h - 2) return;
  float sum = 0;
  for (int c = 0; c < channels; c++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) sum += in[(c * h + y + i) * w + x + j] * weight[((f * channels + c) * 3 + i) * 3 + j];
  out[(f * (h - 2) + y) * (w - 2) + x] = sum;
}

__global__ void matvec(const float* a, const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; c++) sum += a[r * cols + c] * x[c];
  y[r] = sum;
}

}  // namespace

std::vector<Case> first_models() {
  std::vector<Case> list;
  const auto add = [&](const char* name, const char* family, size_t bytes,
                       std::function<void(const Buffers&, cudaStream_t)> launch) {
    list.push_back({name, family, bytes, std::move(launch)});
  };
  const int m = 1 << 20;
  add("layernorm_naive", "norm", 8u << 20, [=](const Buffers& b, cudaStream_t s) {
    layernorm_naive<<<16, 128, 0, s>>>(b.out, b.in, b.in2, b.in2 + 1024, 2048, 512);
  });
  add("rmsnorm", "norm", 8u << 21,
      [=](const Buffers& b, cudaStream_t s) { rmsnorm<<<512, 512, 0, s>>>(b.out, b.in, b.in2, 4096); });
  add("rotary", "transformer", 8u << 20,
      [=](const Buffers& b, cudaStream_t s) { rotary<<<m / 2 / 256, 256, 0, s>>>(b.in, 16, 64, 1024); });
  add("attention_scores", "transformer", 9u << 20, [=](const Buffers& b, cudaStream_t s) {
    attention_scores<<<(12 << 16) / 256, 256, 0, s>>>(b.out, b.in, 256, 768, 12);
  });
  add("attention_softmax", "transformer", 4u << 20,
      [=](const Buffers& b, cudaStream_t s) { attention_softmax<<<16, 256, 0, s>>>(b.in, 256, 16); });
  add("embed", "gather", 12u << 20, [=](const Buffers& b, cudaStream_t s) {
    embed<<<m / 256, 256, 0, s>>>(b.out, b.counters, b.in, b.in2, 1024, 256, 4096);
  });
  add("bias_gelu", "activation", 16u << 20,
      [=](const Buffers& b, cudaStream_t s) { bias_gelu<<<m * 2 / 256, 256, 0, s>>>(b.in, b.in2, m * 2, 3072); });
  add("argmax_rows", "rows", 4u << 21, [=](const Buffers& b, cudaStream_t s) {
    argmax_rows<<<512, 256, 0, s>>>(b.in, reinterpret_cast<int*>(b.out), 4096);
  });
  add("cumulative_max", "rows", 8u << 20,
      [=](const Buffers& b, cudaStream_t s) { cumulative_max<<<32, 128, 0, s>>>(b.in, b.out, 4096, 256); });
  add("matmul_registers 512", "products", 12u << 18,
      [=](const Buffers& b, cudaStream_t s) { matmul_registers<<<dim3(8, 8), 256, 0, s>>>(b.in, b.in2, b.out, 512); });
  add("batched_matmul", "products", 12u << 20,
      [=](const Buffers& b, cudaStream_t s) { batched_matmul<<<4096, dim3(16, 16), 0, s>>>(b.in, b.in2, b.out); });
  add("tiny_matmul", "products", 12u << 20,
      [=](const Buffers& b, cudaStream_t s) { tiny_matmul<<<512, 128, 0, s>>>(b.in, b.in2, b.out, 65536); });
  add("matvec", "products", 4u << 21,
      [=](const Buffers& b, cudaStream_t s) { matvec<<<16, 128, 0, s>>>(b.in, b.in2, b.out, 2048, 1024); });
  add("nearest_center", "clusters", 36u << 17, [=](const Buffers& b, cudaStream_t s) {
    nearest_center<<<512, 256, 0, s>>>(b.in, b.in2, reinterpret_cast<int*>(b.out), 1 << 17, 8, 32);
  });
  add("max_pool", "network", 5u << 22,
      [=](const Buffers& b, cudaStream_t s) { max_pool<<<4096, 256, 0, s>>>(b.in, b.out, 256, 256, 64); });
  add("conv3x3", "network", 8u << 20, [=](const Buffers& b, cudaStream_t s) {
    conv3x3<<<dim3(8, 8, 32), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 16, 32, 128, 128);
  });
  return list;
}

}  // namespace calibration
