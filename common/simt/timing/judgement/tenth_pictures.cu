// Pictures and volumes: filters from constant memory and by tiles, templates, warps of pictures, tables of grey values,
// moves of axes, gradients of resampling.
#include <cstdint>

#include "../calibration/calibration.h"

namespace calibration {

namespace {

__constant__ float filter[17 * 17];

template <int radius>
__global__ void filter_constant(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++) {
      const int column = min(max(x + dx, 0), width - 1), row = min(max(y + dy, 0), height - 1);
      sum += in[row * width + column] * filter[(dy + radius) * (2 * radius + 1) + dx + radius];
    }
  out[y * width + x] = sum;
}

// 32 x 16 outputs a block; the tile and its border in shared memory.
template <int radius>
__global__ void filter_constant_tile(const float* in, float* out, int width, int height) {
  constexpr int across = 32 + 2 * radius, down = 16 + 2 * radius;
  __shared__ float tile[down][across];
  const int left = blockIdx.x * 32 - radius, top = blockIdx.y * 16 - radius;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < across * down; i += 512) {
    const int column = min(max(left + i % across, 0), width - 1), row = min(max(top + i / across, 0), height - 1);
    tile[i / across][i % across] = in[row * width + column];
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int dy = 0; dy <= 2 * radius; dy++)
#pragma unroll
    for (int dx = 0; dx <= 2 * radius; dx++)
      sum += tile[threadIdx.y + dy][threadIdx.x + dx] * filter[dy * (2 * radius + 1) + dx];
  out[(blockIdx.y * 16 + threadIdx.y) * width + blockIdx.x * 32 + threadIdx.x] = sum;
}

// The median of a window of 25 by counting: the value that has 12 before it.
__global__ void median25(const uint8_t* in, uint8_t* out, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  __shared__ uint8_t tile[12][36];
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 12 * 36; i += 256)
    tile[i / 36][i % 36] = in[min(max(static_cast<int>(blockIdx.y * 8) + i / 36 - 2, 0), height - 1) * width +
                              min(max(static_cast<int>(blockIdx.x * 32) + i % 36 - 2, 0), width - 1)];
  __syncthreads();
  int low = 0, high = 255;
  while (low < high) {
    const int middle = (low + high) / 2;
    int below = 0;
#pragma unroll
    for (int r = 0; r < 5; r++)
#pragma unroll
      for (int c = 0; c < 5; c++) below += tile[threadIdx.y + r][threadIdx.x + c] <= middle;
    if (below > 12)
      high = middle;
    else
      low = middle + 1;
  }
  out[y * width + x] = static_cast<uint8_t>(low);
}

// Normalised cross-correlation with a template in shared memory.
template <int size>
__global__ void match_template(const float* picture, const float* pattern, float* score, int width, int outputs) {
  __shared__ float t[size * size];
  for (int i = threadIdx.y * 16 + threadIdx.x; i < size * size; i += 256) t[i] = pattern[i];
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= outputs || y >= outputs) return;
  float product = 0.0f, sum = 0.0f, square = 0.0f;
  for (int r = 0; r < size; r++)
    for (int c = 0; c < size; c++) {
      const float v = picture[(y + r) * width + x + c];
      product += v * t[r * size + c];
      sum += v;
      square += v * v;
    }
  const float variance = square - sum * sum / (size * size);
  score[y * outputs + x] = variance > 1e-6f ? product * rsqrtf(variance) : 0.0f;
}

// A picture turned about its middle, four bytes a pixel, bilinear.
__global__ void rotate_picture(const uchar4* in, uchar4* out, int width, int height, float cosine, float sine) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float dx = x - width * 0.5f, dy = y - height * 0.5f;
  const float u = dx * cosine + dy * sine + width * 0.5f, v = dy * cosine - dx * sine + height * 0.5f;
  const int column = static_cast<int>(floorf(u)), row = static_cast<int>(floorf(v));
  uchar4 result = make_uchar4(0, 0, 0, 255);
  if (column >= 0 && row >= 0 && column + 1 < width && row + 1 < height) {
    const float a = u - column, b = v - row;
    const uchar4 p = in[row * width + column], q = in[row * width + column + 1];
    const uchar4 r = in[(row + 1) * width + column], s = in[(row + 1) * width + column + 1];
    result.x = static_cast<uint8_t>((p.x * (1 - a) + q.x * a) * (1 - b) + (r.x * (1 - a) + s.x * a) * b);
    result.y = static_cast<uint8_t>((p.y * (1 - a) + q.y * a) * (1 - b) + (r.y * (1 - a) + s.y * a) * b);
    result.z = static_cast<uint8_t>((p.z * (1 - a) + q.z * a) * (1 - b) + (r.z * (1 - a) + s.z * a) * b);
  }
  out[y * width + x] = result;
}

__global__ void alpha_blend(const uchar4* front, const uchar4* back, uchar4* out, int pixels) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
    const uchar4 f = front[i], b = back[i];
    const int a = f.w, rest = 255 - a;
    out[i] = make_uchar4((f.x * a + b.x * rest) / 255, (f.y * a + b.y * rest) / 255, (f.z * a + b.z * rest) / 255, 255);
  }
}

// Grey values through a table, four a thread; and the three histograms of a picture of bytes.
__global__ void equalise(const uchar4* in, const float* cumulative, uchar4* out, int packs) {
  __shared__ uint8_t table[256];
  table[threadIdx.x] = static_cast<uint8_t>(255.0f * cumulative[threadIdx.x]);
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < packs; i += gridDim.x * 256) {
    const uchar4 v = in[i];
    out[i] = make_uchar4(table[v.x], table[v.y], table[v.z], table[v.w]);
  }
}
__global__ void colour_histograms(const uchar4* in, unsigned* out, int pixels) {
  __shared__ unsigned bins[3][256];
  for (int i = threadIdx.x; i < 768; i += blockDim.x) bins[0][i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
    const uchar4 v = in[i];
    atomicAdd(&bins[0][v.x], 1u);
    atomicAdd(&bins[1][v.y], 1u);
    atomicAdd(&bins[2][v.z], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 768; i += blockDim.x) atomicAdd(&out[i], bins[0][i]);
}

// The smallest of a window in one direction, from global memory.
__global__ void erode_rows(const uint8_t* in, uint8_t* out, int width, int height, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  int least = 255;
  for (int d = -radius; d <= radius; d++)
    least = min(least, static_cast<int>(in[y * width + min(max(x + d, 0), width - 1)]));
  out[y * width + x] = static_cast<uint8_t>(least);
}
__global__ void erode_columns(const uint8_t* in, uint8_t* out, int width, int height, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  int least = 255;
  for (int d = -radius; d <= radius; d++)
    least = min(least, static_cast<int>(in[min(max(y + d, 0), height - 1) * width + x]));
  out[y * width + x] = static_cast<uint8_t>(least);
}

// Sums over a rectangle about each pixel by four corners of a table of sums.
__global__ void box_by_corners(const float* sums, float* out, int width, int height, int radius) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  const int left = max(x - radius, 0), right = min(x + radius, width - 1);
  const int top = max(y - radius, 0), bottom = min(y + radius, height - 1);
  const float sum =
      sums[bottom * width + right] - sums[top * width + right] - sums[bottom * width + left] + sums[top * width + left];
  out[y * width + x] = sum / ((right - left) * (bottom - top));
}

// Distances to the nearest set pixel of the own column: down, then up.
__global__ void column_distances(const float* in, int* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  int distance = 1 << 20;
  for (int y = 0; y < height; y++) {
    distance = in[y * width + x] > 0.98f ? 0 : distance + 1;
    out[y * width + x] = distance;
  }
  for (int y = height - 2; y >= 0; y--) {
    const int below = out[(y + 1) * width + x] + 1;
    if (below < out[y * width + x]) out[y * width + x] = below;
  }
}

// Axes of a volume exchanged: element by element, and by tiles.
__global__ void axes_210(const float* in, float* out, int nx, int ny, int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx * ny * nz) return;
  const int x = i % nx, y = i / nx % ny, z = i / nx / ny;
  out[(x * ny + y) * nz + z] = in[i];
}
__global__ void axes_210_tile(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, z = blockIdx.y * 32 + threadIdx.y, y = blockIdx.z;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[((z + j) * ny + y) * nx + x];
  __syncthreads();
  const int to_z = blockIdx.y * 32 + threadIdx.x, to_x = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[((to_x + j) * ny + y) * nz + to_z] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void axes_021(const float* in, float* out, int inner, int middle, int outer) {
  const int row = blockIdx.x, from_middle = row % middle, from_outer = row / middle;
  for (int x = threadIdx.x; x < inner; x += blockDim.x)
    out[(from_middle * outer + from_outer) * inner + x] = in[row * inner + x];
}

// Gradients of a bilinear enlargement by two: each output adds to four inputs.
__global__ void upsample_backward(const float* dy, float* dx, int width, int height, int planes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * width * height * 4) return;
  const int x = i % (2 * width), y = i / (2 * width) % (2 * height), plane = i / (4 * width * height);
  const float u = fmaxf((x + 0.5f) * 0.5f - 0.5f, 0.0f), v = fmaxf((y + 0.5f) * 0.5f - 0.5f, 0.0f);
  const int column = static_cast<int>(u), row = static_cast<int>(v);
  const int right = column < width - 1, below = row < height - 1;
  const float a = u - column, b = v - row, g = dy[i];
  float* to = dx + (plane * height + row) * width + column;
  atomicAdd(to, (1 - a) * (1 - b) * g);
  atomicAdd(to + right, a * (1 - b) * g);
  atomicAdd(to + below * width, (1 - a) * b * g);
  atomicAdd(to + below * width + right, a * b * g);
}

// Patches at places that another layer gives: nine samples of four pixels each.
__global__ void deformable_patches(const float* in, const float* offsets, float* out, int width, int height,
                                   int channels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height * channels) return;
  const int x = i % width, y = i / width % height, channel = i / width / height, place = y * width + x;
  const float* plane = in + channel * width * height;
#pragma unroll 1
  for (int k = 0; k < 9; k++) {
    const float v = y + k / 3 - 1 + offsets[(2 * k) * width * height + place];
    const float u = x + k % 3 - 1 + offsets[(2 * k + 1) * width * height + place];
    float sample = 0.0f;
    if (u > -1.0f && v > -1.0f && u < width && v < height) {
      const int left = static_cast<int>(floorf(u)), top = static_cast<int>(floorf(v));
      const float a = u - left, b = v - top;
      const float p = top >= 0 && left >= 0 ? plane[top * width + left] : 0.0f;
      const float q = top >= 0 && left + 1 < width ? plane[top * width + left + 1] : 0.0f;
      const float r = top + 1 < height && left >= 0 ? plane[(top + 1) * width + left] : 0.0f;
      const float s = top + 1 < height && left + 1 < width ? plane[(top + 1) * width + left + 1] : 0.0f;
      sample = (p * (1 - a) + q * a) * (1 - b) + (r * (1 - a) + s * a) * b;
    }
    out[(channel * 9 + k) * width * height + place] = sample;
  }
}

}  // namespace

std::vector<Case> tenth_pictures() {
  std::vector<Case> list;
  const Add add{list};
  const auto bytes = [](float* p) { return reinterpret_cast<uint8_t*>(p); };
  const auto pixels = [](float* p) { return reinterpret_cast<uchar4*>(p); };
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  const auto filtered = [&](const char* name, auto kernel, int rows) {
    add(name, "filters from constant memory", size_t{2} << 20, [=](const Buffers& b, cudaStream_t s) {
      kernel<<<dim3(16, 512 / rows), dim3(32, rows), 0, s>>>(b.in, b.out, 512, 512);
    });
  };
  filtered("filter_constant 3", filter_constant<1>, 8);
  filtered("filter_constant 5", filter_constant<2>, 8);
  filtered("filter_constant 9", filter_constant<4>, 8);
  filtered("filter_constant_tile 5", filter_constant_tile<2>, 16);
  filtered("filter_constant_tile 9", filter_constant_tile<4>, 16);
  add("median25", "pictures of bytes", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    median25<<<dim3(16, 64), dim3(32, 8), 0, s>>>(bytes(b.in), bytes(b.out), 512, 512);
  });
  const auto matched = [&](const char* name, auto kernel) {
    add(name, "templates", size_t{2} << 20, [=](const Buffers& b, cudaStream_t s) {
      kernel<<<dim3(16, 16), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 288, 256);
    });
  };
  matched("match_template 8", match_template<8>);
  matched("match_template 16", match_template<16>);
  for (const int turned : {0, 1})
    add(turned ? "rotate_picture 80" : "rotate_picture 5", "rotate_picture", size_t{32} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          rotate_picture<<<dim3(64, 128), dim3(32, 16), 0, s>>>(pixels(b.in), pixels(b.out), 2048, 2048,
                                                                turned ? 0.17f : 0.996f, turned ? 0.985f : 0.087f);
        });
  add("alpha_blend", "pictures of bytes", size_t{24} << 20, [=](const Buffers& b, cudaStream_t s) {
    alpha_blend<<<1056, 256, 0, s>>>(pixels(b.in), pixels(b.in2), pixels(b.out), 1 << 21);
  });
  add("equalise", "pictures of bytes", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    equalise<<<1056, 256, 0, s>>>(pixels(b.in), b.in2, pixels(b.out), 1 << 21);
  });
  add("colour_histograms", "pictures of bytes", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    colour_histograms<<<264, 512, 0, s>>>(pixels(b.in), reinterpret_cast<unsigned*>(b.counters), 1 << 21);
  });
  for (const int radius : {2, 7}) {
    add("erode_rows " + std::to_string(radius), "erosions", size_t{2} << 20, [=](const Buffers& b, cudaStream_t s) {
      erode_rows<<<dim3(4, 1024), 256, 0, s>>>(bytes(b.in), bytes(b.out), 1024, 1024, radius);
    });
    add("erode_columns " + std::to_string(radius), "erosions", size_t{2} << 20, [=](const Buffers& b, cudaStream_t s) {
      erode_columns<<<dim3(4, 1024), 256, 0, s>>>(bytes(b.in), bytes(b.out), 1024, 1024, radius);
    });
  }
  add("box_by_corners", "sums and distances", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    box_by_corners<<<dim3(64, 128), dim3(32, 8), 0, s>>>(b.in, b.out, 2048, 1024, 12);
  });
  add("column_distances", "sums and distances", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) { column_distances<<<64, 64, 0, s>>>(b.in, ints(b.out), 4096, 256); });
  add("axes_210", "axes of volumes", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) { axes_210<<<8192, 256, 0, s>>>(b.in, b.out, 128, 128, 128); });
  add("axes_210_tile", "axes of volumes", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    axes_210_tile<<<dim3(4, 4, 128), dim3(32, 8), 0, s>>>(b.in, b.out, 128, 128, 128);
  });
  add("axes_021", "axes of volumes", size_t{16} << 20,
      [=](const Buffers& b, cudaStream_t s) { axes_021<<<16384, 128, 0, s>>>(b.in, b.out, 128, 128, 128); });
  add("upsample_backward", "resampling for networks", size_t{10} << 20,
      [=](const Buffers& b, cudaStream_t s) { upsample_backward<<<8192, 256, 0, s>>>(b.in, b.out, 64, 64, 128); });
  add("deformable_patches", "resampling for networks", size_t{10} << 20, [=](const Buffers& b, cudaStream_t s) {
    deformable_patches<<<1024, 256, 0, s>>>(b.in, b.in2, b.out, 64, 64, 64);
  });
  return list;
}

}  // namespace calibration
