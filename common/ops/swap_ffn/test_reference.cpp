// The reference of the Swap-FFN step and its data.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "catch2_any.h"
#include "formats.h"
#include "swap_ffn/reference.h"
#include "swap_ffn/data.h"

using namespace reference;
using rung::SwapFfnSizes;

namespace {

constexpr SwapFfnSizes sizes = {32, 64, 40, 4, 2, 16, 3, 24};

std::vector<float>& tensor(SwapFfnStep& step, Tensor name) { return step.tensors[static_cast<int>(name)]; }

double rms(const std::vector<double>& a) {
  double sum = 0;
  for (const double x : a) sum += x * x;
  return std::sqrt(sum / static_cast<double>(a.size()));
}

// rms of the difference / rms.
double relative(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference(a.size());
  for (size_t i = 0; i < a.size(); i++) difference[i] = a[i] - b[i];
  return rms(difference) / rms(a);
}

bool is_permutation(uint8_t lanes) {
  return std::set<int>{lanes & 3, lanes >> 2 & 3, lanes >> 4 & 3, lanes >> 6 & 3}.size() == 4;
}

}  // namespace

TEST_CASE("one core by hand: the swap, and nothing else") {
  SwapFfnStep step = swap_ffn_step({32, 32, 1, 1, 0, 8, 1, 1}, 3);
  step.lanes[0] = 0b01101100;  // logical 0..3 are physical 0, 3, 2, 1
  std::vector<float>& biases = tensor(step, Tensor::biases);
  std::fill(tensor(step, Tensor::swap_w).begin(), tensor(step, Tensor::swap_w).end(), 0.0f);
  std::fill(tensor(step, Tensor::bank_w).begin(), tensor(step, Tensor::bank_w).end(), 0.0f);
  biases = {1, 0, 5, 4, 3};  // it swaps, with logical bank 1: physical 3
  const SwapFfnResult result = swap_ffn(step);
  REQUIRE(result.lanes[0] == 0b01100011);  // 3, 0, 2, 1
  REQUIRE(result.ram_exchanged == std::vector<bool>{false, false, false, true});
  for (size_t i = 0; i < 32; i++) {
    const double x =
        double(tensor(step, Tensor::x)[i]) * tensor(step, Tensor::scale)[i] + tensor(step, Tensor::shift)[i];
    REQUIRE(result.ram[3 * 32 + i] == Approx(x).margin(1e-12));
    REQUIRE(result.ram[2 * 32 + i] == tensor(step, Tensor::ram)[2 * 32 + i]);
  }
  // The state is now bank 3; pooled by alpha = 1, one basis vector, one number to decode.
  double s = 0;
  for (size_t i = 0; i < 32; i++) s += double(tensor(step, Tensor::ram)[3 * 32 + i]) * tensor(step, Tensor::basis)[i];
  const double silu = s / (1 + std::exp(-s));
  for (size_t i = 0; i < 32; i++) {
    REQUIRE(result.delta[i] == Approx(tensor(step, Tensor::decoder)[i] * silu).margin(1e-12));
  }

  biases[0] = -1;  // it does not swap
  const SwapFfnResult closed = swap_ffn(step);
  REQUIRE(closed.lanes[0] == step.lanes[0]);
  REQUIRE(std::count(closed.ram_exchanged.begin(), closed.ram_exchanged.end(), true) == 0);
}

TEST_CASE("one FFN step by hand") {
  SwapFfnStep step = swap_ffn_step({32, 32, 1, 1, 1, 8, 1, 1}, 4);
  tensor(step, Tensor::biases)[0] = -100;  // no swap
  for (const Tensor name : {Tensor::w1, Tensor::w3, Tensor::w2}) {
    std::fill(tensor(step, name).begin(), tensor(step, name).end(), 0.0f);
  }
  // Only element 5 goes on, through row 7 of w1 and w3.
  tensor(step, Tensor::w1)[7 * 32 + 5] = 2;
  tensor(step, Tensor::w3)[7 * 32 + 5] = 3;
  tensor(step, Tensor::w2)[9 * 32 + 7] = 4;
  std::fill(tensor(step, Tensor::basis).begin(), tensor(step, Tensor::basis).end(), 0.0f);
  tensor(step, Tensor::basis)[9] = 1;
  double squares = 0, five = 0;
  for (size_t i = 0; i < 32; i++) {
    const double x =
        double(tensor(step, Tensor::x)[i]) * tensor(step, Tensor::scale)[i] + tensor(step, Tensor::shift)[i];
    squares += x * x;
    if (i == 5) five = x;
  }
  const double n = five / std::sqrt(squares / 32 + 1e-6) * tensor(step, Tensor::ffn_norm)[5];
  const double out = 4 * (2 * n / (1 + std::exp(-2 * n))) * 3 * n;
  REQUIRE(swap_ffn(step).delta[0] == Approx(tensor(step, Tensor::decoder)[0] * out / (1 + std::exp(-out))));
}

TEST_CASE("the data: decisions are clear, of both kinds, for all banks; lanes stay a permutation") {
  const SwapFfnStep step = swap_ffn_step(sizes, 1);
  for (const double margin : step.result.margin) REQUIRE(margin >= least_margin);
  const auto& exchanged = step.result.ram_exchanged;
  const auto swaps = std::count(exchanged.begin(), exchanged.end(), true);
  REQUIRE(swaps > sizes.cores / 2);
  REQUIRE(swaps < 3 * sizes.cores);
  for (size_t bank = 0; bank < 4; bank++) {
    size_t of_bank = 0;
    for (size_t i = bank; i < exchanged.size(); i += 4) of_bank += exchanged[i];
    REQUIRE(of_bank > 0);
  }
  for (const uint8_t lanes : step.result.lanes) REQUIRE(is_permutation(lanes));
  for (const uint8_t lanes : step.lanes) REQUIRE(is_permutation(lanes));
  REQUIRE(relative(step.result.delta, swap_ffn(step).delta) < 1e-12);
  REQUIRE(swap_ffn_step(sizes, 1).tensors[3] == step.tensors[3]);
  REQUIRE(swap_ffn_step(sizes, 2).tensors[3] != step.tensors[3]);
}

TEST_CASE("the data: a small perturbation stays small through 16 FFN steps") {
  for (const SwapFfnSizes& s :
       {SwapFfnSizes{32, 64, 24, 8, 2, 16, 2, 24}, SwapFfnSizes{64, 256, 24, 8, 2, 16, 2, 24}}) {
    SwapFfnStep step = swap_ffn_step(s, 5);
    const SwapFfnResult exact = step.result;
    for (float& x : tensor(step, Tensor::shift)) x += x > 0 ? 1e-4f : -1e-4f;
    const SwapFfnResult moved = swap_ffn(step);
    REQUIRE(moved.lanes == exact.lanes);  // no decision has changed
    REQUIRE(relative(exact.ram, moved.ram) < 3e-4);
    REQUIRE(relative(exact.ram, moved.ram) > 1e-6);
  }
}

TEST_CASE("the data: gates stay open, whatever the seed") {
  double least = 10, most = 0;
  for (uint64_t seed = 0; seed < 40; seed++) {
    const SwapFfnStep step = swap_ffn_step({32, 64, 6, 8, 2, 16, 2, 24}, seed);
    for (const double gate : step.result.gate) {
      least = std::min(least, gate);
      most = std::max(most, gate);
    }
  }
  REQUIRE(least >= least_gate);
  REQUIRE(most < 2.5);  // some 2 for a state along the direction that all share
}

TEST_CASE("the data: of tiny states the norm's epsilon shows, before the FFN and before the router") {
  // Without epsilon a norm gives the same for states of any size. So what differs by size alone is what epsilon does.
  const auto enlarged = [](SwapFfnStep step) {
    for (const Tensor name : {Tensor::scale, Tensor::shift, Tensor::ram}) {
      for (float& x : tensor(step, name)) x *= 1024;
    }
    return swap_ffn(step);
  };
  const SwapFfnSizes fed = {32, 64, 5, 1, 1, 16, 2, 24}, routed = {32, 64, 24, 3, 0, 16, 2, 24};
  for (uint64_t seed = 0; seed < 20; seed++) {
    const SwapFfnStep one = swap_ffn_step(fed, seed, 0x1p-10f), other = swap_ffn_step(routed, seed, 0x1p-13f);
    REQUIRE(relative(one.result.delta, enlarged(one).delta) > 0.3);  // more than any tolerance
    REQUIRE(enlarged(other).lanes != other.result.lanes);
    const SwapFfnStep usual = swap_ffn_step(fed, seed);
    REQUIRE(relative(usual.result.delta, enlarged(usual).delta) < 1e-4);
  }
}

TEST_CASE("delta's scale: what independent errors of the states make of it") {
  const SwapFfnSizes s = {64, 64, 3, 0, 1, 8, 1, 1};  // no event: the states are x * scale + shift
  double least = 1;
  for (uint64_t seed = 0; seed < 30; seed++) {
    SwapFfnStep step = swap_ffn_step(s, seed);
    const SwapFfnResult exact = step.result;
    double squares = 0, size = 0;
    for (const double x : exact.delta) size += x * x / 64;
    // Each number of each state, off by a thousandth, alone.
    for (size_t i = 0; i < 3 * 64; i++) {
      float& shift = tensor(step, Tensor::shift)[i];
      const float before = shift;
      const float state = tensor(step, Tensor::x)[i % 64] * tensor(step, Tensor::scale)[i] + shift;
      shift += 1e-3f * state;
      const std::vector<double> moved = swap_ffn(step).delta;
      for (size_t j = 0; j < 64; j++) squares += std::pow((moved[j] - exact.delta[j]) * 1e3, 2) / 64;
      shift = before;
    }
    // The larger of two estimates, number by number: from above.
    REQUIRE(std::sqrt(squares) < 1.02 * exact.delta_scale);
    REQUIRE(std::sqrt(squares) > 0.4 * exact.delta_scale);
    least = std::min(least, std::sqrt(size) / exact.delta_scale);
  }
  REQUIRE(least < 0.15);  // one of these sums does cancel out
}

TEST_CASE("encoded data lie where the layout says, and are exact in bfloat16") {
  const SwapFfnStep step = swap_ffn_step(sizes, 1);
  for (const rung::Dtype dtype : {rung::Dtype::f32, rung::Dtype::bf16}) {
    const size_t element = static_cast<size_t>(rung::bytes_of(dtype));
    const rung::SwapFfnLayout layout = layout_of(sizes, element);
    const std::vector<unsigned char> bytes = encode(step, dtype);
    REQUIRE(bytes.size() == layout.input_bytes);
    for (int i = 0; i < rung::swap_ffn_inputs - 1; i++) {
      const rung::Tensor& place = layout.inputs[i];
      REQUIRE(place.offset % 256 == 0);
      const std::vector<double> got = decode(bytes.data() + place.offset, place.rows * place.cols, dtype);
      REQUIRE(std::equal(got.begin(), got.end(), step.tensors[i].begin(), step.tensors[i].end()));
    }
    REQUIRE(memcmp(bytes.data() + layout.inputs[16].offset, step.lanes.data(), step.lanes.size()) == 0);
  }
}

TEST_CASE("sizes that a rung need not take") {
  REQUIRE(valid(rung::swap_ffn_full));
  REQUIRE(valid(rung::swap_ffn_small));
  for (int32_t SwapFfnSizes::*member :
       {&SwapFfnSizes::d_model, &SwapFfnSizes::d_ff, &SwapFfnSizes::cores, &SwapFfnSizes::d_router,
        &SwapFfnSizes::collapse_k, &SwapFfnSizes::collapse_r}) {
    SwapFfnSizes s = sizes;
    s.*member = 0;
    REQUIRE(!valid(s));
  }
  SwapFfnSizes s = sizes;
  s.d_model = 33;
  REQUIRE(!valid(s));
}
