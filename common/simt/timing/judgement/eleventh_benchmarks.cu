// Of benchmarks for heterogeneous machines: a layer and its weights, an alignment by diagonals, factors by tiles,
// a search by levels, elimination, particles in boxes, a heated block, speckles, clusters, a filter of particles.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

#define SIDE 16

// A layer of a small network: inputs times weights, summed up in shared memory by halves.
__global__ void layer_forward(const float* input, float* hidden_weights, float* partial, int hidden) {
  const int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int index = (hidden + 1) * SIDE * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
  const int index_in = SIDE * by + ty + 1;
  __shared__ float node[SIDE];
  __shared__ float weights[SIDE][SIDE];
  if (tx == 0) node[ty] = input[index_in];
  __syncthreads();
  weights[ty][tx] = hidden_weights[index];
  __syncthreads();
  weights[ty][tx] = weights[ty][tx] * node[ty];
  __syncthreads();
  for (int i = 1; i <= __log2f(SIDE); i++) {
    const int power_two = __powf(2, i);
    if (ty % power_two == 0) weights[ty][tx] = weights[ty][tx] + weights[ty + power_two / 2][tx];
    __syncthreads();
  }
  hidden_weights[index] = weights[ty][tx];
  __syncthreads();
  if (tx == 0) partial[by * hidden + ty] = weights[tx][ty];
}
__global__ void adjust_layer(const float* delta, int hidden, const float* ly, float* w, float* old_w) {
  const int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int index = (hidden + 1) * SIDE * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
  const int index_y = SIDE * by + ty + 1, index_x = tx + 1;
  w[index] += 0.3f * delta[index_x] * ly[index_y] + 0.3f * old_w[index];
  old_w[index] = 0.3f * delta[index_x] * ly[index_y] + 0.3f * old_w[index];
}

// Tiles on one diagonal of an alignment; inside a tile again by diagonals.
__global__ void needle_tiles(const int* reference, int* items, int cols, int penalty, int diagonal) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x, by = diagonal - 1 - bx;
  const int index = cols * SIDE * by + SIDE * bx + tx + cols + 1;
  const int index_n = cols * SIDE * by + SIDE * bx + tx + 1;
  const int index_w = cols * SIDE * by + SIDE * bx + cols;
  const int index_nw = cols * SIDE * by + SIDE * bx;
  __shared__ int temp[SIDE + 1][SIDE + 1];
  __shared__ int ref[SIDE][SIDE];
  if (tx == 0) temp[tx][0] = items[index_nw];
  for (int ty = 0; ty < SIDE; ty++) ref[ty][tx] = reference[index + cols * ty] & 15;
  __syncthreads();
  temp[tx + 1][0] = items[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = items[index_n];
  __syncthreads();
  for (int m = 0; m < SIDE; m++) {
    if (tx <= m) {
      const int x = tx + 1, y = m - tx + 1;
      temp[y][x] = max(temp[y - 1][x - 1] + ref[y - 1][x - 1], max(temp[y][x - 1] - penalty, temp[y - 1][x] - penalty));
    }
    __syncthreads();
  }
  for (int m = SIDE - 2; m >= 0; m--) {
    if (tx <= m) {
      const int x = tx + SIDE - m, y = SIDE - tx;
      temp[y][x] = max(temp[y - 1][x - 1] + ref[y - 1][x - 1], max(temp[y][x - 1] - penalty, temp[y - 1][x] - penalty));
    }
    __syncthreads();
  }
  for (int ty = 0; ty < SIDE; ty++) items[index + ty * cols] = temp[ty + 1][tx + 1];
}

// A factorisation by tiles: the one on the diagonal, and all that lie right of it and below.
__global__ void factor_diagonal(float* m, int size, int offset) {
  __shared__ float shadow[SIDE][SIDE];
  int at = offset * size + offset;
  for (int i = 0; i < SIDE; i++) {
    shadow[i][threadIdx.x] = m[at + threadIdx.x] + (i == threadIdx.x ? 16.0f : 0.0f);
    at += size;
  }
  __syncthreads();
  for (int i = 0; i < SIDE - 1; i++) {
    if (threadIdx.x > i) {
      for (int j = 0; j < i; j++) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }
    __syncthreads();
    if (threadIdx.x > i) {
      for (int j = 0; j < i + 1; j++) shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
    }
    __syncthreads();
  }
  at = (offset + 1) * size + offset;
  for (int i = 1; i < SIDE; i++) {
    m[at + threadIdx.x] = shadow[i][threadIdx.x];
    at += size;
  }
}
__global__ void factor_inside(float* m, int size, int offset) {
  __shared__ float row[SIDE][SIDE];
  __shared__ float col[SIDE][SIDE];
  const int row_id = offset + (blockIdx.y + 1) * SIDE, col_id = offset + (blockIdx.x + 1) * SIDE;
  row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * size + col_id + threadIdx.x];
  col[threadIdx.y][threadIdx.x] = m[(row_id + threadIdx.y) * size + offset + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < SIDE; i++) sum += col[threadIdx.y][i] * row[i][threadIdx.x];
  m[(row_id + threadIdx.y) * size + col_id + threadIdx.x] -= sum;
}

// A level of a search: each node of the frontier asks for its neighbours.
struct Node {
  int starting;
  int edges;
};
__global__ void search_level(const Node* nodes, const int* edges, const int* frontier, char* updating,
                             const char* visited, int* cost, int count) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < count && (frontier[id] & 3) == 1) {
    for (int i = nodes[id].starting; i < nodes[id].edges + nodes[id].starting; i++) {
      const int other = edges[i];
      if ((visited[other] & 1) == 0) {
        cost[other] = cost[id] + 1;
        updating[other] = 1;
      }
    }
  }
}

// Elimination of one column, a thread for each row, or for each element.
__global__ void fan1(float* m, const float* a, int size, int t) {
  if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
  m[size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t] =
      a[size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t] / a[size * t + t];
}
__global__ void fan2(const float* m, float* a, float* b, int size, int t) {
  if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
  if (threadIdx.y + blockIdx.y * blockDim.y >= size - t) return;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  a[size * (x + 1 + t) + (y + t)] -= m[size * (x + 1 + t) + t] * a[size * t + (y + t)];
  if (y == 0) b[x + 1 + t] -= m[size * (x + 1 + t) + (y + t)] * b[t];
}

// Particles of a box and of the boxes around it. One block per box.
template <typename T>
struct Four {
  T v, x, y, z;
};
template <typename T, int Per>
__global__ void boxes(const Four<T>* position, const T* charge, Four<T>* force, int side, T a2) {
  __shared__ Four<T> mine[Per];
  __shared__ Four<T> theirs[Per];
  __shared__ T charges[Per];
  const int bx = blockIdx.x % side, by = blockIdx.x / side % side, bz = blockIdx.x / side / side;
  for (int i = threadIdx.x; i < Per; i += blockDim.x) mine[i] = position[blockIdx.x * Per + i];
  __syncthreads();
  for (int k = 0; k < 27; k++) {
    const int x = bx + k % 3 - 1, y = by + k / 3 % 3 - 1, z = bz + k / 9 - 1;
    if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) continue;
    const int other = (z * side + y) * side + x;
    for (int i = threadIdx.x; i < Per; i += blockDim.x) {
      theirs[i] = position[other * Per + i];
      charges[i] = charge[other * Per + i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < Per; i += blockDim.x) {
      for (int j = 0; j < Per; j++) {
        const T r2 =
            mine[i].v + theirs[j].v - (mine[i].x * theirs[j].x + mine[i].y * theirs[j].y + mine[i].z * theirs[j].z);
        const T vij = exp(-a2 * r2);
        const T fs = 2 * vij;
        const T dx = mine[i].x - theirs[j].x, dy = mine[i].y - theirs[j].y, dz = mine[i].z - theirs[j].z;
        force[blockIdx.x * Per + i].v += charges[j] * vij;
        force[blockIdx.x * Per + i].x += charges[j] * (fs * dx);
        force[blockIdx.x * Per + i].y += charges[j] * (fs * dy);
        force[blockIdx.x * Per + i].z += charges[j] * (fs * dz);
      }
    }
    __syncthreads();
  }
}

// A block of metal in layers, each thread a column of it.
__global__ void heat_layers(const float* p, const float* in, float* out, float stepDivCap, int nx, int ny, int nz,
                            float ce, float cn, float ct, float cc) {
  const float ambient = 80.0f;
  const int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
  int c = i + j * nx;
  const int xy = nx * ny;
  const int W = i == 0 ? c : c - 1, E = i == nx - 1 ? c : c + 1;
  const int N = j == 0 ? c : c - nx, S = j == ny - 1 ? c : c + nx;
  int w = W, e = E, n = N, s = S;
  float t1, t2, t3;
  t1 = t2 = in[c];
  t3 = in[c + xy];
  out[c] = cc * t2 + cn * in[s] + cn * in[n] + ce * in[e] + ce * in[w] + ct * t1 + ct * t3 + stepDivCap * p[c] +
           ct * ambient;
  c += xy, w += xy, e += xy, n += xy, s += xy;
  for (int k = 1; k < nz - 1; ++k) {
    t1 = t2;
    t2 = t3;
    t3 = in[c + xy];
    out[c] = cc * t2 + cn * in[s] + cn * in[n] + ce * in[e] + ce * in[w] + ct * t1 + ct * t3 + stepDivCap * p[c] +
             ct * ambient;
    c += xy, w += xy, e += xy, n += xy, s += xy;
  }
}

// The second half of a step against speckles, with neighbours from tables.
__global__ void speckles(float lambda, int rows, int cols, const int* iN, const float* dN, const float* dS,
                         const float* dE, const float* dW, const float* c, float* image) {
  const int ei = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = ei % rows, col = ei / rows;
  if (ei >= rows * cols) return;
  const int south = min(rows - 1, row + 1 + (iN[row] & 0)), east = min(cols - 1, col + 1);
  const float cN = c[ei], cS = c[south + rows * col], cW = c[ei], cE = c[row + rows * east];
  const float D = cN * dN[ei] + cS * dS[ei] + cW * dW[ei] + cE * dE[ei];
  image[ei] = image[ei] + 0.25f * lambda * D;
}

// What it would cost to open a centre: distances in points that are stored by dimension.
__global__ void centre_cost(int num, int dim, long x, const float* p, float* work, float* coord) {
  extern __shared__ float center[];
  const int tid = blockDim.x * blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0)
    for (int i = 0; i < dim; i++) center[i] = coord[i * num + x];
  __syncthreads();
  if (tid >= num) return;
  float cost = 0.0f;
  for (int i = 0; i < dim; i++) cost += (coord[i * num + tid] - center[i]) * (coord[i * num + tid] - center[i]);
  cost *= p[tid];
  const float current = p[num + tid];
  if (cost < current)
    work[tid] = 1.0f;
  else
    work[num + tid] += cost - current;
}

// Each particle looks for the first entry of a running sum that is not below its number.
__global__ void find_particle(const double* xs, const double* cdf, const double* u, double* out, int particles) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= particles) return;
  int index = -1;
  for (int x = 0; x < particles; x++) {
    if (cdf[x] >= u[i] * particles) {
      index = x;
      break;
    }
  }
  if (index == -1) index = particles - 1;
  out[i] = xs[index];
}

std::function<void(const Buffers&)> graph_of(int nodes, int degree) {
  return [=](const Buffers& b) {
    std::vector<int> data(nodes * 2 + nodes * degree);
    unsigned state = 7;
    for (int i = 0; i < nodes; i++) data[2 * i] = i * degree, data[2 * i + 1] = degree;
    for (int i = 0; i < nodes * degree; i++)
      data[2 * nodes + i] = static_cast<int>((state = state * 1664525u + 1013904223u) >> 8) % nodes;
    cudaMemcpy(b.in2, data.data(), data.size() * 4, cudaMemcpyHostToDevice);
  };
}
std::function<void(const Buffers&)> running_sum(int count) {
  return [=](const Buffers& b) {
    std::vector<double> sum(count);
    for (int i = 0; i < count; i++) sum[i] = i + 1;
    cudaMemcpy(b.in, sum.data(), sum.size() * 8, cudaMemcpyHostToDevice);
    for (int i = 0; i < count; i++) sum[i] = (i * 977 % count + 0.5) / count;
    cudaMemcpy(b.in2, sum.data(), sum.size() * 8, cudaMemcpyHostToDevice);
  };
}

template <typename T>
T* as(float* p) {
  return reinterpret_cast<T*>(p);
}

}  // namespace

std::vector<Case> eleventh_benchmarks() {
  std::vector<Case> list;
  const Add add{list};
  for (const int rows : {1024, 16384}) {
    const std::string tail = " " + std::to_string(rows * 16);
    add("layer_forward" + tail, "layers", size_t{1200} * rows, [=](const Buffers& b, cudaStream_t s) {
      layer_forward<<<dim3(1, rows), dim3(16, 16), 0, s>>>(b.in, b.in2, b.out, 16);
    });
    add("adjust_layer" + tail, "layers", size_t{1200} * rows, [=](const Buffers& b, cudaStream_t s) {
      adjust_layer<<<dim3(1, rows), dim3(16, 16), 0, s>>>(b.in2, 16, b.in2 + 64, b.in, b.out);
    });
  }
  for (const int diagonal : {16, 128})
    add("needle_tiles " + std::to_string(diagonal), "needle", size_t{17} << 20, [=](const Buffers& b, cudaStream_t s) {
      needle_tiles<<<diagonal, 16, 0, s>>>(as<int>(b.in), as<int>(b.in2), 2049, 10, diagonal);
    });
  add("factor_diagonal", "factors by tiles", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { factor_diagonal<<<1, 16, 0, s>>>(b.in, 1024, 64); });
  for (const int size : {512, 2048})
    add("factor_inside " + std::to_string(size), "factors by tiles", size_t{4} * size * size,
        [=](const Buffers& b, cudaStream_t s) {
          factor_inside<<<dim3(size / 16 - 2, size / 16 - 2), dim3(16, 16), 0, s>>>(b.in, size, 16);
        });
  for (const int degree : {4, 12})
    add(
        "search_level " + std::to_string(degree), "search", size_t{10} << 20,
        [=](const Buffers& b, cudaStream_t s) {
          const int nodes = 1 << 17;
          search_level<<<nodes / 512, 512, 0, s>>>(as<Node>(b.in2), as<int>(b.in2) + 2 * nodes, as<int>(b.in),
                                                   as<char>(b.out), as<char>(b.in) + (1 << 20), as<int>(b.out) + nodes,
                                                   nodes);
        },
        graph_of(1 << 17, degree));
  add("fan1", "elimination", size_t{4} << 20,
      [=](const Buffers& b, cudaStream_t s) { fan1<<<2, 512, 0, s>>>(b.out, b.in, 1024, 3); });
  for (const int size : {256, 1024})
    add("fan2 " + std::to_string(size), "elimination", size_t{8} * size * size, [=](const Buffers& b, cudaStream_t s) {
      fan2<<<dim3(size / 4, size / 4), dim3(4, 4), 0, s>>>(b.in2, b.in, b.out, size, 3);
    });
  add("boxes f32", "boxes", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    boxes<float, 48><<<125, 64, 0, s>>>(as<Four<float>>(b.in), b.in2, as<Four<float>>(b.out), 5, 0.5f);
  });
  add("boxes f64", "boxes", size_t{1} << 20, [=](const Buffers& b, cudaStream_t s) {
    boxes<double, 48><<<125, 64, 0, s>>>(as<Four<double>>(b.in), as<double>(b.in2), as<Four<double>>(b.out), 5, 0.5);
  });
  for (const int layers : {4, 8})
    add("heat_layers " + std::to_string(layers), "heat", size_t{3 * 4 * 512 * 512} * layers,
        [=](const Buffers& b, cudaStream_t s) {
          heat_layers<<<dim3(8, 128), dim3(64, 4), 0, s>>>(b.in, b.in2, b.out, 0.1f, 512, 512, layers, 0.1f, 0.1f, 0.1f,
                                                           0.4f);
        });
  for (const int side : {256, 1024})
    add("speckles " + std::to_string(side), "speckles", size_t{28} * side * side,
        [=](const Buffers& b, cudaStream_t s) {
          const int n = side * side;
          speckles<<<n / 512, 512, 0, s>>>(0.5f, side, side, b.counters, b.in, b.in + n, b.in2, b.in2 + n, b.out,
                                           b.out + n);
        });
  for (const int dim : {16, 64})
    add("centre_cost " + std::to_string(dim), "centre_cost", size_t{65536 * 4} * (dim + 4),
        [=](const Buffers& b, cudaStream_t s) {
          centre_cost<<<128, 512, dim * 4, s>>>(65536, dim, 77, b.in2, b.out, b.in);
        });
  for (const int count : {512, 2048})
    add(
        "find_particle " + std::to_string(count), "find_particle", size_t{40} * count,
        [=](const Buffers& b, cudaStream_t s) {
          find_particle<<<ceil_div(count, 128), 128, 0, s>>>(as<double>(b.in2), as<double>(b.in), as<double>(b.in2),
                                                             as<double>(b.out), count);
        },
        running_sum(count));
  return list;
}

}  // namespace calibration
