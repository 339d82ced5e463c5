// Every variant of sharded softmax + top-K on all devices of this process, against double precision on the host.
// common/commands/program.sh builds it.
//   SIMT_DEVICES=3 ./sharded_test [all | f32 | f16 | bf16 [VARIANT [CASE]]]
//   ./sharded_test predict GAIN [FILE]   holds lab 09's predictions; GAIN: three_reductions over one_shot, as measured;
//                                        FILE gets which are right, as JSON
// Ends with status 1 at the first wrong result, or if a prediction is wrong; with another if a case does not end.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "cases.h"
#include "compare.h"
#include "limit.h"
#include "reference.h"
#include "team.cuh"

using namespace sharded;

extern "C" const rung::Prediction* rung_predictions(int* count);  // lab 09's file

namespace {

int made = 0;
constexpr double relative_tolerance = 2e-5;  // of a probability

template <typename T>
std::vector<T> values_of(const Case& c, const std::vector<int>& shards) {
  std::mt19937 random(static_cast<unsigned>(c.rows * 31 + c.cols));
  std::vector<T> x(static_cast<size_t>(c.rows) * c.cols);
  const float inf = std::numeric_limits<float>::infinity();
  const int last = static_cast<int>(shards.size()) - 1, begins = c.cols - shards[last];
  for (int r = 0; r < c.rows; r++) {
    for (int i = 0; i < c.cols; i++) {
      const float uniform = static_cast<float>(random() % 20001) / 1000.0f - 10.0f;
      float value = uniform;
      switch (c.values) {
        case Values::ties: value = static_cast<float>(random() % 3); break;
        case Values::masked_device: value = i >= begins && last > 0 ? -inf : uniform; break;
        case Values::masked_rows: value = r % 2 ? -inf : uniform; break;
        case Values::nan_device: value = r == 2 && i == begins ? std::nanf("") : uniform; break;
        case Values::infinite: value = r == 2 && i == begins ? inf : uniform; break;
        case Values::falling: value = 10.0f - 20.0f * static_cast<float>(i) / static_cast<float>(c.cols); break;
        case Values::rising: value = -10.0f + 20.0f * static_cast<float>(i) / static_cast<float>(c.cols); break;
        default: break;
      }
      x[static_cast<size_t>(r) * c.cols + i] = static_cast<T>(value);
    }
  }
  return x;
}

template <typename T>
constexpr rung::Dtype dtype = rung::Dtype::f32;
template <>
constexpr rung::Dtype dtype<__half> = rung::Dtype::f16;
template <>
constexpr rung::Dtype dtype<__nv_bfloat16> = rung::Dtype::bf16;

// Ends the program at a wrong result, in the words of the other labs.
template <typename T>
void compare(const Case& c, const char* variant, int device, const std::vector<double>& x,
             const reference::TopK& expected, const std::vector<int>& index, const std::vector<float>& prob) {
  const testing_::Comparison compared =
      testing_::compare_topk(x, expected, index.data(), prob.data(), c.rows, c.cols, c.k, dtype<T>, relative_tolerance);
  if (compared.right()) return;
  std::printf("FAIL %s, \"%s\", %s, device %d of %d\n%s", variant, c.name, rung::name_of(dtype<T>), device, made,
              compared.explanation.c_str());
  std::exit(1);
}

template <typename T>
void test(const Team& team, const Case& c, const char* only) {
  std::vector<int> shards = even_shards(team.devices, c.cols);
  if (c.lopsided) {
    std::fill(shards.begin(), shards.end(), 1);
    shards[0] = c.cols - (team.devices - 1);
  }
  Problem<T> problem(team, c.rows, shards, c.k);
  const std::vector<T> x = values_of<T>(c, shards);
  problem.set_logits(x);
  const std::vector<double> logits(x.begin(), x.end());
  const reference::TopK expected = reference::softmax_topk(logits, c.rows, c.cols, c.k);
  const size_t results = static_cast<size_t>(c.rows) * c.k;
  for (const Variant<T>& variant : variants<T>) {
    if (only && std::strcmp(only, variant.name) != 0) continue;
    const Limit limit(std::string(variant.name) + ", \"" + c.name + "\", " + rung::name_of(dtype<T>) + ", " +
                      std::to_string(made) + (made == 1 ? " device" : " devices"));
    std::vector<std::vector<int>> index(team.devices, std::vector<int>(results));
    std::vector<std::vector<float>> prob(team.devices, std::vector<float>(results));
    team.each([&](int d) {
      const Shard<T>& shard = problem.shards[d];
      SHARDED_OK(cudaMemset(shard.index, 0xFF, results * sizeof(int)));
      SHARDED_OK(cudaMemset(shard.prob, 0xFF, results * sizeof(float)));
      SHARDED_OK(cudaDeviceSynchronize());
      for (int call = 0; call < 3; call++) {  // the inbox's halves come round again
        const cudaError_t error = variant.call(shard);
        if (!error) continue;
        std::printf("FAIL %s, \"%s\", device %d of %d: the call returned %s\n", variant.name, c.name, d, made,
                    error == cudaErrorNotSupported ? "cudaErrorNotSupported, as where a TODO is not written yet"
                                                   : cudaGetErrorName(error));
        std::fflush(stdout);
        std::_Exit(1);
      }
      SHARDED_OK(cudaStreamSynchronize(shard.stream));
      SHARDED_OK(cudaMemcpy(index[d].data(), shard.index, results * sizeof(int), cudaMemcpyDeviceToHost));
      SHARDED_OK(cudaMemcpy(prob[d].data(), shard.prob, results * sizeof(float), cudaMemcpyDeviceToHost));
    });
    for (int d = 0; d < team.devices; d++) compare<T>(c, variant.name, d, logits, expected, index[d], prob[d]);
  }
}

struct Asked {
  const char* name;
  double right, factor;
  const char* what;
};

// How many of lab 09's predictions are wrong or still missing.
int predictions(double gain, std::FILE* events) {
  const Asked asked[] = {
      {"packed_bytes", 8.0 * message_words(20), 1, "k keys and (max, sum), 8 bytes each"},
      {"gather_bytes", 32000 / 4 * 4, 1, "all of the shard's logits"},
      {"reduction_latencies", 3, 1, "the sum waits for the maximum, and the pairs come after it in the stream"},
      {"one_shot_gain", gain, 1.4, "measured"},
  };
  int count = 0, wrong = 0;
  const rung::Prediction* const table = rung_predictions(&count);
  for (const Asked& one : asked) {
    const auto found = std::find_if(table, table + count,
                                    [&](const rung::Prediction& p) { return std::strcmp(p.name, one.name) == 0; });
    const double value = found == table + count ? rung::unknown : found->value;
    const bool is_right = value > 0 && std::max(value / one.right, one.right / value) <= one.factor;
    wrong += !is_right;
    if (events)
      std::fprintf(events, "{\"type\":\"prediction\",\"name\":\"%s\",\"outcome\":\"%s\"}\n", one.name,
                   is_right            ? "right"
                   : std::isnan(value) ? "open"
                                       : "wrong");
    if (is_right) {
      std::printf("  %s: %.4g, %s\n", one.name, one.right, one.what);
    } else if (std::isnan(value)) {
      std::printf("  %s is not filled in yet\n", one.name);
    } else {
      std::printf("  %s: %.4g is not it\n", one.name, value);
    }
  }
  if (events) std::fclose(events);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string type = argc > 1 && std::strcmp(argv[1], "all") != 0 ? argv[1] : "";
  if (type == "predict")
    return argc > 2 && predictions(std::atof(argv[2]), argc > 3 ? std::fopen(argv[3], "w") : nullptr) == 0 ? 0 : 1;
  const char* const only = argc > 2 ? argv[2] : nullptr;
  const char* const only_case = argc > 3 ? argv[3] : nullptr;
  SHARDED_OK(cudaGetDeviceCount(&made));
  made = std::min(made, most_devices);
  size_t words = 0;
  for (const Case& c : cases) words = std::max(words, made * c.rows * message_words(c.k));
  const Team team(made, words);
  const auto is_asked = [&](const Case& c) { return !only_case || std::strcmp(only_case, c.name) == 0; };
  if (std::none_of(std::begin(cases), std::end(cases), is_asked)) {
    std::printf("there is no case \"%s\". The cases are:", only_case);
    for (const Case& c : cases) std::printf("  %s", c.name);
    std::printf("\n");
    return 2;
  }
  for (const Case& c : cases) {
    if (!is_asked(c)) continue;
#ifndef ONLY_F32
    if (type.empty() || type == "f16") test<__half>(team, c, only);
    if (type.empty() || type == "bf16") test<__nv_bfloat16>(team, c, only);
#endif
    if (type.empty() || type == "f32") test<float>(team, c, only);
  }
  std::printf("PASS on %d devices\n", made);
}
