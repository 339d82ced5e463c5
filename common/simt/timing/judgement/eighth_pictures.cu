// Pictures, codecs and geometry.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// RGB to luma, and to chroma of half the size: a thread per 2 x 2 pixels.
__global__ void rgb_to_420(const uchar3* rgb, unsigned char* luma, uchar2* chroma, int w, int h) {
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= w || y >= h) return;
  int r = 0, g = 0, b = 0;
  for (int dy = 0; dy < 2; dy++) {
    for (int dx = 0; dx < 2; dx++) {
      const uchar3 p = rgb[(y + dy) * w + x + dx];
      luma[(y + dy) * w + x + dx] = ((66 * p.x + 129 * p.y + 25 * p.z + 128) >> 8) + 16;
      r += p.x;
      g += p.y;
      b += p.z;
    }
  }
  r /= 4;
  g /= 4;
  b /= 4;
  chroma[y / 2 * (w / 2) + x / 2] =
      make_uchar2(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128, ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128);
}

// Coefficients of 8 x 8 blocks are divided by a table's and stored in another order.
__global__ void quantise_zigzag(const float* coefficients, const int* order, const float* table, short* out) {
  __shared__ short block[4][64];
  const int which = threadIdx.y, t = threadIdx.x, at = (blockIdx.x * 4 + which) * 64;
  block[which][order[t] & 63] = static_cast<short>(rintf(coefficients[at + t] * 255.0f / (table[t] + 1.0f)));
  __syncthreads();
  out[at + t] = block[which][t];
}

// A step of the 5/3 wavelet along rows, in shared memory.
__global__ void lifting53(const int* in, int* low, int* high, int w) {
  extern __shared__ int row[];
  const int* from = in + blockIdx.x * w;
  for (int i = threadIdx.x; i < w; i += blockDim.x) row[i] = from[i];
  __syncthreads();
  const int half = w / 2;
  for (int i = threadIdx.x; i < half; i += blockDim.x) {
    const int right = 2 * i + 2 < w ? row[2 * i + 2] : row[w - 2];
    row[2 * i + 1] -= (row[2 * i] + right) >> 1;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < half; i += blockDim.x) {
    const int left = i > 0 ? row[2 * i - 1] : row[1];
    low[blockIdx.x * half + i] = row[2 * i] + ((left + row[2 * i + 1] + 2) >> 2);
    high[blockIdx.x * half + i] = row[2 * i + 1];
  }
}

// Lucas and Kanade: the shift of a window between two pictures.
__global__ void lucas_kanade(const float* a, const float* b, float2* flow, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 3 || y < 3 || x >= w - 3 || y >= h - 3) return;
  float xx = 0.0f, xy = 0.0f, yy = 0.0f, xt = 0.0f, yt = 0.0f;
  for (int j = -2; j <= 2; j++) {
    for (int i = -2; i <= 2; i++) {
      const int at = (y + j) * w + x + i;
      const float gx = 0.5f * (a[at + 1] - a[at - 1]), gy = 0.5f * (a[at + w] - a[at - w]), gt = b[at] - a[at];
      xx += gx * gx;
      xy += gx * gy;
      yy += gy * gy;
      xt += gx * gt;
      yt += gy * gt;
    }
  }
  const float det = xx * yy - xy * xy;
  float2 v = make_float2(0.0f, 0.0f);
  if (fabsf(det) > 1e-6f) v = make_float2((xy * yt - yy * xt) / det, (xy * xt - xx * yt) / det);
  flow[y * w + x] = v;
}

__global__ void horn_schunck(const float* gx, const float* gy, const float* gt, const float* u, const float* v,
                             float* u2, float* v2, int w, int h, float alpha) {
  __shared__ float su[18][34], sv[18][34];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 16 + ty;
  for (int i = ty * 32 + tx; i < 18 * 34; i += 512) {
    const int sx = min(max(static_cast<int>(blockIdx.x) * 32 + i % 34 - 1, 0), w - 1);
    const int sy = min(max(static_cast<int>(blockIdx.y) * 16 + i / 34 - 1, 0), h - 1);
    su[i / 34][i % 34] = u[sy * w + sx];
    sv[i / 34][i % 34] = v[sy * w + sx];
  }
  __syncthreads();
  if (x >= w || y >= h) return;
  const float mu = 0.25f * (su[ty][tx + 1] + su[ty + 2][tx + 1] + su[ty + 1][tx] + su[ty + 1][tx + 2]);
  const float mv = 0.25f * (sv[ty][tx + 1] + sv[ty + 2][tx + 1] + sv[ty + 1][tx] + sv[ty + 1][tx + 2]);
  const int at = y * w + x;
  const float p = gx[at], q = gy[at];
  const float common = (p * mu + q * mv + gt[at]) / (alpha * alpha + p * p + q * q);
  u2[at] = mu - p * common;
  v2[at] = mv - q * common;
}

// Votes for lines: a block per angle, counted in shared memory.
__global__ void hough_votes(const int2* points, int count, int* votes, int bins) {
  extern __shared__ int local[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  const float angle = blockIdx.x * 0.0174533f, c = cosf(angle), s = sinf(angle);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int2 p = points[i];
    const int rho = static_cast<int>((p.x & 511) * c + (p.y & 511) * s) + bins / 2;
    if (rho >= 0 && rho < bins) atomicAdd(&local[rho], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) votes[blockIdx.x * bins + i] = local[i];
}

// FAST: is there an arc of nine pixels of the ring that are all brighter or all darker?
__global__ void fast_corners(const unsigned char* in, unsigned char* out, int w, int h, int threshold) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 3 || y < 3 || x >= w - 3 || y >= h - 3) return;
  const unsigned char* p = in + y * w + x;
  const int ring[16] = {p[-3 * w],    p[-3 * w + 1], p[-2 * w + 2], p[-w + 3],    p[3],         p[w + 3],
                        p[2 * w + 2], p[3 * w + 1],  p[3 * w],      p[3 * w - 1], p[2 * w - 2], p[w - 3],
                        p[-3],        p[-w - 3],     p[-2 * w - 2], p[-3 * w - 1]};
  const int centre = *p;
  unsigned brighter = 0, darker = 0;
#pragma unroll
  for (int i = 0; i < 16; i++) {
    brighter |= (ring[i] > centre + threshold) << i;
    darker |= (ring[i] < centre - threshold) << i;
  }
  brighter |= brighter << 16;
  darker |= darker << 16;
  unsigned a = brighter, b = darker;
#pragma unroll
  for (int i = 1; i < 9; i++) {
    a &= brighter >> i;
    b &= darker >> i;
  }
  out[y * w + x] = (a | b) ? 255 : 0;
}

// A lens's distortion taken back, the nearest pixel.
__global__ void undistort(const uchar4* in, uchar4* out, int w, int h, float k1, float k2) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float u = (x - 0.5f * w) / w, v = (y - 0.5f * h) / w, r = u * u + v * v, f = 1.0f + r * (k1 + r * k2);
  const int sx = static_cast<int>(u * f * w + 0.5f * w), sy = static_cast<int>(v * f * w + 0.5f * h);
  out[y * w + x] = sx >= 0 && sx < w && sy >= 0 && sy < h ? in[sy * w + sx] : make_uchar4(0, 0, 0, 255);
}

__device__ float cubic(float t) {
  t = fabsf(t);
  return t < 1.0f ? (1.5f * t - 2.5f) * t * t + 1.0f : t < 2.0f ? ((-0.5f * t + 2.5f) * t - 4.0f) * t + 2.0f : 0.0f;
}

__global__ void bicubic_resize(const float* in, float* out, int w, int h, int ow, int oh) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= ow || y >= oh) return;
  const float fx = (x + 0.5f) * w / ow - 0.5f, fy = (y + 0.5f) * h / oh - 0.5f;
  const int ix = static_cast<int>(floorf(fx)), iy = static_cast<int>(floorf(fy));
  float sum = 0.0f;
  for (int j = -1; j <= 2; j++) {
    const float wy = cubic(fy - (iy + j));
    const int sy = min(max(iy + j, 0), h - 1);
    for (int i = -1; i <= 2; i++) sum += wy * cubic(fx - (ix + i)) * in[sy * w + min(max(ix + i, 0), w - 1)];
  }
  out[y * ow + x] = sum;
}

__global__ void ordered_dither(const float* in, unsigned* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  const int m = x ^ y;
  const int level = (m & 1) << 5 | (y & 1) << 4 | (m & 2) << 2 | (y & 2) << 1 | (m & 4) >> 1 | (y & 4) >> 2;
  const unsigned bits = __ballot_sync(0xffffffff, in[y * w + x] * 64.0f > level + 0.5f);
  if ((threadIdx.x & 31) == 0) out[(y * w + x) / 32] = bits;
}

// Depths to points in space, three floats each.
__global__ void depth_to_points(const unsigned short* depth, float3* points, int w, int h, float f) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float z = depth[y * w + x] * 0.001f;
  points[y * w + x] = make_float3((x - 0.5f * w) * z / f, (y - 0.5f * h) * z / f, z);
}

// Points turned by quaternions of their own.
__global__ void quaternion_rotate(const float4* q, const float3* p, float3* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = q[i];
  const float3 v = p[i];
  const float tx = 2.0f * (a.y * v.z - a.z * v.y), ty = 2.0f * (a.z * v.x - a.x * v.z),
              tz = 2.0f * (a.x * v.y - a.y * v.x);
  out[i] = make_float3(v.x + a.w * tx + a.y * tz - a.z * ty, v.y + a.w * ty + a.z * tx - a.x * tz,
                       v.z + a.w * tz + a.x * ty - a.y * tx);
}

// Rays through a grid of voxels, from cell to cell.
__global__ void voxel_walk(const unsigned char* solid, int* hit, int w, int h, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float dx = (x + 0.5f) / w - 0.5f, dy = (y + 0.5f) / h - 0.5f, dz = 0.7f;
  int ix = side / 2, iy = side / 2, iz = 0;
  const int sx = dx < 0.0f ? -1 : 1, sy = dy < 0.0f ? -1 : 1;
  const float ax = 1.0f / fmaxf(fabsf(dx), 1e-6f), ay = 1.0f / fmaxf(fabsf(dy), 1e-6f), az = 1.0f / dz;
  float tx = 0.5f * ax, ty = 0.5f * ay, tz = az;
  int steps = 0;
  while (ix >= 0 && iy >= 0 && ix < side && iy < side && iz < side) {
    if (solid[(iz * side + iy) * side + ix] == 255) break;
    if (tx < ty && tx < tz) {
      ix += sx;
      tx += ax;
    } else if (ty < tz) {
      iy += sy;
      ty += ay;
    } else {
      iz++;
      tz += az;
    }
    steps++;
  }
  hit[y * w + x] = steps;
}

}  // namespace

std::vector<Case> eighth_pictures() {
  std::vector<Case> list;
  const Add add = {list};
  const auto bytes = [](float* p) { return reinterpret_cast<unsigned char*>(p); };
  const auto ints = [](float* p) { return reinterpret_cast<int*>(p); };
  add("rgb_to_420", "codecs", size_t{5} * 1920 * 1080, [=](const Buffers& b, cudaStream_t s) {
    rgb_to_420<<<dim3(30, 68), dim3(32, 8), 0, s>>>(reinterpret_cast<uchar3*>(b.in), bytes(b.out),
                                                    reinterpret_cast<uchar2*>(b.out + (1 << 20)), 1920, 1080);
  });
  add("quantise_zigzag", "codecs", size_t{6} << 22, [=](const Buffers& b, cudaStream_t s) {
    quantise_zigzag<<<16384, dim3(64, 4), 0, s>>>(b.in, b.counters, b.in2, reinterpret_cast<short*>(b.out));
  });
  add("lifting53 2048", "codecs", size_t{8} * 2048 * 2048, [=](const Buffers& b, cudaStream_t s) {
    lifting53<<<2048, 256, 8192, s>>>(ints(b.in), ints(b.out), ints(b.out) + (1 << 21), 2048);
  });
  add("lucas_kanade", "optical flow", size_t{16} << 20, [=](const Buffers& b, cudaStream_t s) {
    lucas_kanade<<<dim3(32, 128), dim3(32, 8), 0, s>>>(b.in, b.in2, reinterpret_cast<float2*>(b.out), 1024, 1024);
  });
  add("horn_schunck", "optical flow", size_t{28} << 20, [=](const Buffers& b, cudaStream_t s) {
    horn_schunck<<<dim3(32, 64), dim3(32, 16), 0, s>>>(b.in, b.in + (1 << 20), b.in + (2 << 20), b.in2,
                                                       b.in2 + (1 << 20), b.out, b.out + (1 << 20), 1024, 1024, 0.5f);
  });
  add("hough_votes", "features", size_t{5} << 18, [=](const Buffers& b, cudaStream_t s) {
    hough_votes<<<180, 256, 1536 * 4, s>>>(reinterpret_cast<int2*>(b.in), 16384, ints(b.out), 1536);
  });
  add("fast_corners", "features", size_t{2} * 1920 * 1080, [=](const Buffers& b, cudaStream_t s) {
    fast_corners<<<dim3(60, 135), dim3(32, 8), 0, s>>>(bytes(b.in), bytes(b.out), 1920, 1080, 20);
  });
  add("undistort", "resampling", size_t{8} * 1920 * 1080, [=](const Buffers& b, cudaStream_t s) {
    undistort<<<dim3(120, 68), dim3(16, 16), 0, s>>>(reinterpret_cast<uchar4*>(b.in), reinterpret_cast<uchar4*>(b.out),
                                                     1920, 1080, -0.3f, 0.1f);
  });
  add("bicubic_resize", "resampling", size_t{20} << 18, [=](const Buffers& b, cudaStream_t s) {
    bicubic_resize<<<dim3(64, 64), dim3(16, 16), 0, s>>>(b.in, b.out, 512, 512, 1024, 1024);
  });
  add("ordered_dither", "prints", size_t{4} << 22, [=](const Buffers& b, cudaStream_t s) {
    ordered_dither<<<dim3(8, 2048), 256, 0, s>>>(b.in, reinterpret_cast<unsigned*>(b.out), 2048, 2048);
  });
  add("depth_to_points", "points", size_t{14} * 1280 * 720, [=](const Buffers& b, cudaStream_t s) {
    depth_to_points<<<dim3(80, 45), dim3(16, 16), 0, s>>>(reinterpret_cast<unsigned short*>(b.in),
                                                          reinterpret_cast<float3*>(b.out), 1280, 720, 900.0f);
  });
  add("quaternion_rotate", "points", size_t{40} << 19, [=](const Buffers& b, cudaStream_t s) {
    quaternion_rotate<<<2048, 256, 0, s>>>(reinterpret_cast<float4*>(b.in), reinterpret_cast<float3*>(b.in2),
                                           reinterpret_cast<float3*>(b.out), 1 << 19);
  });
  add("voxel_walk 128", "rays in grids", size_t{1} << 21, [=](const Buffers& b, cudaStream_t s) {
    voxel_walk<<<dim3(32, 64), dim3(16, 8), 0, s>>>(bytes(b.in), ints(b.out), 512, 512, 128);
  });
  return list;
}

}  // namespace calibration
