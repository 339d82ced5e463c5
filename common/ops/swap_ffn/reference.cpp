#include "swap_ffn/reference.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "formats.h"

#include "swap_ffn/data.h"

namespace reference {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::RowVectorXd;
using Eigen::Index;
using rung::SwapFfnSizes;

double silu(double x) { return x / (1 + std::exp(-x)); }
double slope_of_silu(double x) {
  const double sigmoid = 1 / (1 + std::exp(-x));
  return sigmoid * (1 + x * (1 - sigmoid));
}

// The tensors as doubles, converted once.
struct Weights {
  Matrix tensor[rung::swap_ffn_inputs - 1];

  explicit Weights(const SwapFfnStep& step) {
    const rung::SwapFfnLayout layout = layout_of(step.sizes, sizeof(float));
    for (int i = 0; i < rung::swap_ffn_inputs - 1; i++) {
      const auto rows = static_cast<Index>(layout.inputs[i].rows), cols = static_cast<Index>(layout.inputs[i].cols);
      using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      tensor[i] = Eigen::Map<const FloatMatrix>(step.tensors[i].data(), rows, cols).cast<double>();
    }
  }
  const Matrix& operator[](Tensor name) const { return tensor[static_cast<int>(name)]; }
};

// a times the transpose of b. In one place, not inline: each product of Eigen's takes more than a second to compile.
__attribute__((noinline)) Matrix times_transposed(const Matrix& a, const Matrix& b) { return a * b.transpose(); }

// Rows divided by their root mean square, times a weight for each column.
Matrix normalised(const Matrix& x, const Matrix& weight) {
  Matrix n(x.rows(), x.cols());
  for (Index r = 0; r < x.rows(); r++) {
    const double scale = 1 / std::sqrt(x.row(r).squaredNorm() / static_cast<double>(x.cols()) + rung::swap_ffn_epsilon);
    n.row(r) = (x.row(r) * scale).cwiseProduct(weight.row(0));
  }
  return n;
}

// What the events make of a few cores. states: (cores.size(), d_model), filled in.
void run_events(const SwapFfnStep& step, const Weights& w, const std::vector<int>& cores, Matrix& states,
                SwapFfnResult& result) {
  const SwapFfnSizes& s = step.sizes;
  const Index d = s.d_model;
  states.resize(static_cast<Index>(cores.size()), d);
  for (Index i = 0; i < states.rows(); i++) {
    const int c = cores[static_cast<size_t>(i)];
    states.row(i) = w[Tensor::x].row(0).cwiseProduct(w[Tensor::scale].row(c)) + w[Tensor::shift].row(c);
  }
  for (int event = 0; event < s.events; event++) {
    const Matrix z = times_transposed(normalised(states, w[Tensor::router_norm]), w[Tensor::router_w]);
    const Matrix scores_of_banks = times_transposed(z, w[Tensor::bank_w]);
    const auto bias = w[Tensor::biases].row(0);
    for (Index i = 0; i < states.rows(); i++) {
      const int c = cores[static_cast<size_t>(i)];
      const double logit = z.row(i).dot(w[Tensor::swap_w].row(0)) + bias(0);
      double& margin = result.margin[static_cast<size_t>(c)];
      margin = std::min(margin, std::abs(logit));
      if (logit <= 0) continue;
      Eigen::Vector4d scores = (scores_of_banks.row(i) + bias.tail(4)).transpose();
      Index best = 0;
      const double highest = scores.maxCoeff(&best);
      scores(best) = -std::numeric_limits<double>::infinity();
      margin = std::min(margin, highest - scores.maxCoeff());
      uint8_t& lanes = result.lanes[static_cast<size_t>(c)];
      const int logical = static_cast<int>(best), physical = lanes >> 2 * logical & 3, first = lanes & 3;
      lanes = static_cast<uint8_t>(lanes & ~(3 << 2 * logical) & ~3);
      lanes = static_cast<uint8_t>(logical == 0 ? lanes | physical : lanes | first << 2 * logical | physical);
      const size_t bank = static_cast<size_t>(c) * rung::swap_ffn_banks + static_cast<size_t>(physical);
      Eigen::Map<Row> ram(result.ram.data() + bank * static_cast<size_t>(d), d);
      const Row before = states.row(i);
      states.row(i) = ram;
      ram = before;
      result.ram_exchanged[bank] = true;
    }
    for (int f = 0; f < s.ffn_steps; f++) {
      const Matrix n = normalised(states, w[Tensor::ffn_norm]);
      Matrix gate = times_transposed(n, w[Tensor::w1]);
      const Matrix up = times_transposed(n, w[Tensor::w3]);
      for (Index i = 0; i < states.rows(); i++) {
        double& least = result.gate[static_cast<size_t>(cores[static_cast<size_t>(i)])];
        least = std::min(least, gate.row(i).mean());
      }
      gate = gate.unaryExpr(&silu).cwiseProduct(up);
      states = times_transposed(gate, w[Tensor::w2]);
    }
  }
}

// Runs the cores anew, on all of the machine's cores, eight or more of the step's to each.
void run(const SwapFfnStep& step, const Weights& w, const std::vector<int>& cores, Matrix& states,
         SwapFfnResult& result) {
  const auto d = static_cast<size_t>(step.sizes.d_model);
  const std::vector<float>& ram = step.tensors[static_cast<int>(Tensor::ram)];
  for (const int core : cores) {
    const size_t c = static_cast<size_t>(core), begin = c * rung::swap_ffn_banks * d;
    std::copy_n(ram.begin() + static_cast<std::ptrdiff_t>(begin), rung::swap_ffn_banks * d,
                result.ram.begin() + static_cast<std::ptrdiff_t>(begin));
    result.lanes[c] = step.lanes[c];
    result.margin[c] = result.gate[c] = std::numeric_limits<double>::infinity();
    for (size_t bank = 0; bank < rung::swap_ffn_banks; bank++) {
      result.ram_exchanged[c * rung::swap_ffn_banks + bank] = false;
    }
  }
  const size_t threads = std::clamp<size_t>(cores.size() / 8, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<SwapFfnResult> results(threads);
  std::vector<std::thread> running;
  std::vector<std::vector<int>> shares(threads);
  std::vector<Matrix> of_share(threads);
  for (size_t i = 0; i < cores.size(); i++) shares[i * threads / cores.size()].push_back(cores[i]);
  // vector<bool> is no place for several threads: each has a result of its own.
  const auto work = [&](size_t t) {
    results[t] = result;
    run_events(step, w, shares[t], of_share[t], results[t]);
  };
  for (size_t t = 1; t < threads; t++) running.emplace_back(work, t);
  work(0);
  for (std::thread& thread : running) thread.join();
  for (size_t t = 0; t < threads; t++) {
    for (size_t i = 0; i < shares[t].size(); i++) {
      const auto c = static_cast<size_t>(shares[t][i]);
      const auto begin = static_cast<std::ptrdiff_t>(c * rung::swap_ffn_banks * d);
      states.row(static_cast<Index>(c)) = of_share[t].row(static_cast<Index>(i));
      std::copy_n(results[t].ram.begin() + begin, rung::swap_ffn_banks * d, result.ram.begin() + begin);
      result.lanes[c] = results[t].lanes[c];
      result.margin[c] = results[t].margin[c];
      result.gate[c] = results[t].gate[c];
      for (size_t b = c * rung::swap_ffn_banks; b < (c + 1) * rung::swap_ffn_banks; b++) {
        result.ram_exchanged[b] = results[t].ram_exchanged[b];
      }
    }
  }
}

void collapse(const SwapFfnStep& step, const Weights& w, const Matrix& states, SwapFfnResult& result) {
  const SwapFfnSizes& s = step.sizes;
  const Matrix pooled = times_transposed(w[Tensor::alpha].transpose(), states.transpose());
  // Squares of the sums, or the sums of squares of what is added up where that is more: what independent errors make.
  const Matrix pooled_squares =
      times_transposed(w[Tensor::alpha].cwiseAbs2().transpose(), states.cwiseAbs2().transpose())
          .cwiseMax(pooled.cwiseAbs2());
  Row sum = Row::Zero(s.collapse_r), squares = sum;
  for (int k = 0; k < s.collapse_k; k++) {
    const Matrix basis = w[Tensor::basis].middleRows(k * s.collapse_r, s.collapse_r);
    sum += times_transposed(pooled.row(k), basis).row(0);
    squares += times_transposed(pooled_squares.row(k), basis.cwiseAbs2()).row(0);
  }
  const Row delta = times_transposed(sum.unaryExpr(&silu), w[Tensor::decoder]).row(0);
  result.delta.assign(delta.data(), delta.data() + delta.size());
  squares.array() *= sum.unaryExpr(&slope_of_silu).array().square();
  const Row delta_squares = times_transposed(squares, w[Tensor::decoder].cwiseAbs2()).row(0);
  result.delta_scale = std::sqrt(delta_squares.mean());
}

SwapFfnResult blank_result(const SwapFfnSizes& s) {
  const size_t cores = static_cast<size_t>(s.cores), banks = cores * rung::swap_ffn_banks;
  SwapFfnResult result;
  result.ram.resize(banks * static_cast<size_t>(s.d_model));
  result.ram_exchanged.resize(banks);
  result.lanes.resize(cores);
  result.margin.resize(cores);
  result.gate.resize(cores);
  return result;
}

std::vector<int> all_cores(const SwapFfnSizes& s) {
  std::vector<int> cores(static_cast<size_t>(s.cores));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

}  // namespace

SwapFfnResult swap_ffn(const SwapFfnStep& step) {
  const Weights weights(step);
  SwapFfnResult result = blank_result(step.sizes);
  Matrix states(step.sizes.cores, step.sizes.d_model);
  run(step, weights, all_cores(step.sizes), states, result);
  collapse(step, weights, states, result);
  return result;
}

SwapFfnStep swap_ffn_inputs(const SwapFfnSizes& sizes, uint64_t seed, float magnitude) {
  SwapFfnStep step;
  step.sizes = sizes;
  step.magnitude = magnitude;
  draw_weights(step, seed);
  for (int c = 0; c < sizes.cores; c++) draw_core(step, c, seed, 0);
  return step;
}

SwapFfnStep swap_ffn_step(const SwapFfnSizes& sizes, uint64_t seed, float magnitude) {
  SwapFfnStep step = swap_ffn_inputs(sizes, seed, magnitude);
  std::vector<int> cores = all_cores(sizes);
  Weights weights(step);
  step.result = blank_result(sizes);
  Matrix states(sizes.cores, sizes.d_model);
  for (int attempt = 1;; attempt++) {
    run(step, weights, cores, states, step.result);
    const auto is_clear = [&](int core) {
      const auto c = static_cast<size_t>(core);
      return step.result.margin[c] >= least_margin && step.result.gate[c] >= least_gate;
    };
    cores.erase(std::remove_if(cores.begin(), cores.end(), is_clear), cores.end());
    if (cores.empty()) break;
    if (attempt == 100)
      throw std::runtime_error("swap_ffn_step: no data whose decisions are clear and whose gates stay open: " +
                               name_of(sizes));
    for (const int c : cores) {
      draw_core(step, c, seed, attempt);
      for (const Tensor name : {Tensor::scale, Tensor::shift}) {
        const float* row = step.tensors[static_cast<int>(name)].data() + static_cast<size_t>(c) * sizes.d_model;
        for (int i = 0; i < sizes.d_model; i++) weights.tensor[static_cast<int>(name)](c, i) = row[i];
      }
    }
  }
  collapse(step, weights, states, step.result);
  return step;
}

std::vector<unsigned char> encode(const SwapFfnStep& step, rung::Dtype dtype) {
  const rung::SwapFfnLayout layout = layout_of(step.sizes, static_cast<size_t>(rung::bytes_of(dtype)));
  std::vector<unsigned char> bytes(layout.input_bytes);
  for (int i = 0; i < rung::swap_ffn_inputs - 1; i++) {
    const std::vector<unsigned char> tensor = encode(step.tensors[i], dtype);
    memcpy(bytes.data() + layout.inputs[i].offset, tensor.data(), tensor.size());
  }
  memcpy(bytes.data() + layout.inputs[rung::swap_ffn_inputs - 1].offset, step.lanes.data(), step.lanes.size());
  return bytes;
}

double swap_ffn_flops(const SwapFfnSizes& s) {
  const double d = s.d_model, cores = s.cores;
  const double router = 2 * d * s.d_router, ffn = 2 * 3 * d * s.d_ff;
  const double pool = 2 * cores * d * s.collapse_k, basis = 2 * d * s.collapse_k * s.collapse_r;
  return cores * s.events * (router + s.ffn_steps * ffn) + pool + basis + 2 * d * s.collapse_r;
}

std::string name_of(const SwapFfnSizes& s) {
  const auto text = [](int number) { return std::to_string(number); };
  return text(s.cores) + " cores of " + text(s.d_model) + "-" + text(s.d_ff) + ", " + text(s.events) + " x " +
         text(s.ffn_steps) + " steps";
}

}  // namespace reference
