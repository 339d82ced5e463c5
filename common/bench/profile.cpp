// Counts what every variant of a rung does on one shape, and prints the reports as one JSON object:
//     profile --worker build/cpu/worker --rung build/cpu/checked/X.so --rows R --cols C [--k K] [--only V | --without
//     V]
//     {"variants": [{"variant": "tree", "dtype": "f32", "rows": R, "cols": C, "k": K, "report": {...}}]}
// The report is simt/counters/counters.h's. Exit status 1 if a variant could not be counted, 2 for a bad command line.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "client.h"
#include "formats.h"
#include "logits.h"
#include "swap_ffn_reference.h"

namespace {

struct Options {
  std::string worker, rung;
  std::string only, without;  // variants; "": all, none
  int rows = 0, cols = 0, k = 50;
};

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--worker")
      options->worker = value;
    else if (name == "--rung")
      options->rung = value;
    else if (name == "--rows")
      options->rows = std::atoi(value.c_str());
    else if (name == "--cols")
      options->cols = std::atoi(value.c_str());
    else if (name == "--k")
      options->k = std::atoi(value.c_str());
    else if (name == "--only")
      options->only = value;
    else if (name == "--without")
      options->without = value;
    else
      return false;
  }
  return argc % 2 == 1 && !options->worker.empty() && !options->rung.empty() && options->rows > 0 &&
         options->cols > 0 && options->k > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: profile --worker PROGRAM --rung CHECKED.so --rows ROWS --cols COLUMNS [--k K] "
                 "[--only VARIANT | --without VARIANT]\n");
    return 2;
  }
  rung::Client client(options.worker, options.rung);
  if (client.variants().empty()) {
    std::fprintf(stderr, "profile: %s\n", client.problem().c_str());
    return 1;
  }
  const std::vector<float> logits = bench::normal_logits(options.rows, options.cols);
  int status = 0;
  std::string separator;
  std::printf("{\"variants\": [");
  for (size_t i = 0; i < client.variants().size(); i++) {
    const rung::VariantInfo& variant = client.variants()[i];
    if ((!options.only.empty() && variant.name != options.only) || variant.name == options.without) continue;
    const bool topk = variant.op == rung::Op::softmax_topk;
    const int k = topk ? std::min(options.k, options.cols) : 0;
    const size_t element = static_cast<size_t>(rung::bytes_of(variant.dtype));
    const bool is_step = variant.op == rung::Op::swap_ffn;
    const rung::SwapFfnSizes sizes = rung::swap_ffn_of(options.rows, options.cols);
    if (is_step && !valid(sizes)) {
      std::fprintf(stderr, "profile: SHAPE is CORESxD_MODEL here, with d_model a multiple of 32 up to 8192\n");
      return 2;
    }
    const std::vector<unsigned char> input =
        is_step ? reference::encode(reference::swap_ffn_inputs(sizes, 1), variant.dtype)
                : reference::encode(logits, variant.dtype);
    rung::Job job;
    job.variant = static_cast<int>(i);
    job.rows = options.rows;
    job.cols = options.cols;
    job.k = k;
    job.input = input.data();
    job.input_bytes = input.size();
    job.output_bytes[0] =
        topk ? sizeof(int) * static_cast<size_t>(options.rows) * static_cast<size_t>(k) : input.size();
    job.output_bytes[1] = topk ? job.output_bytes[0] : 0;
    if (is_step) {
      const rung::SwapFfnLayout layout = layout_of(sizes, element);
      job.sizes = sizes;
      for (int b = 0; b < 2; b++) job.output_bytes[b] = layout.output_bytes[b];
      job.workspace_bytes = layout.workspace_bytes;
    }
    job.count = true;
    job.time_limit = 120;
    const rung::Outcome outcome = client.run(job);
    const std::string label = variant.name + " " + rung::name_of(variant.dtype);
    if (outcome.kind != rung::Outcome::Kind::returned || outcome.error != 0 || outcome.counters.empty()) {
      const std::string at = outcome.line ? outcome.file + ":" + std::to_string(outcome.line) + ": " : "";
      std::fprintf(stderr, "%s: %s%s\n", label.c_str(), at.c_str(),
                   outcome.message.empty() ? outcome.error_name.c_str() : outcome.message.c_str());
      status = 1;
      continue;
    }
    std::printf("%s\n{\"variant\": \"%s\", \"dtype\": \"%s\", \"rows\": %d, \"cols\": %d, \"k\": %d, \"report\": %s}",
                separator.c_str(), variant.name.c_str(), rung::name_of(variant.dtype), options.rows, options.cols, k,
                outcome.counters.c_str());
    separator = ",";
  }
  std::printf("]}\n");
  return status;
}
