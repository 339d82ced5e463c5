// Of mini-applications: elements of a moving mesh, rows of a finite element matrix, cells of a gas, molecules with
// lists of neighbours, tables of cross sections, streams. Mostly in double precision.
#include "../calibration/calibration.h"

namespace calibration {

namespace {

template <typename T>
T* as(float* p) {
  return reinterpret_cast<T*>(p);
}

// The volume of an element from the places of its eight corners.
__device__ double volume_of(const double x[8], const double y[8], const double z[8]) {
  double dx61 = x[6] - x[1], dy61 = y[6] - y[1], dz61 = z[6] - z[1];
  double dx70 = x[7] - x[0], dy70 = y[7] - y[0], dz70 = z[7] - z[0];
  double dx63 = x[6] - x[3], dy63 = y[6] - y[3], dz63 = z[6] - z[3];
  double dx20 = x[2] - x[0], dy20 = y[2] - y[0], dz20 = z[2] - z[0];
  double dx50 = x[5] - x[0], dy50 = y[5] - y[0], dz50 = z[5] - z[0];
  double dx64 = x[6] - x[4], dy64 = y[6] - y[4], dz64 = z[6] - z[4];
  double dx31 = x[3] - x[1], dy31 = y[3] - y[1], dz31 = z[3] - z[1];
  double dx72 = x[7] - x[2], dy72 = y[7] - y[2], dz72 = z[7] - z[2];
  double dx43 = x[4] - x[3], dy43 = y[4] - y[3], dz43 = z[4] - z[3];
  double dx57 = x[5] - x[7], dy57 = y[5] - y[7], dz57 = z[5] - z[7];
  double dx14 = x[1] - x[4], dy14 = y[1] - y[4], dz14 = z[1] - z[4];
  double dx25 = x[2] - x[5], dy25 = y[2] - y[5], dz25 = z[2] - z[5];
#define TRIPLE(x1, y1, z1, x2, y2, z2, x3, y3, z3) \
  ((x1) * ((y2) * (z3) - (z2) * (y3)) + (x2) * ((z1) * (y3) - (y1) * (z3)) + (x3) * ((y1) * (z2) - (z1) * (y2)))
  double volume = TRIPLE(dx31 + dx72, dx63, dx20, dy31 + dy72, dy63, dy20, dz31 + dz72, dz63, dz20) +
                  TRIPLE(dx43 + dx57, dx64, dx70, dy43 + dy57, dy64, dy70, dz43 + dz57, dz64, dz70) +
                  TRIPLE(dx14 + dx25, dx61, dx50, dy14 + dy25, dy61, dy50, dz14 + dz25, dz61, dz50);
#undef TRIPLE
  return volume * (1.0 / 12.0);
}
__global__ void element_volumes(const double* x, const double* y, const double* z, const int* nodelist,
                                const double* volo, double* vnew, double* delv, const double* v, int numElem) {
  int k = blockDim.x * blockIdx.x + threadIdx.x;
  if (k < numElem) {
    double x_local[8], y_local[8], z_local[8];
    for (int lnode = 0; lnode < 8; ++lnode) {
      int gnode = nodelist[k + lnode * numElem];
      x_local[lnode] = x[gnode];
      y_local[lnode] = y[gnode];
      z_local[lnode] = z[gnode];
    }
    double volume = volume_of(x_local, y_local, z_local);
    double relativeVolume = volume / volo[k];
    vnew[k] = relativeVolume;
    delv[k] = relativeVolume - v[k];
  }
}

// A node's force: the sum of what its elements' corners have, in a list.
__global__ void node_forces(int numNode, const int* count, const int* start, const int* corners, const double* fx_elem,
                            const double* fy_elem, const double* fz_elem, double* fx, double* fy, double* fz) {
  int tid = blockDim.x * blockIdx.x + threadIdx.x;
  if (tid < numNode) {
    int n = count[tid] & 7;
    double gx = 0, gy = 0, gz = 0;
    for (int i = 0; i < n; i++) {
      int at = corners[start[tid] * 8 + i];
      gx += fx_elem[at];
      gy += fy_elem[at];
      gz += fz_elem[at];
    }
    fx[tid] = gx;
    fy[tid] = gy;
    fz[tid] = gz;
  }
}

// Pressure and energy of a gas, with tests for what is small.
template <typename T>
__global__ void energy_step(T* e_new, T* p_new, const T* e_old, const T* p_old, const T* compression, const T* work,
                            const T* delvc, int length) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= length) return;
  T e = e_old[i] - T(0.5) * delvc[i] * (p_old[i] + T(0.1)) + T(0.5) * work[i];
  if (e < T(-0.1)) e = T(-0.1);
  T bvc = T(2.0 / 3.0) * (compression[i] + T(1));
  T p = bvc * e;
  if (fabs(p) < T(1e-7)) p = T(0);
  if (p < T(0)) p = T(0);
  T q;
  if (delvc[i] > T(0.5)) {
    q = T(0);
  } else {
    T ssc = (bvc * e + bvc * bvc * p) / (T(1) + compression[i]);
    if (ssc <= T(1e-9))
      ssc = T(3e-5);
    else
      ssc = sqrt(ssc);
    q = ssc * T(0.3) + T(0.02);
  }
  e = e + T(0.5) * delvc[i] * (T(3) * (p_old[i] + q) - T(4) * (p + q));
  if (fabs(e) < T(1e-7)) e = T(0);
  e_new[i] = e;
  p_new[i] = bvc * e;
}

// The least time step of a block's elements, in shared memory.
template <int block_size>
__global__ void least_step(int length, double qqc2, const double* arealg, const double* ss, const double* vdov,
                           double* least) {
  int tid = threadIdx.x;
  int i = blockDim.x * blockIdx.x + tid;
  __shared__ volatile double s_mindt[block_size];
  double mindt = 1.0e+20;
  while (i < length) {
    double vdov_tmp = vdov[i];
    if (vdov_tmp != 0.0) {
      double dtf = ss[i] * ss[i];
      if (vdov_tmp < 0.5) dtf += qqc2 * arealg[i] * arealg[i] * vdov_tmp * vdov_tmp;
      dtf = arealg[i] / sqrt(dtf);
      if (dtf < mindt) mindt = dtf;
    }
    i += gridDim.x * blockDim.x;
  }
  s_mindt[tid] = mindt;
  __syncthreads();
  for (int half = block_size / 2; half > 0; half >>= 1) {
    if (tid < half && s_mindt[tid + half] < s_mindt[tid]) s_mindt[tid] = s_mindt[tid + half];
    __syncthreads();
  }
  if (tid == 0) least[blockIdx.x] = s_mindt[0];
}

// The rows of a matrix of 27 points, in compressed rows: a thread for each.
template <typename T>
__global__ void matvec27(int rows, int n, const int* columns, const T* coefs, const T* x, T* y) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += blockDim.x * gridDim.x) {
    T sum = 0;
    for (int i = row * 27; i < row * 27 + 27; ++i) sum += coefs[i] * x[columns[i]];
    y[row] = sum;
  }
}
template <typename T>
__global__ void waxpby(int n, T alpha, const T* x, T beta, const T* y, T* w) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    w[i] = alpha * x[i] + beta * y[i];
}
template <typename T>
__global__ void dot_blocks(const T* a, const T* b, T* sums, int n) {
  __shared__ T part[256];
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  const size_t local = threadIdx.x;
  part[local] = T(0);
  for (; i < n; i += blockDim.x * gridDim.x) part[local] += a[i] * b[i];
  for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
    __syncthreads();
    if (local < offset) part[local] += part[local + offset];
  }
  if (local == 0) sums[blockIdx.x] = part[local];
}
template <typename T>
__global__ void triad(T* a, const T* b, const T* c) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  a[i] = b[i] + T(0.4) * c[i];
}

// A gas in cells: its equation of state, and what is carried from cell to cell by the donor's rule.
__global__ void ideal_gas(int nx, int ny, const double* density, const double* energy, double* pressure,
                          double* soundspeed) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= nx || row >= ny) return;
  const int i = row * nx + column;
  const double v = 1.0 / density[i];
  pressure[i] = (1.4 - 1.0) * density[i] * energy[i];
  const double pressurebyenergy = (1.4 - 1.0) * density[i];
  const double pressurebyvolume = -density[i] * pressure[i];
  const double sound = v * v * (pressure[i] * pressurebyenergy - pressurebyvolume);
  soundspeed[i] = sqrt(sound);
}
__global__ void carry(int nx, int ny, const double* vol_flux, const double* density, const double* vertexdx,
                      double* mass_flux) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x + 2, k = blockIdx.y;
  if (j >= nx - 2 || k >= ny) return;
  int upwind, donor, downwind, dif;
  if (vol_flux[k * nx + j] > 0.3) {
    upwind = j - 2;
    donor = j - 1;
    downwind = j;
    dif = donor;
  } else {
    upwind = min(j + 1, nx - 1);
    donor = j;
    downwind = j - 1;
    dif = upwind;
  }
  const double sigmat = fabs(vol_flux[k * nx + j]) / density[k * nx + donor];
  const double sigma3 = (1.0 + sigmat) * (vertexdx[j] / vertexdx[dif]);
  const double sigma4 = 2.0 - sigmat;
  const double diffuw = density[k * nx + donor] - density[k * nx + upwind];
  const double diffdw = density[k * nx + downwind] - density[k * nx + donor];
  double limiter = 0.0;
  if (diffuw * diffdw > 0.0)
    limiter = (1.0 - sigmat) * copysign(1.0, diffdw) *
              fmin(fmin(fabs(diffuw), fabs(diffdw)), (1.0 / 6.0) * (sigma3 * fabs(diffuw) + sigma4 * fabs(diffdw)));
  mass_flux[k * nx + j] = vol_flux[k * nx + j] * (density[k * nx + donor] + limiter);
}

// Forces between molecules that are in each other's lists.
template <typename T>
__global__ void molecule_forces(const T* x, const int* neighbours, int nlocal, int numneigh, T cutforcesq, T* f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nlocal) return;
  T xtmp = x[3 * i], ytmp = x[3 * i + 1], ztmp = x[3 * i + 2];
  T fix = 0, fiy = 0, fiz = 0;
  for (int k = 0; k < numneigh; k++) {
    int j = neighbours[k * nlocal + i];
    T delx = xtmp - x[3 * j], dely = ytmp - x[3 * j + 1], delz = ztmp - x[3 * j + 2];
    T rsq = delx * delx + dely * dely + delz * delz;
    if (rsq < cutforcesq) {
      T sr2 = T(1) / rsq;
      T sr6 = sr2 * sr2 * sr2;
      T force = T(48) * sr6 * (sr6 - T(0.5)) * sr2;
      fix += delx * force;
      fiy += dely * force;
      fiz += delz * force;
    }
  }
  f[3 * i] = fix;
  f[3 * i + 1] = fiy;
  f[3 * i + 2] = fiz;
}

// Cross sections: an energy is looked for in a grid, then the tables of a material's nuclides are interpolated.
__global__ void cross_sections(const double* egrid, const int* index, const double* tables, double* out, int gridpoints,
                               int nuclides, int lookups) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lookups) return;
  unsigned seed = i * 2654435761u;
  const double energy = (seed >> 8) / 16777216.0;
  int lower = 0, upper = gridpoints - 1, length = upper - lower;
  while (length > 1) {
    const int examination = lower + length / 2;
    if (egrid[examination] > energy)
      upper = examination;
    else
      lower = examination;
    length = upper - lower;
  }
  double macro[5] = {0, 0, 0, 0, 0};
  for (int n = 0; n < nuclides; n++) {
    const int at = index[(lower * nuclides + n) & 4095] & 1023;
    const double* low = tables + (n * 1024 + at) * 6;
    const double* high = low + (at < 1023 ? 6 : 0);
    const double f = (high[0] - energy) / (high[0] - low[0] + 1e-3);
    for (int k = 0; k < 5; k++) macro[k] += high[k + 1] - f * (high[k + 1] - low[k + 1]);
  }
  double most = -1.0;
  int max_idx = 0;
  for (int k = 0; k < 5; k++) {
    if (macro[k] > most) {
      most = macro[k];
      max_idx = k;
    }
  }
  out[i] = max_idx + 1;
}

// A cube of elements: its corners, k + l * count; a matrix of 27 points of side^3 rows; lists of near molecules.
std::function<void(const Buffers&)> corners_of(int side) {
  return [=](const Buffers& b) {
    const int count = side * side * side;
    std::vector<int> at(8 * count);
    for (int k = 0; k < count; k++) {
      const int node = (k / side / side * (side + 1) + k / side % side) * (side + 1) + k % side;
      const int up = side + 1, high = (side + 1) * (side + 1);
      const int offsets[8] = {0, 1, up + 1, up, high, high + 1, high + up + 1, high + up};
      for (int l = 0; l < 8; l++) at[k + l * count] = node + offsets[l];
    }
    cudaMemcpy(b.in2, at.data(), at.size() * 4, cudaMemcpyHostToDevice);
  };
}
std::function<void(const Buffers&)> near_rows(int side) {
  return [=](const Buffers& b) {
    const int rows = side * side * side;
    std::vector<int> at(27 * rows);
    for (int r = 0; r < rows; r++)
      for (int k = 0; k < 27; k++)
        at[r * 27 + k] =
            std::min(std::max(r + (k / 9 - 1) * side * side + (k / 3 % 3 - 1) * side + k % 3 - 1, 0), rows - 1);
    cudaMemcpy(b.in2, at.data(), at.size() * 4, cudaMemcpyHostToDevice);
  };
}
std::function<void(const Buffers&)> near_molecules(int count, int each) {
  return [=](const Buffers& b) {
    std::vector<int> at(count * each);
    for (int k = 0; k < each; k++)
      for (int i = 0; i < count; i++) at[k * count + i] = (i + (k * 37 + i % 7) % 400 - 200 + count) % count;
    cudaMemcpy(b.in2, at.data(), at.size() * 4, cudaMemcpyHostToDevice);
  };
}

template <typename T>
void streams(const Add& add, const char* type) {
  const std::string tail = std::string(" ") + type;
  constexpr int n = 1 << 19;
  add("waxpby" + tail, "streams", sizeof(T) * n, [=](const Buffers& b, cudaStream_t s) {
    waxpby<T><<<512, 256, 0, s>>>(n, T(1), as<T>(b.in), T(0.5), as<T>(b.in2), as<T>(b.out));
  });
  add("dot_blocks" + tail, "streams", sizeof(T) * n, [=](const Buffers& b, cudaStream_t s) {
    dot_blocks<T><<<256, 256, 0, s>>>(as<T>(b.in), as<T>(b.in2), as<T>(b.out), n);
  });
  add("triad" + tail, "streams", sizeof(T) * n * 4, [=](const Buffers& b, cudaStream_t s) {
    triad<T><<<4 * n / 1024, 1024, 0, s>>>(as<T>(b.in), as<T>(b.in2), as<T>(b.out));
  });
  add("energy_step" + tail, "energy_step", sizeof(T) * n / 2 * 6, [=](const Buffers& b, cudaStream_t s) {
    T *in = as<T>(b.in), *in2 = as<T>(b.in2), *out = as<T>(b.out);
    const int length = n / 4;
    energy_step<T>
        <<<length / 128, 128, 0, s>>>(out, out + length, in, in + length, in2, in2 + length, in2 + 2 * length, length);
  });
  for (const int side : {16, 40})
    add(
        "matvec27" + tail + " " + std::to_string(side), "matvec27", sizeof(T) * 27 * side * side * side,
        [=](const Buffers& b, cudaStream_t s) {
          const int rows = side * side * side;
          matvec27<T>
              <<<ceil_div(rows, 256), 256, 0, s>>>(rows, 27, as<int>(b.in2), as<T>(b.in), as<T>(b.in), as<T>(b.out));
        },
        near_rows(side));
  for (const int count : {4096, 32768})
    add(
        "molecule_forces" + tail + " " + std::to_string(count), "molecules", size_t{4 * 40} * count,
        [=](const Buffers& b, cudaStream_t s) {
          molecule_forces<T><<<count / 128, 128, 0, s>>>(as<T>(b.in), as<int>(b.in2), count, 40, T(0.4), as<T>(b.out));
        },
        near_molecules(count, 40));
}

}  // namespace

std::vector<Case> eleventh_meshes() {
  std::vector<Case> list;
  const Add add{list};
  streams<float>(add, "f32");
  streams<double>(add, "f64");
  for (const int side : {16, 45})
    add(
        "element_volumes " + std::to_string(side), "elements", size_t{48} * side * side * side,
        [=](const Buffers& b, cudaStream_t s) {
          const int count = side * side * side, nodes = (side + 1) * (side + 1) * (side + 1);
          double *in = as<double>(b.in), *out = as<double>(b.out);
          element_volumes<<<ceil_div(count, 64), 64, 0, s>>>(in, in + nodes, in + 2 * nodes, as<int>(b.in2),
                                                             in + 3 * nodes, out, out + count, in + 4 * nodes, count);
        },
        corners_of(side));
  add(
      "node_forces", "elements", size_t{8} << 20,
      [=](const Buffers& b, cudaStream_t s) {
        const int nodes = 32768;
        double *in = as<double>(b.in), *out = as<double>(b.out);
        node_forces<<<nodes / 128, 128, 0, s>>>(nodes, as<int>(b.in), b.counters, as<int>(b.in2), in, in + nodes * 8,
                                                in + nodes * 16, out, out + nodes, out + 2 * nodes);
      },
      corners_of(20));
  add("least_step 1024", "least_step", size_t{8} << 16, [=](const Buffers& b, cudaStream_t s) {
    least_step<1024><<<16, 1024, 0, s>>>(1 << 16, 2.0, as<double>(b.in), as<double>(b.in2), as<double>(b.in) + 77,
                                         as<double>(b.out));
  });
  add("least_step 128", "least_step", size_t{8} << 19, [=](const Buffers& b, cudaStream_t s) {
    least_step<128><<<1024, 128, 0, s>>>(1 << 19, 2.0, as<double>(b.in), as<double>(b.in2), as<double>(b.in) + 77,
                                         as<double>(b.out));
  });
  add("ideal_gas", "gas", size_t{8} << 19, [=](const Buffers& b, cudaStream_t s) {
    ideal_gas<<<dim3(4, 512), 256, 0, s>>>(1000, 512, as<double>(b.in), as<double>(b.in2), as<double>(b.out),
                                           as<double>(b.out) + (1 << 19));
  });
  add("carry", "gas", size_t{8} << 19, [=](const Buffers& b, cudaStream_t s) {
    carry<<<dim3(4, 512), 256, 0, s>>>(1000, 512, as<double>(b.in), as<double>(b.in2), as<double>(b.in2) + 77,
                                       as<double>(b.out));
  });
  for (const int nuclides : {8, 32})
    add(
        "cross_sections " + std::to_string(nuclides), "cross_sections", size_t{6 << 20},
        [=](const Buffers& b, cudaStream_t s) {
          cross_sections<<<128, 256, 0, s>>>(as<double>(b.in2), b.counters, as<double>(b.in), as<double>(b.out), 4096,
                                             nuclides, 32768);
        },
        [](const Buffers& b) {
          std::vector<double> grid(4096);
          for (int i = 0; i < 4096; i++) grid[i] = i / 4096.0;
          cudaMemcpy(b.in2, grid.data(), grid.size() * 8, cudaMemcpyHostToDevice);
        });
  return list;
}

}  // namespace calibration
