// Pictures and rays: filters that look at values, transforms of blocks, fields of distances, points that are splat.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

// Each value the mean of those about it, weighted by how far and how different they are.
__global__ void bilateral(const float* in, float* out, int width, int height, float spatial, float range) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float center = in[y * width + x];
  float sum = 0.0f, weights = 0.0f;
  for (int dy = -3; dy <= 3; dy++)
    for (int dx = -3; dx <= 3; dx++) {
      const int nx = min(max(x + dx, 0), width - 1), ny = min(max(y + dy, 0), height - 1);
      const float value = in[ny * width + nx], difference = value - center;
      const float weight = expf(-(dx * dx + dy * dy) * spatial - difference * difference * range);
      sum += weight * value;
      weights += weight;
    }
  out[y * width + x] = sum / weights;
}

// The cosine transform of blocks of 8 x 8, as two products with a constant matrix.
__constant__ float cosines[64] = {
    0.35355339f, 0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,
    0.49039264f, 0.41573481f,  0.27778512f,  0.09754516f,  -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f,
    0.46193977f, 0.19134172f,  -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f,  0.46193977f,
    0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f,  0.49039264f,  0.09754516f,  -0.41573481f,
    0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f,  0.35355339f,  -0.35355339f, -0.35355339f, 0.35355339f,
    0.27778512f, -0.49039264f, 0.09754516f,  0.41573481f,  -0.41573481f, -0.09754516f, 0.49039264f,  -0.27778512f,
    0.19134172f, -0.46193977f, 0.46193977f,  -0.19134172f, -0.19134172f, 0.46193977f,  -0.46193977f, 0.19134172f,
    0.09754516f, -0.27778512f, 0.41573481f,  -0.49039264f, 0.49039264f,  -0.41573481f, 0.27778512f,  -0.09754516f};
__global__ void cosine_transform(const float* in, float* out, int width) {
  __shared__ float block[64], half_way[64];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty;
  block[ty * 8 + tx] = in[y * width + x] - 0.5f;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += cosines[ty * 8 + i] * block[i * 8 + tx];
  half_way[ty * 8 + tx] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += half_way[ty * 8 + i] * cosines[tx * 8 + i];
  out[y * width + x] = sum;
}

// A point's features: the eight corners about it on each of 16 grids, whose entries are found by hashing.
__global__ void hash_grid(const float* __restrict__ points, const float2* __restrict__ table, float2* __restrict__ out,
                          int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, level = blockIdx.y;
  if (i >= n) return;
  const float scale = exp2f(level * 0.5f) * 16.0f - 1.0f;
  float fraction[3];
  unsigned cell[3];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const float at = points[i * 3 + d] * scale + 0.5f;
    cell[d] = static_cast<unsigned>(floorf(at));
    fraction[d] = at - cell[d];
  }
  float2 sum = {0.0f, 0.0f};
#pragma unroll
  for (int corner = 0; corner < 8; corner++) {
    float weight = 1.0f;
    unsigned hash = 0;
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const unsigned prime = d == 0 ? 1u : d == 1 ? 2654435761u : 805459861u;
      const bool upper = (corner >> d) & 1;
      weight *= upper ? fraction[d] : 1.0f - fraction[d];
      hash ^= (cell[d] + upper) * prime;
    }
    const float2 entry = table[(static_cast<unsigned>(level) << 16) + (hash & 65535u)];
    sum.x += weight * entry.x;
    sum.y += weight * entry.y;
  }
  out[level * n + i] = sum;
}

// Colours along a ray, until hardly any light is left.
__global__ void composite_rays(const float* sigmas, const float* rgbs, float* weights_sum, float* image, int rays,
                               int samples) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= rays) return;
  sigmas += n * samples;
  rgbs += n * samples * 3;
  float light = 1.0f, r = 0, g = 0, b = 0, all = 0;
  for (int step = 0; step < samples; step++) {
    const float alpha = 1.0f - __expf(-sigmas[step] * 0.4f);
    const float weight = alpha * light;
    r += weight * rgbs[step * 3];
    g += weight * rgbs[step * 3 + 1];
    b += weight * rgbs[step * 3 + 2];
    all += weight;
    light *= 1.0f - alpha;
    if (light < 1e-4f) break;
  }
  weights_sum[n] = all;
  image[n * 3] = r;
  image[n * 3 + 1] = g;
  image[n * 3 + 2] = b;
}

// A tile of 16 x 16 and the bells that fall on it, from front to back, 256 at a time in shared memory.
__global__ void splat_tiles(const float2* centers, const float4* conics, const float* colours, float* image, int width,
                            int each) {
  __shared__ float2 center[256];
  __shared__ float4 conic[256];
  __shared__ float colour[256 * 3];
  const int rank = threadIdx.y * 16 + threadIdx.x;
  const int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 16 + threadIdx.y;
  const int tile = blockIdx.y * gridDim.x + blockIdx.x;
  bool done = false;
  float light = 1.0f, red = 0, green = 0, blue = 0;
  for (int base = 0; base < each; base += 256) {
    if (__syncthreads_count(done) == 256) break;
    const int at = (tile * 128 + base + rank) & 65535;
    center[rank] = centers[at];
    conic[rank] = conics[at];
    for (int c = 0; c < 3; c++) colour[rank * 3 + c] = colours[at * 3 + c];
    __syncthreads();
    for (int j = 0; !done && j < 256; j++) {
      const float dx = center[j].x * 16.0f - threadIdx.x, dy = center[j].y * 16.0f - threadIdx.y;
      const float4 q = conic[j];
      const float power = -0.5f * (0.1f * q.x * dx * dx + 0.1f * q.z * dy * dy) - 0.01f * q.y * dx * dy;
      if (power > 0.0f) continue;
      const float alpha = fminf(0.99f, 0.2f * q.w * expf(power));
      if (alpha < 1.0f / 255.0f) continue;
      const float next = light * (1.0f - alpha);
      if (next < 0.0001f) {
        done = true;
        continue;
      }
      red += colour[j * 3] * alpha * light;
      green += colour[j * 3 + 1] * alpha * light;
      blue += colour[j * 3 + 2] * alpha * light;
      light = next;
    }
  }
  float* to = image + (py * width + px) * 3;
  to[0] = red;
  to[1] = green;
  to[2] = blue;
}

// Rays that go on as far as nothing can be hit: a torus and a sphere.
__device__ float distance_to_scene(float x, float y, float z) {
  const float ring = sqrtf(x * x + z * z) - 1.0f, torus = sqrtf(ring * ring + y * y) - 0.3f;
  const float sphere = sqrtf(x * x + (y - 0.6f) * (y - 0.6f) + z * z) - 0.4f;
  return fminf(torus, sphere);
}

__global__ void sphere_tracing(float* image, int width, int height, float angle) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float u = 2.0f * px / width - 1.0f, v = 2.0f * py / height - 1.0f;
  const float norm = rsqrtf(u * u + v * v + 2.25f);
  const float dx = u * norm, dy = v * norm * cosf(angle) - 1.5f * norm * sinf(angle),
              dz = v * norm * sinf(angle) + 1.5f * norm * cosf(angle);
  float t = 0.0f;
  int step = 0;
  for (; step < 64; step++) {
    const float d = distance_to_scene(t * dx, 1.6f + t * dy, -3.0f + t * dz);
    if (d < 0.001f || t > 10.0f) break;
    t += d;
  }
  image[py * width + px] = t > 10.0f ? 0.0f : 1.0f - step / 64.0f;
}

// Noise of four octaves, gradients by hashing.
__device__ float corner(int x, int y, float fx, float fy) {
  unsigned h = static_cast<unsigned>(x) * 374761393u + static_cast<unsigned>(y) * 668265263u;
  h = (h ^ (h >> 13)) * 1274126177u;
  h ^= h >> 16;
  return ((h & 1) ? fx : -fx) + ((h & 2) ? fy : -fy);
}

__global__ void gradient_noise(float* image, int width, int height, float frequency) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float sum = 0.0f, amplitude = 0.5f;
  for (int octave = 0; octave < 4; octave++) {
    const float x = px * frequency, y = py * frequency;
    const int x0 = static_cast<int>(floorf(x)), y0 = static_cast<int>(floorf(y));
    const float fx = x - x0, fy = y - y0;
    const float sx = fx * fx * fx * (fx * (fx * 6 - 15) + 10), sy = fy * fy * fy * (fy * (fy * 6 - 15) + 10);
    const float a = corner(x0, y0, fx, fy), b = corner(x0 + 1, y0, fx - 1, fy);
    const float c = corner(x0, y0 + 1, fx, fy - 1), d = corner(x0 + 1, y0 + 1, fx - 1, fy - 1);
    const float top = a + sx * (b - a), bottom = c + sx * (d - c);
    sum += amplitude * (top + sy * (bottom - top));
    amplitude *= 0.5f;
    frequency *= 2.0f;
  }
  image[py * width + px] = sum;
}

}  // namespace

std::vector<Case> fifth_pictures() {
  std::vector<Case> list;
  const Add add{list};
  const auto twos = [](float* p) { return reinterpret_cast<float2*>(p); };
  add("bilateral", "filters", size_t{8} << 18, [=](const Buffers& b, cudaStream_t s) {
    bilateral<<<dim3(32, 32), dim3(16, 16), 0, s>>>(b.in, b.out, 512, 512, 0.1f, 20.0f);
  });
  add("cosine_transform", "filters", size_t{8} << 20, [=](const Buffers& b, cudaStream_t s) {
    cosine_transform<<<dim3(128, 128), dim3(8, 8), 0, s>>>(b.in, b.out, 1024);
  });
  add("hash_grid", "fields", size_t{12} << 20, [=](const Buffers& b, cudaStream_t s) {
    hash_grid<<<dim3(128, 16), 256, 0, s>>>(b.in2, twos(b.in), twos(b.out), 32768);
  });
  add("composite_rays", "fields", size_t{16} << 19, [=](const Buffers& b, cudaStream_t s) {
    composite_rays<<<64, 128, 0, s>>>(b.in, b.in2, b.out, b.out + 8192, 8192, 64);
  });
  add("splat_tiles", "rays", size_t{5} << 20, [=](const Buffers& b, cudaStream_t s) {
    splat_tiles<<<dim3(16, 16), dim3(16, 16), 0, s>>>(twos(b.in), reinterpret_cast<float4*>(b.in2), b.in + (1 << 17),
                                                      b.out, 256, 512);
  });
  add("sphere_tracing", "rays", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
    sphere_tracing<<<dim3(32, 64), dim3(16, 8), 0, s>>>(b.out, 512, 512, 0.5f);
  });
  add("gradient_noise", "rays", size_t{4} << 18, [=](const Buffers& b, cudaStream_t s) {
    gradient_noise<<<dim3(16, 64), dim3(32, 8), 0, s>>>(b.out, 512, 512, 1.0f / 64.0f);
  });
  return list;
}

}  // namespace calibration
