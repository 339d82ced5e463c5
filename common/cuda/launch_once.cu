// Launches every variant of some rungs once on a GPU, for a tool that watches kernels: ncu reads the counters of what
// it launches.
//     launch_once --rows R --cols C [--k K] [--only "VARIANT DTYPE"] RUNG.so...
// Lab 07's operator takes R cores with a state of C, everything else in proportion as in rung::swap_ffn_full.
//
// Before each variant it launches mark_variant, a kernel that does nothing, so that a reader of the tool's output knows
// which launches are whose. On standard output it prints what each mark stands for, one JSON object per line:
//     {"rung": "build/cuda/.../x.so", "variant": "tree", "op": "softmax", "dtype": "f32", "k": 0, "error": 0}
// error is the cudaError_t of the variant: one that refuses the shape launches nothing and is listed all the same.
// Inputs are those of `make profileNN` on the CPU (bench::normal_logits), and buffers begin on 256 bytes, as the counts
// of both depend on that. Exit status 1 if the device was lost, 2 for a bad command line.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "logits.h"
#include "operator.h"
#include "rung.h"

namespace {

struct Options {
  int rows = 0, cols = 0, k = 50;
  std::string only;  // "" for all
  std::vector<std::string> rungs;
};

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i++) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      options->rungs.push_back(name);
      continue;
    }
    if (++i == argc) return false;
    if (name == "--only") {
      options->only = argv[i];
      continue;
    }
    int* const value = name == "--rows" ? &options->rows : name == "--cols" ? &options->cols : &options->k;
    if (value == &options->k && name != "--k") return false;
    *value = std::atoi(argv[i]);
  }
  return options->rows > 0 && options->cols > 0 && options->k > 0 && !options->rungs.empty();
}

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "launch_once: %s: %s (%s)\n", doing, cudaGetErrorName(error), cudaGetErrorString(error));
  std::exit(1);
}

const rung::Variant* load(const std::string& path, int* count) {
  void* const rung = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto table = rung ? reinterpret_cast<const rung::Variant* (*)(int*)>(dlsym(rung, "rung_variants")) : nullptr;
  if (!table) {
    const char* const why = dlerror();
    std::fprintf(stderr, "launch_once: %s: %s\n", path.c_str(), why ? why : "it exports no variants");
    std::exit(2);
  }
  return table(count);
}

// A buffer on the device, released with its owner. Freshly allocated for each variant: what one has written, another
// must not find.
struct Buffer {
  void* data = nullptr;
  explicit Buffer(size_t bytes) { check(cudaMalloc(&data, bytes ? bytes : 1), "memory on the device"); }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
};

cudaError_t launch(const rung::Variant& variant, const rung::Sizes& sizes, const std::vector<float>& logits) {
  const testing_::Operator& op = testing_::operator_of(variant.op);
  rung::Plan plan;
  if (!op.arguments().plan(sizes, variant.dtype, &plan)) return cudaErrorInvalidValue;
  testing_::Case problem;
  problem.matrix = &logits;
  problem.sizes = problem.called_with = sizes;
  const std::vector<unsigned char> input = op.input_without_result(problem, variant.dtype, 1);
  const Buffer in(input.size()), first(plan.bytes[1]), second(plan.bytes[2]), workspace(plan.bytes[3]);
  check(cudaMemcpy(in.data, input.data(), input.size(), cudaMemcpyHostToDevice), "copying the input");
  void* const buffers[] = {in.data, first.data, second.data, workspace.data};
  const cudaError_t error = rung::call_operator(variant.op, variant.launch, buffers, sizes, variant.dtype, nullptr);
  check(cudaDeviceSynchronize(), variant.name);
  return error;
}

}  // namespace

// In no namespace, so that its name is short in the tool's output.
__global__ void mark_variant() {}

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: launch_once --rows ROWS --cols COLUMNS [--k K] [--only \"VARIANT DTYPE\"] RUNG.so...\n");
    return 2;
  }
  const std::vector<float> logits = bench::normal_logits(options.rows, options.cols);
  for (const std::string& rung : options.rungs) {
    int count = 0;
    const rung::Variant* const variants = load(rung, &count);
    for (int i = 0; i < count; i++) {
      if (!options.only.empty() && options.only != std::string(variants[i].name) + " " + name_of(variants[i].dtype))
        continue;
      const rung::Arguments& known = rung::arguments_of(variants[i].op);
      const rung::Sizes sizes = known.sizes_of(options.rows, options.cols, options.k);
      const int k = known.has_k ? sizes.more[0] : 0;
      mark_variant<<<1, 1>>>();
      check(cudaGetLastError(), "mark_variant");
      const cudaError_t error = launch(variants[i], sizes, logits);
      std::printf(
          "{\"rung\": \"%s\", \"variant\": \"%s\", \"op\": \"%s\", \"dtype\": \"%s\", \"k\": %d, \"error\": %d}\n",
          rung.c_str(), variants[i].name, rung::name_of(variants[i].op), rung::name_of(variants[i].dtype), k,
          static_cast<int>(error));
      std::fflush(stdout);
    }
  }
  return 0;
}
