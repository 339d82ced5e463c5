// Pictures, scenes and signals.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

__device__ unsigned char clamp_byte(float v) { return static_cast<unsigned char>(fminf(fmaxf(v, 0.0f), 255.0f)); }

// A camera's NV12 (a plane of luma, a plane of pairs of chroma) to RGB.
__global__ void nv12_to_rgb(const unsigned char* luma, const uchar2* chroma, unsigned char* rgb, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const uchar2 uv = chroma[(y / 2) * (w / 2) + x / 2];
  const float c = 1.164f * (luma[y * w + x] - 16.0f), u = uv.x - 128.0f, v = uv.y - 128.0f;
  unsigned char* p = rgb + 3 * (y * w + x);
  p[0] = clamp_byte(c + 1.596f * v);
  p[1] = clamp_byte(c - 0.392f * u - 0.813f * v);
  p[2] = clamp_byte(c + 2.017f * u);
}

// Colours from a sensor's mosaic (RGGB), by the mean of neighbours.
__global__ void demosaic(const unsigned short* raw, float* red, float* green, float* blue, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const unsigned short* p = raw + y * w + x;
  const float here = p[0], cross = (p[-1] + p[1] + p[-w] + p[w]) * 0.25f;
  const float corners = (p[-w - 1] + p[-w + 1] + p[w - 1] + p[w + 1]) * 0.25f;
  const float across = (p[-1] + p[1]) * 0.5f, down = (p[-w] + p[w]) * 0.5f;
  float r, g, b;
  if (y % 2 == 0) {
    if (x % 2 == 0) {
      r = here, g = cross, b = corners;
    } else {
      r = across, g = here, b = down;
    }
  } else if (x % 2 == 0) {
    r = down, g = here, b = across;
  } else {
    r = corners, g = cross, b = here;
  }
  const int i = y * w + x;
  red[i] = r;
  green[i] = g;
  blue[i] = b;
}

// The next level of a pyramid: five taps along both axes of a tile in shared memory, every second pixel.
__global__ void pyramid_down(const float* in, float* out, int w, int h) {
  __shared__ float tile[36][36], rows[36][16];
  const int x0 = blockIdx.x * 32 - 2, y0 = blockIdx.y * 32 - 2;
  const int t = threadIdx.y * 16 + threadIdx.x;
  for (int i = t; i < 36 * 36; i += 256) {
    const int x = min(max(x0 + i % 36, 0), w - 1), y = min(max(y0 + i / 36, 0), h - 1);
    tile[i / 36][i % 36] = in[y * w + x];
  }
  __syncthreads();
  for (int i = t; i < 36 * 16; i += 256) {
    const int r = i / 16, c = i % 16 * 2;
    rows[r][i % 16] =
        0.0625f * (tile[r][c] + tile[r][c + 4]) + 0.25f * (tile[r][c + 1] + tile[r][c + 3]) + 0.375f * tile[r][c + 2];
  }
  __syncthreads();
  const int c = threadIdx.x, r = threadIdx.y * 2;
  const float sum =
      0.0625f * (rows[r][c] + rows[r + 4][c]) + 0.25f * (rows[r + 1][c] + rows[r + 3][c]) + 0.375f * rows[r + 2][c];
  out[(blockIdx.y * 16 + threadIdx.y) * (w / 2) + blockIdx.x * 16 + c] = sum;
}

// Canny's second step: a gradient stays if it is the largest along its direction.
__global__ void thin_edges(const float* gx, const float* gy, float* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int i = y * w + x;
  const float dx = gx[i] - 0.5f, dy = gy[i] - 0.5f, mine = hypotf(dx, dy);
  float angle = atan2f(dy, dx) * 57.29578f;
  if (angle < 0) angle += 180.0f;
  int step;
  if (angle < 22.5f || angle >= 157.5f)
    step = 1;
  else if (angle < 67.5f)
    step = w + 1;
  else if (angle < 112.5f)
    step = w;
  else
    step = w - 1;
  const float a = hypotf(gx[i + step] - 0.5f, gy[i + step] - 0.5f);
  const float b = hypotf(gx[i - step] - 0.5f, gy[i - step] - 0.5f);
  out[i] = mine >= a && mine >= b ? mine : 0.0f;
}

// Which of 62 neighbours (9 x 7) are darker.
__global__ void census(const unsigned char* in, unsigned long long* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 4 || y < 3 || x >= w - 4 || y >= h - 3) return;
  const unsigned char centre = in[y * w + x];
  unsigned long long bits = 0;
  for (int dy = -3; dy <= 3; dy++) {
    for (int dx = -4; dx <= 4; dx++) {
      if (dx == 0 && dy == 0) continue;
      bits = bits << 1 | (in[(y + dy) * w + x + dx] < centre ? 1 : 0);
    }
  }
  out[y * w + x] = bits;
}

// The shift at which the bits of two pictures differ least.
__global__ void stereo_match(const unsigned long long* left, const unsigned long long* right, unsigned char* out, int w,
                             int h, int shifts) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w || y >= h) return;
  const unsigned long long mine = left[y * w + x];
  int best = 65, at = 0;
  for (int d = 0; d < shifts && d <= x; d++) {
    const int cost = __popcll(mine ^ right[y * w + x - d]);
    if (cost < best) {
      best = cost;
      at = d;
    }
  }
  out[y * w + x] = at;
}

// Harris: products of gradients in a window of 3 x 3, from a tile with a border of two.
__global__ void harris(const float* in, float* out, int w, int h, float k) {
  __shared__ float tile[20][21], gx[18][19], gy[18][19];
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (int r = ty; r < 20; r += 16) {
    for (int c = tx; c < 20; c += 16) {
      const int x = min(max(static_cast<int>(blockIdx.x) * 16 + c - 2, 0), w - 1);
      const int y = min(max(static_cast<int>(blockIdx.y) * 16 + r - 2, 0), h - 1);
      tile[r][c] = in[y * w + x];
    }
  }
  __syncthreads();
  for (int r = ty; r < 18; r += 16) {
    for (int c = tx; c < 18; c += 16) {
      gx[r][c] = tile[r + 1][c + 2] - tile[r + 1][c];
      gy[r][c] = tile[r + 2][c + 1] - tile[r][c + 1];
    }
  }
  __syncthreads();
  float xx = 0.0f, yy = 0.0f, xy = 0.0f;
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      const float a = gx[ty + r][tx + c], b = gy[ty + r][tx + c];
      xx += a * a;
      yy += b * b;
      xy += a * b;
    }
  }
  const float trace = xx + yy;
  out[(blockIdx.y * 16 + ty) * w + blockIdx.x * 16 + tx] = xx * yy - xy * xy - k * trace * trace;
}

// Means of pixels weighted by how alike their surroundings are.
__global__ void non_local_means(const float* in, float* out, int w, int h, int search, float strength) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int edge = search + 1;
  if (x < edge || y < edge || x >= w - edge || y >= h - edge) return;
  float sum = 0.0f, weights = 0.0f;
  for (int dy = -search; dy <= search; dy++) {
    for (int dx = -search; dx <= search; dx++) {
      float distance = 0.0f;
      for (int py = -1; py <= 1; py++) {
        for (int px = -1; px <= 1; px++) {
          const float d = in[(y + py) * w + x + px] - in[(y + dy + py) * w + x + dx + px];
          distance += d * d;
        }
      }
      const float weight = __expf(-distance * strength);
      sum += weight * in[(y + dy) * w + x + dx];
      weights += weight;
    }
  }
  out[y * w + x] = sum / weights;
}

__global__ void tone_map(const float4* in, uchar4* out, int n, float exposure) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = in[i];
  const float luma = exposure * (0.2126f * p.x + 0.7152f * p.y + 0.0722f * p.z);
  const float scale = exposure * (1.0f + luma / 4.0f) / (1.0f + luma);
  out[i] = make_uchar4(clamp_byte(255.0f * powf(p.x * scale, 1.0f / 2.2f)),
                       clamp_byte(255.0f * powf(p.y * scale, 1.0f / 2.2f)),
                       clamp_byte(255.0f * powf(p.z * scale, 1.0f / 2.2f)), 255);
}

// A mesh's vertices, each moved by four of 64 bones.
__global__ void skin(const float* positions, const uchar4* bones, const float4* weights, const float4* palette,
                     float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = positions[3 * i], y = positions[3 * i + 1], z = positions[3 * i + 2];
  const uchar4 b = bones[i];
  const float4 w = weights[i];
  float ox = 0.0f, oy = 0.0f, oz = 0.0f;
  const int index[4] = {b.x & 63, b.y & 63, b.z & 63, b.w & 63};
  const float weight[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const float4 r0 = palette[3 * index[k]], r1 = palette[3 * index[k] + 1], r2 = palette[3 * index[k] + 2];
    ox += weight[k] * (r0.x * x + r0.y * y + r0.z * z + r0.w);
    oy += weight[k] * (r1.x * x + r1.y * y + r1.z * z + r1.w);
    oz += weight[k] * (r2.x * x + r2.y * y + r2.z * z + r2.w);
  }
  out[3 * i] = ox;
  out[3 * i + 1] = oy;
  out[3 * i + 2] = oz;
}

struct Box {
  float low[3], high[3];
};

// The nearest box that a ray meets, by slabs.
__global__ void ray_boxes(const float* rays, const Box* boxes, int* hit, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float ox = rays[6 * i], oy = rays[6 * i + 1], oz = rays[6 * i + 2];
  const float ix = 1.0f / (rays[6 * i + 3] + 0.1f), iy = 1.0f / (rays[6 * i + 4] + 0.1f),
              iz = 1.0f / (rays[6 * i + 5] + 0.1f);
  float nearest = 1e30f;
  int which = -1;
  for (int b = 0; b < count; b++) {
    const Box box = boxes[b];
    const float x1 = (box.low[0] - ox) * ix, x2 = (box.high[0] - ox) * ix;
    const float y1 = (box.low[1] - oy) * iy, y2 = (box.high[1] - oy) * iy;
    const float z1 = (box.low[2] - oz) * iz, z2 = (box.high[2] - oz) * iz;
    const float enter = fmaxf(fmaxf(fminf(x1, x2), fminf(y1, y2)), fminf(z1, z2));
    const float leave = fminf(fminf(fmaxf(x1, x2), fmaxf(y1, y2)), fmaxf(z1, z2));
    if (enter <= leave && leave >= 0.0f && enter < nearest) {
      nearest = enter;
      which = b;
    }
  }
  hit[i] = which;
}

// Light through a volume of 128 x 128 x 128, front to back, until little passes.
__global__ void march_volume(const float* volume, float* out, int w, int h, float density) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float dx = (x - w * 0.5f) / w, dy = (y - h * 0.5f) / h;
  float px = 64.0f, py = 64.0f, pz = 0.0f, light = 0.0f, passes = 1.0f;
  for (int step = 0; step < 128; step++) {
    const float value = volume[(static_cast<int>(pz) * 128 + static_cast<int>(py)) * 128 + static_cast<int>(px)];
    const float alpha = 1.0f - __expf(-value * density);
    light += passes * alpha * value;
    passes *= 1.0f - alpha;
    if (passes < 0.01f) break;
    px += dx;
    py += dy;
    pz += 0.99f;
  }
  out[y * w + x] = light;
}

// Sums of antennas' samples, each late by its own delay.
__global__ void delay_and_sum(const float* samples, const int* delay, float* out, int antennas, int length) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, beam = blockIdx.y;
  if (t >= length) return;
  float sum = 0.0f;
  for (int a = 0; a < antennas; a++) sum += samples[a * (length + 1024) + t + delay[beam * antennas + a]];
  out[beam * length + t] = sum;
}

// Radar: is a cell stronger than its neighbours at a distance?
__global__ void cfar(const float* power, unsigned char* out, int n, int guard, int train, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (i >= n) return;
  const float* p = power + row * n;
  float sum = 0.0f;
  int count = 0;
  for (int k = guard + 1; k <= guard + train; k++) {
    if (i - k >= 0) sum += p[i - k], count++;
    if (i + k < n) sum += p[i + k], count++;
  }
  out[row * n + i] = p[i] * count > factor * sum;
}

// The distance to the nearest of the points of nine cells.
__global__ void worley(float* out, int w, int h, float scale) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float px = x * scale, py = y * scale;
  const int cx = static_cast<int>(floorf(px)), cy = static_cast<int>(floorf(py));
  float best = 10.0f;
  for (int j = -1; j <= 1; j++) {
    for (int i = -1; i <= 1; i++) {
      unsigned n = (cx + i) * 374761393u + (cy + j) * 668265263u;
      n = (n ^ (n >> 13)) * 1274126177u;
      const float qx = cx + i + (n & 0xffff) / 65536.0f - px, qy = cy + j + (n >> 16) / 65536.0f - py;
      best = fminf(best, qx * qx + qy * qy);
    }
  }
  out[y * w + x] = sqrtf(best);
}

}  // namespace

std::vector<Case> seventh_pictures() {
  std::vector<Case> list;
  const Add add{list};
  using Bytes = unsigned char*;
  using Bits = unsigned long long*;
  add("nv12_to_rgb", "colours", size_t{5} * 1920 * 1080, [=](const Buffers& b, cudaStream_t s) {
    nv12_to_rgb<<<dim3(60, 135), dim3(32, 8), 0, s>>>(reinterpret_cast<Bytes>(b.in), reinterpret_cast<uchar2*>(b.in2),
                                                      reinterpret_cast<Bytes>(b.out), 1920, 1080);
  });
  add("demosaic", "colours", size_t{14} << 21, [=](const Buffers& b, cudaStream_t s) {
    demosaic<<<dim3(128, 64), dim3(16, 16), 0, s>>>(reinterpret_cast<unsigned short*>(b.in), b.out, b.out + (1 << 21),
                                                    b.out + (2 << 21), 2048, 1024);
  });
  add("tone_map", "colours", size_t{20} << 20, [=](const Buffers& b, cudaStream_t s) {
    tone_map<<<4096, 256, 0, s>>>(reinterpret_cast<float4*>(b.in), reinterpret_cast<uchar4*>(b.out), 1 << 20, 1.5f);
  });
  add("pyramid_down", "pyramids", size_t{5} << 21, [=](const Buffers& b, cudaStream_t s) {
    pyramid_down<<<dim3(64, 32), dim3(16, 16), 0, s>>>(b.in, b.out, 2048, 1024);
  });
  add("thin_edges", "edges", size_t{12} << 20, [=](const Buffers& b, cudaStream_t s) {
    thin_edges<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 1024, 1024);
  });
  add("harris", "edges", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    harris<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.out, 1024, 1024, 0.04f);
  });
  add("census", "stereo", size_t{9} << 20, [=](const Buffers& b, cudaStream_t s) {
    census<<<dim3(32, 128), dim3(32, 8), 0, s>>>(reinterpret_cast<Bytes>(b.in), reinterpret_cast<Bits>(b.out), 1024,
                                                 1024);
  });
  add("stereo_match 64", "stereo", size_t{17} << 19, [=](const Buffers& b, cudaStream_t s) {
    stereo_match<<<dim3(4, 512), 256, 0, s>>>(reinterpret_cast<Bits>(b.in), reinterpret_cast<Bits>(b.in2),
                                              reinterpret_cast<Bytes>(b.out), 1024, 512, 64);
  });
  add("non_local_means 5", "weighted means", size_t{8} << 18, [=](const Buffers& b, cudaStream_t s) {
    non_local_means<<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.in, b.out, 512, 512, 5, 10.0f);
  });
  add("skin", "scenes", size_t{44} << 18, [=](const Buffers& b, cudaStream_t s) {
    skin<<<1024, 256, 0, s>>>(b.in, reinterpret_cast<uchar4*>(b.in + (1 << 20)), reinterpret_cast<float4*>(b.in2),
                              reinterpret_cast<float4*>(b.in2 + (1 << 20)), b.out, 1 << 18);
  });
  add("ray_boxes 256", "scenes", size_t{28} << 16, [=](const Buffers& b, cudaStream_t s) {
    ray_boxes<<<512, 128, 0, s>>>(b.in, reinterpret_cast<Box*>(b.in2), reinterpret_cast<int*>(b.out), 1 << 16, 256);
  });
  add("march_volume", "scenes", size_t{4} << 21, [=](const Buffers& b, cudaStream_t s) {
    march_volume<<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.in, b.out, 512, 512, 0.05f);
  });
  add("delay_and_sum 64", "signals", size_t{4} * (64 * (8192 + 1024) + 16 * 8192),
      [=](const Buffers& b, cudaStream_t s) {
        delay_and_sum<<<dim3(32, 16), 256, 0, s>>>(b.in, b.counters, b.out, 64, 8192);
      });
  add("cfar", "signals", size_t{5} << 20, [=](const Buffers& b, cudaStream_t s) {
    cfar<<<dim3(4, 1024), 256, 0, s>>>(b.in, reinterpret_cast<Bytes>(b.out), 1024, 2, 16, 1.5f);
  });
  add("worley", "noise", size_t{4} << 20, [=](const Buffers& b, cudaStream_t s) {
    worley<<<dim3(32, 128), dim3(32, 8), 0, s>>>(b.out, 1024, 1024, 0.05f);
  });
  return list;
}

}  // namespace calibration
