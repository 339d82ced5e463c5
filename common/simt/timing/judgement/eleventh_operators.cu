// Operators of a framework and of small trainers: layers forward and backward, softmax in several ways, rows by index,
// pictures of many channels, running sums, steps of optimisers, caches of keys; in float, half and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

template <typename T>
T* as(float* p) {
  return reinterpret_cast<T*>(p);
}

// Softmax of rows: by one thread each, by a block in shared memory, by a block with shuffles.
__global__ void softmax_thread(const float* inp, float* out, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    const float* inp_row = inp + i * C;
    float* out_row = out + i * C;
    float maxval = -INFINITY;
    for (int j = 0; j < C; j++)
      if (inp_row[j] > maxval) maxval = inp_row[j];
    double sum = 0.0;
    for (int j = 0; j < C; j++) {
      out_row[j] = expf(inp_row[j] - maxval);
      sum += out_row[j];
    }
    for (int j = 0; j < C; j++) out_row[j] /= (float)sum;
  }
}
__global__ void softmax_shared(const float* inp, float* out, int N, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x, tid = threadIdx.x, block_size = blockDim.x;
  const float* x = inp + idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += block_size) maxval = fmaxf(maxval, x[i]);
  shared[tid] = maxval;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
  }
  __syncthreads();
  float offset = shared[0];
  for (int i = tid; i < C; i += block_size) out[idx * C + i] = expf(x[i] - offset);
  __syncthreads();
  x = out + idx * C;
  float sumval = 0.0f;
  for (int i = tid; i < C; i += block_size) sumval += x[i];
  shared[tid] = sumval;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] += shared[tid + stride];
  }
  __syncthreads();
  float sum = shared[0];
  for (int i = tid; i < C; i += block_size) out[idx * C + i] = x[i] / sum;
}
template <typename T>
__global__ void softmax_shuffles(const T* inp, T* out, int C) {
  __shared__ float parts[32];
  const T* x = inp + static_cast<size_t>(blockIdx.x) * C;
  T* y = out + static_cast<size_t>(blockIdx.x) * C;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float most = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x; i < C; i += blockDim.x) {
    const float v = static_cast<float>(x[i]), higher = fmaxf(most, v);
    sum = sum * __expf(most - higher) + __expf(v - higher);
    most = higher;
  }
  float all = most;
  for (int o = 16; o > 0; o >>= 1) all = fmaxf(all, __shfl_xor_sync(0xffffffff, all, o));
  if (lane == 0) parts[warp] = all;
  __syncthreads();
  all = lane < warps ? parts[lane] : -INFINITY;
  for (int o = 16; o > 0; o >>= 1) all = fmaxf(all, __shfl_xor_sync(0xffffffff, all, o));
  __syncthreads();
  sum = most == -INFINITY ? 0.0f : sum * __expf(most - all);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, o);
  if (lane == 0) parts[warp] = sum;
  __syncthreads();
  sum = lane < warps ? parts[lane] : 0.0f;
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, o);
  const float scale = 1.0f / sum;
  for (int i = threadIdx.x; i < C; i += blockDim.x)
    y[i] = static_cast<T>(__expf(static_cast<float>(x[i]) - all) * scale);
}

// Attention's scores with a mask, and the sum of values, a thread for each number.
__global__ void scores(float* preatt, const float* inp, int B, int T, int C, int NH) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= B * NH * T * T) return;
  int t2 = idx % T, t = (idx / T) % T;
  if (t2 > t) {
    preatt[idx] = -INFINITY;
    return;
  }
  int h = (idx / (T * T)) % NH, b = idx / (NH * T * T);
  int C3 = C * 3, hs = C / NH;
  const float* query_t = inp + b * T * C3 + t * C3 + h * hs;
  const float* key_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C;
  float val = 0.0f;
  for (int i = 0; i < hs; i++) val += query_t[i] * key_t2[i];
  val *= 1.0 / sqrtf(hs);
  preatt[idx] = val;
}
__global__ void weighted_values(float* out, const float* att, const float* inp, int B, int T, int C, int NH) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= B * T * NH) return;
  int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T);
  int C3 = C * 3, hs = C / NH;
  float* out_bth = out + b * T * C + t * C + h * hs;
  const float* att_bth = att + b * NH * T * T + h * T * T + t * T;
  for (int i = 0; i < hs; i++) out_bth[i] = 0.0f;
  for (int t2 = 0; t2 <= t; t2++) {
    const float* value_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C * 2;
    float att_btht2 = att_bth[t2];
    for (int i = 0; i < hs; i++) out_bth[i] += att_btht2 * value_t2[i];
  }
}

// Layers' edges: activations and their gradients, dropout with a residual, a bias's gradient.
template <typename T>
__global__ void gelu_grad(T* dinp, const T* inp, const T* dout, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float x = (float)inp[i];
  float cube = 0.044715f * x * x * x;
  float tanh_arg = 0.7978845608f * (x + cube);
  float tanh_out = tanhf(tanh_arg);
  float coshf_out = coshf(tanh_arg);
  float sech_out = 1.0f / (coshf_out * coshf_out);
  float local_grad = 0.5f * (1.0f + tanh_out) + x * 0.5f * sech_out * 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);
  dinp[i] = (T)(local_grad * (float)dout[i]);
}
template <typename T>
__global__ void bias_gradient(const T* dout, T* dbias, int BT, int OC) {
  __shared__ float warpsum[8][32];
  int oc = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  for (int r = threadIdx.y; r < BT; r += 8) sum += (float)dout[r * OC + oc];
  warpsum[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0) {
    for (int k = 1; k < 8; k++) sum += warpsum[k][threadIdx.x];
    dbias[oc] = (T)((float)dbias[oc] + sum);
  }
}

// A norm of rows: two passes by a warp, with its weights, and what comes back to the input.
__global__ void norm_rows(const float* x, const float* w, const float* bias, float* y, int C, float eps) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const float* in = x + row * C;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < C; i += 32) sum += in[i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffff, sum, o);
  const float mean = sum / C;
  for (int i = threadIdx.x; i < C; i += 32) squares += (in[i] - mean) * (in[i] - mean);
  for (int o = 16; o > 0; o /= 2) squares += __shfl_xor_sync(0xffffffff, squares, o);
  const float rstd = rsqrtf(squares / C + eps);
  for (int i = threadIdx.x; i < C; i += 32) y[row * C + i] = (in[i] - mean) * rstd * w[i] + bias[i];
}

// Rows by index, and back; a running sum along the middle axis; where a mask is set.
template <typename T>
__global__ void index_select(const T* in, const int* index, T* out, int width, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) out[i] = in[index[i / width] * width + i % width];
}
__global__ void index_add(float* out, const int* index, const float* in, int width, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) atomicAdd(&out[index[i / width] * width + i % width], in[i]);
}
__global__ void cumsum_axis(const float* in, float* out, int outer, int length, int inner) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outer * inner) return;
  const int base = i / inner * length * inner + i % inner;
  float sum = 0.0f;
  for (int k = 0; k < length; k++) {
    sum += in[base + k * inner];
    out[base + k * inner] = sum;
  }
}
template <typename T>
__global__ void masked_fill(T* x, const uint8_t* mask, T value, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (mask[i] & 1) x[i] = value;
}

// Pictures of many channels: a convolution, each output by a thread; a bilinear picture; norms per channel; a shift.
template <int K>
__global__ void conv2d_direct(const float* in, const float* weight, const float* bias, float* out, int channels,
                              int height, int width, int outs) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= outs * height * width) return;
  int x = idx % width, y = idx / width % height, oc = idx / (width * height);
  float sum = bias[oc];
  for (int ic = 0; ic < channels; ic++)
    for (int ky = 0; ky < K; ky++)
      for (int kx = 0; kx < K; kx++) {
        int iy = y + ky - K / 2, ix = x + kx - K / 2;
        if (iy >= 0 && iy < height && ix >= 0 && ix < width)
          sum += in[(ic * height + iy) * width + ix] * weight[((oc * channels + ic) * K + ky) * K + kx];
      }
  out[idx] = sum;
}
template <typename T>
__global__ void resize_bilinear(const T* in, T* out, int channels, int h, int w, int oh, int ow) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= oh * ow) return;
  const int w2 = index % ow, h2 = index / ow;
  const float h1r = (h - 1.0f) / (oh - 1.0f) * h2, w1r = (w - 1.0f) / (ow - 1.0f) * w2;
  const int h1 = h1r, h1p = h1 < h - 1 ? 1 : 0, w1 = w1r, w1p = w1 < w - 1 ? 1 : 0;
  const float h1l = h1r - h1, h0l = 1.0f - h1l, w1l = w1r - w1, w0l = 1.0f - w1l;
  for (int c = 0; c < channels; ++c) {
    const T* p = in + c * h * w;
    const float val = h0l * (w0l * (float)p[h1 * w + w1] + w1l * (float)p[h1 * w + w1 + w1p]) +
                      h1l * (w0l * (float)p[(h1 + h1p) * w + w1] + w1l * (float)p[(h1 + h1p) * w + w1 + w1p]);
    out[c * oh * ow + index] = (T)val;
  }
}
__global__ void channel_statistics(const float* in, float* mean, float* var, int n, int channels, int spatial) {
  __shared__ float sums[256], squares[256];
  const int c = blockIdx.x, t = threadIdx.x;
  float s = 0.0f, q = 0.0f;
  for (int i = t; i < n * spatial; i += blockDim.x) {
    const float v = in[(i / spatial * channels + c) * spatial + i % spatial];
    s += v;
    q += v * v;
  }
  sums[t] = s;
  squares[t] = q;
  __syncthreads();
  for (int o = blockDim.x / 2; o > 0; o >>= 1) {
    if (t < o) {
      sums[t] += sums[t + o];
      squares[t] += squares[t + o];
    }
    __syncthreads();
  }
  if (t == 0) {
    const float m = sums[0] / (n * spatial);
    mean[c] = m;
    var[c] = squares[0] / (n * spatial) - m * m;
  }
}
__global__ void roll(const float* in, float* out, int rows, int cols, int down, int right) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  int r = (i / cols + down) % rows, c = (i % cols + right) % cols;
  out[r * cols + c] = in[i];
}

// Steps of optimisers, and a table of keys in eight bits.
template <typename T>
__global__ void adagrad(T* param, const T* grad, float* state, float lr, float decay, float eps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = (float)param[i], g = (float)grad[i] + decay * p;
  float s = state[i] + g * g;
  state[i] = s;
  param[i] = (T)(p - lr * g / (sqrtf(s) + eps));
}
__global__ void quantise_keys(const __nv_bfloat16* k, int8_t* cache, float* scales, int width) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  float most = 0.0f;
  for (int i = lane; i < width; i += 32) most = fmaxf(most, fabsf(__bfloat162float(k[row * width + i])));
  for (int o = 16; o > 0; o >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, o));
  const float scale = most / 127.0f;
  if (lane == 0) scales[row] = scale;
  for (int i = lane; i < width; i += 32)
    cache[row * width + i] = static_cast<int8_t>(rintf(__bfloat162float(k[row * width + i]) / scale));
}

template <typename T>
void edges(const Add& add, const char* type) {
  const std::string tail = std::string(" ") + type;
  constexpr int n = 1 << 19;
  add("gelu_grad" + tail, "edges of layers", sizeof(T) * n, [=](const Buffers& b, cudaStream_t s) {
    gelu_grad<T><<<n / 256, 256, 0, s>>>(as<T>(b.out), as<T>(b.in), as<T>(b.in2), n);
  });
  add("bias_gradient" + tail, "edges of layers", sizeof(T) * n, [=](const Buffers& b, cudaStream_t s) {
    bias_gradient<T><<<16, dim3(32, 8), 0, s>>>(as<T>(b.in), as<T>(b.out), 1024, 512);
  });
  add("adagrad" + tail, "edges of layers", size_t{8} * n, [=](const Buffers& b, cudaStream_t s) {
    adagrad<T><<<n / 512, 512, 0, s>>>(as<T>(b.in), as<T>(b.in2), b.out, 0.01f, 0.001f, 1e-8f, n);
  });
  add("masked_fill" + tail, "edges of layers", sizeof(T) * n, [=](const Buffers& b, cudaStream_t s) {
    masked_fill<T><<<512, 256, 0, s>>>(as<T>(b.out), as<uint8_t>(b.in), T(0.5f), n);
  });
  for (const int width : {64, 1024})
    add(
        "index_select" + tail + " " + std::to_string(width), "rows by index", sizeof(T) * n,
        [=](const Buffers& b, cudaStream_t s) {
          index_select<T><<<n / 256, 256, 0, s>>>(as<T>(b.in), as<int>(b.in2), as<T>(b.out), width, n);
        },
        indices(n / width, n / width));
  add("resize_bilinear" + tail, "pictures", sizeof(T) * 8 * 65536, [=](const Buffers& b, cudaStream_t s) {
    resize_bilinear<T><<<256, 256, 0, s>>>(as<T>(b.in), as<T>(b.out), 8, 128, 128, 256, 256);
  });
  for (const int cols : {512, 4096})
    add("softmax_shuffles" + tail + " " + std::to_string(cols), cols == 512 ? "softmax 512" : "softmax 4096",
        sizeof(T) << 20, [=](const Buffers& b, cudaStream_t s) {
          softmax_shuffles<T><<<(1 << 20) / cols, 256, 0, s>>>(as<T>(b.in), as<T>(b.out), cols);
        });
}

}  // namespace

std::vector<Case> eleventh_operators() {
  std::vector<Case> list;
  const Add add{list};
  edges<float>(add, "f32");
  edges<__half>(add, "f16");
  edges<__nv_bfloat16>(add, "bf16");
  add("softmax_thread", "softmax 512", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { softmax_thread<<<16, 128, 0, s>>>(b.in, b.out, 2048, 512); });
  for (const int cols : {512, 4096})
    add("softmax_shared " + std::to_string(cols), cols == 512 ? "softmax 512" : "softmax 4096", size_t{4} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          softmax_shared<<<(1 << 20) / cols, 256, 1024, s>>>(b.in, b.out, (1 << 20) / cols, cols);
        });
  add("scores", "attention", size_t{2} << 20, [=](const Buffers& b, cudaStream_t s) {
    scores<<<2 * 4 * 128 * 128 / 256, 256, 0, s>>>(b.out, b.in, 2, 128, 256, 4);
  });
  add("weighted_values", "attention", size_t{2} << 20,
      [=](const Buffers& b, cudaStream_t s) { weighted_values<<<8, 128, 0, s>>>(b.out, b.in2, b.in, 2, 128, 256, 4); });
  for (const int cols : {256, 2048})
    add("norm_rows " + std::to_string(cols), "norm_rows", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
      norm_rows<<<(1 << 20) / cols / 4, dim3(32, 4), 0, s>>>(b.in, b.in2, b.in2 + 4096, b.out, cols, 1e-5f);
    });
  for (const int width : {64, 1024})
    add(
        "index_add " + std::to_string(width), "rows by index", size_t{4} << 19,
        [=](const Buffers& b, cudaStream_t s) {
          index_add<<<(1 << 19) / 256, 256, 0, s>>>(b.out, as<int>(b.in2), b.in, width, 1 << 19);
        },
        indices((1 << 19) / width, (1 << 19) / width / 4));
  add("cumsum_axis inner", "cumsum_axis", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { cumsum_axis<<<64, 256, 0, s>>>(b.in, b.out, 16, 64, 1024); });
  add("cumsum_axis last", "cumsum_axis", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { cumsum_axis<<<32, 128, 0, s>>>(b.in, b.out, 4096, 256, 1); });
  add("conv2d_direct 3", "conv2d", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    conv2d_direct<3><<<256, 256, 0, s>>>(b.in, b.in2, b.in2 + 65536, b.out, 16, 64, 64, 16);
  });
  add("conv2d_direct 5", "conv2d", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    conv2d_direct<5><<<256, 256, 0, s>>>(b.in, b.in2, b.in2 + 65536, b.out, 16, 64, 64, 16);
  });
  add("channel_statistics", "pictures", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
    channel_statistics<<<64, 256, 0, s>>>(b.in, b.out, b.out + 64, 16, 64, 1024);
  });
  add("roll", "pictures", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { roll<<<4096, 256, 0, s>>>(b.in, b.out, 1024, 1024, 100, 37); });
  add("quantise_keys", "rows by index", size_t{2} << 20, [=](const Buffers& b, cudaStream_t s) {
    quantise_keys<<<2048, dim3(32, 4), 0, s>>>(as<__nv_bfloat16>(b.in), as<int8_t>(b.out), b.out + (1 << 19), 128);
  });
  return list;
}

}  // namespace calibration
