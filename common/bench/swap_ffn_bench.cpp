// Measures every variant of lab 07's operator, after holding its result against the reference at the same sizes:
//     swap_ffn_bench --worker W --rung X.so --backend cuda|cpu --results FILE.json [--machine NAME] [--source NAME]
//                    [--sizes D_MODEL,D_FF,CORES,EVENTS,FFN_STEPS,D_ROUTER,COLLAPSE_K,COLLAPSE_R] [--only VARIANT]
//                    [--checked X.so --counter WORKER]
// The results file has an entry a source, variant, type and sizes. What fusion_counters.py has put into an entry stays
// there when it is measured again. With --checked, launches and weight bytes are
// counted on the executor, at the same events and steps but for a small model, where they say how often a weight is
// asked for.
//
// On a GPU a time is the mean of calls that rotate over more data than the largest cache holds; they are made one by
// one, not from a recorded graph, so what launches cost the host counts. Exit status 1 if a variant is wrong, 2 for an
// argument or a file that is not usable.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "client.h"
#include "clocks.h"
#include "json_file.h"
#include "machine.h"
#include "swap_ffn/judge.h"
#include "timing.h"

namespace {

using Json = nlohmann::json;
using rung::SwapFfnSizes;

constexpr double rotated_bytes = 600e6;
constexpr double budget_seconds = 0.5;

struct Options {
  std::string worker, rung, backend = "cpu", results, machine, source = "solution", only, checked, counter;
  SwapFfnSizes sizes = rung::swap_ffn_full;
};

// The names as the results file and --sizes have them, in order.
constexpr const char* size_names[] = {"d_model",   "d_ff",     "cores",      "events",
                                      "ffn_steps", "d_router", "collapse_k", "collapse_r"};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "swap_ffn_bench: %s\n", what.c_str());
  std::exit(2);
}

SwapFfnSizes parse_sizes(const std::string& text) {
  SwapFfnSizes s = {};
  int end = 0;
  if (std::sscanf(text.c_str(), "%d,%d,%d,%d,%d,%d,%d,%d%n", &s.d_model, &s.d_ff, &s.cores, &s.events, &s.ffn_steps,
                  &s.d_router, &s.collapse_k, &s.collapse_r, &end) != 8 ||
      static_cast<size_t>(end) != text.size() || !valid(s)) {
    fail("--sizes " + text + ": it must be eight numbers as common/ops/swap_ffn/arguments.h allows them, for example " +
         "1024,4096,512,8,2,64,8,224");
  }
  return s;
}

Options parse(int argc, char** argv) {
  Options o;
  const std::pair<const char*, std::string*> texts[] = {
      {"--worker", &o.worker},   {"--rung", &o.rung},       {"--backend", &o.backend},
      {"--results", &o.results}, {"--machine", &o.machine}, {"--source", &o.source},
      {"--only", &o.only},       {"--checked", &o.checked}, {"--counter", &o.counter}};
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const auto known = std::find_if(std::begin(texts), std::end(texts), [&](const auto& t) { return name == t.first; });
    if (known == std::end(texts) && name != "--sizes") fail("there is no option '" + name + "'; the source lists them");
    if (i + 1 == argc) fail(name + " wants a value");
    if (name == "--sizes") {
      o.sizes = parse_sizes(argv[i + 1]);
    } else {
      *known->second = argv[i + 1];
    }
  }
  for (const auto& [name, value] : {texts[0], texts[1], texts[3]}) {
    if (value->empty()) fail(std::string(name) + " is missing");
  }
  if (o.backend != "cpu" && o.backend != "cuda") fail("--backend is cpu or cuda, not '" + o.backend + "'");
  if (o.checked.empty() != o.counter.empty()) fail("--checked and --counter are used together");
  return o;
}

Json json_of(const SwapFfnSizes& s) {
  const int values[] = {s.d_model, s.d_ff, s.cores, s.events, s.ffn_steps, s.d_router, s.collapse_k, s.collapse_r};
  Json json = Json::object();
  for (size_t i = 0; i < std::size(values); i++) json[size_names[i]] = values[i];
  return json;
}

rung::Job job_of(const SwapFfnSizes& sizes, const std::vector<unsigned char>& input, int variant, size_t element) {
  const rung::SwapFfnLayout layout = layout_of(sizes, element);
  rung::Job job;
  job.variant = variant;
  job.sizes = rung::sizes_of(sizes);
  job.input = input.data();
  job.input_bytes = input.size();
  for (int i = 0; i < 2; i++) job.output_bytes[i] = layout.output_bytes[i];
  job.workspace_bytes = layout.workspace_bytes;
  job.time_limit = 120;
  return job;
}

std::string problem_of(const reference::SwapFfnStep& step, const rung::Outcome& outcome, rung::Dtype dtype) {
  if (outcome.kind != rung::Outcome::Kind::returned) return outcome.message;
  if (outcome.error) return "it returned " + rung::error_text(outcome);
  for (const std::string& sentence : outcome.damage) return sentence;
  return testing_::compare_swap_ffn(step, outcome.output[0], outcome.output[1], dtype).explanation;
}

// Launches and how often a weight is requested in an FFN step, as the executor counts them. Says why if it cannot.
void count(const Options& o, const rung::VariantInfo& like, Json* entry) {
  rung::Client client(o.counter, o.checked);
  const auto& variants = client.variants();
  const auto same = std::find_if(variants.begin(), variants.end(), [&](const rung::VariantInfo& variant) {
    return variant.name == like.name && variant.dtype == like.dtype;
  });
  const auto not_counted = [](const std::string& why) { std::fprintf(stderr, "not counted: %s; ", why.c_str()); };
  if (same == variants.end())
    return not_counted(o.checked + (variants.empty() ? ": " + client.problem() : " does not have it"));
  const SwapFfnSizes small = {32, 64, 32, o.sizes.events, o.sizes.ffn_steps, 16, 2, 24};
  const size_t element = static_cast<size_t>(rung::bytes_of(like.dtype));
  const std::vector<unsigned char> input = reference::encode(reference::swap_ffn_step(small, 1), like.dtype);
  rung::Job job = job_of(small, input, static_cast<int>(same - variants.begin()), element);
  job.count = true;
  const rung::Outcome outcome = client.run(job);
  if (outcome.kind != rung::Outcome::Kind::returned) return not_counted(outcome.message);
  if (outcome.error) return not_counted(rung::error_text(outcome));
  const Json report = Json::parse(outcome.counters);
  double weights = 0;
  const Json calls = report.value("library_calls", Json::array());
  for (const Json& launch : report.at("launches")) weights += launch.value("watched_bytes_read", 0.0);
  for (const Json& call : calls) weights += call.at("watched_bytes_read").get<double>();
  (*entry)["launches"] = report.at("launches").size() + calls.size();
  const double once = 3.0 * small.d_model * small.d_ff * static_cast<double>(element);  // bytes, in a step
  const int steps = small.events * small.ffn_steps;
  if (steps) (*entry)["weight_reads_a_step_32_cores"] = weights / (once * steps);
}

constexpr const char* key_fields[] = {"source", "variant", "dtype", "sizes"};

// Throws bench::Error if there is a file and its figures are none of lab 07's, or of another machine or backend.
Json load_results(const Options& o) {
  const std::string machine = o.machine.empty() ? bench::machine_name() : o.machine;
  std::error_code ignored;
  if (!std::filesystem::exists(o.results, ignored))
    return {{"machine", machine}, {"backend", o.backend}, {"variants", Json::array()}};
  Json file = bench::read_object<Json>(o.results);
  const auto refuse = [&](const std::string& why) { throw bench::Error(o.results + ": " + why); };
  if (!file.contains("variants") || !file["variants"].is_array())
    refuse("it has no list \"variants\"; is it a results file of lab 07?");
  for (const Json& entry : file["variants"]) {
    for (const char* field : key_fields) {
      if (!entry.is_object() || !entry.contains(field))
        refuse(std::string("an entry of \"variants\" has no \"") + field + "\"; repair or delete the file");
    }
  }
  for (const auto& [field, mine] : {std::pair("machine", machine), std::pair("backend", o.backend)}) {
    if (file.value(field, Json()) != mine)
      refuse(std::string("its \"") + field + "\" is not " + mine + "; name another file with --results");
  }
  return file;
}

// Replaces the entry of the same key. Counts that the new one lacks stay: they were read, not timed.
void put(Json* file, Json entry, const std::string& path) {
  Json& list = (*file)["variants"];
  const auto same = [&](const Json& other) {
    return std::all_of(std::begin(key_fields), std::end(key_fields),
                       [&](const char* field) { return other.at(field) == entry.at(field); });
  };
  const auto old = std::find_if(list.begin(), list.end(), same);
  if (old == list.end()) {
    list.push_back(entry);
  } else {
    for (const char* counts : {"ncu", "launches", "weight_reads_a_step_32_cores"}) {
      if (old->contains(counts) && !entry.contains(counts)) entry[counts] = (*old)[counts];
    }
    *old = entry;
  }
  (*file)["date"] = bench::today();
  bench::write_object(path, *file);
}

int run(const Options& o) {
  rung::Client client(o.worker, o.rung);
  if (client.variants().empty()) fail(client.problem());
  const auto wanted = [&](const rung::VariantInfo& variant) {
    return variant.op == rung::Op::swap_ffn && (o.only.empty() || o.only == variant.name);
  };
  if (std::none_of(client.variants().begin(), client.variants().end(), wanted))
    fail(o.rung + " has no variant " + (o.only.empty() ? "of lab 07's operator" : "'" + o.only + "'"));
  Json file = load_results(o);
  std::fprintf(stderr, "  the reference, %s ...\n", reference::name_of(o.sizes).c_str());
  const reference::SwapFfnStep step = reference::swap_ffn_step(o.sizes, 1);
  const bool gpu = o.backend == "cuda";
  int status = 0;
  for (size_t i = 0; i < client.variants().size(); i++) {
    const rung::VariantInfo variant = client.variants()[i];
    if (!wanted(variant)) continue;
    std::fprintf(stderr, "  %s %s: ", variant.name.c_str(), rung::name_of(variant.dtype));
    const size_t element = static_cast<size_t>(rung::bytes_of(variant.dtype));
    const std::vector<unsigned char> input = reference::encode(step, variant.dtype);
    rung::Job job = job_of(o.sizes, input, static_cast<int>(i), element);
    job.launches = 2;  // the first loads the kernels' code
    rung::Outcome outcome = client.run(job);
    std::string problem = problem_of(step, outcome, variant.dtype);
    bench::Watched watched;
    if (problem.empty() && gpu) {
      const double once = std::max(outcome.seconds.back(), 1e-6);
      const auto set_bytes = static_cast<double>(input.size() + job.output_bytes[1] + job.workspace_bytes);
      const int sets = static_cast<int>(std::ceil(rotated_bytes / set_bytes));
      job.rotation = {sets, sets};
      job.launches = static_cast<int>(std::clamp(budget_seconds / (once * sets), 3.0, 25.0));
      watched = bench::unthrottled(bench::nvml_reader(), [&] {
        outcome = client.run(job);
        problem = problem_of(step, outcome, variant.dtype);
        return problem.empty();
      });
    } else if (problem.empty()) {
      job.launches = 5;
      outcome = client.run(job);
      problem = problem_of(step, outcome, variant.dtype);
    }
    if (!problem.empty()) {
      std::fprintf(stderr, "failed, not recorded\n%s\n", problem.c_str());
      status = 1;
      continue;
    }
    const bench::Timing timing = bench::summarise(outcome.seconds);
    Json entry = {{"source", o.source},
                  {"variant", variant.name},
                  {"dtype", rung::name_of(variant.dtype)},
                  {"sizes", json_of(o.sizes)},
                  {"seconds", timing.median},
                  {"seconds_min", timing.min},
                  {"seconds_max", timing.max},
                  {"samples", timing.launches},
                  {"flops", reference::swap_ffn_flops(o.sizes)},
                  {"weight_bytes", 3.0 * o.sizes.d_model * o.sizes.d_ff * static_cast<double>(element)}};
    if (watched.clocks.max_mhz) entry["sm_clock_mhz"] = {watched.clocks.min_mhz, watched.clocks.max_mhz};
    if (!watched.clocks.throttled.empty()) entry["throttled"] = watched.clocks.throttled;
    if (!o.checked.empty()) count(o, variant, &entry);
    std::fprintf(stderr, "%.4g ms (%d samples, %.4g to %.4g)\n", timing.median * 1e3, timing.launches, timing.min * 1e3,
                 timing.max * 1e3);
    put(&file, entry, o.results);
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const bench::Error& error) {
    fail(error.what());
  }
}
