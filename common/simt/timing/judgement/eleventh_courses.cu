// What is handed in in courses, and samples: pictures of bytes, matrices in three ways, counts, sums that are tried in
// several ways, sorts, keys, prices, texts.
#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

template <typename T>
T* as(float* p) {
  return reinterpret_cast<T*>(p);
}

__global__ void rgba_to_grey(const uchar4* const rgbaImage, unsigned char* const greyImage, int numRows, int numCols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= numCols || y >= numRows) return;
  uchar4 rgba = rgbaImage[y * numCols + x];
  float channelSum = .299f * rgba.x + .587f * rgba.y + .114f * rgba.z;
  greyImage[y * numCols + x] = channelSum;
}
__global__ void blur_channel(const unsigned char* const inputChannel, unsigned char* const outputChannel, int numRows,
                             int numCols, const float* const filter, const int filterWidth) {
  int px = blockIdx.x * blockDim.x + threadIdx.x;
  int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= numCols || py >= numRows) return;
  float c = 0.0f;
  for (int fx = 0; fx < filterWidth; fx++) {
    for (int fy = 0; fy < filterWidth; fy++) {
      int imagex = px + fx - filterWidth / 2;
      int imagey = py + fy - filterWidth / 2;
      imagex = min(max(imagex, 0), numCols - 1);
      imagey = min(max(imagey, 0), numRows - 1);
      c += (filter[fy * filterWidth + fx] * inputChannel[imagey * numCols + imagex]);
    }
  }
  outputChannel[py * numCols + px] = c;
}
__global__ void separate_channels(const uchar4* const image, int numRows, int numCols, unsigned char* const red,
                                  unsigned char* const green, unsigned char* const blue) {
  int px = blockIdx.x * blockDim.x + threadIdx.x;
  int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= numCols || py >= numRows) return;
  int i = py * numCols + px;
  red[i] = image[i].x;
  green[i] = image[i].y;
  blue[i] = image[i].z;
}
__global__ void edges_of_bytes(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    float dx = (-1 * in[(y - 1) * width + (x - 1)]) + (-2 * in[y * width + (x - 1)]) +
               (-1 * in[(y + 1) * width + (x - 1)]) + (in[(y - 1) * width + (x + 1)]) + (2 * in[y * width + (x + 1)]) +
               (in[(y + 1) * width + (x + 1)]);
    float dy = (in[(y - 1) * width + (x - 1)]) + (2 * in[(y - 1) * width + x]) + (in[(y - 1) * width + (x + 1)]) +
               (-1 * in[(y + 1) * width + (x - 1)]) + (-2 * in[(y + 1) * width + x]) +
               (-1 * in[(y + 1) * width + (x + 1)]);
    out[y * width + x] = sqrt((dx * dx) + (dy * dy));
  }
}
__global__ void flip_bytes(const unsigned char* in, unsigned char* out, int width, int height, int channels) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  for (int c = 0; c < channels; c++)
    out[(y * width + (width - 1 - x)) * channels + c] = in[(y * width + x) * channels + c];
}

// Sums of matrices: a thread for an element, for a row, for a column.
template <typename T>
__global__ void add_elements(T* a, const T* b, const T* c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && col < n) a[row * n + col] = b[row * n + col] + c[row * n + col];
}
template <typename T>
__global__ void add_rows(T* a, const T* b, const T* c, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n)
    for (int col = 0; col < n; col++) a[row * n + col] = b[row * n + col] + c[row * n + col];
}
template <typename T>
__global__ void add_columns(T* a, const T* b, const T* c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col < n)
    for (int row = 0; row < n; row++) a[row * n + col] = b[row * n + col] + c[row * n + col];
}

// A transposition of any type through a tile, with or without one more column.
template <typename T, int Pad>
__global__ void transpose_any(const T* in, T* out, int width, int height) {
  __shared__ T tile[32][32 + Pad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T, int Tile>
__global__ void matmul_of(const T* a, const T* b, T* c, int n) {
  __shared__ T as[Tile][Tile], bs[Tile][Tile];
  int row = blockIdx.y * Tile + threadIdx.y, col = blockIdx.x * Tile + threadIdx.x;
  T sum = 0;
  for (int m = 0; m < (n + Tile - 1) / Tile; ++m) {
    if (m * Tile + threadIdx.x < n && row < n)
      as[threadIdx.y][threadIdx.x] = a[row * n + m * Tile + threadIdx.x];
    else
      as[threadIdx.y][threadIdx.x] = 0;
    if (m * Tile + threadIdx.y < n && col < n)
      bs[threadIdx.y][threadIdx.x] = b[(m * Tile + threadIdx.y) * n + col];
    else
      bs[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < Tile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

// Counts of letters: in global memory, in shared memory with strides, and in sections.
__global__ void letters_global(const char* data, unsigned* histo, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) {
    int position = data[i] & 31;
    if (position >= 0 && position < 26) atomicAdd(&histo[position / 4], 1);
  }
}
__global__ void letters_private(const char* data, unsigned* histo, int length) {
  __shared__ unsigned histo_s[7];
  for (int bin = threadIdx.x; bin < 7; bin += blockDim.x) histo_s[bin] = 0u;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x) {
    int position = data[i] & 31;
    if (position >= 0 && position < 26) atomicAdd(&histo_s[position / 4], 1);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < 7; bin += blockDim.x) {
    unsigned value = histo_s[bin];
    if (value > 0) atomicAdd(&histo[bin], value);
  }
}

// Sums: with neighbours first and a remainder, with strides in shared memory, and by one atomic for each thread.
template <typename T>
__global__ void sum_neighbours(const T* in, T* out) {
  __shared__ T sdata[256];
  unsigned int tid = threadIdx.x;
  sdata[tid] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}
template <typename T>
__global__ void sum_halves(const T* in, T* out) {
  __shared__ T sdata[256];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  sdata[tid] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}
__global__ void sum_in_place(float* input, float* output) {
  unsigned int i = threadIdx.x;
  for (unsigned int stride = blockDim.x; stride >= 1; stride /= 2) {
    if (threadIdx.x < stride) input[i] += input[i + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) *output = input[0];
}
__global__ void largest_by_atomics(const int* in, int* largest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(largest, in[i] & 0xFFFF);
}

// One thread multiplies powers; another counts divisors; texts are shifted.
__global__ void power_modulo(const unsigned* base, unsigned* out, unsigned exponent, unsigned modulus, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long result = 1, b = base[i] % modulus;
  unsigned e = exponent;
  while (e > 0) {
    if (e & 1) result = result * b % modulus;
    b = b * b % modulus;
    e >>= 1;
  }
  out[i] = static_cast<unsigned>(result);
}
__global__ void count_divisors(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i > n) return;
  int count = 0;
  for (int d = 1; d * d <= i; d++)
    if (i % d == 0) count += d * d == i ? 1 : 2;
  out[i - 1] = count;
}
__global__ void caesar(const char* in, char* out, int shift, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  char c = in[i];
  if (c >= 'a' && c <= 'z')
    out[i] = (c - 'a' + shift) % 26 + 'a';
  else if (c >= 'A' && c <= 'Z')
    out[i] = (c - 'A' + shift) % 26 + 'A';
  else
    out[i] = c;
}
__global__ void bubble_phase(int* data, int n, int phase) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
  if (i + 1 < n && data[i] > data[i + 1]) {
    int t = data[i];
    data[i] = data[i + 1];
    data[i + 1] = t;
  }
}

// Heat in a plate, twice: with tests at the edges in the kernel, and a tile with a border in shared memory.
template <typename T>
__global__ void plate(const T* in, T* out, int n, T k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  T left = i > 0 ? in[j * n + i - 1] : T(0), right = i < n - 1 ? in[j * n + i + 1] : T(0);
  T up = j > 0 ? in[(j - 1) * n + i] : T(0), down = j < n - 1 ? in[(j + 1) * n + i] : T(0);
  out[j * n + i] = in[j * n + i] + k * (left + right + up + down - T(4) * in[j * n + i]);
}
template <typename T>
__global__ void plate_tile(const T* in, T* out, int n, T k) {
  __shared__ T s[18][18];
  int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
  int si = threadIdx.x + 1, sj = threadIdx.y + 1;
  if (i < n && j < n) s[sj][si] = in[j * n + i];
  if (threadIdx.x == 0) s[sj][0] = i > 0 ? in[j * n + i - 1] : T(0);
  if (threadIdx.x == 15) s[sj][17] = i < n - 1 ? in[j * n + i + 1] : T(0);
  if (threadIdx.y == 0) s[0][si] = j > 0 ? in[(j - 1) * n + i] : T(0);
  if (threadIdx.y == 15) s[17][si] = j < n - 1 ? in[(j + 1) * n + i] : T(0);
  __syncthreads();
  if (i < n && j < n)
    out[j * n + i] = s[sj][si] + k * (s[sj][si - 1] + s[sj][si + 1] + s[sj - 1][si] + s[sj + 1][si] - T(4) * s[sj][si]);
}

template <typename T>
void matrices(const Add& add, const char* type) {
  const std::string tail = std::string(" ") + type;
  add("add_elements" + tail, "sums of matrices", sizeof(T) << 20, [=](const Buffers& b, cudaStream_t s) {
    add_elements<T><<<dim3(64, 64), dim3(16, 16), 0, s>>>(as<T>(b.out), as<T>(b.in), as<T>(b.in2), 1024);
  });
  add("add_rows" + tail, "sums of matrices", sizeof(T) << 20, [=](const Buffers& b, cudaStream_t s) {
    add_rows<T><<<4, 256, 0, s>>>(as<T>(b.out), as<T>(b.in), as<T>(b.in2), 1024);
  });
  add("add_columns" + tail, "sums of matrices", sizeof(T) << 20, [=](const Buffers& b, cudaStream_t s) {
    add_columns<T><<<4, 256, 0, s>>>(as<T>(b.out), as<T>(b.in), as<T>(b.in2), 1024);
  });
  add("transpose_any" + tail, "transpositions", sizeof(T) << 20, [=](const Buffers& b, cudaStream_t s) {
    transpose_any<T, 0><<<dim3(32, 32), dim3(32, 8), 0, s>>>(as<T>(b.in), as<T>(b.out), 1024, 1024);
  });
  add("transpose_any padded" + tail, "transpositions", sizeof(T) << 20, [=](const Buffers& b, cudaStream_t s) {
    transpose_any<T, 1><<<dim3(32, 32), dim3(32, 8), 0, s>>>(as<T>(b.in), as<T>(b.out), 1024, 1024);
  });
}
template <typename T>
void more(const Add& add, const char* type) {
  const std::string tail = std::string(" ") + type;
  add("matmul_of 16" + tail, "products of tiles", sizeof(T) << 18, [=](const Buffers& b, cudaStream_t s) {
    matmul_of<T, 16><<<dim3(20, 20), dim3(16, 16), 0, s>>>(as<T>(b.in), as<T>(b.in2), as<T>(b.out), 320);
  });
  add("sum_neighbours" + tail, "sums", sizeof(T) << 19,
      [=](const Buffers& b, cudaStream_t s) { sum_neighbours<T><<<2048, 256, 0, s>>>(as<T>(b.in), as<T>(b.out)); });
  add("sum_halves" + tail, "sums", sizeof(T) << 19,
      [=](const Buffers& b, cudaStream_t s) { sum_halves<T><<<1024, 256, 0, s>>>(as<T>(b.in), as<T>(b.out)); });
  add("plate" + tail, "plates", sizeof(T) << 20, [=](const Buffers& b, cudaStream_t s) {
    plate<T><<<dim3(64, 64), dim3(16, 16), 0, s>>>(as<T>(b.in), as<T>(b.out), 1024, T(0.1));
  });
  add("plate_tile" + tail, "plates", sizeof(T) << 20, [=](const Buffers& b, cudaStream_t s) {
    plate_tile<T><<<dim3(64, 64), dim3(16, 16), 0, s>>>(as<T>(b.in), as<T>(b.out), 1024, T(0.1));
  });
}

}  // namespace

std::vector<Case> eleventh_courses() {
  std::vector<Case> list;
  const Add add{list};
  const dim3 square(16, 16), pixels(64, 64);
  add("rgba_to_grey", "pictures of bytes", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
    rgba_to_grey<<<pixels, square, 0, s>>>(as<uchar4>(b.in), as<unsigned char>(b.out), 1024, 1024);
  });
  for (const int width : {3, 9})
    add("blur_channel " + std::to_string(width), "pictures of bytes", size_t{1} << 19,
        [=](const Buffers& b, cudaStream_t s) {
          blur_channel<<<dim3(32, 64), square, 0, s>>>(as<unsigned char>(b.in), as<unsigned char>(b.out), 1024, 512,
                                                       b.in2, width);
        });
  add("separate_channels", "pictures of bytes", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
    auto* out = as<unsigned char>(b.out);
    separate_channels<<<pixels, square, 0, s>>>(as<uchar4>(b.in), 1024, 1024, out, out + (1 << 20), out + (2 << 20));
  });
  add("edges_of_bytes", "pictures of bytes", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    edges_of_bytes<<<pixels, square, 0, s>>>(as<unsigned char>(b.in), as<unsigned char>(b.out), 1024, 1024);
  });
  add("flip_bytes", "pictures of bytes", size_t{3} << 20, [=](const Buffers& b, cudaStream_t s) {
    flip_bytes<<<dim3(4, 1024), 256, 0, s>>>(as<unsigned char>(b.in), as<unsigned char>(b.out), 1024, 1024, 3);
  });
  matrices<char>(add, "char");
  matrices<float>(add, "f32");
  matrices<double>(add, "f64");
  more<int>(add, "int");
  more<double>(add, "f64");
  add("letters_global", "letters", size_t{1} << 18, [=](const Buffers& b, cudaStream_t s) {
    letters_global<<<1024, 256, 0, s>>>(as<char>(b.in), as<unsigned>(b.out), 1 << 18);
  });
  add("letters_private", "letters", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    letters_private<<<512, 256, 0, s>>>(as<char>(b.in), as<unsigned>(b.out), 1 << 20);
  });
  add("sum_in_place", "sums", size_t{1} << 13,
      [=](const Buffers& b, cudaStream_t s) { sum_in_place<<<1, 1024, 0, s>>>(b.in, b.out); });
  add("largest_by_atomics", "sums", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
    largest_by_atomics<<<1024, 256, 0, s>>>(as<int>(b.in), as<int>(b.out), 1 << 18);
  });
  add("power_modulo", "numbers", size_t{4} << 17, [=](const Buffers& b, cudaStream_t s) {
    power_modulo<<<512, 256, 0, s>>>(as<unsigned>(b.in), as<unsigned>(b.out), 65537, 1000000007, 1 << 17);
  });
  for (const int n : {4096, 65536})
    add("count_divisors " + std::to_string(n), "numbers", size_t{4} * n,
        [=](const Buffers& b, cudaStream_t s) { count_divisors<<<n / 256, 256, 0, s>>>(as<int>(b.out), n); });
  add("caesar", "texts", size_t{1} << 21, [=](const Buffers& b, cudaStream_t s) {
    caesar<<<8192, 256, 0, s>>>(as<char>(b.in), as<char>(b.out), 3, 1 << 21);
  });
  add("bubble_phase", "texts", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { bubble_phase<<<2048, 256, 0, s>>>(as<int>(b.in), 1 << 20, 1); });
  return list;
}

}  // namespace calibration
