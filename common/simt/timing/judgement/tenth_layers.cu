// Layers of networks: small products in batches, rows by warps with packs of halves, one token's attention, backward
// passes, norms, windows.
#include <cuda_fp16.h>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Products of 4 x 4 matrices: a thread for each of them, and a thread for each element.
__global__ void products4_by_thread(const float4* a, const float4* b, float4* c, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 right[4];
  for (int r = 0; r < 4; r++) right[r] = b[i * 4 + r];
  for (int r = 0; r < 4; r++) {
    const float4 l = a[i * 4 + r];
    float4 sum;
    sum.x = l.x * right[0].x + l.y * right[1].x + l.z * right[2].x + l.w * right[3].x;
    sum.y = l.x * right[0].y + l.y * right[1].y + l.z * right[2].y + l.w * right[3].y;
    sum.z = l.x * right[0].z + l.y * right[1].z + l.z * right[2].z + l.w * right[3].z;
    sum.w = l.x * right[0].w + l.y * right[1].w + l.z * right[2].w + l.w * right[3].w;
    c[i * 4 + r] = sum;
  }
}
template <int n>
__global__ void products_by_element(const float* a, const float* b, float* c, int elements_in_all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements_in_all) return;
  const int matrix = i / (n * n), row = i / n % n, column = i % n;
  const float *left = a + matrix * n * n + row * n, *right = b + matrix * n * n + column;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < n; k++) sum += left[k] * right[k * n];
  c[i] = sum;
}

// A matrix of halves by a vector: a warp takes `rows` rows at a time, eight halves a load.
template <int rows>
__global__ void gemv_packs(const half* a, const half* x, float* y, int n) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sums[rows] = {};
  for (int i = lane; i < n / 8; i += 32) {
    const uint4 v = reinterpret_cast<const uint4*>(x)[i];
    const half2* vector = reinterpret_cast<const half2*>(&v);
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const uint4 w = reinterpret_cast<const uint4*>(a + (warp * rows + r) * n)[i];
      const half2* row = reinterpret_cast<const half2*>(&w);
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const float2 p = __half22float2(row[k]), q = __half22float2(vector[k]);
        sums[r] += p.x * q.x + p.y * q.y;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < rows; r++) {
    for (int offset = 16; offset > 0; offset /= 2) sums[r] += __shfl_down_sync(~0u, sums[r], offset);
    if (lane == 0) y[warp * rows + r] = sums[r];
  }
}

// One token's attention over `length` keys of 64 halves: a block per head, a warp per key, then threads by column.
__global__ void decode_heads(const float* q, const half2* k, const half2* v, float* out, int length, int sharing) {
  extern __shared__ float scores[];
  __shared__ float parts[8], sums[8][64];
  const int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const half2* keys = k + head / sharing * length * 32;
  const half2* values = v + head / sharing * length * 32;
  const float2 query = reinterpret_cast<const float2*>(q)[head * 32 + lane];
  float largest = -1e30f;
  for (int t = warp; t < length; t += 8) {
    const float2 key = __half22float2(keys[t * 32 + lane]);
    float dot = key.x * query.x + key.y * query.y;
    for (int mask = 16; mask > 0; mask /= 2) dot += __shfl_xor_sync(~0u, dot, mask);
    dot *= 0.125f;
    if (lane == 0) scores[t] = dot;
    largest = fmaxf(largest, dot);
  }
  if (lane == 0) parts[warp] = largest;
  __syncthreads();
  for (int w = 0; w < 8; w++) largest = fmaxf(largest, parts[w]);
  float total = 0.0f;
  for (int t = lane; t < length; t += 32) total += __expf(scores[t] - largest);
  for (int mask = 16; mask > 0; mask /= 2) total += __shfl_xor_sync(~0u, total, mask);
  float2 sum = {0.0f, 0.0f};
  for (int t = warp; t < length; t += 8) {
    const float weight = __expf(scores[t] - largest);
    const float2 value = __half22float2(values[t * 32 + lane]);
    sum.x += weight * value.x;
    sum.y += weight * value.y;
  }
  sums[warp][2 * lane] = sum.x;
  sums[warp][2 * lane + 1] = sum.y;
  __syncthreads();
  if (threadIdx.x >= 64) return;
  float all = 0.0f;
  for (int w = 0; w < 8; w++) all += sums[w][threadIdx.x];
  out[head * 64 + threadIdx.x] = all / total;
}

// dx = y (dy - sum(y dy)): a warp per row that keeps it in registers, and a block per row that reads it twice.
template <int each>
__global__ void softmax_backward_warp(const float* y, const float* dy, float* dx, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  y += row * each * 32, dy += row * each * 32, dx += row * each * 32;
  float probability[each], gradient[each], sum = 0.0f;
#pragma unroll
  for (int i = 0; i < each; i++) {
    probability[i] = y[i * 32 + lane];
    gradient[i] = dy[i * 32 + lane] * probability[i];
    sum += gradient[i];
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
#pragma unroll
  for (int i = 0; i < each; i++) dx[i * 32 + lane] = gradient[i] - probability[i] * sum;
}
__global__ void softmax_backward_block(const float* y, const float* dy, float* dx, int columns) {
  __shared__ float parts[32];
  const int row = blockIdx.x * columns, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += y[row + i] * dy[row + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (lane == 0) parts[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? parts[lane] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (lane == 0) parts[0] = sum;
  }
  __syncthreads();
  sum = parts[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) dx[row + i] = y[row + i] * (dy[row + i] - sum);
}

// Gradients of a layer norm's weights: a block of 32 x 8 threads goes down 32 columns.
__global__ void norm_gradients(const float* dy, const float* x, const float* mean, const float* rstd, float* dw,
                               float* db, int rows, int columns) {
  __shared__ float w[8][33], b[8][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float sum_w = 0.0f, sum_b = 0.0f;
  for (int row = threadIdx.y; row < rows; row += 8) {
    const float g = dy[row * columns + column];
    sum_w += g * (x[row * columns + column] - mean[row]) * rstd[row];
    sum_b += g;
  }
  w[threadIdx.y][threadIdx.x] = sum_w;
  b[threadIdx.y][threadIdx.x] = sum_b;
  __syncthreads();
  for (int half_of = 4; half_of > 0; half_of /= 2) {
    if (threadIdx.y < half_of) {
      w[threadIdx.y][threadIdx.x] += w[threadIdx.y + half_of][threadIdx.x];
      b[threadIdx.y][threadIdx.x] += b[threadIdx.y + half_of][threadIdx.x];
    }
    __syncthreads();
  }
  if (threadIdx.y == 0) dw[column] = w[0][threadIdx.x], db[column] = b[0][threadIdx.x];
}

// Group norm with channels last: 16 channels a group, 512 channels, a block per picture and group.
__global__ void group_norm_last(const float4* x, const float* weight, const float* bias, float4* y, int places) {
  __shared__ float sums[16], squares[16];
  const int group = blockIdx.x, part = threadIdx.x % 4, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  x += blockIdx.y * places * 128 + group * 4, y += blockIdx.y * places * 128 + group * 4;
  float sum = 0.0f, square = 0.0f;
  for (int p = threadIdx.x / 4; p < places; p += blockDim.x / 4) {
    const float4 v = x[p * 128 + part];
    sum += v.x + v.y + v.z + v.w;
    square += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(~0u, sum, offset);
    square += __shfl_xor_sync(~0u, square, offset);
  }
  if (lane == 0) sums[warp] = sum, squares[warp] = square;
  __syncthreads();
  sum = square = 0.0f;
  for (int w = 0; w < blockDim.x / 32; w++) sum += sums[w], square += squares[w];
  const float mean = sum / (places * 16), scale = rsqrtf(square / (places * 16) - mean * mean + 1e-5f);
  const float4 w = reinterpret_cast<const float4*>(weight)[group * 4 + part];
  const float4 b = reinterpret_cast<const float4*>(bias)[group * 4 + part];
  for (int p = threadIdx.x / 4; p < places; p += blockDim.x / 4) {
    const float4 v = x[p * 128 + part];
    y[p * 128 + part] = make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y,
                                    (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w);
  }
}

// A depthwise convolution of any size and stride, a thread per output, as frameworks fall back to.
template <int size>
__global__ void depthwise(const float* x, const float* weight, float* y, int channels, int height, int width,
                          int stride, int total) {
  const int out_width = width / stride, out_height = height / stride;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    const int column = i % out_width, row = i / out_width % out_height, plane = i / out_width / out_height;
    const float *in = x + plane * height * width, *w = weight + plane % channels * size * size;
    float sum = 0.0f;
#pragma unroll
    for (int r = 0; r < size; r++)
#pragma unroll
      for (int c = 0; c < size; c++) {
        const int at_row = row * stride + r - size / 2, at_column = column * stride + c - size / 2;
        if (at_row >= 0 && at_row < height && at_column >= 0 && at_column < width)
          sum += in[at_row * width + at_column] * w[r * size + c];
      }
    y[i] = sum;
  }
}

}  // namespace

std::vector<Case> tenth_layers() {
  std::vector<Case> list;
  const Add add{list};
  const auto halves = [](float* p) { return reinterpret_cast<half*>(p); };
  const auto half2s = [](float* p) { return reinterpret_cast<half2*>(p); };
  const auto quads = [](float* p) { return reinterpret_cast<float4*>(p); };
  add("products4_by_thread", "small products", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    products4_by_thread<<<512, 256, 0, s>>>(quads(b.in), quads(b.in2), quads(b.out), 1 << 17);
  });
  add("products_by_element 4", "small products", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    products_by_element<4><<<8192, 256, 0, s>>>(b.in, b.in2, b.out, 1 << 21);
  });
  add("products_by_element 16", "small products", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    products_by_element<16><<<8192, 256, 0, s>>>(b.in, b.in2, b.out, 1 << 21);
  });
  const auto gemv = [&](const char* name, auto kernel, int rows) {
    add(name, "gemv_packs", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
      kernel<<<4096 / rows / 4, 128, 0, s>>>(halves(b.in), halves(b.in2), b.out, 2048);
    });
  };
  gemv("gemv_packs 1", gemv_packs<1>, 1);
  gemv("gemv_packs 2", gemv_packs<2>, 2);
  gemv("gemv_packs 4", gemv_packs<4>, 4);
  for (const int length : {128, 256, 768})
    add("decode_heads " + std::to_string(length), "decode_heads", size_t{16384} * length,
        [=](const Buffers& b, cudaStream_t s) {
          decode_heads<<<256, 256, length * 4, s>>>(b.in, half2s(b.in2), half2s(b.in2) + 2048 * length, b.out, length,
                                                    4);
        });
  add("softmax_backward_warp 128", "rows backward", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    softmax_backward_warp<4><<<4096, 128, 0, s>>>(b.in, b.in2, b.out, 16384);
  });
  add("softmax_backward_warp 1024", "rows backward", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    softmax_backward_warp<32><<<512, 128, 0, s>>>(b.in, b.in2, b.out, 2048);
  });
  add("softmax_backward_block 1024", "rows backward", size_t{24} << 20,
      [=](const Buffers& b, cudaStream_t s) { softmax_backward_block<<<2048, 256, 0, s>>>(b.in, b.in2, b.out, 1024); });
  add("softmax_backward_block 16384", "rows backward", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    softmax_backward_block<<<128, 1024, 0, s>>>(b.in, b.in2, b.out, 16384);
  });
  for (const int rows : {512, 4096})
    add("norm_gradients " + std::to_string(rows), "norm_gradients", size_t{8192} * rows,
        [=](const Buffers& b, cudaStream_t s) {
          norm_gradients<<<32, dim3(32, 8), 0, s>>>(b.in, b.in2, b.in + rows * 1024, b.in + rows * 1025, b.out,
                                                    b.out + 1024, rows, 1024);
        });
  for (const int places : {64, 256})
    add("group_norm_last " + std::to_string(places), "group_norm_last", size_t{65536} * places,
        [=](const Buffers& b, cudaStream_t s) {
          group_norm_last<<<dim3(32, 16), 256, 0, s>>>(quads(b.in), b.in2, b.in2 + 512, quads(b.out), places);
        });
  const auto window = [&](const char* name, auto kernel, int stride) {
    add(name, "depthwise windows", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
      const int total = (1 << 20) / stride / stride;
      kernel<<<total / 256, 256, 0, s>>>(b.in, b.in2, b.out, 64, 64, 64, stride, total);
    });
  };
  window("depthwise 3", depthwise<3>, 1);
  window("depthwise 5", depthwise<5>, 1);
  window("depthwise 5 stride 2", depthwise<5>, 2);
  return list;
}

}  // namespace calibration
