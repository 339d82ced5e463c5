// Layers of networks for sounds, pictures and games, as extensions of a framework have them.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// The sum of the table's rows that each bag names; a block of as many threads as a row has numbers per bag.
__global__ void embedding_bag(const float* table, const int* index, const int* offsets, float* out, int dim) {
  const int bag = blockIdx.x, first = offsets[bag], last = offsets[bag + 1];
  float sum = 0.0f;
  for (int i = first; i < last; i++) sum += table[static_cast<size_t>(index[i]) * dim + threadIdx.x];
  out[static_cast<size_t>(bag) * dim + threadIdx.x] = last > first ? sum / (last - first) : 0.0f;
}

// Running sums of rows, a block's width at a time.
__global__ void cumsum_rows(const float* in, float* out, int width) {
  __shared__ float warp_totals[32];
  const float* row = in + static_cast<size_t>(blockIdx.x) * width;
  float* to = out + static_cast<size_t>(blockIdx.x) * width;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float carry = 0.0f;
  for (int base = 0; base < width; base += blockDim.x) {
    float v = row[base + threadIdx.x];
#pragma unroll
    for (int offset = 1; offset < 32; offset <<= 1) {
      const float other = __shfl_up_sync(0xffffffff, v, offset);
      if (lane >= offset) v += other;
    }
    if (lane == 31) warp_totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
      float total = lane < warps ? warp_totals[lane] : 0.0f;
#pragma unroll
      for (int offset = 1; offset < 32; offset <<= 1) {
        const float other = __shfl_up_sync(0xffffffff, total, offset);
        if (lane >= offset) total += other;
      }
      warp_totals[lane] = total;
    }
    __syncthreads();
    to[base + threadIdx.x] = v + (warp > 0 ? warp_totals[warp - 1] : 0.0f) + carry;
    carry += warp_totals[warps - 1];
    __syncthreads();
  }
}

// Each channel's own filter along time.
template <int K>
__global__ void depthwise_conv1d(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                 int channels, int length) {
  __shared__ float tile[256 + K - 1];
  const int row = blockIdx.y, t0 = blockIdx.x * 256;
  const float* in = x + static_cast<size_t>(row) * length;
  for (int i = threadIdx.x; i < 256 + K - 1; i += 256) {
    const int t = t0 + i - K / 2;
    tile[i] = t >= 0 && t < length ? in[t] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < K; k++) sum += w[(row % channels) * K + k] * tile[threadIdx.x + k];
  y[static_cast<size_t>(row) * length + t0 + threadIdx.x] = sum;
}

// Mean and variance of a channel over all pictures; a block per channel.
__global__ void batch_norm_statistics(const float* x, float* mean, float* variance, int N, int C, int plane) {
  __shared__ float sums[512], squares[512];
  const int c = blockIdx.x;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < N * plane; i += blockDim.x) {
    const int n = i / plane, p = i % plane;
    const float v = x[(n * C + c) * plane + p];
    sum += v;
    square += v * v;
  }
  sums[threadIdx.x] = sum;
  squares[threadIdx.x] = square;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      sums[threadIdx.x] += sums[threadIdx.x + s];
      squares[threadIdx.x] += squares[threadIdx.x + s];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const float m = sums[0] / (N * plane);
    mean[c] = m;
    variance[c] = squares[0] / (N * plane) - m * m;
  }
}

// The loss of logits against targets in [0, 1], summed.
__global__ void bce_with_logits(const float* logits, const float* target, float* loss, int n) {
  __shared__ float partial[8];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float x = 8.0f * logits[i] - 4.0f;
    sum += fmaxf(x, 0.0f) - x * target[i] + log1pf(expf(-fabsf(x)));
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; w++) sum += partial[w];
    atomicAdd(loss, sum / n);
  }
}

__device__ float bilinear(const float* plane, int height, int width, float y, float x) {
  if (y < -1.0f || y > height || x < -1.0f || x > width) return 0;
  if (y <= 0) y = 0;
  if (x <= 0) x = 0;
  int y_low = static_cast<int>(y), x_low = static_cast<int>(x), y_high, x_high;
  if (y_low >= height - 1) {
    y_high = y_low = height - 1;
    y = static_cast<float>(y_low);
  } else
    y_high = y_low + 1;
  if (x_low >= width - 1) {
    x_high = x_low = width - 1;
    x = static_cast<float>(x_low);
  } else
    x_high = x_low + 1;
  const float ly = y - y_low, lx = x - x_low, hy = 1.0f - ly, hx = 1.0f - lx;
  return hy * hx * plane[y_low * width + x_low] + hy * lx * plane[y_low * width + x_high] +
         ly * hx * plane[y_high * width + x_low] + ly * lx * plane[y_high * width + x_high];
}

// Boxes of a map of features as 7 x 7 numbers per channel, each the mean of 2 x 2 samples.
__global__ void roi_align(int n, const float* features, const float* boxes, float* out, int channels, int height,
                          int width) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const int pw = i % 7, ph = (i / 7) % 7, c = (i / 49) % channels, box = i / 49 / channels;
    const float* b = boxes + box * 4;
    const float x0 = b[0] * 32.0f, y0 = b[1] * 32.0f, w = fmaxf(b[2] * 24.0f, 1.0f), h = fmaxf(b[3] * 24.0f, 1.0f);
    const float bin_h = h / 7.0f, bin_w = w / 7.0f;
    const float* plane = features + c * height * width;
    float sum = 0.0f;
    for (int iy = 0; iy < 2; iy++) {
      const float y = y0 + ph * bin_h + (iy + 0.5f) * bin_h / 2.0f;
      for (int ix = 0; ix < 2; ix++) {
        const float x = x0 + pw * bin_w + (ix + 0.5f) * bin_w / 2.0f;
        sum += bilinear(plane, height, width, y, x);
      }
    }
    out[i] = sum / 4.0f;
  }
}

// Where a grid says, all channels of a picture are sampled.
__global__ void grid_sample(const float* in, const float2* grid, float* out, int channels, int height, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.y, plane = height * width;
  if (i >= plane) return;
  const float2 at = grid[n * plane + i];
  const float x = at.x * width - 0.5f, y = at.y * height - 0.5f;
  const int x0 = static_cast<int>(floorf(x)), y0 = static_cast<int>(floorf(y)), x1 = x0 + 1, y1 = y0 + 1;
  const float nw = (x1 - x) * (y1 - y), ne = (x - x0) * (y1 - y), sw = (x1 - x) * (y - y0), se = (x - x0) * (y - y0);
  const bool left = x0 >= 0, right = x1 < width, top = y0 >= 0, bottom = y1 < height;
  for (int c = 0; c < channels; c++) {
    const float* p = in + (n * channels + c) * plane;
    float sum = 0.0f;
    if (left && top) sum += p[y0 * width + x0] * nw;
    if (right && top) sum += p[y0 * width + x1] * ne;
    if (left && bottom) sum += p[y1 * width + x0] * sw;
    if (right && bottom) sum += p[y1 * width + x1] * se;
    out[(n * channels + c) * plane + i] = sum;
  }
}

// The logarithm of the probability of all alignments of a text of 63 letters with T steps; a block per text.
__device__ float log_plus(float a, float b) {
  const float high = fmaxf(a, b);
  return high == -INFINITY ? high : high + logf(expf(a - high) + expf(b - high));
}

__global__ void ctc_alpha(const float* log_probs, const int* letters, float* loss, int T, int alphabet) {
  __shared__ float alpha[2][128];
  const int s = threadIdx.x;
  const float* own = log_probs + static_cast<size_t>(blockIdx.x) * T * alphabet;
  const int letter = s % 2 == 0 ? 0 : letters[blockIdx.x * 64 + s / 2] % (alphabet - 1) + 1;
  const int before = s < 2 || s % 2 == 0 ? 0 : letters[blockIdx.x * 64 + s / 2 - 1] % (alphabet - 1) + 1;
  const bool skips = s >= 2 && s % 2 == 1 && letter != before;
  alpha[0][s] = s < 2 ? own[letter] : -INFINITY;
  __syncthreads();
  for (int t = 1; t < T; t++) {
    const float* last = alpha[(t + 1) % 2];
    float sum = last[s];
    if (s >= 1) sum = log_plus(sum, last[s - 1]);
    if (skips) sum = log_plus(sum, last[s - 2]);
    alpha[t % 2][s] = sum - 3.0f + own[t * alphabet + letter];
    __syncthreads();
  }
  if (s == 0) loss[blockIdx.x] = -log_plus(alpha[(T + 1) % 2][126], alpha[(T + 1) % 2][125]);
}

// Advantages of a game's steps, from the last to the first; a thread per game, games beside each other.
__global__ void advantages(const float* rewards, const float* values, const float* dones, float* out, int games,
                           int steps, float gamma, float lambda) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= games) return;
  float last = 0.0f, next = values[(steps - 1) * games + g];
  for (int t = steps - 1; t >= 0; t--) {
    const float alive = dones[t * games + g] > 0.98f ? 0.0f : 1.0f, value = values[t * games + g];
    const float delta = rewards[t * games + g] + gamma * next * alive - value;
    last = delta + gamma * lambda * alive * last;
    out[t * games + g] = last;
    next = value;
  }
}

// A product of matrices of bits, 1 for +1 and 0 for -1, rows of both as words of 32.
__global__ void binary_gemm(const unsigned* a, const unsigned* b, float* c, int n, int words) {
  __shared__ unsigned as[16][17], bs[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  int different = 0;
  for (int k0 = 0; k0 < words; k0 += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * words + k0 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(blockIdx.x * 16 + threadIdx.y) * words + k0 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) different += __popc(as[threadIdx.y][k] ^ bs[threadIdx.x][k]);
    __syncthreads();
  }
  c[row * n + col] = 32 * words - 2 * different;
}

// The mean of each plane of 7 x 7, a warp per plane.
__global__ void mean_of_planes(const float* x, float* y, int planes) {
  const int plane = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (plane >= planes) return;
  float sum = 0.0f;
  for (int i = lane; i < 49; i += 32) sum += x[plane * 49 + i];
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) y[plane] = sum / 49.0f;
}

}  // namespace

std::vector<Case> fifth_layers() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  add(
      "embedding_bag", "embeddings", size_t{34} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        embedding_bag<<<2048, 128, 0, s>>>(b.in, ints(b.in2), ints(b.in2 + 65536), b.out, 128);
      },
      [](const Buffers& b) {
        std::vector<int> index(65536 + 2049);
        unsigned state = 17;
        for (int i = 0; i < 65536; i++) index[i] = static_cast<int>((state = state * 1664525u + 1013904223u) >> 16);
        for (int bag = 0; bag < 2048; bag++) {
          state = state * 1664525u + 1013904223u;
          index[65536 + bag + 1] = index[65536 + bag] + static_cast<int>(state >> 16) % 40;
        }
        cudaMemcpy(b.in2, index.data(), index.size() * 4, cudaMemcpyHostToDevice);
      });
  add("cumsum_rows 1024x4096", "cumulative", size_t{8} << 22,
      [=](const Buffers& b, cudaStream_t s) { cumsum_rows<<<1024, 256, 0, s>>>(b.in, b.out, 4096); });
  add("cumsum_rows 16x65536", "cumulative", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { cumsum_rows<<<16, 1024, 0, s>>>(b.in, b.out, 65536); });
  add("depthwise_conv1d 7", "filters along time", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    depthwise_conv1d<7><<<dim3(8, 1024), 256, 0, s>>>(b.in, b.in2, b.out, 512, 2048);
  });
  add("depthwise_conv1d 31", "filters along time", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    depthwise_conv1d<31><<<dim3(8, 1024), 256, 0, s>>>(b.in, b.in2, b.out, 512, 2048);
  });
  add("batch_norm_statistics", "statistics", size_t{7} << 20, [=](const Buffers& b, cudaStream_t s) {
    batch_norm_statistics<<<64, 512, 0, s>>>(b.in, b.out, b.out + 64, 32, 64, 784);
  });
  add("mean_of_planes", "statistics", size_t{7} << 20,
      [=](const Buffers& b, cudaStream_t s) { mean_of_planes<<<4096, 256, 0, s>>>(b.in, b.out, 32768); });
  add("bce_with_logits", "losses", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { bce_with_logits<<<528, 256, 0, s>>>(b.in, b.in2, b.out, 1 << 20); });
  add("ctc_alpha", "losses", size_t{1} << 20,
      [=](const Buffers& b, cudaStream_t s) { ctc_alpha<<<32, 127, 0, s>>>(b.in, b.counters, b.out, 128, 32); });
  add("roi_align", "samples of pictures", size_t{2} << 20, [=](const Buffers& b, cudaStream_t s) {
    roi_align<<<784, 256, 0, s>>>(64 * 64 * 49, b.in, b.in2, b.out, 64, 56, 56);
  });
  add("grid_sample", "samples of pictures", size_t{9} << 20, [=](const Buffers& b, cudaStream_t s) {
    grid_sample<<<dim3(256, 2), 256, 0, s>>>(b.in, reinterpret_cast<float2*>(b.in2), b.out, 8, 256, 256);
  });
  add("advantages", "games", size_t{16} << 18, [=](const Buffers& b, cudaStream_t s) {
    advantages<<<32, 64, 0, s>>>(b.in, b.in2, b.in2 + (1 << 18), b.out, 2048, 128, 0.99f, 0.95f);
  });
  add("binary_gemm", "products", size_t{3} << 19, [=](const Buffers& b, cudaStream_t s) {
    binary_gemm<<<dim3(32, 32), dim3(16, 16), 0, s>>>(words(b.in), words(b.in2), b.out, 512, 64);
  });
  return list;
}

}  // namespace calibration
