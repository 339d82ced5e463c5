#include "swap_ffn/data.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

namespace reference {
namespace {

// Of mean 0 and variance 1, uniform. SplitMix64: equal on every machine, as the standard's distributions are not.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  float operator()() { return 3.4641016f * (static_cast<float>(bits() >> 40) * 0x1p-24f - 0.5f); }

 private:
  uint64_t state_;
};

float rounded(float x) { return static_cast<float>(Eigen::bfloat16(x)); }

// The direction that all states share: 1 or -1.
float common(size_t i, uint64_t seed) { return Noise(seed * 31 + i * 2654435761u + 5).bits() & 1 ? 1.0f : -1.0f; }

constexpr float gate = 2, passed_on = 0.3f, gate_noise = 0.2f, noise_share = 0.1f;  // see swap_ffn_reference.h

std::vector<float>& tensor(SwapFfnStep& step, Tensor name) { return step.tensors[static_cast<int>(name)]; }

template <typename Value>
void fill(std::vector<float>& values, Value value) {
  for (size_t i = 0; i < values.size(); i++) values[i] = rounded(value(i));
}

}  // namespace

void draw_weights(SwapFfnStep& step, uint64_t seed) {
  const rung::SwapFfnLayout layout = layout_of(step.sizes, sizeof(float));
  for (int i = 0; i < rung::swap_ffn_inputs - 1; i++) {
    step.tensors[i].resize(layout.inputs[i].rows * layout.inputs[i].cols);
  }
  step.lanes.resize(static_cast<size_t>(step.sizes.cores));

  Noise noise(seed * 7919 + 1);
  const auto d = static_cast<size_t>(step.sizes.d_model), f = static_cast<size_t>(step.sizes.d_ff);
  const auto router = static_cast<size_t>(step.sizes.d_router);
  std::vector<float> e(d);
  for (size_t i = 0; i < d; i++) e[i] = common(i, seed);
  const float root_d = std::sqrt(static_cast<float>(d)), root_f = std::sqrt(static_cast<float>(f));
  const float root_router = std::sqrt(static_cast<float>(router));
  const float to_d = 1 / static_cast<float>(d), to_f = 1 / static_cast<float>(f);

  fill(tensor(step, Tensor::x), [&](size_t i) { return e[i] + 0.5f * noise(); });
  for (const Tensor name : {Tensor::router_norm, Tensor::ffn_norm}) {
    fill(tensor(step, name), [&](size_t) { return 1 + 0.1f * noise(); });
  }
  // Without the direction that all share, or all cores would decide alike.
  std::vector<float>& router_w = tensor(step, Tensor::router_w);
  for (size_t row = 0; row < router; row++) {
    std::vector<float> line(d);
    float along = 0;
    for (size_t i = 0; i < d; i++) along += (line[i] = noise()) * e[i] * to_d;
    for (size_t i = 0; i < d; i++) router_w[row * d + i] = rounded((line[i] - along * e[i]) * 2 / root_d);
  }
  for (const Tensor name : {Tensor::swap_w, Tensor::bank_w}) {
    fill(tensor(step, name), [&](size_t) { return noise() / root_router; });
  }
  fill(tensor(step, Tensor::biases), [&](size_t) { return 0.1f * noise(); });
  // With epsilon a tiny state hardly counts. Then most cores exchange it, and without epsilon by far not all, nor with
  // the same banks: the first logits are much alike, since all states come from the same x, but RAM is each core's own.
  if (step.magnitude < 1) tensor(step, Tensor::biases)[0] = 0.375f;
  const auto is_copy = [&](size_t in_f, size_t in_d) { return in_f % d == in_d ? 1.0f : 0.0f; };
  fill(tensor(step, Tensor::w1), [&](size_t i) { return gate * e[i % d] * to_d + gate_noise * noise() / root_d; });
  fill(tensor(step, Tensor::w3), [&](size_t i) { return is_copy(i / d, i % d) + noise_share * noise() / root_d; });
  fill(tensor(step, Tensor::w2), [&](size_t i) {
    const size_t in_d = i / f, in_f = i % f;
    return is_copy(in_f, in_d) * static_cast<float>(d) * to_f + passed_on * e[in_d] * e[in_f % d] * to_f +
           noise_share * noise() / root_f;
  });
  fill(tensor(step, Tensor::basis), [&](size_t) { return noise() / root_d; });
  const float root_r = std::sqrt(static_cast<float>(step.sizes.collapse_r));
  fill(tensor(step, Tensor::decoder), [&](size_t) { return noise() / root_r; });

  std::vector<float>& alpha = tensor(step, Tensor::alpha);
  const auto k = static_cast<size_t>(step.sizes.collapse_k);
  for (size_t c = 0; c < alpha.size(); c += k) {
    float sum = 0;
    for (size_t i = c; i < c + k; i++) sum += alpha[i] = std::exp(noise());
    for (size_t i = c; i < c + k; i++) alpha[i] = rounded(alpha[i] / sum);
  }
}

void draw_core(SwapFfnStep& step, int core, uint64_t seed, int attempt) {
  const auto c = static_cast<size_t>(core), d = static_cast<size_t>(step.sizes.d_model);
  Noise noise((seed * 1000003 + c) * 101 + static_cast<uint64_t>(attempt) + 77);
  noise.bits();
  for (size_t i = 0; i < d; i++) {
    tensor(step, Tensor::scale)[c * d + i] = rounded(step.magnitude * (1 + 0.3f * noise()));
    tensor(step, Tensor::shift)[c * d + i] = rounded(step.magnitude * (0.5f * noise()));
  }
  float* ram = tensor(step, Tensor::ram).data() + c * rung::swap_ffn_banks * d;
  for (size_t i = 0; i < rung::swap_ffn_banks * d; i++)
    ram[i] = rounded(step.magnitude * (common(i % d, seed) + 0.8f * noise()));
  int banks[rung::swap_ffn_banks] = {0, 1, 2, 3};
  for (size_t i = rung::swap_ffn_banks - 1; i > 0; i--) std::swap(banks[i], banks[noise.bits() % (i + 1)]);
  step.lanes[c] = static_cast<uint8_t>(banks[0] | banks[1] << 2 | banks[2] << 4 | banks[3] << 6);
}

}  // namespace reference
