// Random numbers in kernels: states that one kernel makes and another uses, pi by throwing darts, dropout. The first
// numbers of two generators are those that CUDA 13.0's own header gives on the host.
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void setup(curandState* states, unsigned long long seed) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, id, 0, &states[id]);
}

__global__ void darts(curandState* states, unsigned* hits, int throws) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  curandState mine = states[id];
  unsigned count = 0;
  for (int i = 0; i < throws; i++) {
    const float x = curand_uniform(&mine), y = curand_uniform(&mine);
    count += x * x + y * y <= 1.0f;
  }
  states[id] = mine;
  atomicAdd(hits, count);
}

__global__ void dropout(const float* in, float* out, unsigned long long seed, float keep, int n) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, id, 0, &state);
  const float4 random = curand_uniform4(&state);
  const float of[4] = {random.x, random.y, random.z, random.w};
  for (int i = 0; i < 4; i++) {
    if (id * 4 + i < n) out[id * 4 + i] = of[i] <= keep ? in[id * 4 + i] / keep : 0;
  }
}

struct First {
  unsigned bits[3];
  float uniform;
  double uniform_double;
  float normal[2];
  double normal_double;
  unsigned skipped, next_sequence;
};
template <typename State>
__global__ void first(First* out) {
  State state;
  curand_init(1234, 5, 6, &state);
  for (int i = 0; i < 3; i++) out->bits[i] = curand(&state);
  out->uniform = curand_uniform(&state);
  out->uniform_double = curand_uniform_double(&state);
  for (int i = 0; i < 2; i++) out->normal[i] = curand_normal(&state);
  out->normal_double = curand_normal_double(&state);
  skipahead(1ull << 40, &state);
  out->skipped = curand(&state);
  skipahead_sequence(1ull << 33, &state);
  out->next_sequence = curand(&state);
}

bool same(const First& a, const First& b) {
  bool equal = a.uniform == b.uniform && a.uniform_double == b.uniform_double && a.skipped == b.skipped &&
               a.next_sequence == b.next_sequence && std::fabs(a.normal_double - b.normal_double) < 1e-12;
  for (int i = 0; i < 3; i++) equal &= a.bits[i] == b.bits[i];
  for (int i = 0; i < 2; i++) equal &= std::fabs(a.normal[i] - b.normal[i]) < 1e-5f;
  return equal;
}

int main() {
  const First expected[] = {{{2956155405u, 3351265907u, 3629609298u},
                             0.0967250243f,
                             0.16058594555931566,
                             {0.8157663f, 0.8049625f},
                             -0.709250654721962,
                             564070287u,
                             2605238614u},
                            {{846674261u, 1925342002u, 648658203u},
                             0.845928848f,
                             0.033433977980166674,
                             {-0.6296026f, 0.02491999f},
                             -0.0508659080757846,
                             2873004691u,
                             2714235047u}};
  First *device, host;
  cudaMalloc(&device, sizeof(First));
  int wrong = 0;
  for (int which = 0; which < 2; which++) {
    if (which == 0) {
      first<curandState><<<1, 1>>>(device);
    } else {
      first<curandStatePhilox4_32_10_t><<<1, 1>>>(device);
    }
    cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    wrong += !same(host, expected[which]);
  }

  const int blocks = 4, threads = 64, throws = 200;
  curandState* states;
  unsigned *hits, count;
  cudaMalloc(&states, blocks * threads * sizeof(curandState));
  cudaMalloc(&hits, sizeof(unsigned));
  cudaMemset(hits, 0, sizeof(unsigned));
  setup<<<blocks, threads>>>(states, 1234);
  darts<<<blocks, threads>>>(states, hits, throws);
  cudaMemcpy(&count, hits, sizeof count, cudaMemcpyDeviceToHost);
  const double pi = 4.0 * count / (blocks * threads * throws);
  wrong += !(std::fabs(pi - 3.14159) < 0.04);

  const int n = 1000;
  std::vector<float> in(n, 1.0f), out(n);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  dropout<<<4, 64>>>(x, y, 7, 0.75f, n);
  cudaMemcpy(out.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  int kept = 0;
  for (const float value : out) {
    kept += value != 0;
    wrong += value != 0 && value != 1 / 0.75f;
  }
  wrong += kept < 680 || kept > 820;
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
