// Forward and backward passes of a language model's layers, as a small trainer in C and CUDA has them.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return __shfl_sync(0xffffffffu, value, 0);
}

// A warp per row; mean and reciprocal deviation are kept for the backward pass.
__global__ void layernorm_forward(float* out, float* means, float* rstds, const float* in, const float* weight,
                                  const float* bias, int rows, int channels) {
  int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const float* x = in + row * channels;
  float sum = 0.0f;
  for (int i = lane; i < channels; i += 32) sum += x[i];
  float mean = warp_sum(sum) / channels;
  sum = 0.0f;
  for (int i = lane; i < channels; i += 32) {
    float diff = x[i] - mean;
    sum += diff * diff;
  }
  float rstd = rsqrtf(warp_sum(sum) / channels + 1e-5f);
  if (lane == 0) {
    means[row] = mean;
    rstds[row] = rstd;
  }
  float* o = out + row * channels;
  for (int c = lane; c < channels; c += 32) o[c] = rstd * (x[c] - mean) * weight[c] + bias[c];
}

// A warp per row, the gradients of weight and bias added up in shared memory first.
__global__ void layernorm_backward(float* dinp, float* dweight, float* dbias, const float* dout, const float* inp,
                                   const float* weight, const float* mean, const float* rstd, int rows, int channels) {
  extern __shared__ float sums[];
  float *dbias_shared = sums, *dweight_shared = sums + channels;
  for (int i = threadIdx.x; i < channels; i += blockDim.x) {
    dbias_shared[i] = 0.0f;
    dweight_shared[i] = 0.0f;
  }
  __syncthreads();
  int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row < rows) {
    const float *dout_row = dout + row * channels, *inp_row = inp + row * channels;
    float m = mean[row], r = rstd[row], dnorm_mean = 0.0f, dnorm_norm_mean = 0.0f;
    for (int i = lane; i < channels; i += 32) {
      float norm = (inp_row[i] - m) * r, dnorm = weight[i] * dout_row[i];
      dnorm_mean += dnorm;
      dnorm_norm_mean += dnorm * norm;
    }
    dnorm_mean = warp_sum(dnorm_mean) / channels;
    dnorm_norm_mean = warp_sum(dnorm_norm_mean) / channels;
    for (int i = lane; i < channels; i += 32) {
      float d = dout_row[i], norm = (inp_row[i] - m) * r, dnorm = weight[i] * d;
      atomicAdd(&dbias_shared[i], d);
      atomicAdd(&dweight_shared[i], norm * d);
      dinp[row * channels + i] += (dnorm - dnorm_mean - norm * dnorm_norm_mean) * r;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < channels; i += blockDim.x) {
    atomicAdd(&dbias[i], dbias_shared[i]);
    atomicAdd(&dweight[i], dweight_shared[i]);
  }
}

__global__ void residual_forward(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

__global__ void gelu_backward(float* dinp, const float* inp, const float* dout, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = inp[i], cube = 0.044715f * x * x * x, scale = 0.7978845608f;
  float t = tanhf(scale * (x + cube)), c = coshf(scale * (x + cube)), sech = 1.0f / (c * c);
  dinp[i] = (0.5f * (1.0f + t) + x * 0.5f * sech * scale * (1.0f + 3.0f * 0.044715f * x * x)) * dout[i];
}

__global__ void add_bias(float* out, const float* bias, int rows, int channels) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * channels; i += gridDim.x * blockDim.x)
    out[i] += bias[i % channels];
}

// The gradient of a bias, a block per column: loads that nobody shares a line with.
__global__ void bias_backward_by_block(float* dbias, const float* dout, int rows, int channels) {
  __shared__ float shared[256];
  float sum = 0.0f;
  for (int r = threadIdx.x; r < rows; r += blockDim.x) sum += dout[r * channels + blockIdx.x];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) dbias[blockIdx.x] += shared[0];
}

// The same, each warp 32 columns; the rows are split over the warps of a block.
__global__ void bias_backward_by_columns(float* dbias, const float* dout, int rows, int channels) {
  __shared__ float shared[1024];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float* column = dout + blockIdx.x * 32 + lane;
  float sum = 0.0f;
  for (int r = warp; r < rows; r += warps) sum += column[r * channels];
  shared[lane + warp * 32] = sum;
  __syncthreads();
  if (warp == 0) {
    float total = 0.0f;
    for (int j = 0; j < warps; j++) total += shared[lane + j * 32];
    dbias[blockIdx.x * 32 + lane] += total;
  }
}

// Token and position embeddings, and their gradients by atomics.
__global__ void encoder_forward(float* out, const int* tokens, const float* wte, const float* wpe, int T, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, bt = i / C, t = bt % T, c = i % C;
  out[i] = wte[(tokens[bt] & 1023) * C + c] + wpe[t * C + c];
}

__global__ void encoder_backward(float* dwte, float* dwpe, const float* dout, const int* tokens, int T, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, bt = i / C, t = bt % T, c = i % C;
  atomicAdd(&dwte[(tokens[bt] & 1023) * C + c], dout[i]);
  atomicAdd(&dwpe[t * C + c], dout[i]);
}

// (tokens, 3, heads, size) to (3, heads, tokens, size).
__global__ void permute_qkv(float* q, float* k, float* v, const float* inp, int N, int NH, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int head = i / (N * d), n = i / d % N, at = i % d;
  const float* from = inp + n * 3 * NH * d + head * d + at;
  q[i] = from[0];
  k[i] = from[NH * d];
  v[i] = from[2 * NH * d];
}

// Gradients of logits in place, from probabilities: a block per row.
__global__ void crossentropy_softmax_backward(float* dlogits, const float* probs, const int* targets, float dloss,
                                              int V) {
  int row = blockIdx.x, wanted = targets[row] & 1023;
  for (int i = threadIdx.x; i < V; i += blockDim.x) {
    float indicator = i == wanted ? 1.0f : 0.0f;
    dlogits[row * V + i] += (probs[row * V + i] - indicator) * dloss;
  }
}

// Backward of causal softmax: a block per row of the attention matrix, which reads up to the diagonal.
__global__ void softmax_backward_causal(float* dpre, const float* datt, const float* att, int T, float scale) {
  __shared__ float partial[32];
  int t = blockIdx.x % T, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float *d = datt + blockIdx.x * T, *a = att + blockIdx.x * T;
  float sum = 0.0f;
  for (int i = threadIdx.x; i <= t; i += blockDim.x) sum += a[i] * d[i];
  sum = warp_sum(sum);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  sum = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0.0f);
  for (int i = threadIdx.x; i < T; i += blockDim.x)
    dpre[blockIdx.x * T + i] = i <= t ? scale * a[i] * (d[i] - sum) : 0.0f;
}

// The squared norm of all gradients.
__global__ void global_norm_squared(float* out, const float* data, size_t count) {
  __shared__ float partial[32];
  size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x,
         width = static_cast<size_t>(blockDim.x) * gridDim.x;
  float sum = 0.0f;
  for (size_t i = index; i < count; i += width) sum += data[i] * data[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0.0f);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

}  // namespace

std::vector<Case> third_networks() {
  std::vector<Case> list;
  const Add add{list};
  constexpr int rows = 4096, channels = 768, n = rows * channels;
  for (const int threads : {64, 512})
    add("layernorm_forward " + std::to_string(threads), "layernorm", size_t{8} * n,
        [=](const Buffers& b, cudaStream_t s) {
          layernorm_forward<<<rows * 32 / threads, threads, 0, s>>>(b.out, b.out + n, b.out + n + rows, b.in, b.in2,
                                                                    b.in2 + channels, rows, channels);
        });
  for (const int threads : {128, 512})
    add("layernorm_backward " + std::to_string(threads), "layernorm backward", size_t{16} * n,
        [=](const Buffers& b, cudaStream_t s) {
          layernorm_backward<<<rows * 32 / threads, threads, 2 * channels * 4, s>>>(
              b.out, b.out + n, b.out + n + channels, b.in, b.in2, b.in + n, b.in + n + channels,
              b.in + n + channels + rows, rows, channels);
        });
  add("residual_forward", "elementwise", size_t{12} * n,
      [=](const Buffers& b, cudaStream_t s) { residual_forward<<<n / 256, 256, 0, s>>>(b.out, b.in, b.in2, n); });
  add("gelu_backward", "elementwise", size_t{12} * n,
      [=](const Buffers& b, cudaStream_t s) { gelu_backward<<<n / 128, 128, 0, s>>>(b.out, b.in, b.in2, n); });
  add("add_bias", "elementwise", size_t{8} * n,
      [=](const Buffers& b, cudaStream_t s) { add_bias<<<1024, 256, 0, s>>>(b.out, b.in2, rows, channels); });
  add("bias_backward_by_block", "bias backward", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
    bias_backward_by_block<<<channels, 256, 0, s>>>(b.out, b.in, rows, channels);
  });
  add("bias_backward_by_columns", "bias backward", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
    bias_backward_by_columns<<<channels / 32, 1024, 0, s>>>(b.out, b.in, rows, channels);
  });
  add("encoder_forward", "encoder", size_t{8} * n, [=](const Buffers& b, cudaStream_t s) {
    encoder_forward<<<n / 256, 256, 0, s>>>(b.out, b.counters, b.in, b.in2, 1024, channels);
  });
  add("encoder_backward", "encoder", size_t{8} * n, [=](const Buffers& b, cudaStream_t s) {
    encoder_backward<<<n / 256, 256, 0, s>>>(b.out, b.out + 1024 * channels, b.in, b.counters, 1024, channels);
  });
  add("permute_qkv", "permute", size_t{24} * n, [=](const Buffers& b, cudaStream_t s) {
    permute_qkv<<<n / 256, 256, 0, s>>>(b.out, b.out + n, b.out + 2 * n, b.in, rows, 12, 64);
  });
  add("crossentropy_softmax_backward", "softmax backward", size_t{12} << 21, [=](const Buffers& b, cudaStream_t s) {
    crossentropy_softmax_backward<<<256, 256, 0, s>>>(b.out, b.in, b.counters, 0.25f, 8192);
  });
  add("softmax_backward_causal", "softmax backward", size_t{12} << 21, [=](const Buffers& b, cudaStream_t s) {
    softmax_backward_causal<<<2048, 256, 0, s>>>(b.out, b.in, b.in2, 1024, 0.125f);
  });
  for (const int millions : {1, 8})
    add("global_norm_squared " + std::to_string(millions) + "M", "norm", size_t{4} * (millions << 20),
        [=](const Buffers& b, cudaStream_t s) {
          global_norm_squared<<<264, 512, 0, s>>>(b.out, b.in, size_t{1} * millions << 20);
        });
  return list;
}

}  // namespace calibration
