// An experiment of chapter 8: what does a copy take whose stores wait for all loads of their row?
//
// A kernel that must have seen a whole row before it writes any of it, as softmax must, cannot be faster. The copy here
// has no arithmetic, and the cheapest exchange that we know: the blocks of a row send one number to each other. It is
// tried with many sizes of blocks and clusters, and with what the threads' registers do not hold in shared memory,
// beside copies that wait for nothing. Prints one JSON object, which `make experiments` writes to
// plots/results/dependent-copy-<device>.json. Takes a minute and 2 GiB of memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "gpu_timing.h"
#include "machine.h"

#include "limit/hopper.h"
#include "limit/launch.h"
#include "limit/pack.h"

namespace {

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "dependent_copy: %s: %s\n", doing, cudaGetErrorString(error));
  std::exit(2);
}

constexpr int most_blocks = 16;

// A row of `packs` packs per cluster; a thread moves up to Packs of them. Wait: for all loads of the row. The rest of a
// block's share goes through shared memory, if it was given any.
template <int Packs, bool Wait>
__global__ void __launch_bounds__(1024) copy_kernel(const uint4* __restrict__ x, uint4* __restrict__ y, int packs) {
  uint4* const shared = dynamic_shared();
  __shared__ unsigned long long arrived, there;
  __shared__ int sent[most_blocks];
  const int blocks = cluster_blocks(), rank = cluster_rank(), threads = blockDim.x, t = threadIdx.x;
  const bool exchange = Wait && blocks > 1;
  if (exchange) begin_exchange(&arrived, blocks * static_cast<int>(sizeof(int)));
  const size_t row = static_cast<size_t>(blockIdx.x / blocks) * packs;
  const int share = (packs + blocks - 1) / blocks, first = rank * share + t, end = min(packs, (rank + 1) * share);
  const int more = rank * share + Packs * threads, rest = max(0, end - more);
  if (rest > 0) {
    if (t == 0) begin_barrier(&there), barriers_begun();
    __syncthreads();
  }
  wait_for_kernel_before();
  if (rest > 0) fetch(shared, x + row + more, rest, &there);

  uint4 pack[Packs];
  int odd = 0;  // depends on every pack, and is 0 for what the copy is given
#pragma unroll
  for (int i = 0; i < Packs; ++i)
    if (first + i * threads < end) pack[i] = load_once(x + row + first + i * threads);
#pragma unroll
  for (int i = 0; i < Packs; ++i)
    if (first + i * threads < end) odd |= pack[i].x == 0x7FC12345;
  if (rest > 0) wait_for(&there);
  if (Wait) odd = __syncthreads_or(odd);
  if (exchange) {
    cluster_wait();
    if (t < blocks) send(odd, sent + rank, t, &arrived);
    wait_for(&arrived);
    for (int b = 0; b < blocks; ++b) odd |= sent[b];
  }
#pragma unroll
  for (int i = 0; i < Packs; ++i) {
    pack[i].y ^= odd;
    if (first + i * threads < end) __stcs(y + row + first + i * threads, pack[i]);
  }
  for (int i = t; i < rest; i += threads) {
    uint4 one = shared[i];
    one.y ^= odd;
    __stcs(y + row + more + i, one);
  }
}

struct Layout {
  int rows, packs;  // per row
  int blocks, threads, packs_per_thread;

  // Of a block, in shared memory.
  int rest() const { return std::max(0, (packs + blocks - 1) / blocks - threads * packs_per_thread); }
};

template <bool Wait>
cudaError_t copy(const Layout& l, const uint4* x, uint4* y, const Device& device, cudaStream_t stream) {
  const auto with = [&](auto kernel) {
    return launch(kernel, static_cast<size_t>(l.rows) * l.blocks, l.threads, 16 * l.rest(), l.blocks, device, stream, x,
                  y, l.packs);
  };
  switch (l.packs_per_thread) {
    case 1: return with(copy_kernel<1, Wait>);
    case 2: return with(copy_kernel<2, Wait>);
    case 3: return with(copy_kernel<3, Wait>);
    case 4: return with(copy_kernel<4, Wait>);
    case 6: return with(copy_kernel<6, Wait>);
    default: return with(copy_kernel<8, Wait>);
  }
}

struct Buffers {
  static constexpr size_t bytes = size_t{900} << 20;
  uint4 *x = nullptr, *y = nullptr;
  cudaStream_t stream = nullptr;
  Buffers() {
    check(cudaMalloc(&x, bytes), "memory for the buffers");
    check(cudaMalloc(&y, bytes), "memory for the buffers");
    check(cudaMemset(x, 0, bytes), "clearing the buffers");
    check(cudaStreamCreate(&stream), "a stream");
  }
};

// Seconds per launch: the median of passes that go through all of the buffers, or through 2500 places in them.
// Infinite if this device cannot launch the layout.
template <bool Wait>
double seconds(const Layout& l, const Device& device, Buffers& buffers) {
  const size_t packs = static_cast<size_t>(l.rows) * l.packs;
  const int places = static_cast<int>(std::clamp<size_t>(Buffers::bytes / 16 / packs, 1, 2500));
  std::vector<double> each(5);
  const auto launch = [&](int i) {
    return copy<Wait>(l, buffers.x + i * packs, buffers.y + i * packs, device, buffers.stream);
  };
  if (rung::time_launches(launch, places, buffers.stream, each)) return INFINITY;
  std::sort(each.begin(), each.end());
  return each[each.size() / 2];
}

struct Best {
  double seconds = INFINITY;
  Layout layout = {};
  void take(double s, const Layout& l) {
    if (s < seconds) seconds = s, layout = l;
  }
};

void print(const char* name, const Best& best) {
  std::printf("\"%s\": {\"us\": %.4g, \"blocks_per_row\": %d, \"threads\": %d, \"packs_per_thread\": %d}", name,
              best.seconds * 1e6, best.layout.blocks, best.layout.threads, best.layout.packs_per_thread);
}

}  // namespace

int main() {
  Device device;
  check(ask(device), "no CUDA device can be used");
  if (!device.clusters) {
    std::fprintf(stderr, "dependent_copy: this device has no clusters of blocks; they need compute capability 9.0\n");
    return 2;
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "the device's name");
  std::printf("{\n  \"machine\": \"%s\",\n  \"date\": \"%s\",\n  \"command\": \"make experiments\",\n  \"cases\": [",
              properties.name, bench::today().c_str());
  Buffers buffers;
  const char* separator = "";
  const struct {
    int rows, cols;
  } shapes[] = {{1, 50257}, {8, 128256}, {64, 65536}, {64, 151936}, {2048, 32000}, {4096, 50257}};
  for (const auto [rows, cols] : shapes) {
    for (const int element_bytes : {4, 2}) {
      const int packs = cols / (16 / element_bytes);
      Best free, dependent;
      for (const int threads : {128, 256, 512}) {
        for (const int each : {1, 2, 4}) {  // rows as long as one block moves
          const Layout l = {static_cast<int>(static_cast<size_t>(rows) * packs / (threads * each)), threads * each, 1,
                            threads, each};
          free.take(seconds<false>(l, device, buffers), l);
        }
      }
      for (int blocks = 1; blocks <= most_blocks; blocks *= 2) {
        for (const int each : {1, 2, 3, 4, 6, 8}) {
          const int share = (packs + blocks - 1) / blocks, all = ((share + each - 1) / each + 31) / 32 * 32;
          for (const int threads : {all, 256, 512}) {
            const Layout l = {rows, packs, blocks, threads, each};
            if (threads > std::min(all, 1024) || threads < 64 || 16 * l.rest() > device.shared_bytes - 1024) continue;
            dependent.take(seconds<true>(l, device, buffers), l);
          }
        }
      }
      std::printf("%s\n    {\"rows\": %d, \"cols\": %d, \"element_bytes\": %d, ", separator, rows, cols, element_bytes);
      print("copy", free);
      std::printf(", ");
      print("dependent", dependent);
      std::printf("}");
      separator = ",";
    }
  }
  std::printf("\n  ]\n}\n");
}
