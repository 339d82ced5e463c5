// Times the variants of sharded softmax + top-K on all GPUs of this process, and writes them as JSON:
//   nvcc -std=c++17 -O3 -arch=sm_90 -I common/bench/sharded -I common/rung -I NCCL/include sharded_bench.cu
//   local_topk.cu
//     solutions/lab09_sharded/sharded_topk.cu
//     -Xlinker NCCL/lib/libnccl.so.2 -o sharded_bench
//   ./sharded_bench [OUT.json [RUNS]]
// bf16, k = 50, as a model's last layer leaves its logits. A figure is the slowest device's, of a CUDA graph of 20
// calls, the median of 7 runs. `local` is top-K of the shard alone; `nccl` the smallest all-gather.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>

#include "team.cuh"

using namespace sharded;
using T = __nv_bfloat16;

namespace {

constexpr int calls = 20, k = 50;

struct Extent {
  int rows, cols;
};
constexpr Extent shapes[] = {{1, 128256}, {8, 128256}, {64, 151936}, {256, 128256}, {4096, 50264}};

// Until all threads have come here.
class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int round = round_;
    if (++here_ == threads_) {
      here_ = 0;
      round_++;
      all_here_.notify_all();
    }
    all_here_.wait(lock, [&] { return round_ != round; });
  }

 private:
  const int threads_;
  int here_ = 0, round_ = 0;
  std::mutex mutex_;
  std::condition_variable all_here_;
};

cudaError_t local(const Shard<T>& shard) {
  Pieces pieces(shard.workspace);
  Local<T> made;
  return topk_of_shard(shard, pieces, made);
}

cudaError_t nccl(const Shard<T>& shard) {
  Pieces pieces(shard.workspace);
  float* const one = pieces.take<float>(1);
  float* const all = pieces.take<float>(most_devices);
  return error_of(ncclAllGather(one, all, 1, ncclFloat, shard.comm, shard.stream));
}

// Microseconds of a call: of each run, the slowest device's.
std::vector<double> time(const Team& team, Problem<T>& problem, cudaError_t (*call)(const Shard<T>&), int runs) {
  Meeting meeting(team.devices);
  std::vector<std::vector<double>> of_device(team.devices, std::vector<double>(runs));
  team.each([&](int d) {
    const Shard<T>& shard = problem.shards[d];
    for (int i = 0; i < 3; i++) SHARDED_OK(call(shard));
    SHARDED_OK(cudaStreamSynchronize(shard.stream));
    meeting.wait();
    cudaGraph_t graph;
    cudaGraphExec_t made;
    SHARDED_OK(cudaStreamBeginCapture(shard.stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls; i++) SHARDED_OK(call(shard));
    SHARDED_OK(cudaStreamEndCapture(shard.stream, &graph));
    SHARDED_OK(cudaGraphInstantiate(&made, graph, 0));
    cudaEvent_t begin, end;
    SHARDED_OK(cudaEventCreate(&begin));
    SHARDED_OK(cudaEventCreate(&end));
    for (int run = -2; run < runs; run++) {  // two for warming up
      meeting.wait();
      SHARDED_OK(cudaEventRecord(begin, shard.stream));
      SHARDED_OK(cudaGraphLaunch(made, shard.stream));
      SHARDED_OK(cudaEventRecord(end, shard.stream));
      SHARDED_OK(cudaStreamSynchronize(shard.stream));
      float milliseconds = 0;
      SHARDED_OK(cudaEventElapsedTime(&milliseconds, begin, end));
      if (run >= 0) of_device[d][run] = 1e3 * milliseconds / calls;
    }
    SHARDED_OK(cudaGraphExecDestroy(made));
    SHARDED_OK(cudaGraphDestroy(graph));
  });
  std::vector<double> slowest;
  for (int run = 0; run < runs; run++) {
    double most = 0;
    for (const std::vector<double>& one : of_device) most = std::max(most, one[run]);
    slowest.push_back(most);
  }
  std::sort(slowest.begin(), slowest.end());
  return slowest;
}

struct Results {
  std::vector<int> index;
  std::vector<float> prob;
};

std::vector<Results> results_of(const Team& team, Problem<T>& problem, cudaError_t (*call)(const Shard<T>&)) {
  std::vector<Results> all(team.devices);
  team.each([&](int d) {
    const Shard<T>& shard = problem.shards[d];
    const size_t count = static_cast<size_t>(shard.rows) * shard.k;
    SHARDED_OK(cudaMemsetAsync(shard.index, 0xFF, count * sizeof(int), shard.stream));
    SHARDED_OK(call(shard));
    SHARDED_OK(cudaStreamSynchronize(shard.stream));
    all[d].index.resize(count);
    all[d].prob.resize(count);
    SHARDED_OK(cudaMemcpy(all[d].index.data(), shard.index, count * sizeof(int), cudaMemcpyDeviceToHost));
    SHARDED_OK(cudaMemcpy(all[d].prob.data(), shard.prob, count * sizeof(float), cudaMemcpyDeviceToHost));
  });
  return all;
}

// Every device's results of every variant are those of gather_logits on the first device.
void check(const Team& team, Problem<T>& problem) {
  const Results right = results_of(team, problem, gather_logits<T>)[0];
  for (const Variant<T>& variant : variants<T>) {
    for (const Results& one : results_of(team, problem, variant.call)) {
      for (size_t i = 0; i < right.index.size(); i++) {
        if (one.index[i] == right.index[i] && std::abs(one.prob[i] - right.prob[i]) <= 1e-5f * right.prob[i]) continue;
        std::printf("FAIL %s: result %zu is column %d with %g, and gather_logits has column %d with %g\n", variant.name,
                    i, one.index[i], one.prob[i], right.index[i], right.prob[i]);
        std::exit(1);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 7;
  int devices = 0, driver = 0, version = 0;
  SHARDED_OK(cudaGetDeviceCount(&devices));
  devices = std::min(devices, most_devices);
  cudaDeviceProp properties;
  SHARDED_OK(cudaGetDeviceProperties(&properties, 0));
  SHARDED_OK(cudaDriverGetVersion(&driver));
  SHARDED_OK(ncclGetVersion(&version));
  size_t words = 0;
  for (const Extent& shape : shapes) words = std::max(words, devices * shape.rows * message_words(k));
  const Team team(devices, words);
  std::FILE* const out = argc > 1 ? std::fopen(argv[1], "w") : nullptr;
  if (argc > 1 && !out) return std::printf("%s cannot be written\n", argv[1]), 1;
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  if (out)
    std::fprintf(
        out,
        "{\n \"machine\": \"%d x %s\",\n \"date\": \"%s\",\n \"command\": \"common/bench/sharded/sharded_bench\",\n"
        " \"devices\": %d,\n \"cuda_driver\": %d,\n \"nccl\": %d,\n \"dtype\": \"bf16\",\n \"k\": %d,\n"
        " \"calls_in_graph\": %d,\n \"runs\": %d",
        devices, properties.name, date, devices, driver, version, k, calls, runs);
  std::printf("%d x %s, NCCL %d; us, median (least to most)\n", devices, properties.name, version);
  for (const Extent& shape : shapes) {
    Problem<T> problem(team, shape.rows, even_shards(devices, shape.cols), k);
    uint32_t state = 7;
    const auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 16; };
    std::vector<T> logits(static_cast<size_t>(shape.rows) * shape.cols);
    for (T& logit : logits) {  // the sum of four uniform numbers, about normal, standard deviation 3
      float sum = 0;
      for (int i = 0; i < 4; i++) sum += static_cast<float>(random()) / 65536.0f - .5f;
      logit = static_cast<T>(5.2f * sum);
    }
    problem.set_logits(logits);
    check(team, problem);
    std::vector<Variant<T>> all(std::begin(variants<T>), std::end(variants<T>));
    all.push_back({"local", local});
    all.push_back({"nccl", nccl});
    if (out) std::fprintf(out, ",\n \"%dx%d\": {", shape.rows, shape.cols);
    for (const Variant<T>& variant : all) {
      const std::vector<double> us = time(team, problem, variant.call, runs);
      std::printf("%5d x %6d  %-16s %8.1f (%.1f to %.1f)\n", shape.rows, shape.cols, variant.name, us[us.size() / 2],
                  us.front(), us.back());
      std::fflush(stdout);
      const char* const text = "%s\n  \"%s\": %.2f, \"%s_least\": %.2f, \"%s_most\": %.2f";
      if (out)
        std::fprintf(out, text, &variant == &all[0] ? "" : ",", variant.name, us[us.size() / 2], variant.name,
                     us.front(), variant.name, us.back());
    }
    if (out) std::fprintf(out, "\n }");
  }
  if (out) std::fprintf(out, "\n}\n"), std::fclose(out);
}
