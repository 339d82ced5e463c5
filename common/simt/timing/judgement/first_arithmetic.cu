// Hashes, random numbers, fractals, activations, finance, integer and double precision work: arithmetic per element.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__device__ unsigned rotate_left(unsigned x, int r) { return (x << r) | (x >> (32 - r)); }

// MurmurHash3_x86_32 of `words` words per thread.
__global__ void murmur3(const unsigned* keys, unsigned* out, int n, int words) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = 42;
  for (int w = 0; w < words; w++) {
    unsigned k = keys[w * n + i];
    k *= 0xcc9e2d51u;
    k = rotate_left(k, 15);
    k *= 0x1b873593u;
    h ^= k;
    h = rotate_left(h, 13);
    h = h * 5 + 0xe6546b64u;
  }
  h ^= words * 4;
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  h ^= h >> 16;
  out[i] = h;
}

__global__ void xorshift_fill(unsigned* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = i * 747796405u + 2891336453u;
  unsigned sum = 0;
  for (int r = 0; r < rounds; r++) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    sum += s;
  }
  if (i < n) out[i] = sum;
}

__global__ void philox(uint4* out, int n, unsigned seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = 0xdeadbeefu;
  for (int round = 0; round < 10; round++) {
    unsigned hi0 = __umulhi(0xD2511F53u, c0), lo0 = 0xD2511F53u * c0;
    unsigned hi1 = __umulhi(0xCD9E8D57u, c2), lo1 = 0xCD9E8D57u * c2;
    c0 = hi1 ^ c1 ^ k0;
    c1 = lo1;
    c2 = hi0 ^ c3 ^ k1;
    c3 = lo0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[i] = make_uint4(c0, c1, c2, c3);
}

__global__ void monte_carlo_pi(unsigned long long* hits, int trials) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 9781u + 1u;
  unsigned inside = 0;
  for (int t = 0; t < trials; t++) {
    state = state * 1664525u + 1013904223u;
    float x = state * (1.0f / 4294967296.0f);
    state = state * 1664525u + 1013904223u;
    float y = state * (1.0f / 4294967296.0f);
    if (x * x + y * y <= 1.0f) inside++;
  }
  for (int offset = 16; offset > 0; offset /= 2) inside += __shfl_down_sync(0xffffffffu, inside, offset);
  if ((threadIdx.x & 31) == 0) atomicAdd(hits, (unsigned long long)inside);
}

__global__ void mandelbrot(int* out, int width, int height, float x0, float y0, float step, int limit) {
  int px = blockIdx.x * blockDim.x + threadIdx.x;
  int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float cx = x0 + px * step, cy = y0 + py * step;
  float x = 0, y = 0;
  int it = 0;
  while (x * x + y * y < 4.0f && it < limit) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    it++;
  }
  out[py * width + px] = it;
}

struct Complex {
  float r, i;
  __device__ Complex(float a, float b) : r(a), i(b) {}
  __device__ float magnitude2() const { return r * r + i * i; }
  __device__ Complex operator*(const Complex& a) const { return Complex(r * a.r - i * a.i, i * a.r + r * a.i); }
  __device__ Complex operator+(const Complex& a) const { return Complex(r + a.r, i + a.i); }
};

__device__ int julia_at(int x, int y, int dim) {
  const float scale = 1.5f;
  float jx = scale * (float)(dim / 2 - x) / (dim / 2);
  float jy = scale * (float)(dim / 2 - y) / (dim / 2);
  Complex c(-0.8f, 0.156f), a(jx, jy);
  for (int i = 0; i < 200; i++) {
    a = a * a + c;
    if (a.magnitude2() > 1000) return 0;
  }
  return 1;
}

__global__ void julia(unsigned char* out, int dim) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int at = x + y * dim;
  int value = julia_at(x, y, dim);
  out[at * 4 + 0] = 255 * value;
  out[at * 4 + 1] = 0;
  out[at * 4 + 2] = 0;
  out[at * 4 + 3] = 255;
}

__global__ void nbody(const float4* bodies, float4* acceleration, int n) {
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    tile[threadIdx.x] = bodies[base + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < blockDim.x; j++) {
      float4 other = tile[j];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
      float inv = rsqrtf(d2);
      float s = other.w * inv * inv * inv;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    __syncthreads();
  }
  acceleration[i] = make_float4(ax, ay, az, 0);
}

__device__ float cumulative_normal(float d) {
  const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c =
      0.39894228040143267793994605993438f * expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
  if (d > 0) c = 1.0f - c;
  return c;
}

__global__ void black_scholes(const float* price, const float* strike, float* call, float* put, float r, float v,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = price[i] + 1.0f, x = strike[i] + 1.0f, t = 0.25f + strike[i] * 0.5f;
  float root = sqrtf(t);
  float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / (v * root);
  float d2 = d1 - v * root;
  float c1 = cumulative_normal(d1), c2 = cumulative_normal(d2);
  float e = expf(-r * t);
  call[i] = s * c1 - x * e * c2;
  put[i] = x * e * (1.0f - c2) - s * (1.0f - c1);
}

__global__ void adamw(float* params, const float* grads, float* m_memory, float* v_memory, int n, float lr, float beta1,
                      float beta2, float correction1, float correction2, float eps, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float grad = grads[i];
  float m = m_memory[i];
  float v = v_memory[i];
  m = beta1 * m + (1.0f - beta1) * grad;
  m_memory[i] = m;
  v = beta2 * v + (1.0f - beta2) * (grad * grad);
  v_memory[i] = v;
  m /= correction1;
  v /= correction2;
  params[i] -= lr * (m / (sqrtf(v) + eps) + decay * params[i]);
}

__global__ void integer_division(const int* a, int* out, int divisor, int modulus, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i] & 0x7fffffff;
  int sum = 0;
  for (int k = 1; k <= 8; k++) sum += x / (divisor + k) + x % (modulus + k);
  out[i] = sum;
}

__global__ void greatest_common_divisor(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = a[i] | 1, y = b[i] | 1;
  while (y != 0) {
    unsigned t = x % y;
    x = y;
    y = t;
  }
  out[i] = x;
}

__global__ void collatz(int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long x = i + 1;
  int count = 0;
  while (x != 1) {
    x = (x & 1) ? 3 * x + 1 : x / 2;
    count++;
  }
  steps[i] = count;
}

__global__ void primes(int* flags, int from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = from + i, prime = 1;
  for (int d = 2; d * d <= x; d++) {
    if (x % d == 0) {
      prime = 0;
      break;
    }
  }
  flags[i] = prime;
}

__global__ void power_and_sine(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = powf(x[i], 2.3f) + sinf(x[i] * 3.0f) * cosf(x[i]);
}

__global__ void divisions(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = b[i] + 1.0f;
  for (int k = 0; k < 16; k++) x = (x + 1.0f) / (y + x);
  c[i] = x;
}

__global__ void horner64(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i], y = 0.5;
  for (int k = 0; k < 64; k++) y = y * x + 0.001 * k;
  out[i] = y;
}

__global__ void daxpy(int n, double a, const double* x, double* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i];
}

__global__ void population(const unsigned long long* words, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int bits = 0;
  for (int k = i; k < n; k += gridDim.x * blockDim.x) bits += __popcll(words[k]);
  for (int offset = 16; offset > 0; offset >>= 1) bits += __shfl_xor_sync(0xffffffffu, bits, offset);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, bits);
}

// The table of CRC-32, from shared memory; each thread takes 64 bytes.
__global__ void crc32(const unsigned* data, unsigned* out, int n) {
  __shared__ unsigned table[256];
  unsigned c = threadIdx.x;
  for (int k = 0; k < 8; k++) c = (c & 1) ? (c >> 1) ^ 0xEDB88320u : c >> 1;
  table[threadIdx.x] = c;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned crc = 0xffffffffu;
  for (int w = 0; w < 16; w++) {
    unsigned word = data[w * n + i];
    for (int b = 0; b < 4; b++) {
      crc = table[(crc ^ word) & 255] ^ (crc >> 8);
      word >>= 8;
    }
  }
  out[i] = ~crc;
}

__global__ void dot_int8(const int* a, const int* b, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int x = a[i], y = b[i];
    for (int k = 0; k < 4; k++) sum += (int)(signed char)(x >> (8 * k)) * (int)(signed char)(y >> (8 * k));
  }
  atomicAdd(&out[threadIdx.x & 31], sum);
}

// Bins of a thread's own, in an array that the data index.
__global__ void local_histogram(const float* in, int* out, int per_thread, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int bins[32];
  for (int b = 0; b < 32; b++) bins[b] = 0;
  for (int k = 0; k < per_thread; k++) bins[(int)(in[k * n + i] * 32.0f) & 31]++;
  for (int b = 0; b < 32; b++) out[b * n + i] = bins[b];
}

}  // namespace

std::vector<Case> first_arithmetic() {
  std::vector<Case> list;
  const int n = 1 << 20;
  const auto words = [](const float* p) { return reinterpret_cast<const unsigned*>(p); };
  const auto out_words = [](float* p) { return reinterpret_cast<unsigned*>(p); };
  for (const int w : {1, 8})
    list.push_back(
        {"murmur3 " + std::to_string(w), "hash", size_t{4} * n * (w + 1), [=](const Buffers& b, cudaStream_t s) {
           murmur3<<<n / 256, 256, 0, s>>>(words(b.in), out_words(b.out), n, w);
         }});
  for (const int rounds : {16, 128})
    list.push_back(
        {"xorshift_fill " + std::to_string(rounds), "random", size_t{4} * n, [=](const Buffers& b, cudaStream_t s) {
           xorshift_fill<<<n / 256, 256, 0, s>>>(out_words(b.out), n, rounds);
         }});
  list.push_back({"philox", "random", size_t{16} * n, [=](const Buffers& b, cudaStream_t s) {
                    philox<<<n / 256, 256, 0, s>>>(reinterpret_cast<uint4*>(b.out), n, 7);
                  }});
  list.push_back({"monte_carlo_pi", "random", 65536, [=](const Buffers& b, cudaStream_t s) {
                    monte_carlo_pi<<<528, 256, 0, s>>>(reinterpret_cast<unsigned long long*>(b.out), 256);
                  }});
  list.push_back({"mandelbrot 512 100", "fractal", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
                    mandelbrot<<<dim3(32, 32), dim3(16, 16), 0, s>>>(reinterpret_cast<int*>(b.out), 512, 512, -2.2f,
                                                                     -1.5f, 3.0f / 512, 100);
                  }});
  list.push_back({"mandelbrot 1024 256", "fractal", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
                    mandelbrot<<<dim3(32, 128), dim3(32, 8), 0, s>>>(reinterpret_cast<int*>(b.out), 1024, 1024, -2.2f,
                                                                     -1.5f, 3.0f / 1024, 256);
                  }});
  list.push_back({"julia 512", "fractal", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
                    julia<<<dim3(32, 32), dim3(16, 16), 0, s>>>(reinterpret_cast<unsigned char*>(b.out), 512);
                  }});
  list.push_back({"nbody 4096", "nbody", size_t{32} * 4096, [=](const Buffers& b, cudaStream_t s) {
                    nbody<<<32, 128, 128 * 16, s>>>(reinterpret_cast<const float4*>(b.in),
                                                    reinterpret_cast<float4*>(b.out), 4096);
                  }});
  list.push_back({"nbody 8192", "nbody", size_t{32} * 8192, [=](const Buffers& b, cudaStream_t s) {
                    nbody<<<32, 256, 256 * 16, s>>>(reinterpret_cast<const float4*>(b.in),
                                                    reinterpret_cast<float4*>(b.out), 8192);
                  }});
  list.push_back({"black_scholes", "finance", size_t{16} * n * 2, [=](const Buffers& b, cudaStream_t s) {
                    black_scholes<<<n * 2 / 128, 128, 0, s>>>(b.in, b.in2, b.out, b.out + n * 2, 0.02f, 0.3f, n * 2);
                  }});
  list.push_back({"adamw", "optimizer", size_t{28} * n, [=](const Buffers& b, cudaStream_t s) {
                    adamw<<<n / 512, 512, 0, s>>>(b.out, b.in, b.in2, b.in2 + n, n, 1e-4f, 0.9f, 0.999f, 0.1f, 0.001f,
                                                  1e-8f, 0.01f);
                  }});
  list.push_back({"integer_division", "integers", size_t{8} * n, [=](const Buffers& b, cudaStream_t s) {
                    integer_division<<<n / 256, 256, 0, s>>>(reinterpret_cast<const int*>(b.in),
                                                             reinterpret_cast<int*>(b.out), 7, 13, n);
                  }});
  list.push_back({"greatest_common_divisor", "integers", size_t{6} * n, [=](const Buffers& b, cudaStream_t s) {
                    greatest_common_divisor<<<n / 512, 256, 0, s>>>(words(b.in), words(b.in2), out_words(b.out), n / 2);
                  }});
  list.push_back({"collatz", "integers", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
                    collatz<<<1024, 256, 0, s>>>(reinterpret_cast<int*>(b.out), 1 << 18);
                  }});
  list.push_back({"primes", "integers", size_t{4} << 17, [=](const Buffers& b, cudaStream_t s) {
                    primes<<<512, 256, 0, s>>>(reinterpret_cast<int*>(b.out), 100000, 1 << 17);
                  }});
  list.push_back({"power_and_sine", "functions", size_t{8} * n,
                  [=](const Buffers& b, cudaStream_t s) { power_and_sine<<<n / 256, 256, 0, s>>>(b.in, b.out, n); }});
  list.push_back({"divisions", "functions", size_t{12} * n,
                  [=](const Buffers& b, cudaStream_t s) { divisions<<<n / 256, 256, 0, s>>>(b.in, b.in2, b.out, n); }});
  list.push_back({"horner64", "double precision", size_t{16} * n, [=](const Buffers& b, cudaStream_t s) {
                    horner64<<<n / 256, 256, 0, s>>>(reinterpret_cast<const double*>(b.in),
                                                     reinterpret_cast<double*>(b.out), n);
                  }});
  list.push_back({"daxpy", "double precision", size_t{48} * n, [=](const Buffers& b, cudaStream_t s) {
                    daxpy<<<1056, 256, 0, s>>>(n * 2, 1.5, reinterpret_cast<const double*>(b.in),
                                               reinterpret_cast<double*>(b.out));
                  }});
  list.push_back({"population", "bits", size_t{16} * n, [=](const Buffers& b, cudaStream_t s) {
                    population<<<528, 256, 0, s>>>(reinterpret_cast<const unsigned long long*>(b.in), b.counters,
                                                   n * 2);
                  }});
  list.push_back({"crc32", "bits", size_t{68} << 18, [=](const Buffers& b, cudaStream_t s) {
                    crc32<<<1024, 256, 0, s>>>(words(b.in), out_words(b.out), 1 << 18);
                  }});
  list.push_back({"dot_int8", "bits", size_t{32} * n, [=](const Buffers& b, cudaStream_t s) {
                    dot_int8<<<528, 256, 0, s>>>(reinterpret_cast<const int*>(b.in),
                                                 reinterpret_cast<const int*>(b.in2), b.counters, n * 4);
                  }});
  list.push_back({"local_histogram", "local arrays", size_t{4 * 96} << 16, [=](const Buffers& b, cudaStream_t s) {
                    local_histogram<<<256, 256, 0, s>>>(b.in, reinterpret_cast<int*>(b.out), 64, 1 << 16);
                  }});
  return list;
}

}  // namespace calibration
