// Layers and attention: rotations, norms and their gradients, embeddings, pooling, small products, losses.
#include <cuda_fp16.h>
#include <mma.h>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Rotary positions from tables: neighbours as pairs, or the halves of a head.
template <bool halves>
__global__ void rope(float* q, const float* cosines, const float* sines, int heads, int size, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int half_size = size / 2, pair = i % half_size, head = i / half_size, token = head / heads;
  float* own = q + head * size;
  const int a = halves ? pair : 2 * pair, b = halves ? pair + half_size : 2 * pair + 1;
  const float c = cosines[token * half_size + pair], s = sines[token * half_size + pair], x = own[a], y = own[b];
  own[a] = x * c - y * s;
  own[b] = x * s + y * c;
}

// Attention of one head per block in tiles of 32 x 32, scores in shared memory, output corrected in global memory.
__global__ void flash_minimal(const float* q, const float* k, const float* v, float* out, int n, float scale) {
  constexpr int d = 64, tile = 32;
  extern __shared__ float shared[];
  float *const qs = shared, *const ks = qs + tile * d, *const vs = ks + tile * d, *const scores = vs + tile * d;
  const int t = threadIdx.x, offset = blockIdx.x * n * d;
  for (int i = 0; i < n / tile; i++) {
    float largest = -INFINITY, sum = 0.0f;
    for (int x = 0; x < d; x++) qs[t * d + x] = q[offset + (i * tile + t) * d + x];
    for (int j = 0; j < n / tile; j++) {
      for (int x = 0; x < d; x++) {
        ks[t * d + x] = k[offset + (j * tile + t) * d + x];
        vs[t * d + x] = v[offset + (j * tile + t) * d + x];
      }
      __syncthreads();
      float m = largest;
      for (int y = 0; y < tile; y++) {
        float s = 0;
        for (int x = 0; x < d; x++) s += qs[t * d + x] * ks[y * d + x];
        scores[t * tile + y] = s * scale;
        m = fmaxf(m, s * scale);
      }
      float l = 0.0f;
      for (int y = 0; y < tile; y++) l += scores[t * tile + y] = __expf(scores[t * tile + y] - m);
      const float before = __expf(largest - m), total = before * sum + l;
      for (int x = 0; x < d; x++) {
        float pv = 0;
        for (int y = 0; y < tile; y++) pv += scores[t * tile + y] * vs[y * d + x];
        float* o = &out[offset + (i * tile + t) * d + x];
        *o = (j ? before * sum * *o + pv : pv) / total;
      }
      largest = m;
      sum = total;
      __syncthreads();
    }
  }
}

// Gradients of a norm's weights: parts of rows in shared memory, then the parts' sums.
__global__ void norm_weight_parts(const float* g, const float* x, const float* mean, const float* inverse,
                                  float* parts_g, float* parts_b, int rows, int columns) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  __shared__ float sg[8][33], sb[8][33];
  float dg = 0, db = 0;
  const int per = (rows + gridDim.y - 1) / gridDim.y, end = min(rows, (blockIdx.y + 1) * per);
  for (int r = blockIdx.y * per + threadIdx.y; r < end; r += 8) {
    const float v = g[r * columns + c];
    dg += v * (x[r * columns + c] - mean[r]) * inverse[r];
    db += v;
  }
  sg[threadIdx.y][threadIdx.x] = dg;
  sb[threadIdx.y][threadIdx.x] = db;
  __syncthreads();
  for (int s = 4; s > 0; s /= 2) {
    if (threadIdx.y < s) {
      sg[threadIdx.y][threadIdx.x] += sg[threadIdx.y + s][threadIdx.x];
      sb[threadIdx.y][threadIdx.x] += sb[threadIdx.y + s][threadIdx.x];
    }
    __syncthreads();
  }
  if (threadIdx.y) return;
  parts_g[blockIdx.y * columns + c] = sg[0][threadIdx.x];
  parts_b[blockIdx.y * columns + c] = sb[0][threadIdx.x];
}
__global__ void norm_weight_sums(const float* parts, float* out, int parts_count, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int p = 0; p < parts_count; p++) sum += parts[p * columns + c];
  out[c] = sum;
}

// A norm of rows of halves, eight per load, a warp per row.
__global__ void layer_norm_f16x8(const half* x, const half* weight, const half* bias, half* out, int rows) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[3][8], sum = 0, squares = 0;
#pragma unroll
  for (int j = 0; j < 3; j++) {
    const float4 raw = reinterpret_cast<const float4*>(x + row * 768)[j * 32 + lane];
    const half2* pairs = reinterpret_cast<const half2*>(&raw);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float2 f = __half22float2(pairs[i]);
      v[j][2 * i] = f.x, v[j][2 * i + 1] = f.y;
      sum += f.x + f.y;
      squares += f.x * f.x + f.y * f.y;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(~0u, sum, offset);
    squares += __shfl_xor_sync(~0u, squares, offset);
  }
  const float mean = sum / 768, inverse = rsqrtf(squares / 768 - mean * mean + 1e-5f);
#pragma unroll
  for (int j = 0; j < 3; j++) {
    const float4 w = reinterpret_cast<const float4*>(weight)[j * 32 + lane],
                 b = reinterpret_cast<const float4*>(bias)[j * 32 + lane];
    const half *wh = reinterpret_cast<const half*>(&w), *bh = reinterpret_cast<const half*>(&b);
    float4 packed;
    half* o = reinterpret_cast<half*>(&packed);
#pragma unroll
    for (int i = 0; i < 8; i++)
      o[i] = __float2half((v[j][i] - mean) * inverse * __half2float(wh[i]) + __half2float(bh[i]));
    reinterpret_cast<float4*>(out + row * 768)[j * 32 + lane] = packed;
  }
}

// Gradient of an embedding: atomics of all tokens, or each row of the table looks through the tokens.
__global__ void embedding_grad_atomic(const float* g, const int* tokens, float* table, int width, int vocabulary) {
  const int row = tokens[blockIdx.x] % vocabulary;
  for (int c = threadIdx.x; c < width; c += blockDim.x) atomicAdd(&table[row * width + c], g[blockIdx.x * width + c]);
}
__global__ void embedding_grad_search(const float* g, const int* tokens, float* table, int width, int vocabulary,
                                      int count) {
  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < count; t++)
    if (tokens[t] % vocabulary == blockIdx.x) sum += g[t * width + c];
  table[blockIdx.x * width + c] += sum;
}

// The largest of 3 x 3 with its place, and the gradient's way back: atomics, or a search by each input.
__global__ void max_pool_places(const float* in, float* out, int* places, int w, int h, int ow, int oh, int total) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    const int x = i % ow, y = i / ow % oh, plane = i / ow / oh;
    const int x0 = max(x * 2 - 1, 0), y0 = max(y * 2 - 1, 0), x1 = min(x * 2 + 2, w), y1 = min(y * 2 + 2, h);
    float best = -INFINITY;
    int at = -1;
    for (int yy = y0; yy < y1; yy++)
      for (int xx = x0; xx < x1; xx++)
        if (in[(plane * h + yy) * w + xx] > best) best = in[(plane * h + yy) * w + xx], at = yy * w + xx;
    out[i] = best;
    places[i] = at;
  }
}
__global__ void max_pool_backward(const float* g, const int* places, float* out, int inputs, int outputs, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) atomicAdd(&out[i / outputs * inputs + places[i] % inputs], g[i]);
}
__global__ void average_pool(const float* in, float* out, int w, int ow, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int x = i % ow, row = i / ow;
  float sum = 0;
  for (int dy = 0; dy < 4; dy++)
    for (int dx = 0; dx < 4; dx++) sum += in[(row * 4 + dy) * w + x * 4 + dx];
  out[i] = sum / 16;
}

// Convolutions: of single pixels, of each channel, of a small layer.
__global__ void conv1x1(const float* in, const float* weight, float* out, int ci, int pixels) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x, co = blockIdx.y;
  float sum = 0;
  for (int c = 0; c < ci; c++) sum += weight[co * ci + c] * in[c * pixels + p];
  out[co * pixels + p] = fmaxf(sum, 0.0f);
}
__global__ void depthwise3x3(const float* in, const float* weight, float* out, int channels, int w, int h) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, c = blockIdx.z;
  if (x >= w || y >= h) return;
  float sum = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; dy++)
#pragma unroll
    for (int dx = -1; dx <= 1; dx++) {
      const int yy = y + dy, xx = x + dx;
      if (yy >= 0 && yy < h && xx >= 0 && xx < w)
        sum += in[(c * h + yy) * w + xx] * weight[c % channels * 9 + (dy + 1) * 3 + dx + 1];
    }
  out[(c * h + y) * w + x] = sum;
}
__global__ void conv_shared_weights(const float* in, const float* weight, float* out, int ci, int w, int h) {
  __shared__ float filter[16 * 9];
  const int co = blockIdx.z;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < ci * 9; i += 256) filter[i] = weight[co * ci * 9 + i];
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= w - 2 || y >= h - 2) return;
  float sum = 0;
  for (int c = 0; c < ci; c++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) sum += in[(c * h + y + i) * w + x + j] * filter[c * 9 + i * 3 + j];
  out[(co * h + y) * w + x] = sum;
}

// Many small products, one per block.
template <int n>
__global__ void batched_gemm(const float* a, const float* b, float* c) {
  __shared__ float as[n][n], bs[n][n + 1];
  const int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * n * n;
  as[y][x] = a[base + y * n + x];
  bs[y][x] = b[base + y * n + x];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < n; k++) sum += as[y][k] * bs[k][x];
  c[base + y * n + x] = sum;
}

// A product in tiles of 64 x 64 x 8 and 4 x 4 per thread; the next tile is loaded while one is used.
__global__ void sgemm_double_buffer(const float* a, const float* b, float* c, int n, int k) {
  __shared__ float as[2][8][64], bs[2][8][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
  const int ar = t / 4, ac = t % 4 * 2, br = t / 32, bc = t % 32 * 2;
  float sums[4][4] = {};
  float2 na = *reinterpret_cast<const float2*>(&a[(row + ar) * k + ac]),
         nb = *reinterpret_cast<const float2*>(&b[br * n + column + bc]);
  as[0][ac][ar] = na.x, as[0][ac + 1][ar] = na.y;
  *reinterpret_cast<float2*>(&bs[0][br][bc]) = nb;
  __syncthreads();
  int now = 0;
  for (int first = 8; first <= k; first += 8) {
    if (first < k) {
      na = *reinterpret_cast<const float2*>(&a[(row + ar) * k + first + ac]);
      nb = *reinterpret_cast<const float2*>(&b[(first + br) * n + column + bc]);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float4 x = *reinterpret_cast<const float4*>(&as[now][i][ty * 4]),
                   y = *reinterpret_cast<const float4*>(&bs[now][i][tx * 4]);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int u = 0; u < 4; u++)
#pragma unroll
        for (int v = 0; v < 4; v++) sums[u][v] += xs[u] * ys[v];
    }
    if (first < k) {
      now ^= 1;
      as[now][ac][ar] = na.x, as[now][ac + 1][ar] = na.y;
      *reinterpret_cast<float2*>(&bs[now][br][bc]) = nb;
    }
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < 4; u++)
    *reinterpret_cast<float4*>(&c[(row + ty * 4 + u) * n + column + tx * 4]) =
        make_float4(sums[u][0], sums[u][1], sums[u][2], sums[u][3]);
}
__global__ void tensor_gemm(const half* a, const half* b, float* c, int n, int k) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * k + i, k);
    wmma::load_matrix_sync(fb, b + i * n + blockIdx.x * 16, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}

// Parts of attention that were computed for pieces of the context, brought together. A block per head.
__global__ void combine_splits(const float* parts, const float2* sums, float* out, int splits) {
  const int d = threadIdx.x, head = blockIdx.x;
  float largest = -INFINITY, total = 0, v = 0;
  for (int s = 0; s < splits; s++) largest = fmaxf(largest, sums[head * splits + s].x);
  for (int s = 0; s < splits; s++) {
    const float2 one = sums[head * splits + s];
    const float w = expf(one.x - largest);
    total += w * one.y;
    v += w * parts[(head * splits + s) * 128 + d];
  }
  out[head * 128 + d] = v / total;
}

// The focal loss of each logit and its gradient.
__global__ void focal_loss(const float* x, const float* target, float* loss, float* grad, float alpha, float gamma,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float p = 1.0f / (1.0f + expf(-x[i])), t = target[i] > 0.9f ? 1.0f : 0.0f;
  const float pt = t * p + (1 - t) * (1 - p), at = t * alpha + (1 - t) * (1 - alpha), log_pt = logf(fmaxf(pt, 1e-8f));
  const float w = at * powf(1 - pt, gamma);
  loss[i] = -w * log_pt;
  grad[i] = w * (gamma * pt * log_pt + pt - 1) * (2 * t - 1);
}

// Linear attention: a state of 64 x 64 per head, a column per thread, goes through the tokens.
__global__ void linear_attention(const float* q, const float* k, const float* v, float* out, int tokens) {
  __shared__ float qs[64], ks[64];
  const int d = threadIdx.x, base = blockIdx.x * tokens * 64;
  float state[64];
#pragma unroll
  for (int i = 0; i < 64; i++) state[i] = 0;
  for (int t = 0; t < tokens; t++) {
    __syncthreads();
    qs[d] = q[base + t * 64 + d];
    ks[d] = k[base + t * 64 + d];
    __syncthreads();
    const float x = v[base + t * 64 + d];
    float y = 0;
#pragma unroll
    for (int i = 0; i < 64; i++) {
      state[i] += ks[i] * x;
      y += qs[i] * state[i];
    }
    out[base + t * 64 + d] = y;
  }
}

}  // namespace

std::vector<Case> ninth_layers() {
  std::vector<Case> list;
  const Add add = {list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto halves = [](float* p) { return reinterpret_cast<half*>(p); };
  constexpr size_t m = size_t{1} << 20;
  add("rope pairs", "rope", 20 * m, [=](const Buffers& b, cudaStream_t s) {
    rope<false><<<8192, 256, 0, s>>>(b.in, b.in2, b.in2 + (1 << 16), 32, 128, 1 << 21);
  });
  add("rope halves", "rope", 20 * m, [=](const Buffers& b, cudaStream_t s) {
    rope<true><<<8192, 256, 0, s>>>(b.in, b.in2, b.in2 + (1 << 16), 32, 128, 1 << 21);
  });
  add("flash_minimal", "attention, small", 8 * m, [=](const Buffers& b, cudaStream_t s) {
    flash_minimal<<<64, 32, (3 * 32 * 64 + 32 * 32) * 4, s>>>(b.in, b.in2, b.in + m, b.out, 128, 0.125f);
  });
  add("linear_attention", "attention, small", 16 * m, [=](const Buffers& b, cudaStream_t s) {
    linear_attention<<<128, 64, 0, s>>>(b.in, b.in2, b.in + m, b.out, 128);
  });
  for (const int splits : {4, 32})
    add("combine_splits " + std::to_string(splits), "combine_splits", size_t{132096} * splits,
        [=](const Buffers& b, cudaStream_t s) {
          combine_splits<<<256, 128, 0, s>>>(b.in, reinterpret_cast<float2*>(b.in2), b.out, splits);
        });
  add("norm_weight_parts", "norms, more", 16 * m, [=](const Buffers& b, cudaStream_t s) {
    norm_weight_parts<<<dim3(32, 16), dim3(32, 8), 0, s>>>(b.in, b.in2, b.in + 2 * m, b.in2 + 2 * m, b.out, b.out + m,
                                                           2048, 1024);
  });
  add("norm_weight_sums", "norms, more", m / 2,
      [=](const Buffers& b, cudaStream_t s) { norm_weight_sums<<<8, 128, 0, s>>>(b.in, b.out, 128, 1024); });
  add("layer_norm_f16x8", "norms, more", 24 * m, [=](const Buffers& b, cudaStream_t s) {
    layer_norm_f16x8<<<2048, 128, 0, s>>>(halves(b.in), halves(b.in2), halves(b.in2 + 512), halves(b.out), 8192);
  });
  add("embedding_grad_atomic", "embedding_grad", 6 * m, [=](const Buffers& b, cudaStream_t s) {
    embedding_grad_atomic<<<1024, 256, 0, s>>>(b.in, ints(b.in2), b.out, 768, 1000);
  });
  add("embedding_grad_search", "embedding_grad", 6 * m, [=](const Buffers& b, cudaStream_t s) {
    embedding_grad_search<<<dim3(1000, 3), 256, 0, s>>>(b.in, ints(b.in2), b.out, 768, 1000, 256);
  });
  add("max_pool_places", "pools", 24 * m, [=](const Buffers& b, cudaStream_t s) {
    max_pool_places<<<2048, 256, 0, s>>>(b.in, b.out, ints(b.out + 4 * m), 128, 128, 64, 64, 1 << 20);
  });
  add("max_pool_backward", "pools", 24 * m, [=](const Buffers& b, cudaStream_t s) {
    max_pool_backward<<<4096, 256, 0, s>>>(b.in, ints(b.in2), b.out, 16384, 4096, 1 << 20);
  });
  add("average_pool", "pools", 17 * m,
      [=](const Buffers& b, cudaStream_t s) { average_pool<<<1024, 256, 0, s>>>(b.in, b.out, 1024, 256, 1 << 18); });
  add("conv1x1", "convolutions of channels", 3 * m,
      [=](const Buffers& b, cudaStream_t s) { conv1x1<<<dim3(12, 96), 256, 0, s>>>(b.in, b.in2, b.out, 96, 3072); });
  add("depthwise3x3", "convolutions of channels", 18 * m, [=](const Buffers& b, cudaStream_t s) {
    depthwise3x3<<<dim3(4, 14, 192), dim3(32, 8), 0, s>>>(b.in, b.in2, b.out, 96, 112, 112);
  });
  add("conv_shared_weights", "convolutions of channels", 6 * m, [=](const Buffers& b, cudaStream_t s) {
    conv_shared_weights<<<dim3(12, 12, 16), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 16, 192, 192);
  });
  add("batched_gemm 8", "batched_gemm", 12 * m,
      [=](const Buffers& b, cudaStream_t s) { batched_gemm<8><<<16384, dim3(8, 8), 0, s>>>(b.in, b.in2, b.out); });
  add("batched_gemm 16", "batched_gemm", 12 * m,
      [=](const Buffers& b, cudaStream_t s) { batched_gemm<16><<<4096, dim3(16, 16), 0, s>>>(b.in, b.in2, b.out); });
  add("batched_gemm 32", "batched_gemm", 12 * m,
      [=](const Buffers& b, cudaStream_t s) { batched_gemm<32><<<1024, dim3(32, 32), 0, s>>>(b.in, b.in2, b.out); });
  for (const int n : {256, 768})
    add("sgemm_double_buffer " + std::to_string(n), "products of matrices", size_t{12} * n * n,
        [=](const Buffers& b, cudaStream_t s) {
          sgemm_double_buffer<<<dim3(n / 64, n / 64), 256, 0, s>>>(b.in, b.in2, b.out, n, n);
        });
  add("tensor_gemm", "products of matrices", 4 * m, [=](const Buffers& b, cudaStream_t s) {
    tensor_gemm<<<dim3(32, 32), 32, 0, s>>>(halves(b.in), halves(b.in2), b.out, 512, 512);
  });
  add("focal_loss", "losses, more", 32 * m, [=](const Buffers& b, cudaStream_t s) {
    focal_loss<<<8192, 256, 0, s>>>(b.in, b.in2, b.out, b.out + 2 * m, 0.25f, 2.0f, 1 << 21);
  });
  return list;
}

}  // namespace calibration
