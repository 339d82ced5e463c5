// Counts what every variant of a rung does on one shape, and prints the reports as one JSON object:
//     profile --worker build/cpu/worker --rung build/cpu/checked/X.so --rows R --cols C [--k K] [--matrix FILE]
//             [--only V | --without V] [--check yes] [--topk-output PATH]
//     {"variants": [{"variant": "tree", "op": "softmax", "dtype": "f32", "rows": R, "cols": C, "k": K,
//                    "nominal_bytes": B, "nominal_flops": F, "report": {...}}]}
// On normal logits, or on a file of R x C raw float32. The report is simt/counters/counters.h's. --check: a variant
// whose result is not the reference's has no report, but the reason on stderr. --topk-output: what `online` for f32
// returns, as PATH.i32 (indices) and PATH.f32. Exit status 1 if a variant has no report, 2 for a bad command line.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "client.h"
#include "error.h"
#include "logits.h"
#include "measure.h"

namespace {

struct Options {
  std::string worker, rung, matrix;
  std::string only, without;  // a variant; several, with commas; "": all, none
  std::string topk_output;
  bool check = false;
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
    else if (name == "--check")
      options->check = value == "yes";
    else if (name == "--topk-output")
      options->topk_output = value;
    else if (name == "--matrix")
      options->matrix = value;
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

bool named(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: profile --worker PROGRAM --rung CHECKED.so --rows ROWS --cols COLUMNS [--k K] "
                 "[--matrix FILE] [--only VARIANT | --without VARIANT] [--check yes] [--topk-output PATH]\n");
    return 2;
  }
  rung::Client client(options.worker, options.rung);
  if (client.variants().empty()) {
    std::fprintf(stderr, "profile: %s\n", client.problem().c_str());
    return 1;
  }
  std::vector<float> logits;
  try {
    logits = options.matrix.empty() ? bench::normal_logits(options.rows, options.cols)
                                    : bench::read_matrix(options.matrix, options.rows, options.cols, options.rows);
  } catch (const bench::Error& error) {
    std::fprintf(stderr, "profile: %s\n", error.what());
    return 2;
  }
  bench::Workload workload(logits, options.rows, options.cols, std::min(options.k, options.cols));
  int status = 0;
  std::string separator;
  std::printf("{\"variants\": [");
  for (size_t i = 0; i < client.variants().size(); i++) {
    const rung::VariantInfo& variant = client.variants()[i];
    if ((!options.only.empty() && variant.name != options.only) || named(options.without, variant.name)) continue;
    const testing_::Operator& op = testing_::operator_of(variant.op);
    const rung::Sizes sizes = workload.sizes(variant);
    const int k = op.arguments().has_k ? sizes.more[0] : 0;
    rung::Plan plan;
    if (!op.arguments().plan(sizes, variant.dtype, &plan)) {
      std::fprintf(stderr, "profile: %d x %d is no shape of %s; common/ops/%s/arguments.h says which are\n",
                   options.rows, options.cols, op.arguments().name, op.arguments().name);
      return 2;
    }
    rung::Job job = bench::job_of(variant, static_cast<int>(i), workload, 1);
    job.count = true;
    job.time_limit = 120;
    const rung::Outcome outcome = client.run(job);
    const std::string label = variant.name + " " + rung::name_of(variant.dtype);
    if (outcome.kind != rung::Outcome::Kind::returned || outcome.error != 0 || outcome.counters.empty()) {
      const std::string at = outcome.line ? outcome.file + ":" + std::to_string(outcome.line) + ": " : "";
      const std::string returned = outcome.error ? " returned " + outcome.error_name : "";
      std::fprintf(stderr, "%s%s%s%s%s\n", label.c_str(), returned.c_str(),
                   returned.empty() || !outcome.message.empty() ? ": " : "", at.c_str(), outcome.message.c_str());
      status = 1;
      continue;
    }
    const std::string wrong =
        options.check && !op.arguments().many_launches ? workload.verdict(variant, outcome.output) : "";
    if (!wrong.empty()) {
      std::fprintf(stderr, "%s: %s\n", label.c_str(), wrong.c_str());
      status = 1;
      continue;
    }
    if (!options.topk_output.empty() && bench::is_topk_output(variant)) {
      try {
        bench::write_topk_output(options.topk_output, outcome.output);
      } catch (const bench::Error& error) {
        std::fprintf(stderr, "profile: %s\n", error.what());
      }
    }
    std::printf(
        "%s\n{\"variant\": \"%s\", \"op\": \"%s\", \"dtype\": \"%s\", \"rows\": %d, \"cols\": %d, \"k\": %d, "
        "\"nominal_bytes\": %.0f, \"nominal_flops\": %.0f, \"report\": %s}",
        separator.c_str(), variant.name.c_str(), op.arguments().name, rung::name_of(variant.dtype), options.rows,
        options.cols, k, op.bytes(sizes, variant.dtype), op.flops(sizes), outcome.counters.c_str());
    separator = ",";
  }
  std::printf("]}\n");
  return status;
}
