// Measures every variant of a rung and puts the points into the results file of this machine. See usage in options.cpp.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <new>

#include "error.h"
#include "logits.h"
#include "machine.h"
#include "measure.h"
#include "options.h"
#include "results.h"

namespace {

using bench::Error;
using bench::Options;

// lab01's variant without the subtraction of the maximum: there to be wrong on large logits, not to be measured.
constexpr const char* wrong_on_purpose = "no_max";

bool is_topk_output(const rung::VariantInfo& variant) {
  return variant.name == "online" && variant.op == rung::Op::softmax_topk && variant.dtype == rung::Dtype::f32;
}

void write_bytes(const std::string& path, const std::vector<unsigned char>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw Error(path + ": cannot be written: " + std::strerror(errno));
}

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
  if (!options.topk_output.empty() && std::none_of(variants.begin(), variants.end(), is_topk_output)) {
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

  bool all_right = true;
  for (size_t i = 0; i < variants.size(); i++) {
    const rung::VariantInfo& variant = variants[i];
    const auto fewer = options.quadratic.find(variant.name);
    const bool is_quadratic = fewer != options.quadratic.end() && fewer->second < options.rows;
    bench::Workload& workload = workload_of(is_quadratic ? fewer->second : options.rows);

    std::cerr << "  " << options.lab << " " << variant.name << " " << name_of(variant.dtype) << ", " << options.input
              << " " << workload.rows() << " x " << workload.cols();
    if (variant.op == rung::Op::softmax_topk) std::cerr << ", K " << workload.k();
    std::cerr << ": " << std::flush;
    if (variant.name == wrong_on_purpose) {
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
              << (options.backend == "cuda"       ? " samples)\n"
                  : measured.timing.launches == 1 ? " launch)\n"
                                                  : " launches)\n");

    bench::Point point;
    point.source = options.source;
    point.lab = options.lab;
    point.variant = variant.name;
    point.op = variant.op;
    point.dtype = variant.dtype;
    point.input = options.input;
    point.rows = workload.rows();
    point.cols = workload.cols();
    point.k = variant.op == rung::Op::softmax_topk ? workload.k() : 0;
    point.timing = measured.timing;
    point.note = is_quadratic ? "fewer rows: cost grows with cols squared" : "";
    results.put(point);
    results.save();
    if (!options.topk_output.empty() && is_topk_output(variant)) {
      write_bytes(options.topk_output + ".i32", measured.output[0]);
      write_bytes(options.topk_output + ".f32", measured.output[1]);
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
