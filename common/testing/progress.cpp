#include "progress.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace testing_ {
namespace {

using Json = nlohmann::ordered_json;

struct Tally {
  int passed = 0, failed = 0;
};

struct Counted {
  std::string label;
  Step step;
  Count count;
};

struct Notes {
  std::string path;
  std::string first_failure;
  std::map<std::string, Tally> variants;
  std::map<std::string, bool> predictions;  // by the name of the case
  std::vector<Counted> counted;
};

Notes& notes() {
  static Notes instance = [] {
    Notes empty;
    if (const char* path = getenv("LADDER_RESULTS")) empty.path = path;
    return empty;
  }();
  return instance;
}

Json traffic(const Count& count) {
  return {{"load_requests", count.load.requests},
          {"load_sectors", count.load.sectors},
          {"store_requests", count.store.requests + count.atomic.requests},
          {"store_sectors", count.store.sectors + count.atomic.sectors}};
}

// The same call, of the same variant of the solution. False if there is no such thing.
bool count_solution(Step step, Count* count) {
  rung::Client* solution = session().solution.get();
  if (!solution) return false;
  const auto& variants = solution->variants();
  const std::string name = step.label.substr(0, step.label.find(' '));
  const auto same = std::find_if(variants.begin(), variants.end(), [&](const rung::VariantInfo& v) {
    return v.name == name && v.dtype == step.dtype && v.op == lab.op;
  });
  if (same == variants.end()) return false;
  step.variant = static_cast<int>(same - variants.begin());
  return count_call(*solution, step, count).empty();
}

std::string outcome_of(const Predicted& predicted, bool ok) {
  if (!predicted.made) return "missing";
  if (std::isnan(predicted.value)) return "open";
  return ok ? "right" : "wrong";
}

}  // namespace

void note_case(const std::string& variant, const std::string& group, const std::string& name, bool ok) {
  Notes& n = notes();
  if (n.path.empty()) return;
  if (group == "predict") {
    n.predictions[name] = ok;
    return;
  }
  Tally& tally = n.variants[variant];
  (ok ? tally.passed : tally.failed)++;
  if (!ok && n.first_failure.empty()) n.first_failure = variant + " / " + group + " / " + name;
}

void note_count(const Step& step, const Count& count) {
  Notes& n = notes();
  if (n.path.empty()) return;
  const auto known = [&](const Counted& c) { return c.label == step.label; };
  if (std::none_of(n.counted.begin(), n.counted.end(), known)) n.counted.push_back({step.label, step, count});
}

void write_progress(int passed, int failed, int not_run) {
  const Notes& n = notes();
  if (n.path.empty()) return;
  const Session& s = session();
  Json results = {{"lab", lab.name},
                  {"backend", s.backend},
                  {"checked", s.checked != nullptr},
                  {"whole", s.whole()},
                  {"passed", passed},
                  {"failed", failed},
                  {"not_run", not_run},
                  {"first_failure", n.first_failure},
                  {"variants", Json::object()},
                  {"predictions", Json::object()},
                  {"counts", Json::object()}};
  for (const auto& [label, tally] : n.variants) {
    results["variants"][label] = {{"passed", tally.passed}, {"failed", tally.failed}};
  }
  for (const Predicted& predicted : s.predicted) {
    const auto ran = n.predictions.find(predicted.prediction->case_name());
    if (ran == n.predictions.end()) continue;
    results["predictions"][predicted.prediction->name] = outcome_of(predicted, ran->second);
  }
  for (const Counted& c : n.counted) {
    const int k = rung::arguments_of(lab.op).has_k ? c.count.sizes.more[0] : 0;
    Json entry = {{"rows", c.count.rows}, {"cols", c.count.cols}, {"k", k}, {"yours", traffic(c.count)}};
    Count count;
    if (count_solution(c.step, &count)) entry["solution"] = traffic(count);
    results["counts"][c.label] = entry;
  }
  std::ofstream file(n.path);
  file << results.dump(-1, ' ', true, Json::error_handler_t::replace) << "\n";
  file.close();
  if (!file) fprintf(stderr, "%s: cannot be written, so this run will not show in make status\n", n.path.c_str());
}

}  // namespace testing_
