// Measures every variant of a rung and puts the points into the results file of this machine. See usage in options.cpp.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <new>

#include "count.h"
#include "error.h"
#include "logits.h"
#include "machine.h"
#include "measure.h"
#include "options.h"
#include "results.h"

namespace {

using bench::Error;
using bench::Options;

// Variants whose cost grows with the columns squared are counted on so few rows, where they were measured on more; and
// not at all beyond so many rows x columns x columns; the executor counts about 2e7 of these per second.
constexpr int quadratic_count_rows = 8;
constexpr double quadratic_count_most = 5e8;

std::string in_words(double seconds) {
  char text[32];
  if (seconds >= 1)
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  else if (seconds >= 1e-3)
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  return text;
}

std::string per_element(const bench::Traffic& traffic, double elements) {
  char text[128];
  std::snprintf(text, sizeof text, "%.4g bytes per element at L1, footprint %.4g",
                static_cast<double>(traffic.l1_bytes) / elements,
                static_cast<double>(traffic.footprint_bytes) / elements);
  return text;
}

// Counts a shape on so many of its rows as must be. workload_of(n): a workload of n rows.
template <class WorkloadOf>
bench::Traffic count(rung::Client& client, const rung::VariantInfo& variant, int rows, int cols, int k,
                     bool cost_is_quadratic, const WorkloadOf& workload_of, std::string* problem) {
  const int most = cost_is_quadratic ? quadratic_count_rows : rows;
  const int counted = bench::rows_to_count(variant, rows, cols, k, most);
  if (cost_is_quadratic && counted * 1.0 * cols * cols > quadratic_count_most) {
    *problem = "it would take minutes";
    return {};
  }
  return bench::count(client, variant, workload_of(counted), rows, problem);
}

// Each line of the text behind four blanks.
std::string indented(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string result = "    ";
  for (const char c : text) result += c == '\n' ? "\n    " : std::string(1, c);
  return result;
}

int run(const Options& options) {
  const std::string machine = options.machine.empty() ? bench::machine_name() : options.machine;
  bench::Results results(options.results, machine, options.backend);
  if (!options.roofs.empty()) results.set_roofs(bench::read_roofs(options.roofs, machine));
  if (!options.command.empty()) results.set_command(options.command);

  rung::Client client(options.worker, options.rung);
  const std::vector<rung::VariantInfo> variants = client.variants();
  if (variants.empty())
    throw Error(client.problem().empty() ? options.rung + ": exports no variants" : client.problem());
  if (!options.topk_output.empty() && std::none_of(variants.begin(), variants.end(), bench::is_topk_output)) {
    throw Error("--topk-output: " + options.rung + " has no top-K variant online for f32");
  }

  const std::vector<float> logits =
      options.matrix.empty() ? bench::normal_logits(options.rows, options.cols)
                             : bench::read_matrix(options.matrix, options.matrix_rows, options.cols, options.rows);
  std::map<int, bench::Workload> workloads;  // by number of rows
  const auto workload_of = [&](int rows) -> bench::Workload& {
    const auto found = workloads.find(rows);
    if (found != workloads.end()) return found->second;
    const auto end = logits.begin() + static_cast<std::ptrdiff_t>(rows) * options.cols;
    bench::Workload workload({logits.begin(), end}, rows, options.cols, std::min(options.k, options.cols));
    return workloads.emplace(rows, std::move(workload)).first->second;
  };

  std::unique_ptr<rung::Client> counter;
  if (!options.checked.empty()) counter = std::make_unique<rung::Client>(options.counter, options.checked);

  bool all_right = true;
  for (size_t i = 0; i < variants.size(); i++) {
    const rung::VariantInfo& variant = variants[i];
    const auto fewer = options.quadratic.find(variant.name);
    const bool is_quadratic = fewer != options.quadratic.end() && fewer->second < options.rows;
    bench::Workload& workload = workload_of(is_quadratic ? fewer->second : options.rows);

    std::cerr << "  " << options.lab << " " << variant.name << " " << name_of(variant.dtype) << ", " << options.input
              << " " << workload.rows() << " x " << workload.cols();
    const rung::Arguments& known = rung::arguments_of(variant.op);
    if (known.has_k) std::cerr << ", K " << workload.k();
    std::cerr << ": " << std::flush;
    if (known.many_launches) {
      std::cerr << "not measured here (" << known.name << " has a benchmark of its own)\n";
      continue;
    }
    if (options.wrong.count(variant.name)) {
      std::cerr << "not measured (wrong on purpose)\n";
      continue;
    }

    const bench::Measurement measured = bench::measure(client, static_cast<int>(i), workload, options.backend);
    if (measured.kind == bench::Measurement::Kind::refused) {
      std::cerr << "not measured (cudaErrorInvalidValue: the variant does not take this shape)\n";
      continue;
    }
    if (measured.kind == bench::Measurement::Kind::wrong) {
      std::cerr << "failed, not recorded\n" << indented(measured.message) << "\n";
      all_right = false;
      continue;
    }
    std::cerr << in_words(measured.timing.median) << " (" << measured.timing.launches
              << (options.backend == "cuda"       ? " samples)"
                  : measured.timing.launches == 1 ? " launch)"
                                                  : " launches)");

    bench::Point point;
    point.source = options.source;
    point.lab = options.lab;
    point.variant = variant.name;
    point.op = variant.op;
    point.dtype = variant.dtype;
    point.input = options.input;
    point.rows = workload.rows();
    point.cols = workload.cols();
    point.k = known.has_k ? workload.k() : 0;
    point.timing = measured.timing;
    point.note = is_quadratic ? "fewer rows: cost grows with cols squared" : "";
    if (counter) {
      std::string problem;
      const bool cost_is_quadratic = fewer != options.quadratic.end();
      point.traffic =
          count(*counter, variant, point.rows, workload.cols(), workload.k(), cost_is_quadratic, workload_of, &problem);
      if (problem.empty()) problem = results.contradiction(point.traffic, point.timing.median);
      if (!problem.empty()) point.traffic = {};
      std::cerr << (problem.empty() ? ", " + per_element(point.traffic, 1.0 * point.rows * point.cols)
                                    : ", not counted: " + problem);
    }
    std::cerr << "\n";
    results.put(point);
    results.save();
    if (!options.topk_output.empty() && bench::is_topk_output(variant)) {
      bench::write_topk_output(options.topk_output, measured.output);
    }
  }
  return all_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::cout << bench::usage;
    return 0;
  }
  try {
    return run(bench::parse_options(argc, argv));
  } catch (const Error& error) {
    std::cerr << "bench: " << error.what() << "\n";
  } catch (const std::bad_alloc&) {
    std::cerr << "bench: not enough memory for this shape; choose fewer rows\n";
  }
  return 2;
}
