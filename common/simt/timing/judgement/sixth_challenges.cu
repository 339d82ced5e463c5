// Exercises as challenges and courses set them.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__global__ void invert_colors(uchar4* image, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  uchar4 p = image[i];
  p.x = 255 - p.x;
  p.y = 255 - p.y;
  p.z = 255 - p.z;
  image[i] = p;
}

__global__ void reverse_array(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  const float t = a[i];
  a[i] = a[n - 1 - i];
  a[n - 1 - i] = t;
}

__global__ void interleave(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[2 * i] = a[i];
  out[2 * i + 1] = b[i];
}

__global__ void gaussian_blur(const float* in, const float* kernel, float* out, int rows, int cols, int kr, int kc) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float sum = 0.0f;
  for (int i = 0; i < kr; i++) {
    for (int j = 0; j < kc; j++) {
      const int y = r + i - kr / 2, x = c + j - kc / 2;
      if (y >= 0 && y < rows && x >= 0 && x < cols) sum += in[y * cols + x] * kernel[i * kc + j];
    }
  }
  out[r * cols + c] = sum;
}

__global__ void matmul_int8(const signed char* a, const signed char* b, signed char* c, int M, int N, int K,
                            float scale, int zero_a, int zero_b) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  int sum = 0;
  for (int k = 0; k < K; k++) sum += (a[m * K + k] - zero_a) * (b[k * N + n] - zero_b);
  const int rounded = __float2int_rn(sum * scale);
  c[m * N + n] = static_cast<signed char>(max(-128, min(127, rounded)));
}

__global__ void count_equal(const int* in, int* out, int n, int k) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (in[i] & 15) == k) atomicAdd(&total, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, total);
}

__global__ void mean_squared_error(const float* p, const float* t, float* out, int n) {
  extern __shared__ float part[];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float d = p[i] - t[i];
    sum += d * d;
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0] / n);
}

// A thread per row of logits.
__global__ void cross_entropy_rows(const float* logits, const int* labels, float* loss, int N, int C) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const float* row = logits + static_cast<size_t>(n) * C;
  float most = -INFINITY;
  for (int c = 0; c < C; c++) most = fmaxf(most, row[c]);
  float sum = 0.0f;
  for (int c = 0; c < C; c++) sum += expf(row[c] - most);
  atomicAdd(loss, (logf(sum) + most - row[labels[n] % C]) / N);
}

// Attention of one query per block: scores, softmax and the weighted sum through shared memory.
__global__ void attention_query(const float* q, const float* k, const float* v, float* out, int N, int d) {
  extern __shared__ float score[];
  __shared__ float red[128];
  const int row = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  const size_t base = static_cast<size_t>(head) * N * d;
  for (int j = t; j < N; j += blockDim.x) {
    float dot = 0.0f;
    for (int i = 0; i < d; i++) dot += q[base + row * d + i] * k[base + j * d + i];
    score[j] = dot * rsqrtf(static_cast<float>(d));
  }
  __syncthreads();
  float most = -INFINITY;
  for (int j = t; j < N; j += blockDim.x) most = fmaxf(most, score[j]);
  red[t] = most;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) red[t] = fmaxf(red[t], red[t + s]);
    __syncthreads();
  }
  most = red[0];
  __syncthreads();
  float sum = 0.0f;
  for (int j = t; j < N; j += blockDim.x) {
    score[j] = __expf(score[j] - most);
    sum += score[j];
  }
  red[t] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) red[t] += red[t + s];
    __syncthreads();
  }
  sum = red[0];
  for (int i = t; i < d; i += blockDim.x) {
    float o = 0.0f;
    for (int j = 0; j < N; j++) o += score[j] * v[base + j * d + i];
    out[base + row * d + i] = o / sum;
  }
}

// Flocking: each agent looks at all others.
__global__ void boids(const float4* in, float4* out, int n, float radius2, float alpha) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 me = in[i];
  float vx = 0.0f, vy = 0.0f;
  int count = 0;
  for (int j = 0; j < n; j++) {
    if (j == i) continue;
    const float4 other = in[j];
    const float dx = other.x - me.x, dy = other.y - me.y;
    if (dx * dx + dy * dy < radius2) {
      vx += other.z;
      vy += other.w;
      count++;
    }
  }
  float4 next = me;
  if (count > 0) {
    next.z += alpha * (vx / count - me.z);
    next.w += alpha * (vy / count - me.w);
  }
  next.x += next.z;
  next.y += next.w;
  out[i] = next;
}

// One step of paths on a grid of costs: the least of four neighbours.
__global__ void relax_grid(const int* cost, const int* in, int* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int best = in[y * w + x];
  if (x > 0) best = min(best, in[y * w + x - 1] + (cost[y * w + x] & 7));
  if (x + 1 < w) best = min(best, in[y * w + x + 1] + (cost[y * w + x] & 7));
  if (y > 0) best = min(best, in[(y - 1) * w + x] + (cost[y * w + x] & 7));
  if (y + 1 < h) best = min(best, in[(y + 1) * w + x] + (cost[y * w + x] & 7));
  out[y * w + x] = best;
}

// Sums of a matrix's columns, a thread per column, and running.
__global__ void prefix_columns(const float* in, float* out, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float sum = 0.0f;
  for (int r = 0; r < rows; r++) out[r * cols + c] = sum += in[r * cols + c];
}

// Queens: each thread has the first two rows' places, and counts the ways to set the others.
template <int N>
__global__ void queens(int* total) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= N * N) return;
  const int a = id / N, b = id % N;
  if (a == b || a + 1 == b || b + 1 == a) return;
  unsigned cols[N], left[N], right[N], open[N];
  const unsigned all = (1u << N) - 1;
  int depth = 2, count = 0;
  cols[2] = 1u << a | 1u << b;
  left[2] = ((1u << a) << 2 | (1u << b) << 1) & all;
  right[2] = (1u << a) >> 2 | (1u << b) >> 1;
  open[2] = all & ~(cols[2] | left[2] | right[2]);
  while (depth >= 2) {
    if (open[depth] == 0) {
      depth--;
      continue;
    }
    const unsigned bit = open[depth] & -open[depth];
    open[depth] ^= bit;
    if (depth == N - 1) {
      count++;
      continue;
    }
    cols[depth + 1] = cols[depth] | bit;
    left[depth + 1] = (left[depth] | bit) << 1 & all;
    right[depth + 1] = (right[depth] | bit) >> 1;
    depth++;
    open[depth] = all & ~(cols[depth] | left[depth] | right[depth]);
  }
  atomicAdd(total, count);
}

}  // namespace

std::vector<Case> sixth_challenges() {
  std::vector<Case> list;
  const Add add{list};
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  add("invert_colors", "pictures", size_t{4} << 22, [=](const Buffers& b, cudaStream_t s) {
    invert_colors<<<16384, 256, 0, s>>>(reinterpret_cast<uchar4*>(b.out), 1 << 22);
  });
  add("gaussian_blur 5", "blur", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    gaussian_blur<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 1024, 1024, 5, 5);
  });
  add("gaussian_blur 11", "blur", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    gaussian_blur<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 1024, 1024, 11, 11);
  });
  add("reverse_array", "moves", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) { reverse_array<<<8192, 256, 0, s>>>(b.out, 1 << 22); });
  add("interleave", "moves", size_t{16} << 21,
      [=](const Buffers& b, cudaStream_t s) { interleave<<<8192, 256, 0, s>>>(b.in, b.in2, b.out, 1 << 21); });
  add("matmul_int8", "products", size_t{3} << 18, [=](const Buffers& b, cudaStream_t s) {
    matmul_int8<<<dim3(32, 32), dim3(16, 16), 0, s>>>(
        reinterpret_cast<signed char*>(b.in), reinterpret_cast<signed char*>(b.in2),
        reinterpret_cast<signed char*>(b.out), 512, 512, 512, 0.01f, 3, 5);
  });
  add("count_equal", "reductions", size_t{4} << 22,
      [=](const Buffers& b, cudaStream_t s) { count_equal<<<16384, 256, 0, s>>>(ints(b.in), b.counters, 1 << 22, 3); });
  add("mean_squared_error", "reductions", size_t{8} << 21, [=](const Buffers& b, cudaStream_t s) {
    mean_squared_error<<<512, 256, 1024, s>>>(b.in, b.in2, b.out, 1 << 21);
  });
  add(
      "cross_entropy_rows 10", "losses", size_t{44} << 16,
      [=](const Buffers& b, cudaStream_t s) {
        cross_entropy_rows<<<256, 256, 0, s>>>(b.in, ints(b.in2), b.out, 65536, 10);
      },
      indices(65536, 10));
  add(
      "cross_entropy_rows 100", "losses", size_t{404} << 14,
      [=](const Buffers& b, cudaStream_t s) {
        cross_entropy_rows<<<64, 256, 0, s>>>(b.in, ints(b.in2), b.out, 16384, 100);
      },
      indices(16384, 100));
  add("attention_query", "attention", size_t{16} << 18, [=](const Buffers& b, cudaStream_t s) {
    attention_query<<<dim3(512, 8), 128, 2048, s>>>(b.in, b.in2, b.in2 + (1 << 18), b.out, 512, 64);
  });
  add("boids", "all pairs", size_t{32} << 12, [=](const Buffers& b, cudaStream_t s) {
    boids<<<32, 128, 0, s>>>(reinterpret_cast<float4*>(b.in), reinterpret_cast<float4*>(b.out), 4096, 0.04f, 0.05f);
  });
  add("relax_grid", "grids", size_t{12} << 20, [=](const Buffers& b, cudaStream_t s) {
    relax_grid<<<dim3(32, 128), dim3(32, 8), 0, s>>>(ints(b.in), ints(b.in2), ints(b.out), 1024, 1024);
  });
  add("prefix_columns 1024", "cumulative", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { prefix_columns<<<8, 128, 0, s>>>(b.in, b.out, 1024, 1024); });
  add("prefix_columns 16384", "cumulative", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { prefix_columns<<<64, 256, 0, s>>>(b.in, b.out, 64, 16384); });
  add("queens", "search", size_t{1} << 12,
      [=](const Buffers& b, cudaStream_t s) { queens<9><<<3, 32, 0, s>>>(b.counters); });
  return list;
}

}  // namespace calibration
