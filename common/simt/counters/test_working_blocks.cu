// Which blocks do their part, and what counts of the others.
#include "counters/test_kernels.h"

using simt::counters::Launch;

namespace {

__global__ void all_hand_over(const float* in, float* out, unsigned idle, int idle_rounds) {
  __shared__ float one;
  const bool is_idle = blockIdx.x < idle;
  float x = is_idle ? 1.0f : in[threadIdx.x];
  for (int i = is_idle ? idle_rounds : 1; i > 0; i--) {
    if (threadIdx.x == 5) one = x;
    __syncthreads();
    x += one;
    __syncthreads();
  }
  if (!is_idle) out[threadIdx.x] = x;
}

}  // namespace

TEST_CASE("blocks that have no part count by what they do more than those that have one") {
  DeviceArray<float> in(64), out(64);
  const auto launch = [&](int idle_rounds) {
    return count_launch([&] { all_hand_over<<<16, 64>>>(in.data(), out.data(), 12, idle_rounds); });
  };
  const Launch same = launch(1);
  CHECK(same.working_blocks == 4);
  CHECK(same.total.barriers == 16 * 2 * 2);
  CHECK(same.working_barriers == 4 * 2 * 2);
  CHECK(same.total.handed_over == 4 * 4);
  const Launch more = launch(3);
  CHECK(more.working_barriers == 4 * 2 * 2 + 12 * 2 * 2 * 2);
  CHECK(more.total.handed_over == 4 * 4 + 12 * 2 * 4);
  CHECK(more.working_accesses == same.working_accesses);
}
