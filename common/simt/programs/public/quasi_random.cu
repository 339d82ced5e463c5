// MRG32k3a, and Sobol sequences whose direction vectors the program makes: an integral over two dimensions. The first
// numbers are those that CUDA 13.0's own header gives on the host.
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <vector>

struct First {
  unsigned long long bits[3];
  float uniform;
  double uniform_double;
  unsigned long long skipped;
};
template <typename State>
__device__ void draw(State* state, First* out, unsigned long long skip) {
  for (int i = 0; i < 3; i++) out->bits[i] = curand(state);
  out->uniform = curand_uniform(state);
  out->uniform_double = curand_uniform_double(state);
  skipahead(skip, state);
  out->skipped = curand(state);
}

// The second dimension of every Sobol sequence: each vector is the one before and its half.
template <typename Bits>
std::vector<Bits> second_dimension() {
  std::vector<Bits> vectors;
  Bits odd = 1;
  for (int bit = 8 * sizeof(Bits) - 1; bit >= 0; bit--, odd ^= odd << 1) vectors.push_back(odd << bit);
  return vectors;
}

__global__ void first(First* out, const unsigned* of_32, const unsigned long long* of_64, float* normal,
                      unsigned* sequences) {
  curandStateMRG32k3a mrg;
  curand_init(1234, 5, 6, &mrg);
  draw(&mrg, &out[0], 0);
  curand_init(1234, 5, 11, &mrg);
  for (int i = 0; i < 2; i++) normal[i] = curand_normal(&mrg);
  curand_init(0, 0, 2, &mrg);
  skipahead_subsequence(7, &mrg);
  sequences[0] = curand(&mrg);

  curandStateSobol32_t plain;
  curand_init(of_32, 5u, &plain);
  draw(&plain, &out[1], 0);
  curandStateScrambledSobol32_t scrambled;
  curand_init(of_32, 0x12345678u, 77u, &scrambled);
  draw(&scrambled, &out[2], 1000);
  curandStateScrambledSobol64_t wide;
  curand_init(of_64, 0x123456789abcdefull, 77ull, &wide);
  skipahead(1ull << 40, &wide);
  draw(&wide, &out[3], 0);
}

// Of x y over the unit square, and how much of a normal distribution lies below 1.
__global__ void integrate(const unsigned* one, const unsigned* two, double* sum, unsigned* below, int each) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  curandStateSobol32_t x, y;
  curand_init(one, id * each, &x);
  curand_init(two, id * each, &y);
  double mine = 0;
  unsigned count = 0;
  for (int i = 0; i < each; i++) mine += curand_uniform(&x) * static_cast<double>(curand_uniform(&y));
  skipahead(-each, &x);
  for (int i = 0; i < each; i++) count += curand_normal(&x) < 1;
  atomicAdd(sum, mine);
  atomicAdd(below, count);
}

int main() {
  const First expected[] = {
      {{1566863480u, 2068833513u, 469510173u}, 0.158774257f, 0.21639765711201131, 0},
      {{3758096384u, 536870912u, 2684354560u}, 0.3125f, 0.81250000023283064, 0},
      {{3291764344u, 70538872u, 2218022520u}, 0.0476736128f, 0.54767361120320857, 1582585464u},
      {{12151632532389744111ull, 7539946513962356207ull, 0}, 0, 0, 0},
  };
  const std::vector<unsigned> two = second_dimension<unsigned>();
  const std::vector<unsigned long long> wide = second_dimension<unsigned long long>();
  std::vector<unsigned> one;
  for (int bit = 31; bit >= 0; bit--) one.push_back(1u << bit);
  First *device, host[4];
  unsigned *vectors, *sequences, *below;
  unsigned long long* wide_vectors;
  float *normal, normals[2];
  double* sum;
  cudaMalloc(&device, sizeof host);
  cudaMalloc(&vectors, 64 * sizeof(unsigned));
  cudaMalloc(&wide_vectors, 64 * sizeof(unsigned long long));
  cudaMalloc(&normal, sizeof normals);
  cudaMalloc(&sequences, sizeof(unsigned));
  cudaMalloc(&below, sizeof(unsigned));
  cudaMalloc(&sum, sizeof(double));
  cudaMemset(sum, 0, sizeof(double));
  cudaMemset(below, 0, sizeof(unsigned));
  cudaMemcpy(vectors, one.data(), 32 * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemcpy(vectors + 32, two.data(), 32 * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemcpy(wide_vectors, wide.data(), 64 * sizeof(unsigned long long), cudaMemcpyHostToDevice);

  first<<<1, 1>>>(device, vectors + 32, wide_vectors, normal, sequences);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int which = 0; which < 4; which++) {
    const First &a = host[which], &b = expected[which];
    for (int i = 0; i < (which == 3 ? 2 : 3); i++) wrong += a.bits[i] != b.bits[i];
    if (which == 3) continue;
    wrong += a.uniform != b.uniform || a.uniform_double != b.uniform_double;
    if (which == 2) wrong += a.skipped != b.skipped;
  }
  unsigned subsequence = 0;
  cudaMemcpy(&subsequence, sequences, sizeof subsequence, cudaMemcpyDeviceToHost);
  cudaMemcpy(normals, normal, sizeof normals, cudaMemcpyDeviceToHost);
  wrong += subsequence != 3112764107u;
  wrong += !(std::fabs(normals[0] + 0.1569947f) < 1e-5f) || !(std::fabs(normals[1] + 0.539514601f) < 1e-5f);

  constexpr int blocks = 4, threads = 32, each = 32, all = blocks * threads * each;
  integrate<<<blocks, threads>>>(vectors, vectors + 32, sum, below, each);
  double total = 0;
  unsigned count = 0;
  cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
  cudaMemcpy(&count, below, sizeof count, cudaMemcpyDeviceToHost);
  wrong += !(std::fabs(total / all - 0.25) < 1e-3) || !(std::fabs(count / double(all) - 0.841345) < 1e-3);
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
